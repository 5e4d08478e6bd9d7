"""Rows that were delivered more than once: refused, dropped or kept."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from flattened import per_action, per_search, searches

from pytest_rankcheck import ConfigurationError, SessionLog, SessionLogError, evaluate_sessions

METRICS = (
    *("SuccessRate", "SessionRR(abandoned=zero)", "MeanEventRank(abandoned=next)"),
    *("ClickRank(abandoned=exclude)", "TimeToSelection(abandoned=next)", "SessionDuration"),
    *("EventsPerSession", "AbandonmentRate"),
)
SEARCHES = searches(200)
PER_SEARCH = per_search(SEARCHES)
FORMS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "with an index": (PER_SEARCH, {}),
    "by time": ([{**row, "event": None} for row in PER_SEARCH], {}),
    "in order": (
        [{k: row[k] for k in row if k not in ("event", "time")} for row in PER_SEARCH],
        {},
    ),
    "per action": (
        per_action(SEARCHES),
        {"first_rank": 1, "selections_where": {"action_name": ["click"]}},
    ),
}


def planted(rows: list[dict[str, Any]], share: float, seed: int = 4) -> list[dict[str, Any]]:
    """Return rows with copies of some of them, anywhere later."""
    rng = np.random.default_rng(seed)
    copies = rng.choice(len(rows), int(share * len(rows)), replace=False).tolist()
    places = [(float(place), row) for place, row in enumerate(rows)]
    places += [(rng.uniform(place, len(rows)), rows[place]) for place in copies]
    return [row for _, row in sorted(places, key=lambda pair: pair[0])]


def load(tmp_path: Path, rows: list[dict[str, Any]], **reading: Any) -> SessionLog:
    cells = [{key: cell for key, cell in row.items() if cell is not None} for row in rows]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in cells))
    return SessionLog.load(path, **reading)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.03, 0.04, 1.0])
def test_every_metric_is_that_of_the_clean_log(tmp_path: Path, form: str, share: float) -> None:
    rows, reading = FORMS[form]
    clean = load(tmp_path, rows, **reading)
    delivered = planted(rows, share)
    log = load(tmp_path, delivered, duplicates="drop", **reading)
    assert log.event_count == clean.event_count
    for metric in METRICS if "time" in rows[0] else ("SuccessRate", "EventsPerSession"):
        pair = [evaluate_sessions(each).per_query(metric) for each in (log, clean)]
        pd.testing.assert_series_equal(pair[0].sort_index(), pair[1].sort_index())
    dropped = len(delivered) - len(rows)
    assert f"{dropped:,} identical rows dropped" in log.notes
    lenient = load(tmp_path, delivered, duplicates="drop", lenient=True, **reading)
    assert (len(lenient), lenient.set_aside.rows) == (len(clean), 0)


@pytest.mark.parametrize("form", FORMS)
def test_identical_rows_are_an_error(tmp_path: Path, form: str) -> None:
    rows, reading = FORMS[form]
    count = len(rows)
    with pytest.raises(SessionLogError) as caught:
        load(tmp_path, [*rows, *rows], **reading)
    text = str(caught.value)
    assert f"jsonl:{count + 1}: session 's0': the row is identical to an earlier one; if" in text
    assert 'duplicates="drop"' in text
    assert f"{count:,} rows cannot be used: {count:,} x identical row" in text
    some = load(tmp_path, [*rows, rows[0]], lenient=True, **reading)
    assert "s0" not in some.session_ids
    assert some.set_aside.reasons == {"identical row": 1}


def test_identical_rows_can_be_kept(tmp_path: Path) -> None:
    rows = [{"session_id": "s", "query": "a"}] * 3
    log = load(tmp_path, rows, duplicates="keep")
    assert log.event_count == 3
    assert not any("identical" in note for note in log.notes)
    with pytest.raises(SessionLogError, match="duplicate event 1"):
        load(tmp_path, [{"session_id": "s", "event": 1}] * 2, duplicates="keep")
    with pytest.raises(ConfigurationError, match="duplicates"):
        load(tmp_path, rows, duplicates="drops")


ALMOST: dict[str, list[dict[str, Any]]] = {
    "the query": [{"query": "a"}, {"query": "b"}],
    "the results": [{"results": ["a", "b"]}, {"results": ["b", "a"]}],
    "no results or none known": [{"results": []}, {}],
    "the selection": [{"results": ["a", "b"], "selected": "a"}, {"results": ["a", "b"]}],
    "the time of a click": [
        {"results": ["a"], "clicks": [{"rank": 1, "time": 5}]},
        {"results": ["a"], "clicks": [{"rank": 1, "time": 6}]},
    ],
    "the grade": [
        {"results": ["a"], "selected": "a", "grade": 2},
        {"results": ["a"], "selected": "a", "grade": 3},
    ],
    "an attribute": [{"group": "A"}, {"group": "B"}],
    "a column without a meaning": [{"ids": [1, 2]}, {"ids": [1, 3]}],
    "the column of a value": [{"x": "a"}, {"y": "a"}],
}


@pytest.mark.parametrize("what", ALMOST)
def test_rows_that_differ_in_one_cell_are_not_identical(what: str) -> None:
    rows = [{"session_id": "s", **row} for row in ALMOST[what]]
    clicks = {"time_unit": "s"} if "clicks" in rows[0] else {}
    log = SessionLog.from_records(rows, duplicates="drop", **clicks)  # type: ignore[arg-type]
    assert log.event_count == 2
    log = SessionLog.from_records([*rows, *rows], duplicates="drop", **clicks)  # type: ignore[arg-type]
    assert log.event_count == 2


def test_an_empty_cell_is_one_that_is_not_there() -> None:
    rows = [{"session_id": "s", "group": None, "query": ""}, {"session_id": "s"}]
    assert SessionLog.from_records(rows, duplicates="drop").event_count == 1


def test_copies_in_several_files(tmp_path: Path) -> None:
    rows = [f'{{"session_id": "s{n}", "query": "a"}}\n' for n in range(30)]
    (tmp_path / "day1.jsonl").write_text("".join(rows[:20]))
    (tmp_path / "day2.jsonl").write_text("".join(rows[15:]))
    with pytest.raises(SessionLogError, match=r"day2.jsonl:1: .* identical to an earlier one"):
        SessionLog.load(tmp_path / "day*.jsonl")
    assert SessionLog.load(tmp_path / "day*.jsonl", duplicates="drop").event_count == 30
