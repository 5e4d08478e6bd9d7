"""Splitting what a client did into sessions by pauses, against an independent computation."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flattened import START

from pytest_rankcheck import (
    ConfigurationError,
    Metric,
    Record,
    SessionLog,
    SessionLogError,
    evaluate_sessions,
)
from pytest_rankcheck.sessions.log_reader import names_by_start

GAP = 1800


def clients(count: int = 200, seed: int = 3) -> pd.DataFrame:
    """Return the events of clients: 1 to 4 visits each, with pauses of hours or days between."""
    rng = np.random.default_rng(seed)
    rows = []
    for client in range(count):
        time = START + float(rng.integers(0, 86_400))
        for _ in range(int(rng.integers(1, 5))):
            for _ in range(int(rng.integers(1, 9))):
                rank = int(rng.integers(1, 12))
                rows.append(
                    {
                        "client_id": f"c{client}",
                        "time": time,
                        "query": f"q{rng.integers(0, 50)}",
                        "result_count": 10,
                        "selected_rank": rank if rank <= 10 and rng.random() < 0.3 else None,
                        "device": f"d{client % 3}",
                    }
                )
                time += float(rng.integers(5, 60))
            time += float(rng.integers(2 * GAP, 50 * GAP))
    return pd.DataFrame(rows).sample(frac=1, random_state=seed)  # in any order


def named(seconds: float) -> str:
    """Return the name of a session that begins at a time since 1970."""
    return str(pd.Timestamp(seconds, unit="s").isoformat())


def of_client(log: SessionLog, client: str) -> list[str]:
    """Return the sessions of a client, in order."""
    return [each for each in log.session_ids if log.attributes(each)["client_id"] == client]


def load(frame: pd.DataFrame, **reading: Any) -> SessionLog:
    return SessionLog.from_frame(
        frame,
        columns={"session": "client_id"},
        **({"first_rank": 1, "session_gap": "30min"} | reading),
    )


def test_the_client_stays_as_an_attribute() -> None:
    frame = clients()
    log = load(frame)
    own = of_client(log, "c7")
    assert all(log.attributes(each) == {"client_id": "c7", "device": "d1"} for each in own)
    assert (
        len(own) == 1 + (frame[frame["client_id"] == "c7"]["time"].sort_values().diff() > GAP).sum()
    )
    rows = [
        {"client_id": "c", "time": time, "page": page, "selected": None}
        for time, page in ((0, "x"), (5, "x"), (9000, "y"))
    ]
    log = SessionLog.from_records(
        rows, columns={"session": "client_id"}, session_gap=60, time_unit="s"
    )
    assert [log.attributes(each)["page"] for each in log.session_ids] == ["x", "y"]
    assert of_client(load(frame, attributes=["device"]), "c7") == own
    assert len(evaluate_sessions(log, clustered="client_id").query_ids) == len(log)


@pytest.mark.parametrize("gap", [1800, 1800.0, "30min", "30 MIN", "0.5h", "1800s", "30m", "1800"])
def test_a_pause_is_written_in_many_ways(gap: object) -> None:
    assert load(clients(20), session_gap=gap).session_ids == load(clients(20)).session_ids


@pytest.mark.parametrize("gap", [0, -1, "30 parsecs", "min", "", True, [30], float("nan")])
def test_an_invalid_pause(gap: object) -> None:
    with pytest.raises(ConfigurationError, match=r"session_gap=.* is invalid; give the time witho"):
        load(clients(2), session_gap=gap)


def test_a_pause_as_long_as_the_gap_does_not_split() -> None:
    frame = pd.DataFrame({"client_id": "c", "time": [0, 10, 20.5], "selected": None})
    log = SessionLog.from_frame(
        frame, columns={"session": "client_id"}, session_gap=10, time_unit="s"
    )
    assert log.session_ids == ("0 s", "20.5 s")
    assert log.trails.events.tolist() == [2, 1]


def test_a_record_tells_nobody() -> None:
    log = load(clients(20)).clustered("client_id")
    record = Record.of(evaluate_sessions(log), [Metric.parse("SuccessRate")])
    text = record.text.replace("client_id", "")
    assert not re.search(r'"c\d+', text)
    replayed = log.states()
    assert not any(state.id.startswith("c") for state in replayed)


def test_names() -> None:
    for starts, owners, taken, names in (
        ([START, START + 0.5], "aa", (), [named(START), f"{named(START)}.500"]),
        ([5, 5], "ba", (), ["5 s#2", "5 s"]),
        ([5, 5, 5], "aaa", ("5 s",), ["5 s#2", "5 s#3", "5 s#4"]),
        ([float("nan")] * 2, "ab", (), ["no time", "no time#2"]),
        ([1e11], "a", (), ["100000000000 s"]),
    ):
        assert names_by_start(starts, list(owners), taken) == names


def test_times_are_needed() -> None:
    rows = [{"session_id": "s", "time": 5, "selected": None}, {"session_id": "s", "query": "x"}]
    for each, row in (([{"session_id": "s"}], 1), (rows, 2)):
        text = f"{row}: session 's': the event has no time, although others have, or session_gap"
        with pytest.raises(SessionLogError, match=text):
            SessionLog.from_records(each, session_gap="1h", time_unit="s")


def test_indexes_of_events_are_not_used() -> None:
    """Indexes that start again in each visit, or go on, or contradict the times."""
    for indexes in ([1, 2, 1], [1, 2, 3], [3, 2, 1]):
        frame = pd.DataFrame(
            {"client_id": "c", "time": [0, 5, 900], "event": indexes, "query": [*"abc"]}
        )
        log = SessionLog.from_frame(
            frame, columns={"session": "client_id"}, session_gap=60, time_unit="s"
        )
        assert log.events["query"].tolist() == ["a", "b", "c"]
        assert log.events["session_id"].tolist() == ["0 s", "0 s", "900 s"]
        assert [state.id for state in log.states()] == ["0 s.1", "0 s.2", "900 s.1"]


def test_a_problem_sets_all_sessions_of_the_client_aside() -> None:
    """A row without a usable time may belong to any of them."""
    frame = pd.DataFrame(
        {
            "client_id": ["a", "a", "b", "a", "a#1"],
            "time": ["2026-01-01 10:00", "2026-01-01 14:00", "2026-01-01 10:00", "noon", "2026-01-01 10:00"],
            "selected": None,
        }
    )  # fmt: skip
    log = SessionLog.from_frame(
        frame, columns={"session": "client_id"}, session_gap="1h", lenient=True
    )
    assert [log.attributes(each)["client_id"] for each in log.session_ids] == ["b", "a#1"]
    assert (log.set_aside.sessions, log.set_aside.rows) == (1, 3)


def test_a_late_click_belongs_to_its_search() -> None:
    rows = [
        {"client_id": "c", "search_id": "q1", "time": 0, "results": ["a", "b"]},
        {"client_id": "c", "search_id": "q1", "time": 4000, "type": "click", "doc_id": "b"},
        {"client_id": "c", "search_id": "q2", "time": 4010, "results": ["a"]},
        {"client_id": "c", "search_id": "q3", "time": 9999, "results": ["a"]},
    ]
    log = SessionLog.from_records(
        rows,
        columns={"session": "client_id"},
        session_gap="1h",
        time_unit="s",
        selections_where={"type": "click"},
    )
    assert log.session_ids == ("0 s", "9999 s")
    assert log.events["selected"].tolist() == [[2], [], []]
    assert log.trails.events.tolist() == [2, 1]
