"""Replayed logs in a test session: what is refused, and what the summary and the record say."""

import json

import pytest
from project import Project, text_of

SHOWN = [f"d{place}" for place in range(1, 6)]
TEST = """
import pytest
from pytest_rankcheck import Gate, assert_not_regressed, assert_at_least

@pytest.fixture(scope="session")
def golden_set(session_log):
    return session_log.to_golden_set({options})

@pytest.fixture(scope="session")
def ranker():
    return lambda query, candidates: {answer}

def test_replay(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", gate=Gate.significant())
"""
RIGHT = 'propensity="power(1)"'
REVERSED, LOGGED = "candidates[::-1]", "candidates"


@pytest.fixture
def replays(project: Project) -> Project:
    """A project with a log: 40 selections at rank 1, 30 at rank 2, 10 at rank 5, and none."""
    ranks = [1] * 40 + [2] * 30 + [5] * 10 + [None]
    lines = [
        {"session_id": f"s{n}", "query": f"query {n}", "results": SHOWN, "selected_rank": rank}
        for n, rank in enumerate(ranks)
    ]
    project.write("logs/week.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    project.write(
        "pyproject.toml",
        "[tool.pytest.ini_options]\n"
        'rankcheck_sessions = "logs/week.jsonl"\n'
        'rankcheck_session_reading = ["first_rank=1"]\n',
    )
    return project


def write(replays: Project, options: str, answer: str) -> None:
    """Write a test that replays the log with these options, and ranks like this."""
    replays.test(TEST.format(options=options, answer=answer))


def words(text: str) -> str:
    return " ".join(text.split())


def test_without_a_propensity_the_order_of_the_log_is_refused(replays: Project) -> None:
    write(replays, "", LOGGED)
    result = replays.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    text = words(text_of(result))
    assert "what would be recorded has the documents in the order of the log" in text
    assert "uncorrected=True" in text
    write(replays, "uncorrected=True", LOGGED)
    replays.run("--snapshot-update").assert_outcomes(passed=1)
    # A baseline that was recorded all the same is refused as well.
    write(replays, "", REVERSED)
    result = replays.run()
    result.assert_outcomes(failed=1)
    assert "the baseline has the documents in the order of the log" in words(text_of(result))


def test_unseen_documents_are_inconclusive_in_summary_and_reports(replays: Project) -> None:
    write(replays, RIGHT, LOGGED)
    replays.run("--snapshot-update").assert_outcomes(passed=1)
    write(replays, RIGHT, "['new'] * (query != '') + candidates")
    result = replays.run("--rankcheck-markdown=report.md", "--rankcheck-json=report.json")
    result.assert_outcomes(passed=1)
    text = words(text_of(result))
    assert "RR is inconclusive on golden set 'week'" in text
    assert "17% of the new top 10 was never shown to anyone" in text
    assert "17% of the top 10 was never shown in its search" in text
    report = (replays.path / "report.md").read_text("utf-8")
    assert "17% of the new top 10 was never shown to anyone" in report
    gates = json.loads((replays.path / "report.json").read_text("utf-8"))["gates"]
    (evidence,) = (gate["replay"] for gate in gates)
    assert (evidence["ruling"], evidence["k"]) == ("regressed", 10)
    assert evidence["unseen_now"] == pytest.approx(1 / 6, abs=1e-6)
    replays.run("-o", "rankcheck_inconclusive=fail").assert_outcomes(failed=1)
