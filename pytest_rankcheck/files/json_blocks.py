"""Large files of JSON lines, read by polars in blocks of lines.

Polars would drop a duplicate key or one that is new, and turn some values into text. So it reads
only blocks whose lines a pattern recognises as flat objects, with the keys and types of the first
ones. The row reader reads any other block, and names the line that is wrong. Only where polars is
installed, this module is imported.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice

import polars as pl

from pytest_rankcheck.files.polars_columns import PolarsColumn
from pytest_rankcheck.files.table_batches import Batch

_SAMPLE = 100
"""How many lines of a block are parsed to find the types of its columns."""
_TEXT = r'"(?:[^"\\\x00-\x1f]|\\[/bfnrt]|\\u[0-9a-cefA-CEF][0-9a-fA-F]{3})*"'
"""Without escaped quotation marks, which show where keys are, and without surrogates."""
_KINDS: Mapping[type, tuple[pl.DataType, str]] = {
    str: (pl.String(), _TEXT),
    int: (pl.Int64(), "-?(?:0|[1-9][0-9]{0,17})"),
    float: (pl.Float64(), r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?"),
    bool: (pl.Boolean(), "true|false"),
    list: (pl.List(pl.String()), rf"\[(?:{_TEXT}(?:, ?{_TEXT})*)?\]"),
}
"""The types of columns, and the pattern of their values."""
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
        kinds = _kinds_of(block)
        if not lines.str.contains(_pattern(kinds)).all():
            return None
        schema = {key: _KINDS[kind][0] for key, kind in kinds.items()}
        frame = pl.read_ndjson(io.BytesIO(block), schema=schema)
    except (pl.exceptions.PolarsError, LookupError, RecursionError, ValueError):
        return None
    has = {key: lines.str.contains(f'"{key}":', literal=True) for key in kinds}
    keys = pl.DataFrame(has)
    is_once = lines.str.count_matches('":', literal=True) == keys.sum_horizontal()
    return list(_layouts(first, frame, keys)) if is_once.all() else None


def _kinds_of(block: bytes) -> dict[str, type]:
    """Return the type of each key's values, in the first lines.

    Raises:
        ValueError: a line is not an object, or the values of a key have several types.
    """
    found: dict[str, set[type]] = {}
    for line in islice(io.BytesIO(block), _SAMPLE):
        for key, value in dict(json.loads(line)).items():
            found.setdefault(key, set()).add(type(value))
    kinds = {}
    for key, types in found.items():
        types.discard(type(None))
        if types == {int, float}:
            types.remove(int)
        (kinds[key],) = types or {str}
    return kinds


def _pattern(kinds: Mapping[str, type]) -> str:
    cells = [f'"{re.escape(key)}": ?(?:null|{_KINDS[kind][1]})' for key, kind in kinds.items()]
    cell = f"(?:{'|'.join(cells)})"
    return rf"^\{{{cell}(?:, ?{cell})*\}}$"


def _layouts(first: int, frame: pl.DataFrame, keys: pl.DataFrame) -> Iterator[Batch]:
    for has, part in keys.with_row_index(_ROW).group_by(keys.columns, maintain_order=True):
        rows = part[_ROW]
        header = [key for key, is_there in zip(keys.columns, has, strict=True) if is_there]
        yield Batch(header, (rows + first).to_list(), partial(_column, frame[rows], header))


def _column(frame: pl.DataFrame, header: list[str], index: int) -> PolarsColumn:
    return PolarsColumn(frame[header[index]])
