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

from pytest_rankcheck import ConfigurationError, SessionLog
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
    monkeypatch.setattr(large_files, "LARGE_FILE", 0)
    monkeypatch.setattr(json_rows, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(delimited_blocks, "BLOCK_BYTES", 2000)
    for name in ("log.jsonl", "log.csv", "log.parquet", "log.arrow"):
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


def test_a_dict_is_no_frame() -> None:
    with pytest.raises(
        ConfigurationError, match="a DataFrame of pandas or polars, or a table of p"
    ):
        SessionLog.from_frame({"session_id": ["s"]})  # type: ignore[arg-type]
