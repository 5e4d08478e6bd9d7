"""The table of attempts: what a branch does, what CI or an update makes of it, and what is said."""

from project import REGRESSION_TEST, SHARDS
from pull_request import FALLEN, Main, PullRequest, one_gate
from steps import (
    OTHER_TEST,
    TEST,
    Step,
    addopts,
    anew,
    approve,
    byte_order_mark,
    checkout_of_the_merge,
    cherry_pick,
    ci_runs,
    commit_to_main,
    configure,
    criss_cross,
    cut_history,
    delete,
    drop,
    edit,
    forget,
    golden,
    large_files,
    link,
    log,
    lower,
    main_moves_on,
    mark,
    merge,
    move,
    new_test,
    on_main,
    queries,
    rank,
    record,
    remote_main,
    retire,
    set_keys,
    set_metric,
    squash,
    step_wise,
    submodule,
    tag_main,
    update,
    windows_line_ends,
    worse,
    write,
)


class Attempt:
    """A way to get a worse ranker merged, or everyday work, and what must become of it.

    Args:
        steps: what the branch does.
        outcome: ``blocked`` or ``passes`` in CI; ``listed`` in it and in all reports; ``refused``
            or ``kept`` by an update, which changes no file.
        causes: what is said.
        main: what is on main.
    """

    def __init__(
        self, steps: tuple[Step, ...], outcome: str, *causes: str, main: Main = one_gate
    ) -> None:
        self.steps, self.outcome, self.causes, self.main = steps, outcome, causes, main


# --- what is on main -------------------------------------------------------------------------


def gated(lines: str, imports: str = "assert_not_regressed, Gate", name: str = "test_mrr") -> str:
    """Return a test module of one test."""
    return (
        f"from pytest_rankcheck import {imports}\n\n"
        f"def {name}(evaluation, baseline):\n    {lines}\n"
    )


RR = 'assert_not_regressed(evaluation, baseline, "RR", abs=0.01)'
LAX = """assert_not_regressed, Gate
from pytest_rankcheck import Outcome
from pytest_rankcheck.gates.decision_rules import ToleranceRule

class Lax(ToleranceRule):
    def outcome(self, values, evidence):
        return Outcome.EQUAL
"""
RECALL = 'assert_not_regressed(evaluation, baseline, "R@100", abs=0.01)'
BY_LOCALE = gated('assert_not_regressed(evaluation, baseline, "RR", abs=0.3, by="locale")')
CONFIGURED = gated('assert_not_regressed(evaluation, baseline, "RR")')
FAILS = (
    "    rank = ranks.get(text, 1)",
    "    rank = ranks.get(text, 1) if int(text.split()[1]) >= 20 else 1 / 0",
)
"""The ranker fails on the queries that the worse one gets wrong."""
MORE, GATES = "tests/test_more.py", "gates/test_ranking.py"
CI_CONFIGURATION = """[pytest]
pythonpath = ..
rankcheck_golden = ../golden/web.jsonl
rankcheck_ranker = engine:search
"""
RANKINGS = (
    "from pytest_rankcheck import assert_ranking_stable\n\n"
    "def test_same(ranking_run, baseline):\n"
    "    assert_ranking_stable(ranking_run, baseline, min_rbo=0.85)\n"
)


def two_metrics(main: PullRequest) -> None:
    """The test gates RR and R@100, which the worse ranker keeps."""
    main.test(gated(f"{RR}\n    {RECALL}"))


def marked(main: PullRequest) -> None:
    """The tests that are marked as slow are left out; one test is not."""
    main.test(f"{REGRESSION_TEST}\nimport pytest\n\n@pytest.mark.slow\n{OTHER_TEST.strip()}\n")
    main.configure('addopts = ["-m", "not slow"]', 'markers = ["slow"]')


def two_modules(main: PullRequest) -> None:
    """A gate in each of two modules."""
    main.test()
    main.test(path=MORE)


def slow(main: PullRequest) -> None:
    """A gate that is marked as slow, and another one."""
    two_modules(main)
    mark("@pytest.mark.slow")(main)
    main.configure('markers = ["slow"]')


