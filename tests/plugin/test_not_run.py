"""What was gated is still gated: baselines whose gates did not run."""

from __future__ import annotations

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
def test_a_skipped_gate_fails_against_a_reference(
    two_gates: Project, workers: tuple[str, ...]
) -> None:
    two_gates.test(SKIPPED)
    result = two_gates.run(*MAIN, *workers)
    assert result.ret == 1
    result.assert_outcomes(passed=1, skipped=1)
    assert listed(result) == [f"FAILED: {FILE} (RR): its test was skipped: flaky"]


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_it_warns_without_a_reference(two_gates: Project, workers: tuple[str, ...]) -> None:
    two_gates.test(OTHER_TEST)
    result = two_gates.run(*workers)
    assert result.ret == 0
    assert listed(result) == [f"{FILE} (RR): its test is gone"]
    two_gates.test()
    assert listed(two_gates.run(*workers)) == []


@pytest.mark.parametrize(
    ("mode", "status", "lines"),
    [("ignore", 0, 0), ("warn", 0, 1), ("fail", 1, 1)],
)
def test_the_configuration_says_what_is_done(
    two_gates: Project, mode: str, status: int, lines: int
) -> None:
    two_gates.test(SKIPPED)
    configuration = (two_gates.path / "pyproject.toml").read_text("utf-8")
    two_gates.write("pyproject.toml", f'{configuration}rankcheck_unrun = "{mode}"\n')
    result = two_gates.run()
    assert (result.ret, len(listed(result))) == (status, lines)
    result = two_gates.run(*MAIN)
    assert (result.ret, len(listed(result))) == (1, 1), "the configuration of main counts"
    git(two_gates.path, "commit", "-qam", "configure")
    git(two_gates.path, "branch", "-f", "main")
    result = two_gates.run(*MAIN)
    assert (result.ret, len(listed(result))) == (status, lines)


DESELECTED = f"{FILE} (RR): its test was not chosen on the command line"


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (("-k", "also"), [DESELECTED]),
        (("-m", "not slow"), [DESELECTED]),
        (("--deselect", "tests/test_ranking.py::test_mrr"), [DESELECTED]),
        (("--ignore", "tests/test_ranking.py"), []),
        (("tests/test_more.py::test_also",), []),
        (("tests/test_more.py", "tests/test_ranking.py::test_other"), []),
        (("tests/test_more.py",), []),
    ],
)
def test_what_the_user_leaves_out_does_not_fail(
    two_gates: Project, arguments: tuple[str, ...], lines: list[str]
) -> None:
    """What is deselected is listed for reviewers: a branch may have marked its test."""
    slow = REGRESSION_TEST.replace(
        "\ndef test_mrr", "\nimport pytest\n\n@pytest.mark.slow\ndef test_mrr"
    )
    two_gates.test(f"{slow}\n{OTHER_TEST}")
    result = two_gates.run(*MAIN, *arguments, "-W", "ignore")
    assert result.ret == 0, text_of(result)
    assert listed(result) == lines
    assert listed(two_gates.run(*arguments, "-W", "ignore")) == []


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_an_installed_plugin_leaves_out_what_the_command_line_tells_it_to(
    two_gates: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    """In ``addopts`` its option is the project's: the adversary has that attempt."""
    two_gates.write("site-packages/shards.py", SHARDS)
    monkeypatch.setenv("PYTHONPATH", str(two_gates.path / "site-packages"))
    monkeypatch.syspath_prepend(two_gates.path / "site-packages")
    result = two_gates.run(*MAIN, "-p", "shards", "--shard", "2", *workers)
    assert (result.ret, listed(result)) == (0, [DESELECTED])


def test_a_selection_excuses_only_what_it_leaves_out(two_gates: Project) -> None:
    two_gates.test(SKIPPED)
    result = two_gates.run(*MAIN, "-k", "mrr")
    assert result.ret == 1
    assert listed(result) == [
        DESELECTED.replace(FILE, "tests/baselines/test_more/test_also--web.json"),
        f"FAILED: {FILE} (RR): its test was skipped: flaky",
    ]


def test_a_test_session_that_was_stopped_is_not_complete(two_gates: Project) -> None:
    two_gates.write("tests/test_a_first.py", "def test_fails():\n    assert False\n")
    result = two_gates.run(*MAIN, "-x")
    result.assert_outcomes(failed=1)
    assert listed(result) == []
    assert listed(two_gates.run(*MAIN, "--collect-only")) == []
    assert listed(two_gates.run(*MAIN, "--setup-only")) == []


def test_a_marker_in_addopts_of_the_reference_is_listed_and_passes(two_gates: Project) -> None:
    two_gates.test(SKIPPED.replace("skip(reason='flaky')", "slow").replace("skip(", "slow("))
    configuration = (two_gates.path / "pyproject.toml").read_text("utf-8")
    markers = 'addopts = ["-m", "not slow"]\nmarkers = ["slow"]\n'
    two_gates.write("pyproject.toml", configuration + markers)
    excluded = f"{FILE} (RR): its test was excluded by a marker in addopts"
    assert listed(two_gates.run(*MAIN)) == [f"FAILED: {excluded}"]
    git(two_gates.path, "commit", "-qam", "mark")
    git(two_gates.path, "branch", "-f", "main")
    result = two_gates.run(*MAIN)
    assert (result.ret, listed(result)) == (0, [excluded])
    assert listed(two_gates.run(*MAIN, "-m", "slow or not slow")) == []


def test_an_expression_of_addopts_is_not_taken_for_the_users(two_gates: Project) -> None:
    """The reference's name ends with the expression."""
    two_gates.test(f"{REGRESSION_TEST}\n\ndef test_main():\n    pass\n")
    configuration = (two_gates.path / "pyproject.toml").read_text("utf-8")
    two_gates.write("pyproject.toml", f'{configuration}addopts = ["-k", "main"]\n')
    result = two_gates.run("--rankcheck-baseline-ref=main")
    assert result.ret == 1
    assert any(line.startswith(f"FAILED: {FILE} (RR)") for line in listed(result))


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
