"""Rows of a log whose keys differ, and objects within rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_rankcheck import SessionLog, SessionLogError


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


def test_a_dotted_name_that_no_row_has_is_an_error() -> None:
    rows = [{"sid": "s", "what": {"object": {"id": "d1"}}}]
    columns = {"session": "sid", "selected": "what.objekt.id"}
    with pytest.raises(
        SessionLogError, match=r"records has no column 'what.objekt.id'.* it has sid"
    ):
        SessionLog.from_records(rows, columns=columns)


def test_a_record_that_is_no_dict(tmp_path: Path) -> None:
    rows: list[Any] = [{"session_id": "a", "query": "x"}, ["a"], {"session_id": "b"}]
    with pytest.raises(SessionLogError, match=r"^records, row 2: not an object but"):
        SessionLog.from_records(rows)
    log = SessionLog.from_records(rows, lenient=True)
    assert log.set_aside.reasons == {"no object": 1}
    assert log.session_ids == ("a", "b")
    file = tmp_path / "log.json"
    file.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    with pytest.raises(SessionLogError, match=r"log.json, row 2: not an object but"):
        SessionLog.load(file)


def test_a_broken_array(tmp_path: Path) -> None:
    for text, message in (
        ('[\n  {"session_id": "a"},\n  {"session_id": }\n]', "log.json:3: not JSON: Expecting value"),
        ("[]", "log.json is empty; a log needs at least one event"),
        ('[{"query": "a"}]', "log.json: there is no session column"),
    ):  # fmt: skip
        file = tmp_path / "log.json"
        file.write_text(text)
        with pytest.raises(SessionLogError, match=message):
            SessionLog.load(file)


def test_a_dict_is_no_frame() -> None:
    with pytest.raises(SessionLogError, match="a dict is not a table; give a DataFrame of pandas"):
        SessionLog.from_frame({"session_id": ["s"]})  # type: ignore[arg-type]
