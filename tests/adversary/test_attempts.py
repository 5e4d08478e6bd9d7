"""Every attempt of the table ends as it says."""

from pathlib import Path

import pytest
from attempts import ATTEMPTS, Attempt
from manual_tables import check_table
from pull_request import REPORTS, Outcome, PullRequest, Repositories, readable


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=list(ATTEMPTS))
def test_attempt(attempt: Attempt, repositories: Repositories) -> None:
    branch = repositories.branch_of(attempt.main)
    for step in attempt.steps:
        step(branch)
    outcome = judged(branch, attempt.outcome)
    passes = attempt.outcome in ("passes", "listed", "kept")
    assert outcome.passed == passes, outcome.terminal
    for cause in attempt.causes:
        assert cause in outcome.terminal, f"{cause!r} is not said:\n{outcome.terminal}"
        for name, text in outcome.reports.items():
            assert cause in readable(name, text), f"{cause!r} is not in {name}"


def judged(branch: PullRequest, outcome: str) -> Outcome:
    """Run CI on the branch, or an update, which may change no file."""
    if outcome in ("blocked", "passes"):
        return branch.ci()
    if outcome == "listed":
        found = branch.ci_with_reports()
        assert set(found.reports) == set(REPORTS.values()), found.terminal
        return found
    before = {path: file.read_bytes() for path, file in branch.records().items()}
    found = branch.update()
    assert {path: file.read_bytes() for path, file in branch.records().items()} == before
    return found


@pytest.mark.slow
def test_workers_change_nothing(
    repositories: Repositories, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An attempt and everyday work end the same if CI runs the tests on workers of pytest-xdist."""
    monkeypatch.setattr(PullRequest, "ci_arguments", ("-n", "2"))
    test_attempt(ATTEMPTS["a test is renamed"], repositories)


def test_the_manual_has_all_attempts() -> None:
    """Set RANKCHECK_WRITE_DOCS=1 to write them."""
    rows = [
        f"| {text} | {attempt.outcome} |\n"
        for text, attempt in ATTEMPTS.items()
        if attempt.outcome != "passes"
    ]
    table = "".join(["\n| what the branch does | outcome |\n|---|---|\n", *rows, "\n"])
    check_table("reference/attempts.md", "attempts", table)


def test_there_are_enough_attempts() -> None:
    assert sum(attempt.outcome != "passes" for attempt in ATTEMPTS.values()) >= 50
