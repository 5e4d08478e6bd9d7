"""What was gated is still gated: baselines whose gates did not run."""

from collections.abc import Sequence

import pytest
from project import MAIN, REGRESSION_TEST, SHARDS, WITHOUT_AND_WITH_WORKERS, Project, git, text_of

HEADING = "baselines whose gates did not run"
FILE = "tests/baselines/test_ranking/test_mrr--web.json"
OTHER_TEST = "def test_other():\n    pass\n"
SKIPPED = REGRESSION_TEST.replace(
    "\ndef test_mrr", '\nimport pytest\n\n@pytest.mark.skip(reason="flaky")\ndef test_mrr'
)


@pytest.fixture
def two_gates(project: Project) -> Project:
    """A project on a branch, whose main gates in two modules."""
    project.test()
    project.test(REGRESSION_TEST.replace("test_mrr", "test_also"), "tests/test_more.py")
    project.branch_off()
    return project


def listed(result: pytest.RunResult) -> Sequence[str]:
    """Return the lines about baselines whose gates did not run, without what to do."""
    lines = text_of(result).splitlines()
    start = next((place for place, line in enumerate(lines) if line.startswith(HEADING)), None)
    if start is None:
        return []
    after = (place for place in range(start + 1, len(lines)) if not lines[place].startswith("  "))
    return [line.strip().partition("; to ")[0] for line in lines[start + 1 : next(after)]]


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_it_warns_without_a_reference(two_gates: Project, workers: tuple[str, ...]) -> None:
    two_gates.test(OTHER_TEST)
    result = two_gates.run(*workers)
    assert result.ret == 0
    assert listed(result) == [f"{FILE} (RR): its test is gone"]
    two_gates.test()
    assert listed(two_gates.run(*workers)) == []


@pytest.mark.parametrize(
    ("mode", "status", "lines"), [("ignore", 0, 0), ("warn", 0, 1), ("fail", 1, 1)]
)
def test_the_configuration_says_what_is_done(
    two_gates: Project, mode: str, status: int, lines: int
) -> None:
    two_gates.test(SKIPPED)
    configuration = (two_gates.path / "pyproject.toml").read_text("utf-8")
    two_gates.write("pyproject.toml", f'{configuration}rankcheck_unrun = "{mode}"\n')
    result = two_gates.run()
    assert (result.ret, len(listed(result))) == (status, lines)
    git(two_gates.path, "commit", "-qam", "configure")
    git(two_gates.path, "branch", "-f", "main")
    result = two_gates.run(*MAIN)
    assert (result.ret, len(listed(result))) == (1, 1), "against a reference it does not count"


def test_the_command_line_lets_a_skipped_gate_warn_but_not_one_that_is_gone(
    two_gates: Project,
) -> None:
    warn = "--rankcheck-unrun=warn"
    two_gates.test(SKIPPED)
    skipped = f"{FILE} (RR): its test was skipped: flaky"
    result = two_gates.run(*MAIN, warn)
    assert (result.ret, listed(result)) == (0, [skipped])
    two_gates.configure(f'addopts = ["{warn}"]')
    result = two_gates.run(*MAIN)
    assert (result.ret, listed(result)) == (1, [f"FAILED: {skipped}"]), "addopts do not count"
    two_gates.test(OTHER_TEST)
    result = two_gates.run(*MAIN, warn)
    assert (result.ret, listed(result)) == (1, [f"FAILED: {FILE} (RR): its test is gone"])
    two_gates.test("")
    result = two_gates.run(*MAIN, warn)
    assert (result.ret, listed(result)) == (1, [f"FAILED: {FILE} (RR): its test is gone"])


def test_a_write_judges_nobodys_absence(two_gates: Project) -> None:
    two_gates.test(SKIPPED)
    result = two_gates.run(*MAIN, "--snapshot-update")
    assert (result.ret, listed(result)) == (0, [f"{FILE} (RR): its test was skipped: flaky"])
    assert two_gates.run(*MAIN, "--rankcheck-approve", "why").ret == 0


DESELECTED = f"{FILE} (RR): its test was not chosen on the command line"


