"""Reading session logs: the formats, and invalid logs of every kind."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import ConfigurationError, SessionLog, SessionLogError
from tests.libraries import NEEDS_POLARS

STATES: list[dict[str, Any]] = [
    {"session_id": "s1", "event": 1, "time": 0, "query": "so", "results": ["d1", "d2"]},
    {"session_id": "s2", "event": 1, "time": 3, "query": "x", "results": ["d5"]},
    {"session_id": "s1", "event": 2, "time": 2, "query": "sort", "results": ["d3", "d4"],
     "selected": "d4"},
]  # fmt: skip
SECONDS = {"time_unit": "s"}


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def write(tmp_path: Path, text: str, name: str = "log.jsonl") -> Path:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


def load(tmp_path: Path, rows: list[dict[str, Any]], **reading: Any) -> SessionLog:
    seconds = SECONDS if any("time" in row or "at" in row for row in rows) else {}
    return SessionLog.load(write(tmp_path, lines(rows)), **(seconds | reading))


def facts(log: SessionLog) -> list[tuple[object, ...]]:
    frame = log.events
    columns = ("session_id", "event", "time", "query", "results", "selected")
    return [tuple(row) for row in frame[list(columns)].itertuples(index=False)]


EXPECTED = [
    ("s1", 1, 0.0, "so", ["d1", "d2"], []),
    ("s1", 2, 2.0, "sort", ["d3", "d4"], [2]),
    ("s2", 1, 3.0, "x", ["d5"], []),
]


# --- the formats ---------------------------------------------------------------------------------


def test_json_lines_with_one_row_per_event(tmp_path: Path) -> None:
    log = load(tmp_path, STATES)
    assert facts(log) == EXPECTED
    assert repr(log) == "SessionLog('log', 2 sessions, 3 events)"
    assert log.final_query("s1") == "sort"
    assert log.final_results("s2") == ["d5"]


@pytest.mark.parametrize("separator", [" ", "|", ";"])
def test_a_table(tmp_path: Path, separator: str) -> None:
    text = "session_id,event,time,query,results,selected\n"
    for row in STATES:
        shown = separator.join(row["results"])
        text += f"{row['session_id']},{row['event']},{row['time']},{row['query']},{shown},"
        text += f"{row.get('selected', '')}\n"
    assert facts(SessionLog.load(write(tmp_path, text, "log.csv"), **SECONDS)) == EXPECTED
    tabs = write(tmp_path, text.replace(",", "\t"), "log.tsv")
    assert facts(SessionLog.load(tabs, **SECONDS)) == EXPECTED


@NEEDS_POLARS
def test_rows_of_parquet_are_counted_from_1_in_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import polars as pl

    monkeypatch.setattr("pytest_rankcheck.files.table_batches.BATCH_ROWS", 2)
    table = {"session_id": ["s"] * 5, "query": [*"abcde"], "time": ["2026-01-01"] * 4 + ["x"]}
    pl.DataFrame(table).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(SessionLogError, match=r"log\.parquet, row 5: session 's': .*'x'"):
        SessionLog.load(tmp_path / "log.parquet")


FLAT = (
    "kind,time_epoch,payload\n"
    'searchRestarted,1700000000000,"{""session"": 7, ""index"": 0, ""selected"": null, ""group"": 3}"\n'
    'sessionFinished,1700000002500,"{""session"": 7, ""index"": 1, ""selected"": [0, 2], ""group"": 3}"\n'
)


def test_a_flat_event_log_with_a_json_payload(tmp_path: Path) -> None:
    log = SessionLog.load(
        write(tmp_path, FLAT, "flat.csv"),
        columns={
            "session": "payload.session",
            "event": "payload.index",
            "selected_rank": "payload.selected",
        },
        first_rank=0,
        attributes=["payload.group"],
    )
    assert log.session_ids == ("7",)
    assert log.attributes("7") == {"payload.group": 3}
    frame = log.events
    assert frame["selected"].tolist() == [[], [1, 3]]
    assert np.diff(frame["time"]).tolist() == [2.5]
    # Two rows at once: the higher one is the final selection.
    assert log.trails.final_rank.tolist() == [1.0]


# --- what it means -------------------------------------------------------------------------------


def test_attributes_are_plain_values_whichever_library_they_come_from() -> None:
    frame = pd.DataFrame(
        {
            "session_id": ["s", "s"],
            "selected_rank": [[], [1]],
            "day": pd.to_datetime(["2026-01-02"] * 2),
            "price": [Decimal("1.5")] * 2,
            "user": [UUID(int=7)] * 2,
            "is_new": np.array([True, True]),
            "took": pd.to_timedelta([5, 5]),
        }
    )
    assert SessionLog.from_frame(frame, first_rank=1).attributes("s") == {
        "day": "2026-01-02T00:00:00",
        "price": 1.5,
        "user": "00000000-0000-0000-0000-000000000007",
        "is_new": True,
    }


def test_attributes_are_the_columns_that_hold_for_a_whole_session(tmp_path: Path) -> None:
    rows = [
        {"session_id": "s1", "event": 1, "group": "A", "tab": "all"},
        {"session_id": "s1", "event": 2, "group": "A", "tab": "files"},
    ]
    log = load(tmp_path, rows)
    assert log.attributes("s1") == {"group": "A"}
    assert log.notes[1:] == ["not attributes, because they change within a session: tab"]
    assert "every session counts as abandoned; name the column selected" in log.notes[0]
    assert len(load(tmp_path, rows, attributes=["group"]).notes) == 1
    assert "they change within a session: tab" in load(tmp_path, rows, attributes=["tab"]).notes[1]
    with pytest.raises(SessionLogError, match="has no column 'grup'; did you mean 'group'"):
        load(tmp_path, rows, attributes=["grup"])


# --- what is wrong with a log --------------------------------------------------------------------

GOOD = {"session_id": "good", "event": 1, "time": 1, "results": ["d1", "d2"], "selected_rank": 0}


BROKEN: list[tuple[str, int, str, dict[str, int]]] = [
    (lines(STATES) + "{\n", 2, ":4: not JSON", {"not JSON": 1}),
    (lines(STATES) + "[1]\n", 2, ":4: not an object but .1.", {"no object": 1}),
    (lines(STATES) + '{"session_id": NaN}\n', 2, ":4: not JSON|:4: NaN", {"not JSON": 1}),
    ("session_id,event,selected\na,1,\nb,1\nc,1,y,z\n", 1, ":3: 2 columns, but the header has 3", {"broken row": 2}),
]  # fmt: skip


def test_a_broken_row_is_reported_or_set_aside(tmp_path: Path) -> None:
    for text, kept, message, reasons in BROKEN:
        path = write(tmp_path, text, "log")
        with pytest.raises(SessionLogError, match=f"log{message}"):
            SessionLog.load(path, **SECONDS)
        log = SessionLog.load(path, lenient=True, **SECONDS)
        assert (len(log), log.set_aside.reasons) == (kept, reasons)


def test_all_problems_are_counted_and_the_first_is_reported(tmp_path: Path) -> None:
    rows = [GOOD | {"session_id": f"s{n}", "selected_rank": 7} for n in range(50)]
    rows.insert(3, GOOD | {"session_id": ""})
    with pytest.raises(SessionLogError) as caught:
        load(tmp_path, rows, first_rank=0)
    text = str(caught.value)
    assert text.startswith(f"{tmp_path}/log.jsonl:1: session 's0': the selected rank is 7")
    assert "51 rows cannot be used: 1 x no session, 50 x rank beyond the results" in text


def test_a_session_is_set_aside_as_a_whole(tmp_path: Path) -> None:
    rows = [GOOD | {"session_id": "half", "event": n, "time": n} for n in range(1, 4)]
    rows[2]["selected_rank"] = 99
    log = load(tmp_path, [rows[0], GOOD, *rows[1:]], first_rank=0, lenient=True)
    assert log.session_ids == ("good",)  # else it would be measured as an abandoned one
    assert (log.set_aside.rows, log.set_aside.sessions) == (3, 1)


UNSAID = (
    "no column says what was selected; the columns are session_id, doc_id, position. Name it "
    "selected or selected_rank, or say which rows are selections, such as "
    "selections_where={'action': ['click']} (rankcheck_session_reading)"
)


def test_a_file_that_is_not_a_log(tmp_path: Path) -> None:
    for text, message in (
        ("a,b\n1,2\n", "there is no session column; .* Name it session"),
        ("session_id,doc_id,position\n1,a,2\n", re.escape(UNSAID)),
        *((text, "is empty") for text in ("", "\n\n", "session_id,event\n")),
    ):
        with pytest.raises(SessionLogError, match=message):
            SessionLog.load(write(tmp_path, text, "log.csv"))
    with pytest.raises(SessionLogError, match="no such file"):
        SessionLog.load(tmp_path / "absent.csv")


def test_objects_without_the_key_of_the_session_are_set_aside(tmp_path: Path) -> None:
    other = {key: value for key, value in GOOD.items() if key != "session_id"}
    for rows in ([GOOD, other], [other, GOOD]):
        with pytest.raises(SessionLogError, match="the event has no session"):
            load(tmp_path, rows, first_rank=0)
        log = load(tmp_path, rows, first_rank=0, lenient=True)
        assert (len(log), log.set_aside.rows) == (1, 1)


def test_a_missing_time_of_pandas(tmp_path: Path) -> None:
    times = pd.to_datetime(["2026-11-21T10:00:00Z", None])
    frame = pd.DataFrame({"session_id": ["s", "s"], "event": [1, 2], "time": times})
    with pytest.raises(
        SessionLogError,
        match=r"row 2: session 's': the event has no time, although othe",
    ):
        SessionLog.from_frame(frame)
    frame = pd.DataFrame({"session_id": ["s", "s"], "time": times[:1].append(times[:1])})
    frame["start"] = [times[0], pd.NaT]
    assert SessionLog.from_frame(frame).trails.duration.tolist() == [0.0]


def test_ids_that_are_large_numbers_are_exact(tmp_path: Path) -> None:
    row = {"session_id": 2**53 + 1, "results": [2**60 + 1, 5], "selected": 2**60 + 1}
    log = load(tmp_path, [row])
    assert log.session_ids == ("9007199254740993",)  # a float would have ...992
    assert facts(log)[0][4:] == (["1152921504606846977", "5"], [1])


def test_events_out_of_order_in_their_session(tmp_path: Path) -> None:
    events = [{"event": 2, "query": "b"}, {"event": 1, "query": "a"}]
    log = load(tmp_path, [{"session_id": "s", **event} for event in events])
    assert log.events["query"].tolist() == ["a", "b"]


def test_the_time_of_a_row_that_cannot_be_used_is_of_any_kind(tmp_path: Path) -> None:
    rows = [GOOD | {"time": 1_700_000_000}, GOOD | {"session_id": None, "time": 1_700_000_000_000}]
    path = write(tmp_path, lines(rows))
    assert SessionLog.load(path, first_rank=0, lenient=True).session_ids == ("good",)


PROBLEMS: list[tuple[str, list[dict[str, Any]], str]] = [
    ("no session", [{"session_id": None}], "log.jsonl:2: the event has no session"),
    ("rank beyond the results", [{"selected_rank": 2}],
     "log.jsonl:2: .* rank is 2, counted from 0, but 2 results were shown"),
    ("rank too small", [{"selected_rank": -1}],
     "log.jsonl:2: session 's': the selected rank is -1, counted from 0; leave it empty if noth"),
    ("unknown rank", [{"selected_rank": None, "selected": "d9"}],
     "'d9' was selected, but is not among the 2 results shown"),
    ("unknown rank", [{"selected_rank": None, "results": None, "selected": "d9"}],
     "'d9' was selected, but the results shown are unknown"),
    ("time runs backwards", [{"event": n, "time": 9 - n} for n in (1, 2)],
     "log.jsonl:3: session 's': the event 2 is 1 s earlier than the event before it"),
    ("duplicate event", [{"event": 4, "time": n} for n in (1, 2)],
     "log.jsonl:3: session 's': duplicate event 4"),
    ("no event index", [{"event": None}],
     "log.jsonl:2: session 's': the event has no index, although others have"),
    ("bad time", [{"time": "noon"}], "log.jsonl:2: session 's': the time: 'noon' is not a time"),
    ("bad selection", [{"selected_rank": "first"}], "the selection: 'first' is not a number"),
    ("bad selection", [{"selected_rank": 10**30}], r"the selection: '1e\+30' is not a rank"),
    ("bad results", [{"selected_rank": None, "results": None, "result_count": -3}],
     "-3 is not a possible number of results"),
    ("bad results", [{"selected_rank": None, "results": None, "result_count": 10**30}],
     "is not a possible number of results"),
]  # fmt: skip


def test_an_unusable_row_is_an_error_or_set_aside(tmp_path: Path) -> None:
    for reason, changes, message in PROBLEMS:
        rows = [GOOD, *(GOOD | {"session_id": "s"} | change for change in changes)]
        with pytest.raises(SessionLogError, match=message) as caught:
            load(tmp_path, rows, first_rank=0)
        assert "lenient=True" in str(caught.value)
        log = load(tmp_path, rows, first_rank=0, lenient=True)
        assert (log.session_ids, log.attributes("good")) == (("good",), {}), reason
        assert log.set_aside.rows == len(changes), reason
        assert reason in log.set_aside.reasons
        assert log.set_aside.sessions == (reason != "no session")
        assert f"{len(changes)} row" in repr(log)
        assert log.notes[0] == str(log.set_aside)


SINCE_1970 = [{"session_id": "s", "event": n, "time": 1_700_000_000 + n} for n in range(3)]
REFUSED: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
    ([GOOD | {"session_id": "\x1b[2J", "selected_rank": 9}], {"first_rank": 0}, r"on '\\x1b\[2J'"),
    (SINCE_1970, {"time_unit": "ms"}, "jsonl:1: time_unit=ms was given, .* seconds since"),
    ([*SINCE_1970, {"session_id": "s", "event": 4, "time": 1_700_000_000_000}], {"time_unit": "s"},
     "jsonl:1: .* seconds .*jsonl:4 it is milliseconds"),
    ([GOOD], {}, "specify whether the first result has rank 0 or 1"),
    ([GOOD | {"selected_rank": 9}], {"first_rank": 0, "lenient": True},
     "has no session left; 1 row set aside from 1 session"),
    ([GOOD], {"columns": {"query": "typd"}, "first_rank": 0}, "has no column 'typd'"),
]  # fmt: skip


def test_what_is_refused(tmp_path: Path) -> None:
    for rows, reading, message in REFUSED:
        with pytest.raises(SessionLogError, match=message):
            load(tmp_path, rows, **reading)
    for reading, message in (
        ({"first_rank": 2}, "first_rank=2 is invalid"),
        ({"time_unit": "sec"}, "time_unit=sec is invalid"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            load(tmp_path, STATES, **reading)


TIMES: list[tuple[list[object], float]] = [
    ([1700000000, 1700000002], 2.0),
    ([1700000000000, 1700000002500], 2.5),
    ([1700000000000000, 1700000002500000], 2.5),
    (["2026-11-21T10:00:00Z", "2026-11-21T12:00:01+02:00"], 1.0),
    (["2026-11-21 10:00:00", "2026-11-21 10:00:03.5"], 3.5),
    (["1700000000000", "1700000001000"], 1.0),
]
UNITS = [("D", 0.0), ("s", 1.0), ("ms", 1.5), ("ns", 1.5)]
TWO_KINDS: list[tuple[list[object], str]] = [
    ([1700000000, 1700000000001], "log.jsonl:1: the time is sec.* in .*log.jsonl:2 it is mill"),
    (["2026-11-21T10:00:00Z", "2026-11-21T10:00:01"], "with a time zone, .* without a time"),
    ([1, 2], "not a time since 1970; give its unit: time_unit"),
    ([1700000000000, 5], "log.jsonl:1: the time is milli.*log.jsonl:2 it is a number that"),
    ([5, 1700000000000], "a number that is not a time since 1970, but in .* milliseconds"),
]


def test_a_datetime64_of_any_unit_is_a_time() -> None:
    first, last = (np.datetime64(f"2026-11-21T10:00:0{end}") for end in ("0", "1.5"))
    for unit, seconds in UNITS:
        times = [first.astype(f"M8[{unit}]"), last.astype(f"M8[{unit}]")]
        rows = [{"session_id": "s", "event": n, "time": time} for n, time in enumerate(times)]
        assert SessionLog.from_records(rows).trails.duration.tolist() == [seconds]


def test_times_are_read_in_all_common_forms_but_of_one_kind(tmp_path: Path) -> None:
    def timed(times: list[object], **reading: Any) -> SessionLog:
        rows = [{"session_id": "s", "event": n, "time": time} for n, time in enumerate(times)]
        return SessionLog.load(write(tmp_path, lines(rows)), **reading)

    for times, seconds in TIMES:
        assert timed(times).trails.duration.tolist() == [pytest.approx(seconds, abs=1e-6)]
    for times, message in TWO_KINDS:
        for lenient in (False, True):  # it is unknown which is right
            with pytest.raises(SessionLogError, match=message):
                timed(times, lenient=lenient)


SEVERAL: list[tuple[dict[str, Any], str | list[int]]] = [
    ({"selected_rank": 1}, [2]),
    ({"selected_rank": [1, 0], "selected": ["d1", "d2"]}, [1, 2]),
    ({"selected_rank": [0, 2], "selected": "d1 d2"}, [1, 2]),  # the documents count
    ({"results": ["d2", "d1", "d2"], "selected": "d2"}, [1]),
    ({"selected": ["d1", "d9"]}, "'d9' was selected, but is not"),
    ({"selected_rank": "2|7"}, "selected rank is 7, counted from 0"),
    ({"selected_rank": "x", "clicks": [{"rank": 1}, {"rank": 0}]}, [2, 1]),
    ({"clicks": [{"rank": 0}, {"rank": 3}]}, "rank is 3, counted from 0"),
    ({"clicks": [{"rank": 1}, 7]}, "a click: '7' has no rank"),
]


def test_several_selections_of_one_event(tmp_path: Path) -> None:
    for given, expected in SEVERAL:
        row = {"session_id": "s", "results": ["d1", "d2", "d3"], "selected_rank": None} | given
        if isinstance(expected, str):
            with pytest.raises(SessionLogError, match=f"(?m){expected}"):
                load(tmp_path, [row], first_rank=0)
        else:
            selected = load(tmp_path, [row], first_rank=0).events["selected"].tolist()
            assert selected == [expected], given
