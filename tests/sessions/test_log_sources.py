"""The same log from every source: small and large files, and the frames of three libraries."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import SessionLog, SessionLogError

pl = pytest.importorskip("polars", reason="polars is not installed")
pa = pytest.importorskip("pyarrow", reason="pyarrow cannot be imported", exc_type=ImportError)


def write(rows: list[Any], path: Path) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


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


def events() -> list[dict[str, Any]]:
    """Return the events of 40 sessions, some without a selection."""
    random = np.random.default_rng(17)
    rows = []
    for place in range(150):
        documents = [f"d{number}" for number in random.integers(0, 30, 4).tolist()]
        rank = int(random.integers(0, 8))
        rows.append(
            {
                "session_id": f"s{place // 4}",
                "time": f"2026-11-16T09:{place // 60:02}:{place % 60:02}Z",
                "query": f"query {place % 7}",
                "results": documents,
                "selected": documents[rank] if rank < 4 else None,
                "group": "AB"[place // 4 % 2],
            }
        )
    return rows


def nested(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events as User Behavior Insights nests them."""
    return [
        {
            "sid": row["session_id"],
            "at": row["time"],
            "search": {"text": row["query"], "hits": row["results"]},
            "event_attributes": {
                "object": {"object_id": row["selected"]},
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


def test_columns_within_columns(tmp_path: Path) -> None:
    expected = SessionLog.from_records(events(), attributes=["group"])
    rows = nested(events())
    logs = [
        SessionLog.from_records(rows, **NESTED),
        SessionLog.load(write(rows, tmp_path / "log.jsonl"), **NESTED),
        SessionLog.from_frame(pd.DataFrame(rows), **NESTED),
        SessionLog.from_frame(pl.DataFrame(rows, infer_schema_length=None), **NESTED),
        SessionLog.from_frame(pa.Table.from_pylist(rows), **NESTED),
    ]
    for log in logs:
        assert log.events.equals(expected.events)
        assert log.attributes("s5") == {"event_attributes.user.group": "B"}


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


def test_a_dotted_name_that_no_row_has_is_an_error() -> None:
    rows = nested(events())
    columns = {**NESTED["columns"], "selected": "event_attributes.objekt.object_id"}
    with pytest.raises(
        SessionLogError,
        match=r"records has no column 'event_attributes.objekt.object_id'; did you mean "
        r"'event_attributes'\?; it has sid, at, search, event_attributes",
    ):
        SessionLog.from_records(rows, columns=columns)


def test_a_record_that_is_no_dict(tmp_path: Path) -> None:
    rows: list[Any] = [{"session_id": "a", "query": "x"}, ["a"], {"session_id": "b"}]
    with pytest.raises(SessionLogError, match=r"^records, row 2: .* is not an object with the col"):
        SessionLog.from_records(rows)
    log = SessionLog.from_records(rows, lenient=True)
    assert log.set_aside.reasons == {"no object": 1}
    assert log.session_ids == ("a", "b")
    file = tmp_path / "log.json"
    file.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    with pytest.raises(SessionLogError, match=r"log.json, row 2: .* is not an object with"):
        SessionLog.load(file)


def test_a_broken_array(tmp_path: Path) -> None:
    for text, message in (
        ('[\n  {"session_id": "a"},\n  {"session_id": }\n]', "log.json:3: not JSON: Expecting value"),
        ('[\n  {"session_id": "a"}\n  {}\n]', "log.json:3: not JSON: Expecting ',' delimiter, column 3"),
        ('[{"session_id": "a"},\n]', "log.json:[12]: not JSON: .*column (1|21)"),
        ('[{"session_id": "a"}', "log.json:1: not JSON: Expecting ',' delimiter, column 21"),
        ('[{"session_id": "a"}] x', "log.json:1: not JSON: Extra data, column 23"),
        ('[{"session_id": "a", "session_id": "b"}]', "duplicate key 'session_id'"),
        ('[{"session_id": "a", "time": NaN}]', "NaN is not a finite number"),
        ("[" * 100_000, "log.json: nested more than 100 deep"),
        ("[]", "log.json is empty; a log needs at least one event"),
        ('[{"query": "a"}]', "log.json, row 1: there is no session column"),
    ):  # fmt: skip
        file = tmp_path / "log.json"
        file.write_text(text)
        with pytest.raises(SessionLogError, match=message):
            SessionLog.load(file)


def test_a_dict_is_no_frame() -> None:
    with pytest.raises(SessionLogError, match="a dict is not a table; give a DataFrame of pandas"):
        SessionLog.from_frame({"session_id": ["s"]})  # type: ignore[arg-type]
