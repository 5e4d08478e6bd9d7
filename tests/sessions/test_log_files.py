"""One log from several files: lists, patterns, sessions that go on in the next file."""

import gzip
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_rankcheck import ConfigurationError, SessionLog, SessionLogError, evaluate_sessions
from pytest_rankcheck.files.packed_files import shown_name

METRICS = ("SuccessRate", "SessionRR(abandoned=zero)", "EventsPerSession", "SessionDuration")


def rows(count: int = 60) -> list[dict[str, Any]]:
    """Return the events of sessions of 4, with times but no index."""
    random = np.random.default_rng(3)
    chosen = random.integers(0, 5, count).tolist()
    return [
        {
            "session_id": f"s{place // 4}",
            "time": f"2026-11-16T09:{place // 60:02}:{place % 60:02}Z",
            "results": ["a", "b", "c"],
            "selected": "abc"[chosen[place]] if chosen[place] < 3 else None,
            "device": "ab"[place // 4 % 2],
        }
        for place in range(count)
    ]


def lines(part: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in part)


def facts(log: SessionLog) -> list[object]:
    evaluation = evaluate_sessions(log)
    means = [evaluation.mean(metric) for metric in METRICS]
    attributes = [dict(log.attributes(session)) for session in log.session_ids]
    return [log.session_ids, means, attributes, log.notes, log.events.to_dict("list")["selected"]]


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Write the log in three files, which cut sessions in two; return their names."""
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    Path("whole.jsonl").write_text(lines(rows()))
    names = ["logs/day-9.jsonl", "logs/day-10.jsonl.gz", "logs/day-11.jsonl"]
    for place, name in enumerate(names):
        text = lines(rows()[place * 22 : place * 22 + 22]).encode()
        Path(name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return names


def test_any_order_of_files_and_a_pattern_give_the_log_of_one_file(parts: list[str]) -> None:
    expected = facts(SessionLog.load("whole.jsonl"))
    assert expected[0] == tuple(f"s{number}" for number in range(15))
    for order in permutations(parts):
        assert facts(SessionLog.load(list(order))) == expected
    assert facts(SessionLog.load("logs/day-*")) == expected
    assert facts(SessionLog.load(Path("logs") / "**" / "day-*")) == expected
    assert facts(SessionLog.load(["logs/day-?.jsonl", "logs/day-1*"])) == expected


def test_the_name_of_a_pattern() -> None:
    for path, name in (
        ("logs/week.jsonl", "week"),
        ("logs/2026-11-*.jsonl", "2026-11"),
        ("logs/day-?.jsonl.gz", "day"),
        ("logs/*.jsonl", "logs"),
        ("logs/**/*.jsonl", "logs"),
        ("*.jsonl", "files"),
    ):
        assert shown_name(Path(path)) == name


def test_messages_name_the_file_and_the_line(parts: list[str]) -> None:
    for name in (parts[0], parts[2]):
        with Path(name).open("a") as file:
            file.write("no JSON\n")
    with Path("logs/day-12.jsonl").open("w") as file:
        file.write(lines([{**rows()[0], "session_id": "late", "selected": "x"}]))
    with pytest.raises(SessionLogError) as caught:
        SessionLog.load("logs/day-*")
    assert str(caught.value).startswith("logs/day-9.jsonl:23: not JSON")
    assert "3 rows cannot be used: 2 x not JSON, 1 x unknown rank" in str(caught.value)
    log = SessionLog.load("logs/day-*", lenient=True)
    assert log.set_aside.first.startswith("logs/day-9.jsonl:23: ")
    assert len(log) == 15


def test_a_column_that_is_missing_is_looked_for_in_all_files(parts: list[str]) -> None:
    with pytest.raises(
        SessionLogError, match=r"the log of 3 files \(logs/day-\*\) has no column 'devise'"
    ):
        SessionLog.load("logs/day-*", attributes=["devise"])


def test_an_empty_file_among_others_is_noted(parts: list[str]) -> None:
    Path("logs/day-12.jsonl").touch()
    log = SessionLog.load("logs/day-*")
    assert (log.event_count, log.notes) == (60, ["1 file is empty"])
    for name in parts:
        Path(name).write_bytes(b"")
    with pytest.raises(SessionLogError, match="is empty; a log needs at least one event"):
        SessionLog.load("logs/day-*")


def test_what_is_not_files(parts: list[str]) -> None:
    for path, error, message in (
        ("logs/2027-*.jsonl", SessionLogError, r"no file matches 'logs/2027-\*.jsonl'; correct"),
        (["logs/day-9.jsonl", "logs/day-*"], SessionLogError, "day-9.jsonl is given twice"),
        ([], ConfigurationError, "the list is empty; give the paths of log files"),
        (["logs/day-9.jsonl", "none.jsonl"], SessionLogError, "none.jsonl: no such file"),
    ):
        with pytest.raises(error, match=message):
            SessionLog.load(path)
