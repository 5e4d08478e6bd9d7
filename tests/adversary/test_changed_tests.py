"""The test is changed, renamed, moved or not run."""

from __future__ import annotations

from pull_request import PullRequest, blocked, listed
from test_record_edits import two_tests

TEST = "tests/test_ranking.py"
BASELINES = "tests/baselines/test_ranking"

IN_A_CLASS = """
from pytest_rankcheck import assert_mrr_not_regressed

class TestSearch:
    def test_mrr(self, evaluation, baseline):
        assert_mrr_not_regressed(evaluation, baseline, abs=0.01)
"""
PARAMETRIZED = """
import pytest
from pytest_rankcheck import assert_not_regressed

@pytest.mark.parametrize("metric", ["RR"])
def test_metric(evaluation, baseline, metric):
    assert_not_regressed(evaluation, baseline, metric, abs=0.01)
"""
RR_AND_RECALL = """
from pytest_rankcheck import assert_mrr_not_regressed, assert_recall_not_regressed

def test_metrics(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)
    assert_recall_not_regressed(evaluation, baseline, k=100, abs=0.01)
"""
AND_ANOTHER = "\ndef test_other():\n    pass\n"


def in_a_class(main: PullRequest) -> None:
    """The test is in a class."""
    main.test(IN_A_CLASS)


def parametrized(main: PullRequest) -> None:
    """The test has a parameter of its own."""
    main.test(PARAMETRIZED)


def two_parameters(main: PullRequest) -> None:
    """The test has two parameters of its own."""
    main.test(PARAMETRIZED.replace('["RR"]', '["RR", "nDCG@10"]'))


def rr_and_recall(main: PullRequest) -> None:
    """The test gates RR and R@100; the worse ranker keeps R@100."""
    main.test(RR_AND_RECALL)


# --- renamed and moved -----------------------------------------------------------------------


@blocked("takes the place of", "RR 0.9375 -> 0.7125")
def test_a_renamed_test(branch: PullRequest) -> None:
    """The test is renamed, and a lower baseline is recorded for it."""
    branch.worsen_and_edit("test_mrr", "test_reciprocal_rank")
    branch.record_anew()


@blocked("takes the place of", "RR 0.9375 -> 0.7125")
def test_a_renamed_test_that_keeps_its_old_record(branch: PullRequest) -> None:
    """The test is renamed; its old record stays, and a lower one is recorded beside it."""
    branch.worsen_and_edit("test_mrr", "test_reciprocal_rank")
    assert branch.update().passed


@blocked("takes the place of", "RR 0.9375 -> 0.7125")
def test_a_moved_module(branch: PullRequest) -> None:
    """The test module is renamed, and a lower baseline is recorded for it."""
    branch.make_the_ranker_worse()
    branch.move(TEST, "tests/test_search.py")
    branch.record_anew()


@blocked("takes the place of", "RR 0.9375 -> 0.7125")
def test_a_moved_folder(branch: PullRequest) -> None:
    """The folder of the tests is moved, and a lower baseline is recorded."""
    branch.make_the_ranker_worse()
    branch.move("tests", "search/tests")
    branch.record_anew()


@blocked("takes the place of", "RR 0.9375 -> 0.7125", main=in_a_class)
def test_a_renamed_class(branch: PullRequest) -> None:
    """The class of the test is renamed, and a lower baseline is recorded."""
    branch.worsen_and_edit("TestSearch", "TestEngine")
    branch.record_anew()


@blocked("takes the place of", "RR 0.9375 -> 0.7125", main=parametrized)
def test_a_changed_parameter_id(branch: PullRequest) -> None:
    """The parameter gets another id, and a lower baseline is recorded."""
    branch.worsen_and_edit('["RR"]', '["RR"], ids=["first hit"]')
    branch.record_anew()