def two_rankers(main: PullRequest) -> None:
    """A test of two rankers."""
    main.test()
    mark('@pytest.mark.parametrize("model", ["small", "large"])')(main)
    main.edit(TEST, "(evaluation, baseline)", "(evaluation, baseline, model)")


def in_package(main: PullRequest) -> None:
    """The tests are a package."""
    main.write("gates/__init__.py", "")
    main.test(path=GATES)


def linked(main: PullRequest) -> None:
    """The folder of the tests is a link."""
    main.test()
    link("tests", "search/tests")(main)


def monorepo(main: PullRequest) -> None:
    """Two projects with their own configuration, whose root is pytest's."""
    for name in ("news", "shop"):
        main.test(path=f"{name}/tests/test_{name}.py")
        main.write(f"{name}/pytest.ini", CI_CONFIGURATION)


def by_locale(main: PullRequest) -> None:
    """RR is gated on each locale, with a tolerance of 0.3; English falls by 0.45."""
    main.test(BY_LOCALE)


def significant(main: PullRequest) -> None:
    """RR must not fall significantly."""
    main.test(gated('assert_not_regressed(evaluation, baseline, "RR", gate=Gate.significant())'))


def configured(main: PullRequest) -> None:
    """The gate is in the configuration: RR may fall by 0.01; inconclusive results fail."""
    main.test(CONFIGURED)
    main.configure('rankcheck_gate = "tolerance(abs=0.01)"', 'rankcheck_inconclusive = "fail"')


def noninferior(main: PullRequest) -> None:
    """RR must not be inferior by 0.02, and no query may fall by more than 0.95."""
    main.test(CONFIGURED.replace('"RR")', '"RR", gate=Gate.noninferior(0.02))'))
    main.configure('rankcheck_inconclusive = "fail"')


def flaky(main: PullRequest) -> None:
    """The ranker may fail on two queries."""
    main.test()
    main.configure('rankcheck_failures = "2"')


def stable(main: PullRequest) -> None:
    """The rankings of all queries must have RBO of at least 0.85."""
    main.test(RANKINGS)


def approved_once(main: PullRequest) -> None:
    """A fall of the first query is approved."""
    main.test()
    update(main)
    rank({0: 10})(main)
    main.approve("a faster index")


def traded_once(main: PullRequest) -> None:
    """R@100 fell for a gain of RR, which was approved."""
    two_metrics(main)
    update(main)
    rank({0: None, **dict.fromkeys(range(70, 80), 1)})(main)
    main.approve("fewer typing errors")


def two_golden_sets(main: PullRequest) -> None:
    """A golden set in English, and one in German."""
    web = main.lines
    main.golden(web[40:], "german")
    main.golden(web[:40], "english")
    main.configure('rankcheck_golden = ["golden/english.jsonl", "golden/german.jsonl"]')
    main.test()


def first_rank(main: PullRequest) -> None:
    """The mean rank of the first relevant document, where there is one."""
    main.test(gated(RR.replace("RR", "FirstRank(missing=omit)")))


def sessions(main: PullRequest) -> None:
    """All 60 users select the first result."""
    main.write(
        "pyproject.toml",
        '[tool.pytest.ini_options]\nrankcheck_sessions = "logs/week.jsonl"\n'
        'rankcheck_session_reading = ["first_rank=1", "selections_where=all"]\n',
    )
    text = gated(RR.replace("RR", "SessionRR(abandoned=exclude)"))
    main.test(text.replace("(evaluation", "(session_evaluation"))
    log(*[1] * 60, week=1, group="AB")(main)


def rename_with_its_record(branch: PullRequest) -> None:
    """Rename the test, move its baseline along, and widen the tolerance."""
    edit("def test_mrr", "def test_quality")(branch)
    edit("abs=0.01", "abs=0.5")(branch)
    path = branch.record_path
    branch.edit_record(lambda entry: entry.update(test="test_quality"))
    branch.move(path, path.replace("test_mrr", "test_quality"))


