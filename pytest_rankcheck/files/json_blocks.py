"""Large files of JSON lines, read by polars in blocks of lines.

Polars would drop a duplicate key or one that is new, and turn some values into text. So it reads
only blocks whose lines a pattern recognises as flat objects, with the keys and types of the first
ones. The row reader reads any other block, and names the line that is wrong. Only where polars is
installed, this module is imported.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from functools import partial

import polars as pl

from pytest_rankcheck.files.polars_columns import PolarsColumn
from pytest_rankcheck.files.table_batches import Batch

_TEXT = r'"(?:[^"\\\x00-\x1f]|\\[/bfnrt]|\\u[0-9a-cefA-CEF][0-9a-fA-F]{3})*"'
"""Without escaped quotation marks, which show where keys are, and without surrogates."""
_VALUES: Mapping[pl.DataType, str] = {
    pl.Null(): "null",
    pl.String(): _TEXT,
    pl.Int64(): "-?(?:0|[1-9][0-9]{0,17})",
    pl.Float64(): r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?",
    pl.Boolean(): "true|false",
    pl.List(pl.String()): rf"\[(?:{_TEXT}(?:, ?{_TEXT})*)?\]",
}
"""The pattern of the values in each type of column."""
_ROW = "row of the block\n"
"""Not the name of a column, since no pattern matches a line end in a key."""


def layouts_of_block(first: int, block: bytes) -> list[Batch] | None:
    """Return lines in batches with the same keys, in the order of their first rows.

    Args:
        first: the number of the first line.
        block: complete lines.

    Returns:
        The batches; None if polars might find other values than the row reader.
    """
    try:
        lines = pl.Series([block.decode().removesuffix("\n")]).str.split("\n").explode()
        frame = pl.read_ndjson(io.BytesIO(block))
        is_ordinary = lines.str.contains(_pattern(frame.schema))
        has = {key: lines.str.contains(f'"{key}":', literal=True) for key in frame.columns}
        keys = pl.DataFrame(has)
        is_once = lines.str.count_matches('":', literal=True) == keys.sum_horizontal()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, LookupError, ValueError):
        return None
    return list(_layouts(first, frame, keys)) if (is_ordinary & is_once).all() else None


def _pattern(schema: pl.Schema) -> str:
    cells = [f'"{re.escape(key)}": ?(?:null|{_VALUES[kind]})' for key, kind in schema.items()]
    cell = f"(?:{'|'.join(cells)})"
    return rf"^\{{{cell}(?:, ?{cell})*\}}$"


def _layouts(first: int, frame: pl.DataFrame, keys: pl.DataFrame) -> Iterator[Batch]:
    for has, part in keys.with_row_index(_ROW).group_by(keys.columns, maintain_order=True):
        rows = part[_ROW]
        header = [key for key, is_there in zip(keys.columns, has, strict=True) if is_there]
        yield Batch(header, (rows + first).to_list(), partial(_column, frame[rows], header))


def _column(frame: pl.DataFrame, header: list[str], index: int) -> PolarsColumn:
    return PolarsColumn(frame[header[index]])
