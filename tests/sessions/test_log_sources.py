"""The same log from every source: small and large files, and the frames of three libraries."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import ConfigurationError, SessionLog, SessionLogError
from pytest_rankcheck.files import json_rows, large_files

pl = pytest.importorskip("polars", reason="polars is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)

from pytest_rankcheck.files import delimited_blocks  # noqa: E402 -- imports polars

SHOWN = 4


def rows_of(selected: str) -> list[dict[str, Any]]:
    """Return the events of 40 sessions, some without a selection."""
    random = np.random.default_rng(17)
    rows = []
    for place in range(150):
        documents = [f"d{number}" for number in random.integers(0, 30, SHOWN).tolist()]
        rank = int(random.integers(0, 2 * SHOWN))
        is_selected = rank < SHOWN
        row = {
            "session_id": f"s{place // 4}",
            "event": place % 4,
            "time": f"2026-11-16T09:{place // 60:02}:{place % 60:02}Z",
            "query": f"query {place % 7}",
            "results": documents,
            "selected_rank": rank if is_selected else None,
            "selected": documents[rank] if is_selected else None,
            "group": "AB"[place // 4 % 2],
            "tab": "all" if place % 5 else "files",
        }
        del row["selected" if selected == "selected_rank" else "selected_rank"]
        rows.append(row)
    return rows


def facts(log: SessionLog) -> list[object]:
    attributes = [dict(log.attributes(session_id)) for session_id in log.session_ids]
    trails = [np.nan_to_num(getattr(log.trails, name), nan=-1).tolist() for name in TRAILS]
    return [log.events.to_dict("list"), attributes, trails, log.notes]


TRAILS = ("events", "final_rank", "final_event", "shown_last", "click_rank", "duration")
FRAMES: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "pandas": pd.DataFrame,
    "polars": lambda rows: pl.DataFrame(rows, infer_schema_length=None),
    "polars lazy": lambda rows: pl.LazyFrame(rows, infer_schema_length=None),
    "polars times": lambda rows: pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.col("time").str.to_datetime(time_zone="UTC")
    ),
    "pandas times": lambda rows: pd.DataFrame(rows).assign(
        time=lambda frame: pd.to_datetime(frame["time"])
    ),
    "arrow": pa.Table.from_pylist,
    "arrow reader": lambda rows: pa.Table.from_pylist(rows).to_reader(max_chunksize=50),
}


def write(rows: list[dict[str, Any]], path: Path) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows, indent=2 if path.stem == "pretty" else None))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows([row | {"results": " ".join(row["results"])} for row in rows])
    else:
        frame = pl.DataFrame(rows, infer_schema_length=None)
        frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_ipc(path)
    return path


@pytest.mark.parametrize("selected", ["selected", "selected_rank"])
def test_every_source_gives_the_same_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, selected: str
) -> None:
    rows = rows_of(selected)
    reading: dict[str, Any] = {"first_rank": 0} if selected == "selected_rank" else {}
    log = SessionLog.load(write(rows, tmp_path / "log.jsonl"), **reading)
    ranks = [row["results"].index(row["selected"]) if row.get("selected") else None for row in rows]
    if selected == "selected_rank":
        ranks = [row["selected_rank"] for row in rows]
    assert log.events["selected"].tolist() == [[] if rank is None else [rank + 1] for rank in ranks]
    assert log.events["results"].tolist() == [row["results"] for row in rows]
    assert log.events["query"].tolist() == [row["query"] for row in rows]
    assert log.events["time"].diff().dropna().tolist() == [1.0] * (len(rows) - 1)
    assert log.attributes("s5") == {"group": "B"}
    expected = facts(log)
    for make in FRAMES.values():
        assert facts(SessionLog.from_frame(make(rows), **reading)) == expected  # type: ignore[arg-type]
    assert facts(SessionLog.from_records(rows, **reading)) == expected
    assert facts(SessionLog.from_records((row for row in rows), **reading)) == expected
    monkeypatch.setattr(large_files, "LARGE_FILE", 0)
    monkeypatch.setattr(json_rows, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(delimited_blocks, "BLOCK_BYTES", 2000)
    for name in ("log.jsonl", "log.csv", "log.parquet", "log.arrow", "log.json", "pretty.json"):
        assert facts(SessionLog.load(write(rows, tmp_path / name), **reading)) == expected
    without_nulls = [{key: cell for key, cell in row.items() if cell is not None} for row in rows]
    mixed = write(without_nulls, tmp_path / "mixed.jsonl")
    assert facts(SessionLog.load(mixed, **reading)) == expected


def test_events_of_rows_with_other_keys_stay_in_order(tmp_path: Path) -> None:
    rows = [
        {"session_id": "b", "query": "1"},
        {"query": "2", "session_id": "a"},
        {"session_id": "c", "query": "6"},
        {"session_id": "a", "query": "3", "group": "x"},
        {"session_id": "b", "query": "4", "group": True},
        {"session_id": "b", "query": "5", "group": 1},
    ]
    log = SessionLog.load(write(rows, tmp_path / "log.jsonl"))
    assert log.session_ids == ("b", "a", "c")
    assert log.events["query"].tolist() == ["1", "4", "5", "2", "3", "6"]
    assert log.attributes("b") == {"group": True}
    assert log.attributes("a") == {"group": "x"}


def nested(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events as User Behavior Insights nests them."""
    return [
        {
            "sid": row["session_id"],
            "at": row["time"],
            "search": {"text": row["query"], "hits": row["results"]},
            "event_attributes": {
                "object": {"object_id": row["selected"], "kind": row["tab"]},
                "user": {"group": row["group"]},
            },
        }
        for row in rows
    ]


