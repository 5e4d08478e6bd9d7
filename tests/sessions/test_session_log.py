"""Reading session logs: the three layouts, the three formats, and invalid logs of every kind."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from reference import data as reference_data

from pytest_rankcheck import ConfigurationError, SessionLog, SessionLogError

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


def test_rows_of_parquet_are_counted_from_1_in_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    monkeypatch.setattr("pytest_rankcheck.files.table_batches.BATCH_ROWS", 2)
    table = {"session_id": ["s"] * 5, "query": [*"abcde"], "time": ["2026-01-01"] * 4 + ["x"]}
    pl.DataFrame(table).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(SessionLogError, match=r"log\.parquet, row 5: session 's': .*'x'"):
        SessionLog.load(tmp_path / "log.parquet")


def test_a_frame_and_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame(STATES)
    assert facts(SessionLog.from_frame(frame, **SECONDS)) == EXPECTED
    pl = pytest.importorskip("polars")
    pl.DataFrame(STATES, infer_schema_length=None).write_parquet(tmp_path / "log.parquet")
    assert facts(SessionLog.load(tmp_path / "log.parquet", **SECONDS)) == EXPECTED


def test_a_packed_file(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(lines(STATES).encode()))
    assert facts(SessionLog.load(tmp_path / "log.jsonl.gz", **SECONDS)) == EXPECTED


def test_columns_with_other_names(tmp_path: Path) -> None:
    rows = [{"user": "s1", "nr": 1, "at": 5, "typed": "a", "list": ["d1"], "took": "d1"}]
    columns = {
        "session": "user", "event": "nr", "time": "at", "query": "typed", "results": "list",
        "selected": "took",
    }  # fmt: skip
    log = load(tmp_path, rows, columns=columns)
    assert facts(log) == [("s1", 1, 5.0, "a", ["d1"], [1])]
    with pytest.raises(SessionLogError, match=r"has no column 'usr'; did you mean 'user'\?"):
        load(tmp_path, rows, columns=columns | {"session": "usr"})


FLAT = (
    "event_id,time_epoch,event_data\n"
    'dialogOpened,1700000000000,"{""session_id"": 7}"\n'
    'searchRestarted,1700000000000,"{""session_id"": 7, ""eventIndex"": 0, ""queryLength"": 2, '
    '""selectedIndexes"": null, ""experimentGroup"": 3, ""resultCount"": 9}"\n'
    'sessionFinished,1700000002500,"{""session_id"": 7, ""eventIndex"": 1, ""queryLength"": 4, '
    '""selectedIndexes"": [0, 2], ""experimentGroup"": 3, ""resultCount"": 9}"\n'
)


def test_a_flat_event_log_with_a_json_payload(tmp_path: Path) -> None:
    log = SessionLog.load(write(tmp_path, FLAT, "flat.csv"))
    assert log.session_ids == ("7",)
    assert log.attributes("7") == {"experimentGroup": 3}
    assert log.notes == ["1 event of the kind 'dialogOpened' ignored"]
    frame = log.events
    assert frame["selected"].tolist() == [[], [1, 3]]
    assert np.diff(frame["time"]).tolist() == [2.5]
    # Two rows at once: the higher one is the final selection.
    assert log.trails.final_rank.tolist() == [1.0]


def test_a_flat_log_in_json_lines_has_its_payload_as_it_is(tmp_path: Path) -> None:
    payload = {"session_id": "a", "eventIndex": 0, "selectedIndexes": [1], "group": "x"}
    row = {"event_id": "sessionFinished", "event_data": payload, "timestamp": 1700000000000}
    log = SessionLog.load(write(tmp_path, lines([row])))
    assert log.trails.final_rank.tolist() == [2.0]
    assert log.attributes("a") == {"group": "x"}


def test_a_log_without_an_event_of_a_search(tmp_path: Path) -> None:
    with pytest.raises(SessionLogError, match=r"has no search events: .* 1 x dialogOpened"):
        SessionLog.load(write(tmp_path, "\n".join(FLAT.splitlines()[:2]) + "\n", "flat.csv"))


def test_the_trec_session_track() -> None:
    log = SessionLog.load(reference_data("trec-session-2013") / "sessions.jsonl", time_unit="s")
    assert (len(log), log.event_count) == (133, 401)
    selected = log.events["selected"]
    assert sum(map(len, selected)) == 586
    assert (selected.map(len) > 0).sum() == 249
    assert (~np.isnan(log.trails.final_rank)).sum() == 128
    assert log.attributes("1") == {"topic": "1"}


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
    with pytest.raises(SessionLogError, match="the attribute 'tab' changes"):
        load(tmp_path, rows, attributes=["tab"])
    with pytest.raises(SessionLogError, match="has no column 'grup'; did you mean 'group'"):
        load(tmp_path, rows, attributes=["grup"])


def test_ranks_count_from_first_rank(tmp_path: Path) -> None:
    row = {"session_id": "s", "result_count": 5, "selected_rank": 1}
    with pytest.raises(SessionLogError, match="specify whether the first result has rank 0 or 1"):
        load(tmp_path, [row])
    assert load(tmp_path, [row], first_rank=0).trails.final_rank.tolist() == [2.0]
    assert load(tmp_path, [row], first_rank=1).trails.final_rank.tolist() == [1.0]
    with pytest.raises(ConfigurationError, match="first_rank=2 is invalid"):
        load(tmp_path, [row], first_rank=2)


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        ([1700000000, 1700000002], 2.0),
        ([1700000000000, 1700000002500], 2.5),
        ([1700000000000000, 1700000002500000], 2.5),
        (["2026-11-21T10:00:00Z", "2026-11-21T12:00:01+02:00"], 1.0),
        (["2026-11-21 10:00:00", "2026-11-21 10:00:03.5"], 3.5),
        (["1700000000000", "1700000001000"], 1.0),
    ],
)
def test_times_are_read_in_all_common_forms(
    tmp_path: Path, times: list[object], seconds: float
) -> None:
    rows = [{"session_id": "s", "event": number, "time": time} for number, time in enumerate(times)]
    log = SessionLog.load(write(tmp_path, lines(rows)))
    assert log.trails.duration.tolist() == [pytest.approx(seconds, abs=1e-6)]


def test_times_of_a_frame(tmp_path: Path) -> None:
    times = pd.to_datetime(["2026-11-21T10:00:00Z", "2026-11-21T10:00:04Z"])
    frame = pd.DataFrame({"session_id": ["s", "s"], "event": [1, 2], "time": times})
    assert SessionLog.from_frame(frame).trails.duration.tolist() == [4.0]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([1700000000, 1700000000001], "log.jsonl:1: the time is sec.* in .*log.jsonl:2 it is mill"),
        (["2026-11-21T10:00:00Z", "2026-11-21T10:00:01"], "with a time zone, .* without a time"),
        ([1, 2], "not a time since 1970; give its unit: time_unit"),
        ([1700000000000, 5], "log.jsonl:1: the time is milli.*log.jsonl:2 it is a number that"),
        ([5, 1700000000000], "a number that is not a time since 1970, but in .* milliseconds"),
    ],
)
def test_times_of_two_kinds_are_refused(tmp_path: Path, times: list[object], message: str) -> None:
    rows = [{"session_id": "s", "event": n, "time": time} for n, time in enumerate(times)]
    for lenient in (False, True):  # it is unknown which is right
        with pytest.raises(SessionLogError, match=message):
            SessionLog.load(write(tmp_path, lines(rows)), lenient=lenient)


def test_an_unknown_unit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="time_unit='sec' is invalid"):
        load(tmp_path, STATES, time_unit="sec")


def test_events_out_of_order_are_put_in_order_and_counted(tmp_path: Path) -> None:
    rows = [
        {"session_id": "s", "event": 2, "time": 5, "selected_rank": 1, "result_count": 3},
        {"session_id": "s", "event": 1, "time": 1, "selected_rank": None, "result_count": 3},
    ]
    log = load(tmp_path, rows, first_rank=1)
    assert log.events["time"].tolist() == [1.0, 5.0]
    assert log.trails.final_event.tolist() == [2.0]
    assert log.notes == ["1 event was out of order in the file and sorted"]


# --- what is wrong with a log --------------------------------------------------------------------

GOOD = {"session_id": "good", "event": 1, "time": 1, "results": ["d1", "d2"], "selected_rank": 0}
PROBLEMS: dict[str, tuple[list[dict[str, Any]], str, int]] = {
    "no session": (
        [GOOD | {"session_id": None}],
        r"log.jsonl:2: the event has no session",
        1,
    ),
    "second finish": (
        [GOOD | {"session_id": "s", "event": n, "finished": True} for n in (1, 2)],
        r"log.jsonl:3: session 's': the session finishes twice",
        2,
    ),
    "event after the finish": (
        [GOOD | {"session_id": "s", "event": n, "finished": n == 1} for n in (1, 2, 3)],
        r"log.jsonl:3: session 's': the event comes after the session has finished",
        3,
    ),
    "rank beyond the results": (
        [GOOD | {"session_id": "s", "selected_rank": 2}],
        r"log.jsonl:2: .* rank is 2, counted from 0, but 2 results .*; are ranks counted from 1",
        1,
    ),
    "rank too small": (
        [GOOD | {"session_id": "s", "selected_rank": -1}],
        r"log.jsonl:2: session 's': the selected rank is negative",
        1,
    ),
    "document not shown": (
        [GOOD | {"session_id": "s", "selected_rank": None, "selected": "d9"}],
        r"'d9' was selected, but is not among the 2 results shown",
        1,
    ),
    "unknown rank": (
        [{"session_id": "s", "event": 1, "time": 1, "selected": "d9"}],
        r"'d9' was selected, but the results shown are unknown",
        1,
    ),
    "rank and document disagree": (
        [GOOD | {"session_id": "s", "selected_rank": 1, "selected": "d1"}],
        r"document 'd1' is result 1, but the selected rank 1 is result 2; are ranks counted from 1",
        1,
    ),
    "time runs backwards": (
        [GOOD | {"session_id": "s", "event": n, "time": 9 - n} for n in (1, 2)],
        r"log.jsonl:3: session 's': the event 2 is 1 s earlier than the event before it",
        2,
    ),
    "duplicate event": (
        [GOOD | {"session_id": "s", "event": 4, "time": n} for n in (1, 2)],
        r"log.jsonl:3: session 's': duplicate event 4",
        2,
    ),
    "no event index": (
        [GOOD | {"session_id": "s", "event": None}],
        r"log.jsonl:2: session 's': the event has no index, although others have",
        1,
    ),
    "bad time": (
        [GOOD | {"session_id": "s", "time": "noon"}],
        r"log.jsonl:2: session 's': the time: 'noon' is not a time",
        1,
    ),
    "bad selection": (
        [GOOD | {"session_id": "s", "selected_rank": "first"}],
        r"the selection: 'first' is not a number",
        1,
    ),
    "bad results": (
        [{"session_id": "s", "event": 1, "time": 1, "result_count": -3}],
        r"-3 is not a possible number of results",
        1,
    ),
    "bad finish": (
        [GOOD | {"session_id": "s", "finished": "perhaps"}],
        r"the finish flag: 'perhaps' is neither true nor false",
        1,
    ),
}


@pytest.mark.parametrize("reason", PROBLEMS)
def test_an_unusable_row_is_an_error_or_set_aside(tmp_path: Path, reason: str) -> None:
    rows, message, count = PROBLEMS[reason]
    with pytest.raises(SessionLogError, match=message) as caught:
        load(tmp_path, [GOOD, *rows], first_rank=0)
    assert "lenient=True" in str(caught.value)
    log = load(tmp_path, [GOOD, *rows], first_rank=0, lenient=True)
    assert log.session_ids == ("good",)
    assert log.attributes("good") == {}
    assert log.set_aside.rows == count
    assert reason in log.set_aside.reasons
    assert log.set_aside.sessions == (0 if reason == "no session" else 1)
    assert f"{count} row" in repr(log)
    assert log.notes[0].startswith(str(log.set_aside))


def test_a_broken_payload_is_reported_with_its_row(tmp_path: Path) -> None:
    text = FLAT + 'sessionFinished,1700000000000,"{broken"\n'
    with pytest.raises(SessionLogError, match=r"flat.csv:5: event_data is not JSON"):
        SessionLog.load(write(tmp_path, text, "flat.csv"))
    log = SessionLog.load(write(tmp_path, text, "flat.csv"), lenient=True)
    assert log.set_aside.reasons == {"broken payload": 1}
    assert len(log) == 1


@pytest.mark.parametrize("line", ["{", "[1]", '{"session_id": NaN}'])
def test_a_broken_line(tmp_path: Path, line: str) -> None:
    text = lines(STATES) + line + "\n"
    with pytest.raises(SessionLogError, match=r"log.jsonl:4: "):
        SessionLog.load(write(tmp_path, text), **SECONDS)
    log = SessionLog.load(write(tmp_path, text), lenient=True, **SECONDS)
    assert (len(log), log.set_aside.rows) == (2, 1)


def test_all_problems_are_counted_and_the_first_is_reported(tmp_path: Path) -> None:
    rows = [GOOD | {"session_id": f"s{n}", "selected_rank": 7} for n in range(50)]
    rows.insert(3, GOOD | {"session_id": ""})
    with pytest.raises(SessionLogError) as caught:
        load(tmp_path, rows, first_rank=0)
    text = str(caught.value)
    assert text.startswith(f"{tmp_path}/log.jsonl:1: session 's0': the selected rank is 7")
    assert "51 rows cannot be used: 50 x rank beyond the results, 1 x no session" in text


def test_a_session_is_set_aside_as_a_whole(tmp_path: Path) -> None:
    rows = [GOOD | {"session_id": "half", "event": n, "time": n} for n in range(1, 4)]
    rows[2]["selected_rank"] = 99
    log = load(tmp_path, [rows[0], GOOD, *rows[1:]], first_rank=0, lenient=True)
    assert log.session_ids == ("good",)  # else it would be measured as an abandoned one
    assert (log.set_aside.rows, log.set_aside.sessions) == (3, 1)


@pytest.mark.parametrize("text", ["", "\n\n", "session_id,event\n"])
def test_an_empty_log(tmp_path: Path, text: str) -> None:
    with pytest.raises(SessionLogError, match="is empty"):
        SessionLog.load(write(tmp_path, text, "log.csv"))


def test_a_log_with_all_sessions_set_aside(tmp_path: Path) -> None:
    with pytest.raises(SessionLogError, match="no session is left; 1 row set aside from 1 session"):
        load(tmp_path, [GOOD | {"selected_rank": 9}], first_rank=0, lenient=True)


def test_a_file_that_is_not_a_log(tmp_path: Path) -> None:
    with pytest.raises(SessionLogError, match=r"there is no session column; .* Name it session"):
        SessionLog.load(write(tmp_path, "a,b\n1,2\n", "log.csv"))
    with pytest.raises(SessionLogError, match="no such file"):
        SessionLog.load(tmp_path / "absent.csv")


def test_a_session_of_one_event_has_no_duration(tmp_path: Path) -> None:
    assert load(tmp_path, [GOOD], first_rank=0).trails.duration.tolist() == [0.0]


def test_ids_with_control_characters_are_shown_harmlessly(tmp_path: Path) -> None:
    rows = [GOOD | {"session_id": "\x1b[2J", "selected_rank": 9}]
    with pytest.raises(SessionLogError) as caught:
        load(tmp_path, rows, first_rank=0)
    assert r"session '\x1b[2J'" in str(caught.value)


def test_impossibly_large_numbers(tmp_path: Path) -> None:
    with pytest.raises(SessionLogError, match=r"the selection: '10{30}' is not a rank"):
        load(tmp_path, [GOOD | {"selected_rank": 10**30}], first_rank=0)
    rows = [{"session_id": "s", "event": 1, "time": 1, "result_count": 10**30}]
    with pytest.raises(SessionLogError, match="is not a possible number of results"):
        load(tmp_path, rows)


def test_objects_without_the_key_of_the_session_are_set_aside(tmp_path: Path) -> None:
    other = {key: value for key, value in GOOD.items() if key != "session_id"}
    for rows in ([GOOD, other], [other, GOOD]):
        with pytest.raises(SessionLogError, match="the event has no session"):
            load(tmp_path, rows, first_rank=0)
        log = load(tmp_path, rows, first_rank=0, lenient=True)
        assert (len(log), log.set_aside.rows) == (1, 1)


def test_a_unit_that_the_times_contradict(tmp_path: Path) -> None:
    rows = [{"session_id": "s", "event": n, "time": 1_700_000_000 + n} for n in range(3)]
    with pytest.raises(SessionLogError, match=r"jsonl:1: time_unit=ms was given, .* seconds since"):
        load(tmp_path, rows, time_unit="ms")
    assert load(tmp_path, rows, time_unit="s").trails.duration.tolist() == [2.0]
    odd = [*rows, {"session_id": "s", "event": 4, "time": 1_700_000_000_000}]
    with pytest.raises(SessionLogError, match=r"jsonl:1: .* seconds .*jsonl:4 it is milliseconds"):
        load(tmp_path, odd, time_unit="s")


def test_options_about_missing_columns(tmp_path: Path) -> None:
    rows = [{"session_id": "s", "took": 3, "when": 5}]
    with pytest.raises(
        SessionLogError, match=r"first_rank=0 was given, but there is no known column"
    ):
        load(tmp_path, rows, first_rank=0)
    with pytest.raises(
        SessionLogError, match=r"time_unit=ms was given, but there is no known column"
    ):
        load(tmp_path, rows, time_unit="ms")


def test_a_row_of_the_wrong_length_is_set_aside(tmp_path: Path) -> None:
    text = "session_id,event,selected\na,1,\nb,1\nc,1,y,z\n"
    with pytest.raises(SessionLogError, match=r"log.csv:3: 2 columns, but the header has 3"):
        SessionLog.load(write(tmp_path, text, "log.csv"))
    log = SessionLog.load(write(tmp_path, text, "log.csv"), lenient=True)
    assert (log.session_ids, log.set_aside.reasons) == (("a",), {"broken row": 2})


def test_a_large_share_set_aside_is_a_warning(tmp_path: Path) -> None:
    rows = [GOOD | {"session_id": f"s{n}", "selected_rank": -1 if n < 3 else 0} for n in range(10)]
    log = load(tmp_path, rows, first_rank=0, lenient=True)
    assert "that is 30% of all sessions: the rest may be different" in log.notes[0]
    with pytest.raises(SessionLogError, match="negative; leave it empty if nothing was selec"):
        load(tmp_path, rows, first_rank=0)


def test_a_missing_time_of_pandas(tmp_path: Path) -> None:
    times = pd.to_datetime(["2026-11-21T10:00:00Z", None])
    frame = pd.DataFrame({"session_id": ["s", "s"], "event": [1, 2], "time": times})
    with pytest.raises(
        SessionLogError,
        match=r"row 2 \(index label 1\): session 's': the event has no time, although othe",
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
    log = load(tmp_path, [{"session_id": "s", "events": events}])
    assert log.events["query"].tolist() == ["a", "b"]
    assert log.notes[-1] == "1 event was out of order in the file and sorted"


def test_the_first_problem_of_a_session_is_that_of_its_first_event(tmp_path: Path) -> None:
    events = [{"event": 1, "finished": "perhaps"}, {"event": None}, 5]
    with pytest.raises(SessionLogError, match="'perhaps' is neither true nor false"):
        load(tmp_path, [{"session_id": "s", "events": events}])


SEVERAL: dict[str, tuple[dict[str, Any], str | list[int]]] = {
    "ranks in another order": ({"selected_rank": [1, 0], "selected": ["d1", "d2"]}, [1, 2]),
    "a rank too few": (
        {"selected_rank": [0], "selected": ["d1", "d2"]},
        "is result 1, but the sel",
    ),
    "another rank": ({"selected_rank": [0, 2], "selected": "d1 d2"}, "rank 0 is result 1$"),
    "the first place counts": ({"results": ["d2", "d1", "d2"], "selected": "d2"}, [1]),
    "one of two is not shown": ({"selected": ["d1", "d9"]}, "'d9' was selected, but is not"),
    "one of two is beyond": ({"selected_rank": "2|7"}, "selected rank is 7, counted from 0"),
    "clicks come first": ({"selected_rank": "x", "clicks": [{"rank": 1}, {"rank": 0}]}, [2, 1]),
    "a click on nothing": ({"clicks": [{"rank": 0}, {"rank": 3}]}, "rank is 3, counted from 0"),
    "a click without a rank": ({"clicks": [{"rank": 1}, 7]}, "the click '7' has no rank"),
}


@pytest.mark.parametrize("case", SEVERAL)
def test_several_selections_of_one_event(tmp_path: Path, case: str) -> None:
    given, expected = SEVERAL[case]
    row = {"session_id": "s", "results": ["d1", "d2", "d3"], "selected_rank": None} | given
    if isinstance(expected, str):
        with pytest.raises(SessionLogError, match=f"(?m){expected}"):
            load(tmp_path, [row], first_rank=0)
    else:
        assert load(tmp_path, [row], first_rank=0).events["selected"].tolist() == [expected]


def test_an_attribute_that_changes_in_a_row_with_other_keys(tmp_path: Path) -> None:
    rows = [{"session_id": "s", "tab": "x"}, {"session_id": "s", "tab": "y", "query": "q"}]
    log = load(tmp_path, rows)
    assert log.attributes("s") == {}
    assert log.notes[-1] == "not attributes, because they change within a session: tab"
    with pytest.raises(SessionLogError, match=r"log.jsonl:2: .* the attribute 'tab' changes"):
        load(tmp_path, rows, attributes=["tab"])


def test_the_time_of_a_row_that_cannot_be_used_is_of_any_kind(tmp_path: Path) -> None:
    rows = [GOOD | {"time": 1_700_000_000}, GOOD | {"session_id": None, "time": 1_700_000_000_000}]
    path = write(tmp_path, lines(rows))
    assert SessionLog.load(path, first_rank=0, lenient=True).session_ids == ("good",)