@blocked("takes the place of", "RR 0.9375 -> 0.7125")
def test_a_test_split_in_two(branch: PullRequest) -> None:
    """The test is split: one half of the queries each, with new baselines."""
    branch.make_the_ranker_worse()
    branch.test(
        "import pytest\nfrom pytest_rankcheck import assert_mrr_not_regressed, evaluate\n"
        '@pytest.mark.parametrize("half", [0, 1])\n'
        "def test_half(ranking_run, golden_set, baseline, half):\n"
        "    part = golden_set.subset(list(golden_set.query_ids)[half::2])\n"
        "    assert_mrr_not_regressed(evaluate(ranking_run, part), baseline, abs=0.01)\n"
    )
    branch.record_anew()


# --- not run ---------------------------------------------------------------------------------


@blocked("test_mrr", "its test is gone")
def test_a_deleted_test(branch: PullRequest) -> None:
    """The test is deleted; its module stays."""
    branch.make_the_ranker_worse()
    branch.test(AND_ANOTHER)


@blocked("test_mrr", "its test file is gone")
def test_a_deleted_module(branch: PullRequest) -> None:
    """The test module is deleted; its baselines stay."""
    branch.make_the_ranker_worse()
    branch.delete(TEST)
    branch.test(AND_ANOTHER, "tests/test_other.py")


@blocked("test_mrr", "its test file is gone")
def test_a_deleted_module_and_its_baselines(branch: PullRequest) -> None:
    """The test module is deleted along with its baselines."""
    branch.make_the_ranker_worse()
    branch.delete(TEST)
    branch.delete(BASELINES)
    branch.test(AND_ANOTHER, "tests/test_other.py")


def mark(branch: PullRequest, *lines: str) -> None:
    """Put lines before the test."""
    branch.worsen_and_edit(
        "\ndef test_mrr", "\n".join(["", "import pytest", *lines, "def test_mrr"])
    )


@blocked("its test was skipped: flaky")
def test_skip(branch: PullRequest) -> None:
    """The test is skipped."""
    mark(branch, '@pytest.mark.skip(reason="flaky")')


@blocked("its test was skipped: not on this machine")
def test_skipif(branch: PullRequest) -> None:
    """The test is skipped under a condition that always holds."""
    mark(branch, '@pytest.mark.skipif("True", reason="not on this machine")')


@blocked("its test was skipped: later")
def test_skip_in_the_body(branch: PullRequest) -> None:
    """The test skips itself before its assertion."""
    branch.worsen_and_edit(
        "    assert_mrr", '    import pytest; pytest.skip("later")\n    assert_mrr'
    )


@blocked("its test was skipped")
def test_skip_after_the_assertion(branch: PullRequest) -> None:
    """The test catches its failure and skips itself."""
    branch.worsen_and_edit("    assert_mrr", "    try: assert_mrr")
    branch.edit_test(
        "0.01)", '0.01)\n    except AssertionError:\n        __import__("pytest").skip("")'
    )


@blocked("its test is expected to fail (xfail): being looked at")
def test_xfail(branch: PullRequest) -> None:
    """The test is expected to fail."""
    mark(branch, '@pytest.mark.xfail(reason="being looked at")')


@blocked("its test is expected to fail (xfail)")
def test_a_strict_xfail(branch: PullRequest) -> None:
    """The test is expected to fail, strictly."""
    mark(branch, "@pytest.mark.xfail(strict=True)")


@blocked("its test was skipped: later")
def test_a_pytestmark(branch: PullRequest) -> None:
    """The whole module is skipped by its ``pytestmark``."""
    mark(branch, 'pytestmark = pytest.mark.skip(reason="later")')


@blocked("its test file skips itself")
def test_a_module_that_skips_itself(branch: PullRequest) -> None:
    """The module skips itself because a library is not installed."""
    mark(branch, 'pytest.importorskip("a_library_that_nobody_has")')


@blocked("test_mrr")
def test_an_empty_parameter_set(branch: PullRequest) -> None:
    """The test is parametrized with no values, so pytest skips it."""
    branch.worsen_and_edit(
        "\ndef test_mrr(", '\nimport pytest\n@pytest.mark.parametrize("x", [])\ndef test_mrr(x, '
    )