def cut_short(branch: PullRequest) -> None:
    """Cut a record short."""
    text = (branch.path / branch.record_path).read_text("utf-8")
    branch.write(branch.record_path, text[:200])


def edit_clumsily(branch: PullRequest) -> None:
    """Lower a value in a record, without a new digest."""
    branch.edit(branch.record_path, '"RR": 1.0', '"RR": 0.1')


def second_golden_set(branch: PullRequest) -> None:
    """Configure a second golden set, which changes the ids of the tests."""
    branch.golden(branch.lines[40:], "shop")
    branch.configure('rankcheck_golden = ["golden/web.jsonl", "golden/shop.jsonl"]')


MIXED_LABELS = queries(range(80), lambda line: {"locale": "ab"[int(line["query_id"][1:]) % 2]})
SPREAD = rank({**dict.fromkeys(range(70, 74), 1), **dict.fromkeys((*range(4), *range(40, 47)), 2)})
"""11 queries fall and 4 rise: p = 0.038, and above 0.05 as one of three decisions."""
LOSES_FOUR = rank(dict.fromkeys(range(4), None))
NO_TEST = new_test("def test_nothing():\n    pass\n", "tests/test_other.py")
RENAMED_SET = (
    move("golden/web.jsonl", "golden/site.jsonl"),
    configure('rankcheck_golden = "golden/site.jsonl"'),
)
RENAMED = edit("test_mrr", "test_reciprocal_rank")
FLATTERING = queries(FALLEN, lambda line: {"relevance": {"filler-0": 2}})
NEW_IDS = queries(range(80), lambda line: {"query_id": f"new-{line['query_id']}"})
SMALL = rank({0: 2})
NO_GATE = new_test(OTHER_TEST)
LOOSENED = approve("one job for each market", "--rankcheck-baseline-ref=main")
LINKED = link("tests/baselines", "kept/baselines")
CONFTEST = "tests/conftest.py"
OF_CI = (write("ci/pytest.ini", CI_CONFIGURATION), ci_runs("-c", "ci/pytest.ini", "tests"))
"""CI has a configuration of its own, so that pytest's root is its folder."""
NEW_GATE = (new_test(REGRESSION_TEST, MORE), update)
BETTER, BEST = rank({79: 1}), rank({78: 1, 79: 1})
REMOTE = "--rankcheck-baseline-ref=origin/main"
DESELECTED = "its test was deselected, and not on the command line"
OTHER_CHOSEN = configure('addopts = ["tests/test_ranking.py::test_other"]')
DESELECTS = (
    "def pytest_collection_modifyitems(config, items):\n"
    '    items[:] = [item for item in items if "mrr" not in item.name]\n'
)
NO_REFERENCE = """
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.option.rankcheck_baseline_ref = None
"""
COLLECTS_ONLY = NO_REFERENCE.replace("rankcheck_baseline_ref = None", "collectonly = True")
NO_TESTS_PASS = """
def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 5:
        session.exitstatus = 0
"""
OTHER_REPOSITORY = """
import os, subprocess
from pathlib import Path

top = Path(__file__).parent.parent
(top / "other").mkdir()
os.environ["GIT_DIR"] = str(top / "other" / ".git")
os.environ["GIT_WORK_TREE"] = str(top)
for command in ("init -q -b main", "add -A", "-c user.name=A -c user.email=a@b.c commit -qm all"):
    subprocess.run(["git", *command.split()], cwd=top, check=True)
"""
SHARDED = (
    # As good as installed: it is in a folder of this name.
    write("site-packages/shards.py", SHARDS),
    write(
        "conftest.py", 'import sys\nsys.path.insert(0, "site-packages")\npytest_plugins = "shards"'
    ),
)
B, P, R, K, L = "blocked", "passes", "refused", "kept", "listed"

