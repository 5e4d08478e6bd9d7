"""Logs of User Behavior Insights: the join of queries and events."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flattened import per_search, searches

from pytest_rankcheck import ConfigurationError, SessionLog, SessionLogError, evaluate_sessions
from pytest_rankcheck.sessions.ubi_log import sessions_of

METRICS = (
    "SuccessRate",
    "SuccessRate@1",
    "SessionRR(abandoned=zero)",
    "TimeToSelection(abandoned=exclude)",
    "SessionDuration",
    "EventsPerSession",
)


def query(number: int, client: str, time: str, hits: str | None, **more: Any) -> dict[str, Any]:
    """Return a line of ``ubi_queries`` of 2026-11-16."""
    row = {
        "query_id": f"q{number}",
        "client_id": client,
        "timestamp": f"2026-11-16T{time}Z",
        "user_query": f"query {number}",
        "query_attributes": {"device": "mobile" if client == "ann" else "desktop"},
    }
    return row | ({} if hits is None else {"query_response_hit_ids": hits.split()}) | more


def event(number: int | None, action: str, document: str | None, time: str, **more: Any) -> Any:
    """Return a line of ``ubi_events`` of 2026-11-16."""
    ordinal = more.pop("ordinal", None)
    row = {
        "action_name": action,
        "timestamp": f"2026-11-16T{time}Z",
        "event_attributes": {
            "object": {"object_id": document, "object_id_field": "sku"},
            "position": {"ordinal": ordinal},
        },
    }
    return row | ({} if number is None else {"query_id": f"q{number}"}) | more


ANN, ANN_AGAIN, BOB = (f"2026-11-16T09:{time}:00" for time in ("00", "31", "05"))
"""The sessions, named after the times they begin."""

QUERIES = [
    query(1, "ann", "09:00:00", "a b c", query_attributes={"device": "mobile", "page": 1}),
    query(2, "ann", "09:00:40", "d e f"),
    query(3, "ann", "09:31:00", "a b c"),  # 30 min 20 s later: another session
    query(4, "bob", "09:05:00", "a b c"),
    query(4, "bob", "09:05:09", "d e"),  # the second page
]
EVENTS = [
    event(1, "impression", "a", "09:00:00", ordinal=1),
    event(1, "click", "zzz", "09:00:05"),  # not among the results
    event(2, "Click", "e", "09:00:50", ordinal=2),
    event(2, "click", "e", "09:00:50", ordinal=2),  # delivered twice
    event(2, "purchase", "e", "09:02:40", ordinal=2),
    event(4, "click", "d", "09:04:58", ordinal=4),  # the clock of the client is 2 s late
    event(9, "click", "d", "09:04:58"),
    event(None, "click", "d", "09:04:58"),
    event(4, "scroll", None, "09:06:00"),
]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def test_a_log_worked_by_hand() -> None:
    log = SessionLog.from_ubi(QUERIES, EVENTS, grades={"purchase": 3})
    assert log.name == "ubi"
    assert log.session_ids == (ANN, ANN_AGAIN, BOB)
    events = log.events.to_dict("list")
    assert events["query"] == ["query 1", "query 2", "query 3", "query 4"]
    assert events["results"][3] == ["a", "b", "c", "d", "e"]
    assert events["selected"] == [[], [2, 2], [], [4]]
    assert log.attributes(ANN) == {"client_id": "ann", "device": "mobile", "page": 1}
    assert log.attributes(BOB) == {"client_id": "bob", "device": "desktop"}
    evaluation = evaluate_sessions(log)
    assert evaluation.mean("SuccessRate") == 2 / 3
    assert evaluation.mean("SessionRR(abandoned=zero)") == (1 / 2 + 0 + 1 / 4) / 3
    # ann clicks 50 s after her first query, bob at once: his click is not before his query.
    assert evaluation.mean("TimeToSelection(abandoned=exclude)") == (50 + 0) / 2
    assert evaluation.mean("SessionDuration") == (160 + 0 + 0) / 3
    golden = log.to_golden_set("all")
    grades = {query_id: dict(golden.grades(query_id)) for query_id in golden.query_ids}
    assert grades == {f"{ANN}.2": {"e": 3}, f"{BOB}.1": {"d": 1}}
    note = "; ".join(log.notes)
    assert note == (
        "2 events of other actions not counted: impression (1), scroll (1); "
        "no search has a session_id: there, a session is what a client does without a pause of "
        "more than 30 minutes; "
        "selections not counted: 1 delivered more than once, 1 of an unknown query_id, "
        "1 without a query_id, 1 of a document that was not among the results; "
        "earlier than the query, by up to 2 s, and counted as simultaneous with it: 1 selection"
    )


def simulated() -> tuple[list[Any], list[Any], SessionLog]:
    """Return queries and events, and the log that they are of."""
    made = searches(120)
    rows = per_search(made)
    queries = [
        {"query_id": each.id, "session_id": each.session, "timestamp": each.time * 1000}
        | {"user_query": row["query"], "query_response_hit_ids": row["results"]}
        for each, row in zip(made, rows, strict=True)
    ]
    events = [
        event(None, action, each.documents[click.rank - 1], "00:00:00", ordinal=click.rank)
        | {"query_id": each.id, "timestamp": pd.Timestamp(click.time, unit="s").isoformat() + "Z"}
        for each in made
        for click in each.clicks
        for action in ("impression", "click")
    ]
    return queries, events, SessionLog.from_records(rows)


def jsonl(rows: list[Any], folder: Path) -> str:
    path = folder / f"{len(list(folder.iterdir()))}.jsonl"
    path.write_text(lines(rows))
    return str(path)


def dump(rows: list[Any], folder: Path) -> Path:
    """Write a dump: the documents of an index with their ids."""
    whole = [{"_index": "ubi", "_id": str(n), "_source": row} for n, row in enumerate(rows)]
    return Path(jsonl(whole, folder))


def test_every_source_gives_the_log_of_which_the_events_are(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    queries, events, expected = simulated()
    for make in (
        iter,
        lambda rows: jsonl(rows, tmp_path),
        lambda rows: [jsonl(rows[part::2], tmp_path) for part in range(2)],
        lambda rows: dump(rows, tmp_path),
        pd.DataFrame,
        lambda rows: pl.DataFrame(rows, infer_schema_length=None),
    ):
        log = SessionLog.from_ubi(make(queries), make(events))
        assert sorted(log.session_ids) == sorted(expected.session_ids)
        assert log.event_count == expected.event_count
        found, wanted = evaluate_sessions(log), evaluate_sessions(expected)
        for metric in METRICS:
            assert found.mean(metric) == pytest.approx(wanted.mean(metric), abs=1e-12), metric


def test_sessions_are_those_of_the_events_where_they_have_some() -> None:
    events = [
        event(1, "impression", "a", "09:00:00", session_id="s1"),
        event(2, "click", "e", "09:00:50", session_id="s1"),
        event(4, "click", "b", "09:05:10", session_id="s9", user_id="u1"),
    ]
    log = SessionLog.from_ubi(QUERIES, events)
    assert log.session_ids == ("s1", ANN_AGAIN, "s9")
    assert log.events["session_id"].tolist() == ["s1", "s1", ANN_AGAIN, "s9"]
    assert log.attributes("s9") == {"client_id": "bob", "user_id": "u1", "device": "desktop"}
    assert log.notes[1].startswith(
        "1 search lacks a session_id: there, a session is what a client does"
    )


def test_searches_without_a_session() -> None:
    for known, times, expected in (
        ("--", (0, 10), ["0 s", "0 s"]),
        ("--", (0, 11), ["0 s", "11 s"]),
        ("a--", (0, 9, 18), ["a", "a", "a"]),  # a chain without a long pause
        ("--a", (0, 9, 18), ["a", "a", "a"]),
        ("a-b", (0, 5, 6), ["a", "a", "b"]),  # the session before counts first
        ("a--", (0, 20, 25), ["a", "20 s", "20 s"]),
        ("-a", (30, 0), ["30 s", "a"]),
    ):
        given = [None if each == "-" else each for each in known]
        assert of(given, ["c"] * len(given), times) == expected


def of(
    known: Sequence[object], clients: Sequence[object], times: Sequence[float]
) -> list[str | None]:
    columns = {"session_id": known, "client_id": clients}
    searches = pd.DataFrame(columns, dtype=object).assign(seconds=np.array(times, dtype=float))
    return sessions_of(searches, 10)


def test_a_session_of_a_client_has_an_id_that_no_other_has() -> None:
    found = of(["0 s", None], ["d", "c"], [0, 0])
    assert found == ["0 s", "0 s#2"]
    assert of([None], [None], [0]) == [None]


# --- positions -----------------------------------------------------------------------------------


def without_hits(first: int) -> tuple[list[Any], list[Any]]:
    queries = [query(1, "ann", "09:00:00", None), query(2, "bob", "09:00:00", "a b c")]
    events = [
        event(1, "click", "x", "09:00:05", ordinal=2 + first),
        event(2, "click", "b", "09:00:05", ordinal=1 + first),
        event(2, "click", "c", "09:00:06", ordinal=2 + first),
    ]
    return queries, events


def test_known_results_show_how_positions_count() -> None:
    for first in (0, 1):
        log = SessionLog.from_ubi(*without_hits(first))
        assert log.events["selected"].tolist() == [[3], [2, 3]]
        assert len(log.notes) == 1  # of the sessions
    made = event(2, "click", "sku-5", "09:00:50")  # an internal id finds the document too
    made["event_attributes"]["object"]["internal_id"] = "f"
    log = SessionLog.from_ubi(QUERIES, [made])
    assert log.events["selected"].tolist() == [[], [3], [], []]


def test_positions_count_from_1_or_as_given() -> None:
    queries, events = without_hits(0)
    log = SessionLog.from_ubi(queries[:1], events[:1])
    assert log.events["selected"].tolist() == [[2]]
    log = SessionLog.from_ubi(queries[:1], events[:1], first_rank=0)
    assert log.events["selected"].tolist() == [[3]]
    log = SessionLog.from_ubi(queries, events, first_rank=1)
    assert log.events["selected"].tolist() == [[2], [2, 3]]
    events[0]["event_attributes"]["position"]["ordinal"] = 0
    with pytest.raises(
        SessionLogError, match="events, row 1: the position is not a whole number from 1 on"
    ):
        SessionLog.from_ubi(queries[:1], events[:1])


def test_impressions_are_the_results_where_no_others_are_known() -> None:
    queries = [query(1, "ann", "09:00:00", None), query(2, "bob", "09:00:00", None)]
    events = [
        event(1, "impression", "b", "09:00:00", ordinal=1),
        event(1, "impression", "a", "09:00:00", ordinal=0),
        event(1, "click", "b", "09:00:05"),
        event(2, "impression", "a", "09:00:00", ordinal=3),  # what is at 1 and 2 is unknown
        event(2, "click", "a", "09:00:00"),
    ]
    log = SessionLog.from_ubi(queries, events)
    assert log.events["results"].tolist() == [["a", "b"], []]
    assert log.events["selected"].tolist() == [[2], []]
    assert any("1 of an unknown rank, without results and position" in note for note in log.notes)


def test_flat_tables_as_the_data_generator_of_opensearch_writes_them(tmp_path: Path) -> None:
    """It has no results of queries, and positions from 0, in a column named rank."""
    columns = (
        "object_id,ordinal,object_id_field,action_name,query_id,session_id,client_id,timestamp"
    )
    rows = [columns]
    for rank, document in enumerate(("p1", "p2", "p3")):
        shown = f"{document},{rank},product_id,{{}},q1,s1,c1,2024-06-01T00:0{{}}:00.000Z"
        rows.append(shown.format("impression", 1))
        rows += [shown.format("click", 2)] if document == "p2" else []
    (tmp_path / "ubi_events.csv").write_text("\n".join([*rows, ""]))
    (tmp_path / "ubi_queries.csv").write_text(
        "application,query_id,client_id,user_query,timestamp\n"
        "esci,q1,c1,hat,2024-06-01T00:01:00.000Z\nesci,q2,c1,cap,2024-06-01T00:03:00.000Z\n"
    )
    log = SessionLog.from_ubi(tmp_path / "ubi_queries.csv", tmp_path / "ubi_events.csv")
    assert log.session_ids == ("s1",)  # the query without an event follows within half an hour
    assert log.events["results"].tolist() == [["p1", "p2", "p3"], []]
    assert log.events["selected"].tolist() == [[2], []]
    assert evaluate_sessions(log).mean("TimeToSelection(abandoned=exclude)") == 60


# --- what is refused -----------------------------------------------------------------------------


def test_what_is_refused() -> None:
    for queries, events, how, message in (
        (QUERIES, EVENTS, {"select": "clicked"},
         r"no event has the action_name clicked; did you mean 'click'\?; the actions are click \(6\)"),
        (QUERIES, EVENTS, {"grades": {"purchase": "3"}}, "the grade 3 of 'purchase' is invalid"),
        (QUERIES, EVENTS, {"select": ()}, "no action is a selection"),
        ([*QUERIES, {"user_query": "x"}], EVENTS, {}, "queries, row 6: the query has no query_id"),
        (QUERIES, [*EVENTS, event(1, "click", "a", "29:00:00")], {},
         "events, row 10: timestamp: '2026-11-16T29:00:00Z' is not a time"),
        (QUERIES, [*EVENTS, event(1, "click", "a", "09:00:00", ordinal="x")], {},
         "events, row 10: ordinal: 'x' is not a number"),
        (QUERIES, [event(1, "click", "a", "09:00:00") | {"timestamp": "2026-11-16T09:00:00"}], {},
         "the times of the events are text without a time zone, those of the other file are not"),
        ([query(1, "null", "09:00:00", "a")], EVENTS, {}, "queries, row 1: the session: 'null' is a placeholder"),
        ([query(1, "ann", "09:00:00", "a", client_id=None)], [event(1, "click", "a", "09:00:01")], {},
         "queries, row 1: the event has no session"),
        (QUERIES, EVENTS, {"session_gap": None}, "session_gap=None is invalid"),
        (QUERIES, EVENTS, {"session_gap": "half an hour"}, "session_gap=half an hour is invalid"),
        ("none.jsonl", EVENTS, {}, "none.jsonl: no such file"),
        (QUERIES, [event(9, "click", "a", "09:00:01")], {}, "no event belongs to a query: .* such as 'q9'"),
        (EVENTS, QUERIES, {}, "no event has the action_name click"),
        ({"query_id": "q1"}, EVENTS, {}, "queries, row 1: not an object but query_id"),
    ):  # fmt: skip
        with pytest.raises((SessionLogError, ConfigurationError), match=message):
            SessionLog.from_ubi(queries, events, **how)


def test_a_lenient_reading_counts_what_it_skips() -> None:
    nobody = query(7, "carl", "09:00:00", "a", session_id="unknown")
    queries = [*QUERIES, {"user_query": "x"}, nobody]
    events = [*EVENTS, event(1, "click", "a", "29:00:00"), event(7, "click", "a", "09:00:01")]
    log = SessionLog.from_ubi(queries, events, lenient=True)
    assert log.session_ids == (ANN, ANN_AGAIN, BOB)
    assert log.set_aside.rows == 3  # each is counted once
    assert log.set_aside.reasons == {"no query_id": 1, "no session": 1, "bad timestamp": 1}
    assert any("3 rows set aside" in note and "queries, row 6: the" in note for note in log.notes)


def test_an_action_that_never_occurs_is_noted() -> None:
    log = SessionLog.from_ubi(QUERIES, EVENTS, grades={"purchse": 3})
    assert "no event has the action_name purchse; did you mean 'purchase'?" in " ".join(log.notes)


def test_an_attribute_that_has_the_name_of_a_column() -> None:
    queries = [query(1, "ann", "09:00:00", "a b", query_attributes={"events": 3, "doc_id": "x"})]
    log = SessionLog.from_ubi(queries, [event(1, "click", "a", "09:00:02")])
    (session,) = log.session_ids
    assert log.attributes(session) == {
        "query_attributes.events": 3,
        "query_attributes.doc_id": "x",
        "client_id": "ann",
    }
