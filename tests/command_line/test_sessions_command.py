"""``sessions``: the means of a log, and what is unusual in it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck.command_line.main import main

Rows = list[dict[str, Any]]
READING = ("-o", "rankcheck_session_reading=first_rank=0")


def rows_of(sessions: int = 100) -> Rows:
    """Return the events of sessions: every second one selects something."""
    return [
        {
            "session_id": f"s{session}",
            "time": 1_763_280_000 + 100 * session + 20 * event,
            "query": f"query {event}",
            "results": [f"d{session}", f"d{event}", "e"],
            "selected_rank": event if session % 2 else None,
            "device": "ab"[session % 2],
        }
        for session in range(sessions)
        for event in range(2)
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return tmp_path


def write(rows: Rows, name: str = "week.jsonl") -> str:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return name


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["sessions", *arguments]) == 0
    return capsys.readouterr().out


def test_the_means_of_a_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(rows_of())
    out = output(capsys, file, *READING, "--by", "device")
    assert "session log 'week': 100 sessions, 200 events" in out
    assert "week         SuccessRate                       -  0.5000" in out
    assert "SuccessRate by device:\n  a  0.0000 (50)\n  b  1.0000 (50)" in out
    out = output(capsys, file, *READING, "--metric", "SuccessRate@3")
    assert "SuccessRate@3" in out
    assert "EventsPerSession" not in out


def test_what_is_unusual_is_noted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = [row | {"client_id": f"c{row['time'] // 400}", "\x1b[31m": n}
             for n, row in enumerate(rows_of())]  # fmt: skip
    out = output(capsys, write(users), *READING)
    assert "not attributes, because they change within a session: \\x1b[31m" in out
    assert "the attribute 'client_id' repeats: 25 of its values" in out


def test_the_configuration_and_options_that_override_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"sid" if name == "session_id" else name: row[name] for name in row} for row in rows_of()
    ]
    for part in range(2):
        write(rows[part::2], f"day-{part}.jsonl")
    Path("pyproject.toml").write_text(
        "[tool.pytest.ini_options]\n"
        'rankcheck_sessions = ["day-*.jsonl"]\n'
        'rankcheck_session_reading = ["first_rank=0"]\n'
    )
    assert "session log 'day': 100 sessions, 200 events" in output(capsys)
    columns = ("-o", 'rankcheck_session_reading=first_rank=0\ncolumns={session="device"}')
    out = output(capsys, "day-0.jsonl", "day-1.jsonl", *columns)
    assert "session log 'day-0': 2 sessions, 200 events" in out


def test_user_behavior_insights(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries, events = [], []
    for number in range(60):
        time = 1_763_280_000 + 4000 * (number // 2) + number % 2
        query = {"query_id": f"q{number}", "client_id": f"c{number // 4}", "timestamp": time}
        queries.append(query | {"user_query": "x", "query_response_hit_ids": ["a", "b"]})
        what = {"object": {"object_id": "b"}, "position": {"ordinal": 2}}
        event = {"query_id": f"q{number}", "timestamp": time + 1, "event_attributes": what}
        events.append(event | {"action_name": "impression" if number % 3 else "click"})
    files = (write(queries, "queries.jsonl"), "--ubi-events", write(events, "events.jsonl"))
    out = output(capsys, *files)
    assert "session log 'ubi': 30 sessions, 60 events" in out
    assert "40 events of other actions not counted: impression (40)" in out
    gap = ("-o", "rankcheck_session_reading=session_gap=2h")
    assert "15 sessions, 60 events" in output(capsys, *files, *gap)
    for more, says in (
        ("rankcheck_session_reading=time_unit=s", "time_unit= does not apply to User Behavior"),
        ("rankcheck_session_reading=columns={sid='x'}", "columns= does not apply to User Behavior"),
    ):
        assert main(["sessions", *files, "-o", more]) == 2
        assert says in capsys.readouterr().err
    assert main(["sessions", "--ubi-events", "events.jsonl"]) == 2
    assert "--ubi-events needs the queries, too" in capsys.readouterr().err


def test_an_error_has_exit_code_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(rows_of())
    Path("empty.jsonl").write_text("")
    for arguments, says in (
        ([], "no session log: name one, or configure rankcheck_sessions"),
        (["none.jsonl"], "none.jsonl: no such file"),
        (["none-*.jsonl"], "no file matches 'none-*.jsonl'"),
        (["empty.jsonl"], "empty.jsonl is empty"),
        (["week.jsonl"], "first_rank=0 or first_rank=1"),
        (["week.jsonl", "-o", "rankcheck_session_reading=first=0"], "unknown keyword 'first'"),
    ):
        assert main(["sessions", *arguments]) == 2, arguments
        assert says in capsys.readouterr().err


def test_users_are_independent_as_configured(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write([{**row, "user": row["session_id"][:2]} for row in rows_of()])
    assert "the attribute 'user' repeats" in output(capsys, file, *READING)
    clustered = (*READING, "-o", "rankcheck_session_clusters=user")
    assert "the attribute 'user' repeats" not in output(capsys, file, *clustered)