ATTEMPTS = {
    # An update is used to lower the record.
    "the baseline is updated with the worse ranker": Attempt((worse,), R, "RR regressed"),
    "a fall inside the tolerance is recorded by an update": Attempt((SMALL,), K, "RR"),
    "falls inside the tolerance, a pull request each": Attempt(
        (SMALL, update, merge, rank({0: 2, 1: 2})), B, "RR regressed"
    ),
    "one metric gets better and another worse, and the baseline is updated": Attempt(
        (rank(dict.fromkeys(range(70, 80), 1)), rank(dict.fromkeys(range(5)))),
        R,
        "R@100",
        main=two_metrics,
    ),
    "`addopts` updates the baselines in CI": Attempt(
        (worse, configure('addopts = ["--snapshot-update"]')), B, "RR regressed"
    ),
    "`addopts` names the branch itself as the reference": Attempt(
        (worse, anew, configure('addopts = ["--rankcheck-baseline-ref=HEAD"]')), B, "RR regressed"
    ),
    "a tag of the branch has the name of the reference": Attempt(
        (worse, anew, tag_main), B, "main"
    ),
    "difficult queries find nothing, and do not count": Attempt(
        (rank(dict.fromkeys(range(10, 80))),), R, "counted", main=first_rank
    ),
    "two groups become the only independent units, so that a fall is not significant": Attempt(
        (log(*[2] * 60, group="AB"), configure('rankcheck_session_clusters = "group"')),
        R,
        "clusters: none in the baseline, group now",
        main=sessions,
    ),
    "a test that fails after its gate writes a better record": Attempt(
        (rank({79: 1}), edit("abs=0.01)", 'abs=0.01)\n    raise ValueError("later")')), R, "later"
    ),
    "a test that is expected to fail passes, and writes": Attempt(
        (rank({79: 1}), mark("@pytest.mark.xfail")), K, "xpassed"
    ),
    # The golden set is edited.
    "the queries that fell are dropped, and the baseline is recorded anew": Attempt(
        (worse, drop(FALLEN), anew), B, "20 of 80 queries"
    ),
    "all queries get new ids": Attempt((worse, NEW_IDS, anew), B, "without an unchanged query"),
    "what the worse ranker finds is judged relevant": Attempt(
        (worse, FLATTERING, anew), B, "20 of 80 queries"
    ),
    "720 easy queries are added, so that the mean rises": Attempt(
        (worse, golden(800), anew), B, "RR"
    ),
    "the golden set is renamed": Attempt((worse, *RENAMED_SET, anew), B, "its test"),
    "a second golden set changes the ids of the tests": Attempt(
        (worse, second_golden_set, anew), B, "RR regressed"
    ),
    "one of two golden sets is no longer configured": Attempt(
        (worse, configure('rankcheck_golden = ["golden/german.jsonl"]')),
        B,
        "english",
        main=two_golden_sets,
    ),
    "another convention, so that nothing can be compared": Attempt(
        (worse, configure('rankcheck_conventions = ["no_relevant=exclude"]'), anew),
        B,
        "no_relevant: 'zero' in the baseline",
    ),
    # The record is edited, replaced or removed.
    "the baseline is deleted and recorded anew": Attempt((worse, anew), B, "RR regressed"),
    "the baseline is deleted in a pull request of its own": Attempt(
        (forget,), B, "this branch has deleted its baseline"
    ),
    "the record is lowered by hand, before the ranker gets worse": Attempt(
        (record(lower),), B, "RR 0.9375 -> 0.7125"
    ),
    "the gates in the test and in the record are loosened by hand": Attempt(
        (edit("abs=0.01", "abs=0.5"), record(set_metric(gate="tolerance(abs=0.5)"))),
        B,
        "the gate of RR was tolerance(abs=0.01",
    ),
    "the reason of an earlier approval is rewritten": Attempt(
        (record(lambda e: e["approvals"][0].update(reason="it was fine")),),
        B,
        "the earlier approvals differ",
        main=approved_once,
    ),
    "the approval is of another metric": Attempt(
        (worse, approve(), record(set_keys({"fall:nDCG@10": {"from": 0.9, "to": 0.8}}))),
        B,
        "RR regressed",
    ),
    "an approved tolerance of 0.02 becomes 0.9 in the next pull request": Attempt(
        (edit("0.01", "0.02"), approve("noisier"), merge, edit("0.02", "0.9"), worse), B, "RR"
    ),
    "`tests/baselines` becomes a symbolic link to lower records": Attempt(
        (worse, anew, LINKED), B, "behind a symbolic link", "git checkout main -- tests/baselines"
    ),
    "`tests/baselines` becomes a symbolic link, and the gate is deleted": Attempt(
        (LINKED, NO_GATE), B, "its test is gone"
    ),
    "`tests/baselines` becomes a submodule of lower records": Attempt(
        (worse, anew, submodule), B, "test_mrr--web.json is not in"
    ),
    "`tests/baselines` is a link on main, too": Attempt(
        (LINKED, commit_to_main, worse, delete("tests/baselines"), update),
        B,
        "tests/baselines is a symbolic link at main",
    ),
    "records are in Git LFS on main": Attempt(
        (large_files, commit_to_main, worse, anew), B, "a Git LFS pointer"
    ),
    "records are in Git LFS on main, and the gate is deleted": Attempt(
        (large_files, commit_to_main, forget, NO_GATE), B, "its test is gone"
    ),
    "the gate and its record are deleted in a shallow clone": Attempt(
        (forget, NO_GATE, cut_history), B, "fetch-depth: 0"
    ),
    "a new gate is deleted after main and the branch were merged into each other": Attempt(
        (on_main(*NEW_GATE), criss_cross, delete(MORE, "tests/baselines/test_more")),
        B,
        "its test file is gone",
    ),
    "a branch has the name of the remote's": Attempt(
        (worse, anew, remote_main, ci_runs(REMOTE)),
        B,
        "write refs/heads/origin/main or refs/remotes",
    ),
    "main was raised since, and the branch records less": Attempt(
        (BETTER, update, on_main(BEST, update), BETTER),
        B,
        "the reference has changed its baseline since",
        "git merge main",
    ),
    "the branch was squash-merged, main was raised since, and the branch goes on": Attempt(
        (BETTER, update, squash, on_main(BEST, update), worse), B, "git merge main"
    ),
    "a conftest sets `GIT_DIR` to a repository of its own": Attempt(
        (worse, anew, write(CONFTEST, OTHER_REPOSITORY)), B, "RR regressed"
    ),
    "a conftest clears the option that names the reference": Attempt(
        (worse, anew, write(CONFTEST, NO_REFERENCE)), B, "RR regressed"
    ),
    "the record is cut short": Attempt((cut_short,), B, "was cut short"),
    "the record is edited without a new digest": Attempt((edit_clumsily,), B, "edited by hand"),
    "the record of a test that still runs is retired": Attempt(
        (worse, retire("no search any more")), B, "RR regressed"
    ),
    # The gate is loosened, or can never fail.
    "a rule of the project's own is called like the recorded gate": Attempt(
        (worse, new_test(gated(RR.replace("abs=0.01", "gate=Gate(Lax(abs=0.01))"), LAX))),
        B,
        "Lax prints as tolerance(abs=0.01, rel=0), which is another gate",
    ),
    "the tolerance goes from 0.01 to 0.5": Attempt(
        (worse, edit("0.01", "0.5")), B, "passes only with a looser gate: RR", "tolerance(abs=0.01"
    ),
    "the tolerance is widened in one pull request, and the ranker follows in the next": Attempt(
        (edit("0.01", "0.5"), update, merge, worse), B, "RR"
    ),
    "the slices that fell are no longer gated": Attempt(
        (worse, edit(', by="locale"', "")), B, "locale", main=by_locale
    ),
    "the labels of all queries are mixed, so that no slice falls by much": Attempt(
        (worse, MIXED_LABELS), B, "RR regressed in locale=en", main=by_locale
    ),
    "the labels of all queries are mixed, and the ranker follows in the next pull request": Attempt(
        (MIXED_LABELS, anew), B, "80 queries lost a label", main=by_locale
    ),
    "each query gets a further label, so that no slice falls by much": Attempt(
        (worse, queries(range(80), lambda line: {"locale": ["de", "en"]})),
        B,
        "RR regressed in locale=en",
        main=by_locale,
    ),
    "four of 80 queries lose their only answer, which no test of a mean can show": Attempt(
        (LOSES_FOUR,), B, "4 of 80 queries lost every relevant document", main=significant
    ),
    "the gate no longer looks for lost answers": Attempt(
        (LOSES_FOUR, edit("significant()", "significant(lost_answers=0)")),
        B,
        "passes only with a looser gate",
        main=significant,
    ),
    "an update keeps no documents, and the answers are lost in the next pull request": Attempt(
        (configure('rankcheck_kept_depth = "0"'), BETTER, update, commit_to_main, LOSES_FOUR),
        B,
        "4 of 80 queries lost every relevant document",
        main=significant,
    ),
    "lost answers are approved with a reason": Attempt(
        (LOSES_FOUR, approve("no longer sold")), P, main=significant
    ),
    "more slices are gated, so that the fall is no longer significant": Attempt(
        (SPREAD, edit("Gate.significant())", 'Gate.significant(), by="locale")')),
        B,
        "decided with the metrics, slices, labels and replicates of the baseline",
        main=significant,
    ),
    "inconclusive results pass": Attempt(
        (rank({0: 10}), configure('rankcheck_inconclusive = "pass"')),
        B,
        "inconclusive",
        main=noninferior,
    ),
    '`rankcheck_unrun = "ignore"`, and the gate is deleted in the next pull request': Attempt(
        (configure('rankcheck_unrun = "ignore"'), merge, NO_GATE), B, "its test is gone"
    ),
    "the ranker fails on the queries that it is bad at, and `rankcheck_failures` is raised": Attempt(
        (edit(*FAILS, "engine.py"), configure('rankcheck_failures = "25%"')),
        B,
        "the ranker failed on 20 of 80 queries",
    ),
    "`rankcheck_failures` is raised, and the ranker follows in the next pull request": Attempt(
        (configure('rankcheck_failures = "25%"'), update, merge, edit(*FAILS, "engine.py")),
        B,
        "the ranker failed on 20 of 80 queries",
        "the baseline allows 2",
        main=flaky,
    ),
    "the ranker fails on as many queries as may, and is worse on others": Attempt(
        (worse, edit(*FAILS, "engine.py"), edit(">= 20", ">= 2", "engine.py")),
        B,
        "RR regressed",
        "q000 (failed: ",
        main=flaky,
    ),
    "the rankings are limited less": Attempt(
        (worse, edit("0.85", "0.1")),
        B,
        "pass only with limits other than",
        "min_rbo=0.85",
        main=stable,
    ),
    # The test is changed, renamed, moved or not run.
    "the test is renamed, and a lower baseline recorded": Attempt(
        (worse, RENAMED, anew), B, "its test is gone", "would take its place: RR 0.9375 -> 0.7125"
    ),
    "the test and its record are renamed, and the tolerance widened": Attempt(
        (worse, rename_with_its_record), B, "looser gate"
    ),
    "one new test takes the place of two": Attempt(
        (delete(MORE), RENAMED, update), B, "its test is gone", main=two_modules
    ),
    "the test is deleted": Attempt((worse, new_test(OTHER_TEST)), B, "its test is gone"),
    "the test file is deleted with its baselines": Attempt(
        (worse, delete(TEST, "tests/baselines"), NO_TEST), B, "its test file is gone"
    ),
    "the test is skipped": Attempt(
        (worse, mark('@pytest.mark.skip(reason="flaky")')), B, "its test was skipped: flaky"
    ),
    "the test is expected to fail": Attempt(
        (worse, mark("@pytest.mark.xfail")), B, "its test is expected to fail"
    ),
    "a conftest deselects the test": Attempt((worse, write(CONFTEST, DESELECTS)), B, DESELECTED),
    "other `testpaths`": Attempt(
        (worse, new_test(OTHER_TEST, "other/test_other.py"), configure('testpaths = ["other"]')),
        B,
        "was not collected",
    ),
    "`addopts` deselects the test with `-k`": Attempt(
        (worse, addopts("-k", "not mrr")), B, "test_mrr"
    ),
    "`addopts` chooses another test of the same file": Attempt(
        (worse, edit("\ndef test", f"{OTHER_TEST}\ndef test"), OTHER_CHOSEN), B, "its test is gone"
    ),
    "`addopts` has `-m slow`, where that of main has `-m 'not slow'`": Attempt(
        (worse, configure('addopts = ["-m", "slow"]')), B, DESELECTED, main=marked
    ),
    "`addopts` has `--sw`, with a committed cache that is past the test": Attempt(
        (worse, step_wise), B, DESELECTED
    ),
    "`addopts` has an option of an installed plugin that deselects the test": Attempt(
        (worse, *SHARDED, addopts("--shard=2")), B, DESELECTED
    ),
    "a conftest lets a session without tests pass, and the test is not collected": Attempt(
        (worse, write(CONFTEST, NO_TESTS_PASS), edit("def test_mrr", "def check_mrr")),
        B,
        "its test is gone",
    ),
    "a conftest lets pytest collect only": Attempt(
        (worse, write(CONFTEST, COLLECTS_ONLY)), B, "ended before its test"
    ),
    "`addopts` collects only": Attempt((worse, addopts("--collect-only")), B, "collectonly"),
    "`addopts` switches off the plugin": Attempt(
        (worse, addopts("-p", "no:rankcheck", "-p", "no:pytest_rankcheck")),
        B,
        "--rankcheck-baseline-ref",
    ),
    "`addopts` ignores the file of the test": Attempt(
        (worse, addopts("--ignore=tests/test_ranking.py")), B, "was not collected"
    ),
    "`addopts` switches off a part of the plugin": Attempt(
        (worse, NO_GATE, configure('addopts = ["-p", "no:rankcheck-summary"]')),
        B,
        "its test is gone",
    ),
    "CI names the files of tests, and that of a gate is deleted": Attempt(
        (worse, delete(TEST), ci_runs(MORE)), B, "its test file is gone", main=two_modules
    ),
    "CI names a package of tests, and a gate is skipped": Attempt(
        (
            worse,
            edit("\ndef test", "\nimport pytest\n\n@pytest.mark.skip\ndef test", GATES),
            ci_runs("--pyargs", "gates.test_ranking"),
        ),
        B,
        "its test was skipped",
        main=in_package,
    ),
    "CI has a configuration in another folder, and the test is deleted": Attempt(
        (worse, *OF_CI, NO_GATE), B, "its test is gone"
    ),
    "CI has a configuration in another folder, and the ranker is worse": Attempt(
        (worse, *OF_CI),
        B,
        "pytest tests/test_ranking.py::test_mrr --config-file=ci/pytest.ini --rank",
    ),
    "a test of another ranker takes the place of one that fails": Attempt(
        (worse, edit('"large"', '"tiny"'), anew), B, "test_mrr-large", main=two_rankers
    ),
    "the folder of the tests is a link, and the test is deleted": Attempt(
        (worse, NO_GATE), B, "its test is gone", main=linked
    ),
    "the folder of the tests becomes a link to lower records": Attempt(
        (worse, anew, link("tests", "search/tests")), B, "its test file is gone"
    ),
    "gates that did not run are ignored, and the test is deleted": Attempt(
        (worse, new_test(OTHER_TEST), configure('rankcheck_unrun = "ignore"')),
        B,
        "its test is gone",
    ),
    "the test catches the failure of its gate": Attempt(
        (
            worse,
            edit("    assert_mrr", "    try: assert_mrr"),
            edit("0.01)", "0.01)\n    except AssertionError: pass"),
        ),
        B,
        "its gate failed, and its test went on",
    ),
    "the metric that fell is no longer gated": Attempt(
        (worse, edit(f"    {RR}\n", "")), B, "RR is no longer gated", main=two_metrics
    ),
    # Seen by the reviewer.
    "a reason says that queries were removed, and approves two falls": Attempt(
        (drop(range(70, 80)), rank(dict.fromkeys(FALLEN)), approve("removed 10 bad queries")),
        L,
        "removed 10 bad queries",
        "1.0000 -> 0.7143, RR 1.0000 -> 0.7143, 10 of 80",
        main=two_metrics,
    ),
    "the fall is approved": Attempt(
        (worse, approve("half the latency")), L, "half the latency", "0.9375", "0.7125"
    ),
    "the record is retired with a reason, and its test deleted": Attempt(
        (retire("no search any more"), delete(TEST), NO_TEST), L, "no search any more"
    ),
    # Everyday work.
    "nothing changes": Attempt((update,), P),
    "a better ranker, recorded": Attempt((rank({79: 1}), update), P),
    "20 difficult queries are added": Attempt(
        (golden(100), rank(dict.fromkeys(range(80, 100), 5)), update), P
    ),
    "a second golden set is added": Attempt((second_golden_set, update), P),
    "a test is renamed": Attempt((RENAMED, update), P),
    "a test file is moved with its baselines": Attempt(
        (
            move(TEST, "tests/search/test_ranking.py"),
            move("tests/baselines", "tests/search/baselines"),
        ),
        P,
    ),
    "a golden file is renamed": Attempt((*RENAMED_SET, update), P),
    "a second metric is gated": Attempt((new_test(gated(f"{RR}\n    {RECALL}")), update), P),
    "30% of the queries are tagged anew": Attempt(
        (queries(range(24), lambda line: {"locale": "de"}), approve("a new model tags them")),
        L,
        "a new model tags them",
        main=by_locale,
    ),
    "a few queries are tagged anew": Attempt(
        (queries(range(3), lambda line: {"locale": "de"}), update), P, main=by_locale
    ),
    "an attribute is gated": Attempt((edit("0.01)", '0.01, by="locale")'), update), P),
    "main has moved on": Attempt((main_moves_on,), P),
    "main has a new gate": Attempt((on_main(*NEW_GATE),), P, "so merge the reference"),
    "CI checks out the merge with main": Attempt(
        (on_main(*NEW_GATE), BETTER, checkout_of_the_merge), P
    ),
    "the branch was squash-merged, main has moved on, and the branch goes on": Attempt(
        (BETTER, update, squash, on_main(BEST, update), BEST), P
    ),
    "a commit of main is cherry-picked": Attempt((on_main(BETTER, update), cherry_pick), P),
    "CI leaves out what is slow": Attempt(
        (ci_runs("-m", "not slow"),), P, "was not chosen on the command line", main=slow
    ),
    "a job runs some of the files": Attempt(
        (ci_runs(MORE),), P, "was not chosen on the command line", main=two_modules
    ),
    "a job measures one of two golden sets": Attempt(
        (ci_runs("--rankcheck-golden=golden/german.jsonl"),),
        P,
        "was not chosen on the command line",
        main=two_golden_sets,
    ),
    "CI has a configuration in another folder": Attempt(OF_CI, P),
    "a test is renamed, and CI has a configuration in another folder": Attempt(
        (RENAMED, update, *OF_CI), P, "takes the place of"
    ),
    "a job runs one of two projects": Attempt(
        (ci_runs("-c", "shop/pytest.ini", "shop"),), P, main=monorepo
    ),
    "the folder of the tests is a link": Attempt((BETTER, update), P, main=linked),
    "the folder of the tests becomes a link": Attempt(
        (link("tests", "search/tests"),), P, "takes the place of"
    ),
    "an editor marks the record as UTF-8": Attempt(
        (byte_order_mark,), P, "compared with main:\n  none"
    ),
    "git changes line ends": Attempt((windows_line_ends,), P, "compared with main:\n  none"),
    "an approved fall is reverted": Attempt((rank({0: 1}), anew), P, main=approved_once),
    "an approved fall is reverted, and what rose with it": Attempt(
        (rank({0: 1, **dict.fromkeys(range(70, 80), 2)}), anew), P, main=traded_once
    ),
    "what rose with an approved fall is lowered, and the fall stays": Attempt(
        (rank({0: None, **dict.fromkeys(range(70, 80), 2)}), anew), B, "RR", main=traded_once
    ),
    "the log of the next week has more sessions": Attempt(
        (log(*[1] * 80, group="AB"), update), P, main=sessions
    ),
}
