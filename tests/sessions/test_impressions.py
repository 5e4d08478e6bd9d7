"""Logs with a row per impression or action: refused with what to write, and then read correctly."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from flattened import per_action, per_impression, per_search, searches

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    SessionLog,
    SessionLogError,
    evaluate_sessions,
)

SEARCHES = searches()
EVERYWHERE = (
    *("SuccessRate", "SuccessRate@1", "AbandonmentRate", "SessionRR(abandoned=zero)"),
    *("TimeToSelection(abandoned=exclude)", "TimeToSelection(abandoned=next)"),
    "SessionDuration",
)
PER_SEARCH = (
    *("EventsPerSession", "MeanEventRank(abandoned=next)", "ClickRank(abandoned=exclude)"),
    "ClickRank(abandoned=next)",
)


def log_of(rows: list[dict[str, Any]] | pd.DataFrame, **reading: Any) -> SessionLog:
    return SessionLog.from_frame(pd.DataFrame(rows), **reading)


@pytest.fixture(scope="module")
def truth() -> Evaluation:
    return evaluate_sessions(log_of(per_search(SEARCHES)))


# --- refused, with what to write ------------------------------------------------------------------


def refusal(rows: list[dict[str, Any]], **reading: Any) -> str:
    with pytest.raises(SessionLogError) as caught:
        log_of(rows, first_rank=1, **reading)
    return str(caught.value)


def test_impressions_are_not_counted_as_selections() -> None:
    rows = per_action(SEARCHES)
    assert "no column says what" in refusal(rows, columns={"search": "search_id"})
    text = refusal(rows)
    assert "no column says what was selected; the columns are session_id, query, search_id" in text
    assert "selections_where={'action': ['click']}" in text
    assert "selections_where={'action': ['click']}" in text


def test_a_flag_of_clicks_is_not_a_document() -> None:
    for flag in ("is_click", "was_clicked", "clicked_flag"):
        assert "no column says what was selected" in refusal(per_impression(SEARCHES[:60], flag))
    for kind in (int, bool, str, float):
        rows = per_impression(SEARCHES[:60], "clicked")
        for row in rows:
            row["clicked"] = kind(row["clicked"])
        refusal(rows)


def test_actions_in_the_column_of_the_index() -> None:
    rows = [
        {"session_id": "s", "event": action, "search_id": n, "selected_rank": 1, "time": n}
        for n, action in enumerate(("impression", "click"))
    ]
    where = {"selections_where": {"event": ["click"]}, "time_unit": "s"}
    assert "the event index: 'impression' is not a number" in refusal(rows, time_unit="s")
    assert log_of(rows, first_rank=1, **where).event_count == 2


# --- and read with that line ----------------------------------------------------------------------

CLICKED: dict[str, Any] = {"selections_where": {"action_name": ["Click"]}}
FORMS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], tuple[str, ...]]] = {
    "a flag": (
        per_impression(SEARCHES),
        {"selections_where": {"is_click": [1]}},
        (*EVERYWHERE, *PER_SEARCH),
    ),
    "an id of the search": (per_action(SEARCHES), CLICKED, (*EVERYWHERE, *PER_SEARCH)),
    "an index of the search": (per_action(SEARCHES, "event"), CLICKED, (*EVERYWHERE, *PER_SEARCH)),
    "another id of the search": (
        per_action(SEARCHES, "what"),
        CLICKED | {"columns": {"search": "what"}},
        (*EVERYWHERE, *PER_SEARCH),
    ),
    "the text of the search": (
        per_action(SEARCHES, None),
        CLICKED | {"columns": {"search": "query"}},
        EVERYWHERE,
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_values(truth: Evaluation, form: str) -> None:
    rows, reading, metrics = FORMS[form]
    evaluation = evaluate_sessions(log_of(rows, first_rank=1, **reading))
    for metric in metrics:
        found, expected = evaluation.per_query(metric), truth.per_query(metric)
        assert found.tolist() == pytest.approx(expected.tolist(), nan_ok=True), metric


@pytest.mark.parametrize("form", list(FORMS)[:4])
def test_the_results_are_the_impressions_in_the_order_of_their_ranks(form: str) -> None:
    rows, reading, _ = FORMS[form]
    shuffled = pd.DataFrame(rows).sample(frac=1, random_state=3)
    log = SessionLog.from_frame(shuffled, first_rank=1, **reading)
    expected = {search.id: search for search in SEARCHES}
    for row in log.events.itertuples():
        search = expected[str(row.query).removeprefix("query ")]
        assert row.results == list(search.documents)
        assert sorted(row.selected) == sorted(click.rank for click in search.clicks)
        assert row.time == search.time
    golden = log.to_golden_set("all")
    assert len(golden) == sum(bool(search.clicks) for search in SEARCHES)


def test_rows_may_name_the_document_and_the_search_the_results() -> None:
    """As in User Behavior Insights: a row per search has the list, those of clicks the document."""
    rows: list[dict[str, Any]] = [
        {"session_id": "s", "search_id": "a", "time": 1, "results": ["x", "y", "z"]},
        {"session_id": "s", "search_id": "a", "time": 4, "action_name": "click", "doc_id": "z"},
        {"session_id": "s", "search_id": "a", "time": 9, "action_name": "buy", "doc_id": "y"},
        {"session_id": "s", "search_id": "b", "time": 20, "results": ["y"]},
    ]
    where = {"action_name": ["click", "buy"]}
    log = log_of(rows, time_unit="s", selections_where=where)
    assert log.events["selected"].tolist() == [[3, 2], []]
    assert log.trails.duration.tolist() == [19.0]
    assert log.trails.first_selection.tolist() == [3.0]
    assert log.trails.final_rank.tolist() == [2.0]
    later = {"session_id": "s", "search_id": "b", "time": 50, "action_name": "scroll"}
    longer = log_of([*rows, later], time_unit="s", selections_where=where)
    assert longer.trails.duration.tolist() == [49.0]  # until the last row of the last search
    rows[2]["doc_id"] = "w"
    with pytest.raises(SessionLogError, match=r"row 3.*'w' was selected, but is not among the 3"):
        log_of(rows, time_unit="s", selections_where=where)
    rows[2] |= {"search_id": "c", "doc_id": "y"}
    with pytest.raises(
        SessionLogError, match=r"row 3.*'y' was selected, but the results shown are"
    ):
        log_of(rows, time_unit="s", selections_where=where)


def test_clicks_without_an_index_have_that_of_their_search() -> None:
    rows = [
        {"session_id": "s", "search_id": search, "event": event, "type": kind, "position": rank}
        for search, event, kind, rank in (
            ("b", 20, "show", None), ("a", 10, "show", None),
            ("a", None, "click", 2), ("b", None, "click", 1),
        )
    ]  # fmt: skip
    log = log_of(rows, first_rank=1, selections_where={"type": ["click"]})
    assert log.events["selected"].tolist() == [[2], [1]]
    assert [state.id for state in log.states()] == ["s.10", "s.20"]
    del rows[0]["search_id"]
    del rows[3]["search_id"]
    with pytest.raises(SessionLogError, match="the event has no index, although others have"):
        SessionLog.from_records(
            [row for row in rows if "search_id" not in row],
            first_rank=1,
            selections_where={"type": ["click"]},
        )


SHOWN = {"session_id": "s", "search_id": "a", "results": ["x", "y", "z"]}
CLICK = {"session_id": "s", "search_id": "a", "type": "click"}


def test_rows_that_are_refused() -> None:
    for rows, message in (
        ([SHOWN, CLICK | {"doc_id": "z", "position": 2}],
         "'z' is not result 2 of its search, as its rank says; is first_rank right"),
        ([SHOWN, CLICK | {"position": 4}], "row 2.*showed 3 results, fewer than the selected"),
        ([SHOWN | {"position": None}, CLICK], "row 2.*has neither the rank nor the id of a doc"),
        ([SHOWN, CLICK | {"type": "clik", "position": 1}],
         "no row is a selection: 'type' is never click; did you mean 'clik'. its values are"),
        ([{"session_id": "s", "typ": "x"}], "has no column 'type'; did you mean 'typ'"),
    ):  # fmt: skip
        with pytest.raises(SessionLogError, match=message):
            log_of(rows, first_rank=1, selections_where={"type": ["click"]})
        log = log_of([SHOWN, CLICK | {"doc_id": "z", "position": 2}], first_rank=0,
                     selections_where={"type": ["click"]})  # fmt: skip
        assert log.events["selected"].tolist() == [[3]]


def test_what_was_shown_is_unknown_if_impressions_are_missing() -> None:
    rows: list[dict[str, Any]] = [
        {"session_id": "s", "search_id": search, "position": rank, "doc_id": document, "click": click}
        for search, rank, document, click in (
            ("whole", 1, "x", 0), ("whole", 2, "y", 1),
            ("gap", 1, "x", 0), ("gap", 3, "y", 1),
        )
    ]  # fmt: skip
    log = log_of(rows, first_rank=1, selections_where={"click": [1]})
    assert log.events["results"].tolist() == [["x", "y"], []]
    assert log.events["selected"].tolist() == [[2], [3]]
    only_clicks = [{**row, "position": 1} for row in rows if row["click"]]
    log = log_of(
        pd.DataFrame(only_clicks).drop(columns="click"), first_rank=1, selections_where="all"
    )
    assert log.events["results"].tolist() == [[], []]
    rows[3]["position"] = 1
    with pytest.raises(
        SessionLogError, match="'y' and another document have the same rank in one search"
    ):
        log_of(rows, first_rank=1, selections_where={"click": [1]})


def test_a_wanted_value_that_never_occurs_beside_others_that_do() -> None:
    rows = [
        {"session_id": f"s{n}", "event": 1, "position": 1, "action": action}
        for n, action in enumerate(("click", "Purchase", "view", "click"))
    ]
    wanted: dict[str, Any] = {"first_rank": 1, "selections_where": {"action": ["click"]}}
    assert not log_of(rows, **wanted, grades={"purchase": 3}).notes
    (note,) = log_of(rows, **wanted, grades={"purchse": 3}).notes
    assert note == (
        "'action' is never purchse; did you mean 'Purchase'? its values are click, Purchase, view"
    )


def test_several_columns_say_which_rows_are_selections() -> None:
    rows = [
        {"session_id": f"s{n}", "event": 1, "position": 1, "action": action, "trusted": trusted}
        for n, (action, trusted) in enumerate((("click", "yes"), ("click", "no"), ("view", "yes")))
    ]
    log = log_of(rows, first_rank=1, selections_where={"action": "click", "trusted": [True]})
    assert np.isfinite(log.trails.final_rank).tolist() == [True, False, False]


def test_invalid_arguments() -> None:
    for reading, message in (
        ({"selections_where": "some"}, "selections_where=some is invalid; give {column: values}"),
        ({"selections_where": {}}, "selections_where={} is invalid"),
        ({"selections_where": {"a": []}}, "the column 'a' has no value or an empty one"),
        ({"selections_where": {"a": [None]}}, "the column 'a' has no value or an empty one"),
        ({"grades": {"a": 2}}, "grades needs the column that has these values"),
        ({"selections_where": "all", "grades": {"a": 2}}, "grades needs the column"),
        ({"selections_where": {"a": "x"}, "grades": {"y": -1}}, "the grade -1 of 'y' is invalid"),
        (
            {"selections_where": {"a": "x", "b": "y"}, "grades": {"z": 1}},
            "z does not occur in selections_where",
        ),
    ):
        with pytest.raises(ConfigurationError, match=message):
            log_of([{"session_id": "s", "a": 1, "b": 1, "position": 1}], first_rank=1, **reading)


# --- times and grades of selections ---------------------------------------------------------------


def test_the_time_of_a_selection() -> None:
    rows: list[dict[str, Any]] = [
        {"session_id": "s", "time": 10, "selected_rank": None},
        {"session_id": "s", "time": 20, "selected_rank": 2, "clicked_at": 26.5},
    ]
    log = log_of(rows, first_rank=1, time_unit="s")
    assert (log.trails.first_selection.tolist(), log.trails.duration.tolist()) == ([16.5], [16.5])
    rows[1]["clicked_at"] = 17
    with pytest.raises(
        SessionLogError, match=r"row 2.*the selection is 3 s earlier than its event"
    ):
        log_of(rows, first_rank=1, time_unit="s")
    rows[1]["clicked_at"] = "noon"
    with pytest.raises(SessionLogError, match="'noon' is not a time"):
        log_of(rows, first_rank=1, time_unit="s")


GRADED: list[dict[str, Any]] = [
    {"session_id": session, "search_id": search, "action": action, "position": rank, "doc_id": document}
    for session, search, action, rank, document in (
        ("s1", "a", "show", 1, "x"), ("s1", "a", "show", 2, "y"), ("s1", "a", "show", 3, "z"),
        ("s1", "a", "click", 2, "y"), ("s1", "a", "purchase", 2, "y"), ("s1", "a", "click", 3, "z"),
        ("s1", "b", "show", 1, "x"), ("s1", "b", "click", 1, "x"),
        ("s2", "c", "show", 1, "x"), ("s2", "c", "add_to_cart", 1, "x"),
        ("s3", "d", "show", 1, "x"),
    )
]  # fmt: skip


def test_grades_of_actions_reach_the_metrics() -> None:
    """By hand: the last purchase of s1 has rank 2, in the first of its two searches."""
    reading: dict[str, Any] = {
        "selections_where": {"action": ["click"]},
        "grades": {"add_to_cart": 2, "Purchase": 3},
    }
    log = log_of(GRADED, first_rank=1, **reading)
    evaluation = evaluate_sessions(log)
    for metric, values in {
        "SessionRR(abandoned=zero)": [1, 1, 0],
        "SessionRR(abandoned=zero,rel=1)": [1, 1, 0],
        "SessionRR(abandoned=zero,rel=2)": [1 / 2, 1, 0],
        "SessionRR(abandoned=zero,rel=3)": [1 / 2, 0, 0],
        "SuccessRate(rel=2)": [1, 1, 0],
        "SuccessRate(rel=3)": [1, 0, 0],
        "SuccessRate(rel=3)@1": [0, 0, 0],
        "AbandonmentRate(rel=3)": [0, 1, 1],
        # s1: in the first search the ranks 2 (twice, which counts once) and 3, then 1.
        "ClickRank(abandoned=zero)": [2, 1, 0],
    }.items():
        assert evaluation.per_query(metric).tolist() == values, metric
    excluded = evaluation.per_query("SessionRR(abandoned=exclude,rel=3)")
    assert excluded.tolist() == pytest.approx([1 / 2, np.nan, np.nan], nan_ok=True)


def test_grades_in_a_column() -> None:
    rows = [
        {"session_id": "s", "results": ["x", "y"], "selected": "y", "grade": 2.5},
        {"session_id": "t", "results": ["x", "y"], "selected": "x", "grade": None},
        {"session_id": "u", "results": ["x", "y"], "selected": None, "grade": None},
    ]
    log = log_of(rows)
    golden = log.to_golden_set()
    assert [dict(golden.grades(query_id)) for query_id in golden.query_ids] == [
        {"y": 2.5},
        {"x": 1.0},
    ]
    assert evaluate_sessions(log).per_query("SuccessRate(rel=2)").tolist() == [1, 0, 0]
    rows[0]["grade"] = -1
    with pytest.raises(SessionLogError, match=r"row 1.*the grade is negative"):
        log_of(rows)


def split_rows() -> list[dict[str, Any]]:
    """Return two searches with three impressions each, of which the second has two clicks."""
    return [
        {
            "session_id": f"s{search}",
            "time": 100 * search,
            "query": "hat",
            "doc_id": f"d{rank}",
            "position": rank,
            "clicked": int(search == 1 and rank in {1, 3}),
        }
        for search in (0, 1)
        for rank in (1, 2, 3)
    ]


def test_rows_of_one_search_that_no_column_joins_are_refused() -> None:
    """Read as events, each would have shown one document: six events instead of two."""
    reading: dict[str, Any] = {
        "first_rank": 1,
        "time_unit": "s",
        "selections_where": {"clicked": ["1"]},
    }
    with pytest.raises(SessionLogError, match=r"no column says which rows are one search; .*query"):
        SessionLog.from_records(split_rows(), **reading)
    log = SessionLog.from_records(split_rows(), columns={"search": "query"}, **reading)
    assert log.events["results"].tolist() == [["d1", "d2", "d3"]] * 2
    assert log.events["query"].tolist() == ["hat", "hat"]
    assert log.events["selected"].tolist() == [[], [1, 3]]