@blocked("test_mrr", "not collected")
def test_a_name_that_pytest_does_not_collect(branch: PullRequest) -> None:
    """The test is renamed to a name that pytest does not collect."""
    branch.worsen_and_edit("def test_mrr", "def check_mrr")


@blocked("TestSearch", "not collected", main=in_a_class)
def test_a_class_that_is_no_test(branch: PullRequest) -> None:
    """The class of the test is marked with ``__test__ = False``."""
    branch.worsen_and_edit("class TestSearch:\n", "class TestSearch:\n    __test__ = False\n")


@blocked("test_mrr", "deselected")
def test_a_conftest_that_deselects(branch: PullRequest) -> None:
    """A conftest removes the test from the collected ones."""
    branch.make_the_ranker_worse()
    branch.write(
        "tests/conftest.py",
        "def pytest_collection_modifyitems(config, items):\n"
        '    items[:] = [item for item in items if "mrr" not in item.name]\n',
    )


@blocked("test_mrr", "deselected")
def test_a_conftest_that_deselects_and_says_so(branch: PullRequest) -> None:
    """A conftest deselects the test and reports it as deselected, like ``-k``."""
    branch.make_the_ranker_worse()
    branch.write(
        "tests/conftest.py",
        "def pytest_collection_modifyitems(config, items):\n"
        "    config.hook.pytest_deselected(items=list(items))\n    items.clear()\n",
    )
    branch.test(AND_ANOTHER, "tests/other/test_other.py")


@blocked("test_mrr", "not collected")
def test_a_module_that_is_not_collected(branch: PullRequest) -> None:
    """A conftest excludes the module with ``collect_ignore``."""
    branch.make_the_ranker_worse()
    branch.write("tests/conftest.py", 'collect_ignore = ["test_ranking.py"]\n')
    branch.test(AND_ANOTHER, "tests/test_other.py")


@blocked("test_mrr", "not collected")
def test_other_test_paths(branch: PullRequest) -> None:
    """The configuration collects another folder."""
    branch.make_the_ranker_worse()
    branch.test(AND_ANOTHER, "other/test_other.py")
    branch.configure('testpaths = ["other"]')


@blocked("test_mrr", "not collected")
def test_other_file_names(branch: PullRequest) -> None:
    """The configuration collects files of another name."""
    branch.make_the_ranker_worse()
    branch.test(AND_ANOTHER, "tests/check_other.py")
    branch.configure('python_files = ["check_*.py"]')


@blocked("test_mrr", "deselected")
def test_deselected_in_addopts(branch: PullRequest) -> None:
    """The test is deselected in ``addopts`` by its id."""
    branch.make_the_ranker_worse()
    branch.test(AND_ANOTHER, "tests/test_other.py")
    branch.configure('addopts = ["--deselect=tests/test_ranking.py::test_mrr"]')


@blocked("test_mrr", "not collected")
def test_ignored_in_addopts(branch: PullRequest) -> None:
    """The module is ignored in ``addopts``."""
    branch.make_the_ranker_worse()
    branch.test(AND_ANOTHER, "tests/test_other.py")
    branch.configure('addopts = ["--ignore=tests/test_ranking.py"]')


@listed("test_mrr", "excluded by a marker in addopts")
def test_a_marker_that_addopts_excludes(branch: PullRequest) -> None:
    """The test gets a marker that ``addopts`` excludes."""
    mark(branch, "@pytest.mark.slow")
    branch.test("def test_other(evaluation):\n    pass\n", "tests/test_other.py")
    branch.configure('addopts = ["-m", "not slow"]', 'markers = ["slow: takes a while"]')


@blocked("test_mrr", "not collected")
def test_another_configuration_file(branch: PullRequest) -> None:
    """A pytest.ini takes precedence over the configuration and collects another folder."""
    branch.make_the_ranker_worse()
    branch.test(AND_ANOTHER, "other/test_other.py")
    branch.write("pytest.ini", "[pytest]\ntestpaths = other\n")


