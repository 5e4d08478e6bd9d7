"""Every keyword for reading a log means the same for files, dicts and the frames of three libraries."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import ConfigurationError, SessionLog
from pytest_rankcheck.sessions.log_options import Reading

pl = pytest.importorskip("polars", reason="polars is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)

Rows = list[dict[str, Any]]


def jsonl(rows: Rows, folder: Path, **reading: Any) -> SessionLog:
    file = folder / "log.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return SessionLog.load(file, **reading)


def array(rows: Rows, folder: Path, **reading: Any) -> SessionLog:
    file = folder / "log.json"
    file.write_text(json.dumps(rows, indent=1))
    return SessionLog.load(file, **reading)


def parquet(rows: Rows, folder: Path, **reading: Any) -> SessionLog:
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(folder / "log.parquet")
    return SessionLog.load(folder / "log.parquet", **reading)


def frame(make: Callable[[Rows], Any]) -> Callable[..., SessionLog]:
    return lambda rows, _, **reading: SessionLog.from_frame(make(rows), **reading)


SOURCES: dict[str, Callable[..., SessionLog]] = {
    "JSON lines": jsonl,
    "JSON array": array,
    "Parquet": parquet,
    "pandas": frame(pd.DataFrame),
    "polars": frame(lambda rows: pl.DataFrame(rows, infer_schema_length=None)),
    "arrow": frame(pa.Table.from_pylist),
}


def events() -> Rows:
    """Return the events of 20 clients, some of whom come back after an hour."""
    random = np.random.default_rng(8)
    rows = []
    for place in range(100):
        client, visit = place // 5, place % 5
        rank = int(random.integers(0, 6))
        rows.append(
            {
                "sid": f"c{client}",
                "at": 1_763_280_000_000
                + client * 1000
                + visit * (20_000 if visit < 3 else 1_800_000),
                "shown": [f"d{each}" for each in random.permutation(9)[:4].tolist()],
                "clicked_rank": rank if rank < 4 else None,
                "device": "ab"[client % 2],
            }
        )
    return rows


def actions() -> Rows:
    """Return a row for each impression, click and purchase."""
    rows = []
    for place, event in enumerate(events()):
        for rank, document in enumerate(event["shown"]):
            base = {"sid": event["sid"], "at": event["at"], "search": f"q{place}", "rank": rank}
            base |= {"doc": document, "device": event["device"]}
            kinds = ["impression", "click", "purchase"] if rank == event["clicked_rank"] else []
            for number, action in enumerate(kinds or ["impression"]):
                rows.append(base | {"action": action, "at": event["at"] + number})
    return rows


def nested() -> Rows:
    """Return the events with objects in them, as User Behavior Insights has them."""
    return [
        {"who": {"sid": row["sid"]}, "at": row["at"]}
        | {"what": {"hits": row["shown"], "click": {"rank": row["clicked_rank"]}}}
        for row in events()
    ]


OF_OBJECTS = {"session": "who.sid", "results": "what.hits", "selected_rank": "what.click.rank"}
COLUMNS = {"session": "sid", "time": "at", "results": "shown"}
BASE: dict[str, Any] = {"columns": COLUMNS, "first_rank": 0}
OF_ACTIONS: dict[str, Any] = {
    "columns": {
        "session": "sid",
        "time": "at",
        "selected": "doc",
        "selected_rank": "rank",
        "search": "search",
    },
    "first_rank": 0,
    "attributes": ["device"],
}
CASES: dict[str, tuple[Rows, dict[str, Any]]] = {
    "columns": (events(), BASE),
    "columns of objects": (
        nested(),
        {"columns": {**OF_OBJECTS, "time": "at"}, "first_rank": 0, "attributes": []},
    ),
    "first_rank": (
        [row | {"clicked_rank": row["clicked_rank"] or 1} for row in events()],
        BASE | {"first_rank": 1, "selections_where": "all"},
    ),
    "time_unit": ([row | {"at": place} for place, row in enumerate(events())],
                  BASE | {"time_unit": "ms"}),
    "attributes": (events(), BASE | {"attributes": ["device"]}),
    "selections_where": (actions(), OF_ACTIONS | {"selections_where": {"action": ["click"]}}),
    "grades": (
        actions(),
        OF_ACTIONS
        | {"selections_where": {"action": ["click"]}, "grades": {"purchase": 3}},
    ),
    "session_gap": (events(), BASE | {"session_gap": "10min"}),
    "duplicates": ([*events(), *events()[:9]], BASE | {"duplicates": "drop"}),
    "lenient": ([row | {"clicked_rank": 7} if place == 4 else row for place, row in enumerate(events())],
                BASE | {"lenient": True}),
}  # fmt: skip


def facts(log: SessionLog) -> list[object]:
    golden = log.to_golden_set("all")
    grades = {query: dict(golden.grades(query)) for query in golden.query_ids}
    attributes = [dict(log.attributes(session)) for session in log.session_ids]
    notes = [note.partition("; first: ")[0] for note in log.notes]
    aside = (log.set_aside.rows, log.set_aside.sessions, dict(log.set_aside.reasons))
    return [log.events.to_dict("list"), attributes, grades, aside, notes]


@pytest.mark.parametrize("keyword", CASES)
def test_a_keyword_means_the_same_for_every_source(tmp_path: Path, keyword: str) -> None:
    rows, reading = CASES[keyword]
    expected = facts(SessionLog.from_records(rows, **reading))
    for name, load in SOURCES.items():
        assert facts(load(rows, tmp_path, **reading)) == expected, name
        for file in tmp_path.iterdir():
            file.unlink()


def test_all_keywords_are_tried() -> None:
    assert {*Reading.__annotations__, "lenient", "columns of objects"} == CASES.keys()
    for constructor in (SessionLog.load, SessionLog.from_frame, SessionLog.from_records):
        assert {"lenient", "reading"} <= inspect.signature(constructor).parameters.keys()
    with pytest.raises(
        TypeError, match=r"'session_gab' is not a keyword .* did you mean 'session_gap'"
    ):
        SessionLog.from_records([], session_gab="1h")  # type: ignore[call-arg]
    with pytest.raises(ConfigurationError, match="duplicates=dorp is invalid; did you mean 'drop'"):
        SessionLog.from_records([], duplicates="dorp")  # type: ignore[arg-type]
