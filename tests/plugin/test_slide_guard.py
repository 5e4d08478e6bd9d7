"""Small falls that each pass their gate, merged one after another, until the guard acts."""

from __future__ import annotations

import json
import re

import pytest
from project import MAIN, NEEDS_GIT, WITHOUT_AND_WITH_WORKERS, Project, git, text_of

from pytest_rankcheck import Metric, Record
from pytest_rankcheck.baselines.best_history import BestHistory, UnknownHistoryError

RR = Metric.parse("RR")
WIDE_GATE = """
from pytest_rankcheck import assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.2)
"""
HEADING = "warning: small falls have added up to more than noise explains"
OFF = "warning: the guard against small falls that add up is off"


def configure(project: Project, *lines: str) -> None:
    file = project.path / "pyproject.toml"
    file.write_text("\n".join((file.read_text("utf-8"), *lines)) + "\n", "utf-8")


def fall(project: Project, queries: int) -> None:
    """Let the relevant documents of so many queries fall to the second rank."""
    project.rank(dict.fromkeys(range(queries), 2))


def merge(project: Project, branch: str = "") -> str:
    """Commit everything to main as one change of its first-parent history."""
    git(project.path, "add", "-A")
    git(project.path, "commit", "-q", "--allow-empty", "-m", f"change {branch}")
    return git(project.path, "rev-parse", "--short", "HEAD").strip()


@pytest.fixture
def main(project: Project) -> Project:
    """A project whose baseline, at which every query is right, is committed to main."""
    project.test(WIDE_GATE)
    project.write(".gitignore", "__pycache__/\nreport*\n")
    project.update()
    git(project.path, "init", "-q", "-b", "main", "--template=")
    merge(project, "the best")
    return project


# --- the guard in a project ------------------------------------------------------------------


@NEEDS_GIT
@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_merged_falls_warn_when_noise_does_not_explain_them(
    main: Project, workers: tuple[str, ...]
) -> None:
    """Two more of 80 queries fall in each change; z is -1.42, -2.04, -2.53.

    The guard stops at 2.06 * sqrt(1 + 1 / k), in quantiles of t with 79 degrees of freedom: 2.98,
    2.58, 2.43.
    """
    best = git(main.path, "rev-parse", "--short", "HEAD").strip()
    for queries in (2, 4):
        fall(main, queries)
        merge(main)
        result = main.run(*workers)
        assert result.ret == 0
        assert HEADING not in text_of(result)
    fall(main, 6)
    merge(main)
    reports = ("--rankcheck-json=report.json", "--rankcheck-markdown=report.md")
    result = main.run(*workers, *reports, "--rankcheck-html=report.html", "--junitxml=report.xml")
    assert result.ret == 0
    text = text_of(result)
    assert HEADING in text
    assert "0.9625 is 0.0375 below 1.0000, the best ever approved" in text
    assert re.search(rf"3 changes since then: {best} approved the best on \d{{4}}-\d\d-\d\d;", text)
    assert "noise explains a fall of 0.0360, which 90% of innocent sequences" in text
    assert f"merged since then: git log --first-parent {best}..HEAD" in text
    data = json.loads((main.path / "report.json").read_text("utf-8"))
    assert data["gates"][0]["slide"] == {
        "distance": 0.0375,
        "approved": 0.0,
        "budget": pytest.approx(0.0360, abs=0.0001),
        "steps": 3,
        "level": 0.1,
        "exceeds": True,
        "since": best,
    }
    assert "slide" in [note["topic"] for note in data["notes"]]
    words = "passed, lower, but small falls have added up"
    assert data["gates"][0]["verdict"] == words
    for report in ("report.md", "report.html", "report.xml"):
        assert "small falls have added up" in (main.path / report).read_text("utf-8")