@blocked("test_mrr", "its test is gone")
def test_unrun_switched_off(branch: PullRequest) -> None:
    """The test is deleted, and the configuration ignores tests that did not run."""
    branch.make_the_ranker_worse()
    branch.test(AND_ANOTHER)
    branch.configure('rankcheck_unrun = "ignore"')


@blocked("test_mrr", "ended before its test")
def test_a_session_that_ends_early(branch: PullRequest) -> None:
    """Another test ends the test session with exit code 0 before the gate runs."""
    branch.make_the_ranker_worse()
    branch.test(
        "import pytest\ndef test_first(): pytest.exit('done', returncode=0)\n",
        "tests/test_a_first.py",
    )


# --- options that addopts gives --------------------------------------------------------------


def add_options(branch: PullRequest, *options: str) -> None:
    """Make the ranker worse, add another test, and options to ``addopts``."""
    branch.make_the_ranker_worse()
    branch.test(AND_ANOTHER, "tests/test_other.py")
    branch.configure(f"addopts = {list(options)}")


@blocked("test_mrr")
def test_a_path_in_addopts(branch: PullRequest) -> None:
    """``addopts`` names another test file, as if it were selected on the command line."""
    add_options(branch, "tests/test_other.py")


@blocked("test_mrr")
def test_a_keyword_in_addopts(branch: PullRequest) -> None:
    """``addopts`` deselects the test with ``-k``."""
    add_options(branch, "-k", "not mrr")


@blocked("--collect-only")
def test_collect_only_in_addopts(branch: PullRequest) -> None:
    """``addopts`` makes pytest collect only."""
    add_options(branch, "--collect-only")


@blocked("--help")
def test_help_in_addopts(branch: PullRequest) -> None:
    """``addopts`` makes pytest print its help."""
    add_options(branch, "--help")


@blocked("--version")
def test_version_in_addopts(branch: PullRequest) -> None:
    """``addopts`` makes pytest print its version."""
    add_options(branch, "--version")


@blocked("--fixtures")
def test_fixtures_in_addopts(branch: PullRequest) -> None:
    """``addopts`` makes pytest list the fixtures."""
    add_options(branch, "--fixtures")


@blocked("--setup-only")
def test_setup_only_in_addopts(branch: PullRequest) -> None:
    """``addopts`` makes pytest set up fixtures only."""
    add_options(branch, "--setup-only")


@blocked("--setup-plan")
def test_setup_plan_in_addopts(branch: PullRequest) -> None:
    """``addopts`` makes pytest show a plan only."""
    add_options(branch, "--setup-plan")


@blocked("test_mrr")
def test_another_root_in_addopts(branch: PullRequest) -> None:
    """``addopts`` changes the root directory to a folder without tests of the ranker."""
    add_options(branch, "--rootdir=other", "--override-ini=testpaths=other")
    branch.test(AND_ANOTHER, "other/test_another.py")


@blocked("test_mrr")
def test_unrun_switched_off_in_addopts(branch: PullRequest) -> None:
    """The test is deleted, and ``addopts`` overrides the configuration to ignore that."""
    add_options(branch, "--override-ini=rankcheck_unrun=ignore")
    branch.delete(TEST)


@blocked("--rankcheck-baseline-ref")
def test_a_plugin_that_is_blocked(branch: PullRequest) -> None:
    """``addopts`` switches off the plugin."""
    add_options(branch, "-p", "no:rankcheck", "-p", "no:pytest_rankcheck")


@blocked("test_mrr")
def test_a_loop_that_runs_nothing(branch: PullRequest) -> None:
    """A conftest replaces the loop that runs the tests."""
    branch.make_the_ranker_worse()
    branch.write("conftest.py", "def pytest_runtestloop(session):\n    return True\n")


@blocked("test_mrr")
def test_a_protocol_that_runs_nothing(branch: PullRequest) -> None:
    """A conftest replaces the protocol that runs a test."""
    branch.make_the_ranker_worse()
    branch.write("conftest.py", "def pytest_runtest_protocol(item):\n    return True\n")


