"""Parquet files and frames whose columns have any type: read, or refused by name."""

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bounds import loads_or_refuses
from readers import READERS
from samples import COLUMNS, golden_set

from pytest_rankcheck import GoldenSet, Run, SessionLog, evaluate, evaluate_sessions

pl = pytest.importorskip("polars", reason="Parquet needs pytest-rankcheck[fast]")

CONTENTS: dict[str, Any] = {
    "empty text": ["", " ", "\x00"],
    "text with gaps": ["a", None, "c"],
    "numbers in text": ["1", "2", "9" * 400],
    "large numbers": pl.Series([2**64 - 1, 1, 0], dtype=pl.UInt64),
    "NaN and infinity": [float("nan"), float("inf"), -float("inf")],
    "booleans": [True, False, None],
    "nulls": pl.Series([None, None, None], dtype=pl.Null),
    "dates": [date(2026, 11, 21), None, date(1, 1, 1)],
    "moments": [datetime(2026, 11, 21, 14, 30), None, datetime(1, 1, 1)],
    "zoned moments": pl.Series([1, 2, 3], dtype=pl.Datetime("ns", "UTC")),
    "lists": [["a", "b"], [], None],
    "lists of lists": [[["a"]], [[]], [["b", "c"]]],
    "arrays": pl.Series([[1, 2], [3, 4], [5, 6]], dtype=pl.Array(pl.Int64, 2)),
    "structs": [{"a": 1}, {"a": 2}, None],
    "bytes": [b"a", b"\xff", b""],
    "categories": pl.Series(["a", "b", "a"], dtype=pl.Categorical),
}
FRAMES: dict[str, Callable[[Any], object]] = {
    "golden": lambda frame: GoldenSet.from_frame(frame).fingerprint,
    "run": lambda frame: evaluate(Run.from_frame(frame), golden_set()).mean("nDCG@10"),
    "log": lambda frame: evaluate_sessions(SessionLog.from_frame(frame)).mean("SuccessRate@3"),
}


@pytest.mark.parametrize("kind", ["golden", "run", pytest.param("log", marks=pytest.mark.slow)])
def test_a_column_of_any_type_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    for role in COLUMNS[kind]:
        for name, content in CONTENTS.items():
            frame = pl.DataFrame({**COLUMNS[kind], role: content})
            case = f"{role}: {name}"
            frame.write_parquet(tmp_path / "file.parquet")
            with loads_or_refuses(case):
                READERS[kind](tmp_path / "file.parquet")
            with loads_or_refuses(case):
                FRAMES[kind](frame)
            with loads_or_refuses(case):
                FRAMES[kind](pd.DataFrame({**COLUMNS[kind], role: list(content)}))


@pytest.mark.parametrize("kind", ["golden", "run", pytest.param("log", marks=pytest.mark.slow)])
def test_a_file_without_columns_or_rows_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    for frame in (pl.DataFrame(), pl.DataFrame({"x": [[1]]}), pl.DataFrame(COLUMNS[kind]).clear()):
        frame.write_parquet(tmp_path / "file.parquet")
        with loads_or_refuses(str(frame)):
            READERS[kind](tmp_path / "file.parquet")