@NEEDS_GIT
def test_fail_blocks_until_a_reason_is_given(main: Project) -> None:
    configure(main, 'rankcheck_slide = "fail"')
    fall(main, 6)
    for _ in range(3):
        best = git(main.path, "rev-list", "--max-parents=0", "--abbrev-commit", "HEAD").strip()
        merge(main)
    result = main.run()
    assert result.ret == 1
    text = text_of(result)
    assert "RR has slid on golden set 'web' (80 queries): 0.9625 is 0.0375 below 1.0000" in text
    assert "each change passed its gate, but together they fall by more than noise" in text
    assert f"3 changes since then: {best} approved the best" in text
    assert f"git log --first-parent {best}..HEAD" in text
    assert "--snapshot-update --rankcheck-approve" in text
    before = main.baseline_file().read_bytes()
    for raised in ((), ("--rankcheck-raise", "looks good")):
        refused = main.run("--snapshot-update", *raised)
        assert refused.ret == 1
        assert "has slid" in text_of(refused)
    assert main.baseline_file().read_bytes() == before
    assert main.run("--snapshot-update", "--rankcheck-approve", "a faster index").ret == 0
    settled = main.run()
    assert settled.ret == 0
    assert "slid" not in text_of(settled)
    # What was approved is allowed for; what falls from there is not.
    fall(main, 8)
    assert main.run().ret == 0
    fall(main, 14)
    again = text_of(main.run())
    assert "0.0375 of this was approved with a reason, the other 0.0500 was not" in again


@NEEDS_GIT
def test_a_lower_share_of_innocent_sequences_to_stop_acts_later(main: Project) -> None:
    fall(main, 6)
    for _ in range(3):
        merge(main)
    configure(main, 'rankcheck_slide = "fail(alpha=0.02)"')
    assert main.run().ret == 0
    assert main.run("-o", "rankcheck_slide=fail(alpha=0.2)").ret == 1
    off = main.run("-o", "rankcheck_slide=off")
    assert off.ret == 0
    assert OFF not in text_of(off)


@NEEDS_GIT
def test_main_decides_what_the_guard_does(main: Project) -> None:
    configure(main, 'rankcheck_slide = "fail"')
    fall(main, 6)
    for _ in range(3):
        merge(main)
    git(main.path, "checkout", "-q", "-b", "feature")
    file = main.path / "pyproject.toml"
    text = file.read_text("utf-8")
    for looser in ('"off"', '"fail(alpha=0.001)"', '"warn"'):
        file.write_text(text.replace('"fail"', looser), "utf-8")
        result = main.run(*MAIN)
        assert result.ret == 1
        assert "4 changes since then" in text_of(result), "three on main, and this branch"
        assert re.search(r"git log --first-parent \w+\.\.main", text_of(result))
    file.write_text(text, "utf-8")
    main.update("--rankcheck-approve", "a faster index")
    assert main.run(*MAIN).ret == 0


# --- without history -------------------------------------------------------------------------

TWO_TESTS = WIDE_GATE + WIDE_GATE.replace("test_mrr(", "test_again(")


def test_without_history_the_guard_says_once_that_it_is_off(project: Project) -> None:
    project.test(TWO_TESTS)
    project.update()
    assert OFF not in text_of(project.run()), "nothing fell"
    fall(project, 6)
    text = text_of(project.run())
    assert text.count("the project is not in a git repository") == 1
    assert "set rankcheck_slide_steps to the number of changes" in text
    assert OFF not in text_of(project.run("-o", "rankcheck_slide=off"))


def test_without_a_baseline_the_guard_says_nothing(project: Project) -> None:
    project.test(
        "from pytest_rankcheck import assert_mrr_at_least\n\n"
        "def test_mrr(evaluation):\n    assert_mrr_at_least(evaluation, 0.5)\n"
    )
    fall(project, 6)
    assert OFF not in text_of(project.run())


def test_without_history_the_number_of_changes_can_be_given(project: Project) -> None:
    project.test(WIDE_GATE)
    project.update()
    fall(project, 6)
    assert project.run("-o", "rankcheck_slide=fail", "-o", "rankcheck_slide_steps=2").ret == 0
    result = project.run("-o", "rankcheck_slide=fail", "-o", "rankcheck_slide_steps=3")
    assert result.ret == 1
    assert "3 changes since then (rankcheck_slide_steps)" in text_of(result)


@NEEDS_GIT
def test_a_shallow_clone_is_no_history(main: Project) -> None:
    fall(main, 6)
    for _ in range(3):
        merge(main)
    shallow = main.path / "shallow"
    git(main.path, "clone", "-q", "--depth=2", main.path.as_uri(), str(shallow))
    inside = ("--rootdir=shallow", "-c", "shallow/pyproject.toml", "shallow/tests")
    text = text_of(main.run_apart(*inside))
    assert "the clone is shallow and does not go back to the commit that approved" in text
    git(shallow, "fetch", "-q", "--unshallow")
    assert HEADING in text_of(main.run_apart(*inside))