def test_what_the_user_leaves_out_does_not_fail(two_gates: Project) -> None:
    """It is listed for reviewers: a branch may have marked its test."""
    slow = REGRESSION_TEST.replace(
        "\ndef test_mrr", "\nimport pytest\n\n@pytest.mark.slow\ndef test_mrr"
    )
    two_gates.test(f"{slow}\n{OTHER_TEST}")
    for arguments in (
        ("-k", "also"),
        ("-m", "not slow"),
        ("--deselect", "tests/test_ranking.py::test_mrr"),
        ("--ignore", "tests/test_ranking.py"),
        ("--ignore-glob", "*/test_r*"),
        ("tests/test_more.py::test_also",),
        ("tests/test_more.py", "tests/test_ranking.py::test_other"),
        ("tests/test_more.py",),
    ):
        result = two_gates.run(*MAIN, *arguments, "-W", "ignore")
        assert (result.ret, listed(result)) == (0, [DESELECTED]), arguments
        assert listed(two_gates.run(*arguments, "-W", "ignore")) == [], arguments


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_jobs_that_a_plugin_shares_the_tests_among_may_warn(
    two_gates: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    two_gates.write("site-packages/shards.py", SHARDS)
    monkeypatch.setenv("PYTHONPATH", str(two_gates.path / "site-packages"))
    monkeypatch.syspath_prepend(two_gates.path / "site-packages")
    shard = ("-p", "shards", "--shard", "2", *workers)
    deselected = f"{FILE} (RR): its test was deselected, and not on the command line"
    result = two_gates.run(*MAIN, *shard)
    assert (result.ret, listed(result)) == (1, [f"FAILED: {deselected}"])
    result = two_gates.run(*MAIN, *shard, "--rankcheck-unrun=warn")
    assert (result.ret, listed(result)) == (0, [deselected])


def test_a_test_session_that_was_stopped_is_not_complete(two_gates: Project) -> None:
    two_gates.write("tests/test_a_first.py", "def test_fails():\n    assert False\n")
    result = two_gates.run(*MAIN, "-x")
    result.assert_outcomes(failed=1)
    assert listed(result) == []
    assert listed(two_gates.run(*MAIN, "--collect-only")) == []
    assert listed(two_gates.run(*MAIN, "--setup-only")) == []


def test_a_module_that_imports_its_tests_is_still_expected_to_run(two_gates: Project) -> None:
    path = two_gates.path
    two_gates.write("shared_tests.py", REGRESSION_TEST)
    two_gates.test("from shared_tests import *\n")
    git(path, "add", "shared_tests.py", "tests")
    git(path, "commit", "-qm", "share the tests")
    git(path, "branch", "-f", "main")
    (path / "tests/test_ranking.py").unlink()
    result = two_gates.run(*MAIN)
    assert result.ret == 1
    assert any(line.startswith(f"FAILED: {FILE} (RR)") for line in listed(result))


SUBTESTS = """
import unittest
import pytest
from pytest_rankcheck import assert_not_regressed

class TestSearch(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def given(self, evaluation, baseline):
        self.evaluation, self.baseline = evaluation, baseline

    def test_metrics(self):
        for metric in ("RR", "P@1"):
            with self.subTest(metric=metric):
                assert_not_regressed(self.evaluation, self.baseline, metric, abs=0.01)
"""


def test_subtests_that_fail_have_compared(project: Project) -> None:
    project.test(SUBTESTS)
    assert project.run("--snapshot-update").ret == 0
    project.commit()
    project.rank(dict.fromkeys(range(20), 10))
    result = project.run(*MAIN)
    assert result.ret == 1
    assert listed(result) == []
    assert "FAILED: regressed" in text_of(result)


def test_a_gate_whose_failure_is_caught_has_a_row(two_gates: Project) -> None:
    two_gates.test(
        REGRESSION_TEST.replace(
            "    assert_mrr", "    with pytest.raises(AssertionError):\n        assert_mrr"
        ).replace("\ndef", "\nimport pytest\n\ndef")
    )
    two_gates.rank(dict.fromkeys(range(20), 10))
    result = two_gates.run("tests/test_ranking.py")
    assert (result.ret, listed(result)) == (0, [])
    assert "0.7750  -0.2250  regressed, caught by the test" in text_of(result)
    result = two_gates.run(*MAIN, "tests/test_ranking.py")
    assert result.ret == 1
    assert listed(result)[1] == f"FAILED: {FILE} (RR): its gate failed, and its test went on"


def test_the_test_of_a_conflicted_record_is_not_gone(two_gates: Project) -> None:
    in_class = REGRESSION_TEST.replace("def test_mrr(", "class TestAB:\n  def test_mrr(self, ")
    two_gates.test(in_class)
    (two_gates.path / FILE).unlink()
    assert two_gates.run("--snapshot-update").ret == 0
    two_gates.commit()
    git(two_gates.path, "branch", "-f", "main")
    (path,) = (two_gates.path / FILE).parent.glob("*~*.json")
    path.write_text(f"<<<<<<< HEAD\n{path.read_text('utf-8')}=======\n>>>>>>> main\n", "utf-8")
    for arguments in ((), MAIN):
        result = two_gates.run(*arguments)
        result.assert_outcomes(passed=1, failed=1)
        assert listed(result) == []
        assert "unresolved merge conflict" in text_of(result)


def test_of_several_new_records_the_one_with_the_same_metric_is_compared(project: Project) -> None:
    body = (
        "from pytest_rankcheck import assert_not_regressed\n\n"
        'def test_mrr(evaluation, baseline):\n    assert_not_regressed(evaluation, baseline, "RR")\n\n'
        'def test_p(evaluation, baseline):\n    assert_not_regressed(evaluation, baseline, "P@1")\n'
    )
    project.test(body)
    project.branch_off()
    project.rank(dict.fromkeys(range(40), 3))
    project.test(body.replace("test_mrr", "test_z").replace("test_p", "test_a"))
    assert project.run("--snapshot-update").ret == 0
    text = text_of(project.run(*MAIN))
    assert "test_mrr--web.json (RR): its test is gone" in text
    assert "test_z--web.json would take its place: RR " in text