NESTED: dict[str, Any] = {
    "columns": {
        "session": "sid",
        "time": "at",
        "query": "search.text",
        "results": "search.hits",
        "selected": "event_attributes.object.object_id",
    },
    "attributes": ["event_attributes.user.group"],
}


PLAIN_FRAMES = [name for name in FRAMES if not name.endswith("times")]


@pytest.mark.parametrize(
    "source", [*PLAIN_FRAMES, "jsonl", "json", "parquet", "records", "sessions"]
)
def test_columns_within_columns(tmp_path: Path, source: str) -> None:
    rows = rows_of("selected")
    expected = SessionLog.from_records(rows, attributes=["group"])
    if source == "records":
        log = SessionLog.from_records(nested(rows), **NESTED)
    elif source == "sessions":
        by_session: dict[str, list[dict[str, Any]]] = {}
        for row in nested(rows):
            by_session.setdefault(row.pop("sid"), []).append(row)
        whole = [{"who": {"sid": key}, "events": events} for key, events in by_session.items()]
        columns = {**NESTED["columns"], "session": "who.sid"}
        log = SessionLog.from_records(whole, **(NESTED | {"columns": columns}))
    elif source in FRAMES:
        log = SessionLog.from_frame(FRAMES[source](nested(rows)), **NESTED)  # type: ignore[arg-type]
    else:
        log = SessionLog.load(write(nested(rows), tmp_path / f"log.{source}"), **NESTED)
    assert log.events.equals(expected.events)
    assert log.attributes("s5") == {"event_attributes.user.group": "B"}
    assert expected.attributes("s5") == {"group": "B"}


def test_json_text_in_a_column_is_an_object_too(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(
        'sid,shown,more\ns1,a b,"{""click"": ""b"", ""a.b"": {""c"": 1}}"\ns1,a b,\ns2,a,no\n'
    )
    columns = {"session": "sid", "results": "shown", "selected": "more.click"}
    log = SessionLog.load(path, columns=columns, attributes=["more.a.b.c"])
    assert log.events["selected"].tolist() == [[2], [], []]
    assert log.attributes("s1") == {"more.a.b.c": 1}
    assert log.attributes("s2") == {}


def test_a_column_whose_own_name_has_the_dots_takes_precedence() -> None:
    row = {"session_id": "s", "results": ["a", "b"], "x.y": "b", "x": {"y": "a"}}
    log = SessionLog.from_records([row], columns={"selected": "x.y"})
    assert log.events["selected"].tolist() == [[2]]


def test_a_dotted_name_that_no_row_has_is_an_error_with_the_nearest() -> None:
    rows = nested(rows_of("selected"))
    columns = {**NESTED["columns"], "selected": "event_attributes.objekt.object_id"}
    with pytest.raises(
        SessionLogError,
        match=r"records has no column 'event_attributes.objekt.object_id'; did you mean "
        r"'event_attributes.object.object_id'\?; it has sid, at, search, event_attributes",
    ):
        SessionLog.from_records(rows, columns=columns)


def test_a_record_that_is_no_dict(tmp_path: Path) -> None:
    rows: list[Any] = [{"session_id": "a", "query": "x"}, ["a"], {"session_id": "b"}]
    with pytest.raises(SessionLogError, match=r"^records, row 2: .* is not an object with the col"):
        SessionLog.from_records(rows)
    log = SessionLog.from_records(rows, lenient=True)
    assert log.set_aside.reasons == {"no event": 1}
    assert log.session_ids == ("a", "b")
    file = tmp_path / "log.json"
    file.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    with pytest.raises(SessionLogError, match=r"log.json:3: .* is not an object with the columns"):
        SessionLog.load(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[\n  {"session_id": "a"},\n  {"session_id": }\n]', "log.json:3: not JSON: Expecting value"),
        ('[\n  {"session_id": "a"}\n  {}\n]', "log.json:3: not JSON: Expecting ',' delimiter, column 3"),
        ('[{"session_id": "a"},\n]', "log.json:2: not JSON: .*column 1"),
        ('[{"session_id": "a"}', "log.json:1: not JSON: Expecting ',' delimiter, column 21"),
        ('[{"session_id": "a"}] x', "log.json:1: not JSON: Extra data, column 23"),
        ('[{"session_id": "a", "session_id": "b"}]', "duplicate key 'session_id'"),
        ('[{"session_id": "a", "time": NaN}]', "NaN is not a finite number"),
        ("[" * 100_000, "log.json: not JSON: maximum recursion depth"),
        ("[]", "log.json is empty; a log needs at least one event"),
        ('[{"query": "a"}]', "log.json:1: there is no session column"),
    ],
)  # fmt: skip
def test_a_broken_array(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "log.json"
    file.write_text(text)
    with pytest.raises(SessionLogError, match=message):
        SessionLog.load(file)


def test_places_in_an_array_are_lines(tmp_path: Path) -> None:
    rows = [{"session_id": "a", "results": ["x"], "selected": each} for each in ("x", "y", "z")]
    file = tmp_path / "log.json"
    file.write_text(json.dumps(rows, indent=1))
    with pytest.raises(SessionLogError, match=r"log.json:9: .*'y' was selected, but is not among"):
        SessionLog.load(file)


def test_a_dict_is_no_frame() -> None:
    with pytest.raises(
        ConfigurationError, match="a DataFrame of pandas or polars, or a table of p"
    ):
        SessionLog.from_frame({"session_id": ["s"]})  # type: ignore[arg-type]