@blocked("test_mrr")
def test_a_call_that_does_nothing(branch: PullRequest) -> None:
    """A conftest replaces the call of test functions."""
    branch.make_the_ranker_worse()
    branch.write("conftest.py", "def pytest_pyfunc_call(pyfuncitem):\n    return True\n")


@blocked("test_last_ten", main=two_tests)
def test_two_tests_replaced_by_one(branch: PullRequest) -> None:
    """One test is renamed, another deleted; the new record takes the place of one of them."""
    branch.edit_test("test_mrr", "test_reciprocal_rank")
    branch.test(AND_ANOTHER, "tests/test_other.py")
    branch.record_anew()


@blocked("test_metric-nDCG", main=two_parameters)
def test_a_parameter_removed(branch: PullRequest) -> None:
    """One of two parameters of the test is removed."""
    branch.worsen_and_edit(', "nDCG@10"', "")


# --- the test does less ----------------------------------------------------------------------


@blocked("test_mrr", "did not compare")
def test_an_assertion_removed(branch: PullRequest) -> None:
    """The assertion is removed; the test still uses its baseline."""
    branch.worsen_and_edit(
        "assert_mrr_not_regressed(evaluation, baseline, abs=0.01)", "assert baseline"
    )


@blocked("test_mrr", "did not compare")
def test_a_fixed_bound_instead(branch: PullRequest) -> None:
    """The comparison with the baseline becomes a low fixed bound."""
    branch.make_the_ranker_worse()
    branch.test(
        "from pytest_rankcheck import assert_mrr_at_least\n"
        "def test_mrr(evaluation):\n    assert_mrr_at_least(evaluation, 0.5)\n"
    )


@blocked("test_mrr", "did not compare")
def test_a_failure_that_is_caught(branch: PullRequest) -> None:
    """The test catches the failure of its gate."""
    branch.worsen_and_edit("    assert_mrr", "    try: assert_mrr")
    branch.edit_test("0.01)", "0.01)\n    except AssertionError: pass")


@blocked("test_mrr", "did not compare")
def test_a_failure_that_is_expected(branch: PullRequest) -> None:
    """The test expects its gate to fail, with ``pytest.raises``."""
    branch.worsen_and_edit(
        "    assert_mrr", "    with __import__('pytest').raises(AssertionError): assert_mrr"
    )


@blocked("RR is no longer gated", main=rr_and_recall)
def test_a_metric_that_is_no_longer_gated(branch: PullRequest) -> None:
    """The metric that fell is no longer gated; the other one still is."""
    branch.worsen_and_edit("    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)\n", "")


@blocked("without a reason", "no longer gated", main=rr_and_recall)
def test_a_metric_that_is_no_longer_gated_recorded_anew(branch: PullRequest) -> None:
    """The metric that fell is no longer gated, and the baseline is recorded anew."""
    branch.worsen_and_edit("    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)\n", "")
    branch.record_anew()


@blocked("without a reason", "no longer gated")
def test_an_easier_metric(branch: PullRequest) -> None:
    """RR is replaced by R@100, which the worse ranker keeps, and the baseline is recorded anew."""
    branch.make_the_ranker_worse()
    branch.test(RR_AND_RECALL.replace("test_metrics", "test_mrr"))
    branch.edit_test("    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)\n", "")
    branch.record_anew()


def ndcg(main: PullRequest) -> None:
    """The test gates nDCG@10."""
    main.test(
        "from pytest_rankcheck import assert_ndcg_not_regressed\n\n"
        "def test_ndcg(evaluation, baseline):\n"
        "    assert_ndcg_not_regressed(evaluation, baseline, k=10, abs=0.01)\n"
    )


@blocked("without a reason", "no longer gated", main=ndcg)
def test_a_larger_cutoff(branch: PullRequest) -> None:
    """nDCG@10 becomes nDCG@100, which forgives more, and the baseline is recorded anew."""
    branch.worsen_and_edit("k=10", "k=100")
    branch.record_anew()