@NEEDS_GIT
def test_a_guard_that_must_fail_fails_if_it_cannot_decide(main: Project) -> None:
    configure(main, 'rankcheck_slide = "fail"')
    fall(main, 1)
    merge(main)
    shallow = main.path / "shallow"
    git(main.path, "clone", "-q", "--depth=1", main.path.as_uri(), str(shallow))
    inside = ("--rootdir=shallow", "-c", "shallow/pyproject.toml", "shallow/tests")
    result = main.run_apart(*inside)
    assert result.ret == 1
    text = text_of(result)
    assert "RR may have slid on golden set 'web': the guard cannot decide" in text
    assert "fetch the whole history: git fetch --unshallow" in text
    assert "this change: RR is lower on golden set 'web' (80 queries): 1.0000 -> 0.9938" in text
    assert main.run_apart(*inside, "-o", "rankcheck_slide_steps=1").ret == 0
    git(shallow, "fetch", "-q", "--unshallow")
    assert main.run_apart(*inside).ret == 0


def test_a_guard_that_must_fail_refuses_an_update_without_history(project: Project) -> None:
    project.test(WIDE_GATE)
    project.update()
    configure(project, 'rankcheck_slide = "fail"')
    assert project.run().ret == 0, "nothing fell"
    fall(project, 1)
    before = project.baseline_file().read_bytes()
    for arguments in ((), ("--snapshot-update",)):
        result = project.run(*arguments)
        assert result.ret == 1
        assert "the project is not in a git repository" in text_of(result)
    assert project.baseline_file().read_bytes() == before
    assert project.run("--snapshot-update", "--rankcheck-approve", "a faster index").ret == 0
    assert project.run().ret == 0


@pytest.mark.parametrize(
    "line",
    [
        'rankcheck_slide = "maybe"',
        'rankcheck_slide = "off(alpha=0.1)"',
        'rankcheck_slide = "fail(alpha=0)"',
        'rankcheck_slide = "fail(alpha=0.6)"',
        'rankcheck_slide = "fail(level=0.1)"',
        'rankcheck_slide = "warn(alpha=0.1"',
        'rankcheck_slide_steps = "0"',
        'rankcheck_slide_steps = "many"',
    ],
)
def test_an_invalid_option_is_refused(project: Project, line: str) -> None:
    configure(project, line)
    result = project.run()
    assert result.ret == 4
    assert f"{line.split(maxsplit=1)[0]}" in text_of(result)
    assert " is invalid; " in text_of(result)


# --- since when the best is approved ---------------------------------------------------------


@NEEDS_GIT
def test_what_changes_the_file_but_not_the_best_is_not_counted_from(project: Project) -> None:
    """The best came with the second version: a gain, then a golden set, then an approved fall."""
    project.test(WIDE_GATE)
    fall(project, 20)
    project.update()
    git(project.path, "init", "-q", "-b", "main", "--template=")
    merge(project)

    def since() -> tuple[int, str | None]:
        record = Record.load(project.baseline_file())
        found = BestHistory(project.baseline_file(), None).since(record, RR)
        return found.changes, found.commit

    fall(project, 4)
    project.update()
    assert since() == (1, None), "not committed yet"
    best = merge(project, "raised")
    assert since() == (1, best)
    project.golden(project.queries(90))
    project.update()
    merge(project, "queries added")
    assert since() == (1, best)
    fall(project, 10)
    project.update("--rankcheck-approve", "a faster index")
    merge(project, "approved")
    assert since() == (2, best)
    fall(project, 8)
    project.update()
    merge(project, "better than what was approved, but not the best")
    merge(project, "something else")
    assert since() == (4, best)
    # Merged branches count as one change.
    git(project.path, "checkout", "-q", "-b", "branch")
    merge(project)
    merge(project)
    git(project.path, "checkout", "-q", "main")
    git(project.path, "merge", "-q", "--no-ff", "-m", "merge", "branch")
    assert since() == (5, best)
    fall(project, 0)
    project.update()
    newest = merge(project, "the best so far")
    assert since() == (1, newest)


@NEEDS_GIT
def test_git_that_fails_is_no_history(project: Project) -> None:
    project.test(WIDE_GATE)
    project.update()
    git(project.path, "init", "-q", "-b", "main", "--template=")
    record = Record.load(project.baseline_file())
    with pytest.raises(UnknownHistoryError, match="git cannot show the history of baselines: "):
        BestHistory(project.baseline_file(), None).since(record, RR)
