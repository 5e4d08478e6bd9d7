"""Parquet and Arrow files whose columns have any type: read, or refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bounds import loads_or_refuses
from readers import READERS
from samples import PARQUET, golden_set

from pytest_rankcheck import GoldenSet, Run, SessionLog, evaluate, evaluate_sessions

pl = pytest.importorskip("polars", reason="Parquet needs pytest-rankcheck[fast]")

COLUMNS: dict[str, Callable[[], Any]] = {
    "text": lambda: ["a", "b", "c"],
    "empty text": lambda: ["", " ", "\x00"],
    "text with gaps": lambda: ["a", None, "c"],
    "numbers in text": lambda: ["1", "2", "9" * 400],
    "whole numbers": lambda: [1, 2, 3],
    "negative numbers": lambda: [-1, -(2**63), 0],
    "large numbers": lambda: pl.Series([2**64 - 1, 1, 0], dtype=pl.UInt64),
    "small numbers": lambda: pl.Series([1, 2, 3], dtype=pl.Int8),
    "fractions": lambda: [0.5, 1.0, 2.5],
    "NaN and infinity": lambda: [float("nan"), float("inf"), -float("inf")],
    "single precision": lambda: pl.Series([0.1, 3.4e38, 1e-45], dtype=pl.Float32),
    "booleans": lambda: [True, False, None],
    "nulls": lambda: pl.Series([None, None, None], dtype=pl.Null),
    "dates": lambda: [date(2026, 11, 21), None, date(1, 1, 1)],
    "times": lambda: [time(1), time(2), time(3)],
    "moments": lambda: [datetime(2026, 11, 21, 14, 30), None, datetime(1, 1, 1)],
    "far moments": lambda: pl.Series([2**62, -(2**62), 0], dtype=pl.Datetime("us")),
    "zoned moments": lambda: pl.Series([1, 2, 3], dtype=pl.Datetime("ns", "UTC")),
    "durations": lambda: [timedelta(1), timedelta(seconds=1), None],
    "lists": lambda: [["a", "b"], [], None],
    "lists of numbers": lambda: [[1, 2], [3], [2**62]],
    "lists of lists": lambda: [[["a"]], [[]], [["b", "c"]]],
    "arrays": lambda: pl.Series([[1, 2], [3, 4], [5, 6]], dtype=pl.Array(pl.Int64, 2)),
    "structs": lambda: [{"a": 1}, {"a": 2}, None],
    "bytes": lambda: [b"a", b"\xff", b""],
    "categories": lambda: pl.Series(["a", "b", "a"], dtype=pl.Categorical),
    "decimals": lambda: [Decimal("0.5"), Decimal(1), Decimal("9" * 30)],
}
CASES = [(sample, role) for sample in PARQUET for role in sample.frame]


def files_of(frame: Any, folder: Path) -> Iterator[Path]:
    """Write a frame in both forms."""
    for ending, write in (("parquet", frame.write_parquet), ("arrow", frame.write_ipc)):
        path = folder / f"file.{ending}"
        write(path)
        yield path


@pytest.mark.parametrize("content", COLUMNS)
@pytest.mark.parametrize(("sample", "role"), CASES, ids=str)
def test_a_column_of_any_type_is_read_or_refused(
    sample: Any, role: str, content: str, tmp_path: Path
) -> None:
    frame = pl.DataFrame({**sample.frame, role: COLUMNS[content]()})
    for path in files_of(frame, tmp_path):
        with loads_or_refuses():
            READERS[sample.kind](path)


FRAMES: dict[str, Callable[[Any], object]] = {
    "golden": lambda frame: GoldenSet.from_frame(frame).fingerprint,
    "run": lambda frame: evaluate(Run.from_frame(frame), golden_set()).mean("nDCG@10"),
    "log": lambda frame: evaluate_sessions(SessionLog.from_frame(frame)).mean("SuccessRate@3"),
}


@pytest.mark.parametrize("content", COLUMNS)
@pytest.mark.parametrize(("sample", "role"), CASES, ids=str)
def test_a_frame_with_a_column_of_any_type_is_read_or_refused(
    sample: Any, role: str, content: str
) -> None:
    column = COLUMNS[content]()
    with loads_or_refuses():
        FRAMES[sample.kind](pl.DataFrame({**sample.frame, role: column}))
    if content != "far moments":  # which Python's do not reach
        with loads_or_refuses():
            FRAMES[sample.kind](pd.DataFrame({**sample.frame, role: list(column)}))


@pytest.mark.parametrize("cell", [np.array([1, 2]), np.array(["a"]), pl.Series([1]), np.array([])])
@pytest.mark.parametrize(("sample", "role"), CASES, ids=str)
def test_a_frame_with_arrays_in_its_cells_is_read_or_refused(
    sample: Any, role: str, cell: Any
) -> None:
    frame = pd.DataFrame(sample.frame)
    frame[role] = pd.Series([cell] * len(frame), dtype=object)
    with loads_or_refuses():
        FRAMES[sample.kind](frame)


@pytest.mark.parametrize("sample", PARQUET, ids=str)
@pytest.mark.parametrize("frame", [{}, {"x": []}, {"x": [[1]]}], ids=str)
def test_a_file_without_the_columns_is_refused(sample: Any, frame: Any, tmp_path: Path) -> None:
    for path in files_of(pl.DataFrame(frame), tmp_path):
        with loads_or_refuses():
            READERS[sample.kind](path)


@pytest.mark.parametrize("sample", PARQUET, ids=str)
def test_a_file_without_rows_is_read_or_refused(sample: Any, tmp_path: Path) -> None:
    for path in files_of(pl.DataFrame(sample.frame).clear(), tmp_path):
        with loads_or_refuses():
            READERS[sample.kind](path)