@blocked("test_mrr", "did not compare")
def test_a_baseline_fixture_of_its_own(branch: PullRequest) -> None:
    """A conftest replaces the baseline by the evaluation itself."""
    branch.make_the_ranker_worse()
    branch.write(
        "tests/conftest.py",
        "import pytest\n@pytest.fixture\ndef baseline(evaluation):\n    return evaluation\n",
    )


@listed("suspicious")
def test_a_ranker_that_reads_the_judgments(branch: PullRequest) -> None:
    """A conftest replaces the ranker by one that reads the judgments."""
    branch.make_the_ranker_worse()
    branch.write(
        "tests/conftest.py",
        "import pytest\n"
        '@pytest.fixture(scope="session")\n'
        "def ranker(golden_set):\n"
        "    return lambda text: [f'doc of {text}']\n",
    )


def declared_index(main: PullRequest) -> None:
    """The project declares its index as what it ranks with."""
    main.test()
    main.write("index/stats.json", "built on Monday")
    main.configure('rankcheck_world = ["index/stats.json"]')


@blocked("RR regressed", "index/stats.json changed since the baseline", main=declared_index)
def test_another_index(branch: PullRequest) -> None:
    """The index is built anew, and ranks worse; the message says that it changed."""
    branch.make_the_ranker_worse()
    branch.write("index/stats.json", "built on Friday")


@blocked("RR regressed", "the fixture rankcheck_world failed", main=declared_index)
def test_a_world_that_skips(branch: PullRequest) -> None:
    """A `rankcheck_world` fixture, which is used when a gate fails, skips the test."""
    branch.make_the_ranker_worse()
    branch.write(
        "tests/conftest.py",
        "import pytest\n"
        '@pytest.fixture(scope="session")\n'
        "def rankcheck_world():\n"
        '    pytest.skip("no index")\n',
    )


OWN_METRIC = '''
from pytest_rankcheck import metric
import numpy as np

@metric("FirstHit", at=None)
def first_hit(hits, cutoff):
    """One divided by the rank of the first relevant document."""
    return np.where(hits.grades > 0, 1 / hits.ranks, 0).max(axis=1)
'''


def own_metric(main: PullRequest) -> None:
    """The test gates a metric that the project defines."""
    main.write("tests/conftest.py", OWN_METRIC)
    main.test(
        "from pytest_rankcheck import assert_not_regressed\n\n"
        "def test_own(evaluation, baseline):\n"
        '    assert_not_regressed(evaluation, baseline, "FirstHit", abs=0.01)\n'
    )


@listed("suspicious", "FirstHit is perfect now", main=own_metric)
def test_a_metric_that_is_always_perfect(branch: PullRequest) -> None:
    """A metric of the project's own is changed to return 1."""
    branch.make_the_ranker_worse()
    branch.edit("tests/conftest.py", "1 / hits.ranks, 0).max", "1, 0).max")


@listed("the rankings were read from old.csv; the ranker was not called")
def test_rankings_of_the_old_ranker(branch: PullRequest) -> None:
    """``addopts`` reads the rankings of the old ranker from a file."""
    branch.make_the_ranker_worse()
    rows = [f"q{query:03},doc of query {query},1\n" for query in range(80)]
    branch.write("old.csv", "query_id,doc_id,rank\n" + "".join(rows))
    branch.configure('addopts = ["--rankcheck-run=old.csv"]')


@blocked("test_mrr", "did not compare")
def test_a_report_that_is_turned_round(branch: PullRequest) -> None:
    """A conftest turns the report of a failed test into that of a passed one."""
    branch.make_the_ranker_worse()
    branch.write(
        "conftest.py",
        "import pytest\n\n@pytest.hookimpl(wrapper=True, tryfirst=True)\n"
        "def pytest_runtest_makereport(item, call):\n"
        "    report = yield\n    report.outcome = 'passed'\n    return report\n",
    )
