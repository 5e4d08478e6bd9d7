"""Session logs in a test session: fixtures, configuration, gates, baselines, reports."""

import json
from typing import Any

import pytest
from project import Project, text_of

TEST = """
from pytest_rankcheck import Gate, assert_at_least, assert_not_regressed

def test_success(session_evaluation):
    assert_at_least(session_evaluation, "SuccessRate@3", 0.5, by="group")

def test_mrr(session_evaluation, baseline):
    metric = "SessionRR(abandoned=zero)"
    assert_not_regressed(session_evaluation, baseline, metric, gate=Gate.significant(), by="group")
"""


def log(project: Project, week: int, ranks: list[int | None], **more: Any) -> None:
    """Write the log of a week; its sessions differ from those of other weeks."""
    lines = [
        {
            "session_id": f"week{week}-{number}",
            "event": 0,
            "time": 1_700_000_000 + number,
            "query": f"query {number}",
            "results": [f"d{place}" for place in range(5)],
            "selected_rank": rank,
            "group": "AB"[number % 2],
            **more,
        }
        for number, rank in enumerate(ranks)
    ]
    project.write("logs/week.jsonl", "".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def sessions(project: Project) -> Project:
    project.write(
        "pyproject.toml",
        "[tool.pytest.ini_options]\n"
        'rankcheck_sessions = "logs/week.jsonl"\n'
        "rankcheck_session_reading = ['first_rank=0', 'attributes=[\"group\"]']\n"
        'rankcheck_metrics = ["SuccessRate", "nDCG@10"]\n',
    )
    log(project, 1, [0, 1, 0, 0, 2, 0, 0, None] * 12)
    project.test(TEST)
    return project


def test_a_baseline_of_last_week_gates_the_log_of_this_week(sessions: Project) -> None:
    assert sessions.run("--snapshot-update").ret == 0
    record = sessions.record(golden="week")
    assert list(record["metrics"]) == ["SessionRR(abandoned=zero)", "SuccessRate"]
    assert record["queries"][0]["slices"] == {"group": ["A"]}
    log(sessions, 2, [0, 1, 0, 0, 2, 0, 0, None] * 11)
    result = sessions.run()
    result.assert_outcomes(passed=2)
    assert "session log  metric" in text_of(result)
    log(sessions, 3, [3, 4, 2, None, 2, 4, 2, None] * 12)
    result = sessions.run()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*SuccessRate@3 is 0.3750 on session log 'week' (96 sessions); it must be at least*",
            "*SessionRR(abandoned=zero) regressed on session log 'week' (96 sessions)*",
            "*96 sessions in the baseline, 96 now: different sessions, so compared as two samples*",
            "*group=B (48 sessions, regressed)*",
        ]
    )
    text = text_of(result)
    assert "--rankcheck-approve" in text
    assert "stale" not in text
    assert "since the baseline" not in text


def test_an_update_replaces_last_week(sessions: Project) -> None:
    assert sessions.run("--snapshot-update").ret == 0
    log(sessions, 2, [0] * 39 + [None])
    assert sessions.run("--snapshot-update").ret == 0
    assert sessions.record(golden="week")["golden_set"]["queries"] == 40
    # Worse, inside the gate's tolerance: kept.
    log(sessions, 3, [0] * 38 + [1, None])
    assert sessions.run("--snapshot-update").ret == 0
    assert sessions.record(golden="week")["queries"][0]["id"].startswith("week2")


def test_users_are_independent_if_the_configuration_says_so(sessions: Project) -> None:
    sessions.test(
        TEST
        + """

def test_replay(session_log, session_evaluation):
    assert session_log.to_golden_set(uncorrected=True).cluster_by == "user"
    assert session_evaluation.golden.cluster_by == "user"
"""
    )
    ini = sessions.path / "pyproject.toml"
    text = ini.read_text().replace('["group"]', '["group", "user"]')
    ini.write_text(text + 'rankcheck_session_clusters = "user"\n')
    log(sessions, 1, [0, 1, 0, 0, 2, 0, 0, None] * 12, user="u1")
    rows = (sessions.path / "logs/week.jsonl").read_text().splitlines()
    users = [{**json.loads(row), "user": f"u{n % 24}"} for n, row in enumerate(rows)]
    sessions.write("logs/week.jsonl", "".join(json.dumps(row) + "\n" for row in users))
    result = sessions.run("--snapshot-update")
    result.assert_outcomes(passed=3)
    assert "not independent" not in text_of(result)
    record = sessions.record(golden="week")
    assert record["cluster_by"] == "user"
    assert len({line["cluster"] for line in record["queries"]}) == 24
    ini.write_text(text)
    result = sessions.run()
    result.assert_outcomes(passed=1, failed=2)
    assert "clusters: user in the baseline, none now" in text_of(result)
    assert "the attribute 'user' repeats: 24 of its values have 96 sessions" in text_of(result)
    ini.write_text(text + 'rankcheck_session_clusters = "usr"\n')
    result = sessions.run()
    assert "has no attribute 'usr'; did you mean 'user'?" in text_of(result)
