"""Large files of JSON lines, read by polars in blocks of lines.

A block is ordinary if every line is a flat object, and each key has values of one type: texts,
whole numbers, numbers, booleans or lists of texts. Polars would drop duplicate keys and turn other
values into text, so the tokens of each line are counted. Other blocks are read by Python. Only
modules that have found polars installed import this one.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import polars as pl

from pytest_rankcheck.array_types import BoolArray, IntArray

__all__ = ["BlockColumns", "columns_of_block"]

_SAMPLE = 50
"""How many lines of a block are parsed to find the types of its columns."""
_PLAIN_KEY = re.compile(r"[\w .:/-]+", re.ASCII)
_ODD = (" :", "\t:", '\\"', "\\\\", "\\ud", "\\uD")
"""What makes tokens hard to count, and surrogates, which polars reads otherwise than Python."""


@dataclass(frozen=True, slots=True)
class BlockColumns:
    """The rows of a block of lines in columns."""

    frame: pl.DataFrame
    """A missing key is an empty cell."""
    has_key: Mapping[str, BoolArray]
    """By column, which rows have the key, ``[N]``; only for columns that some rows lack."""

    def __len__(self) -> int:
        return self.frame.height

    def layouts(self) -> Iterator[tuple[IntArray, pl.DataFrame]]:
        """Yield the rows with the same keys, and their columns, in the order of first rows."""
        if not self.has_key:
            yield np.arange(len(self)), self.frame
            return
        keys = np.column_stack(list(self.has_key.values()))
        _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        for number in np.argsort(first).tolist():
            rows: IntArray = np.flatnonzero(which.ravel() == number)
            present = keys[rows[0]].tolist()
            absent = [name for name, has in zip(self.has_key, present, strict=True) if not has]
            yield rows, self.frame.drop(absent)[rows]


def columns_of_block(block: bytes) -> BlockColumns | None:
    """Return complete lines of JSON in columns; None if they are not ordinary."""
    try:
        schema = _schema_of(block)
        if schema is None:
            return None
        text = pl.Series([block.decode().removesuffix("\n")])
        if any(text.str.contains(odd, literal=True)[0] for odd in _ODD):
            return None
        frame = pl.read_ndjson(io.BytesIO(block), schema=schema)
        return _checked(block, text.str.split("\n").explode(), frame)
    except (pl.exceptions.PolarsError, ValueError):  # Python names the line that is wrong
        return None


def _schema_of(block: bytes) -> Mapping[str, pl.DataType] | None:
    """Return the types of the columns, by the first lines; None if there is another type."""
    try:
        rows = [json.loads(line) for line in islice(io.BytesIO(block), _SAMPLE)]
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(row, dict) for row in rows):
        return None
    schema: dict[str, pl.DataType] = {}
    for key in dict.fromkeys(key for row in rows for key in row):
        kind = _type_of([row.get(key) for row in rows])
        if kind is None or not _PLAIN_KEY.fullmatch(key):
            return None
        schema[key] = kind
    return schema or None


def _type_of(values: list[object]) -> pl.DataType | None:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {list}:
        items = {type(item) for value in values if isinstance(value, list) for item in value}
        return pl.List(pl.String()) if items <= {str} else None
    if kinds <= {int}:
        return pl.Int64()
    if kinds <= {int, float}:
        return pl.Float64()
    known: dict[type, pl.DataType] = {str: pl.String(), bool: pl.Boolean()}
    return known.get(kinds.pop()) if len(kinds) == 1 else None


def _checked(block: bytes, lines: pl.Series, frame: pl.DataFrame) -> BlockColumns | None:
    """Return the columns if nothing was dropped or became text, otherwise None."""
    if frame.height != len(lines):
        return None
    keys: IntArray = np.zeros(len(lines), dtype=np.int64)
    texts, lists = 0, 0  # the texts in all cells and lists, and the lists
    has_key: dict[str, BoolArray] = {}
    for column in frame:
        key = f'"{column.name}":'
        start = f"{key} " if f"{key} ".encode() in block else key
        has: BoolArray = lines.str.contains(start, literal=True).to_numpy()
        keys += has
        filled = len(column) - column.null_count()
        if column.dtype == pl.String:
            texts += filled
        elif isinstance(column.dtype, pl.List):
            lists += filled
            texts += int(column.list.len().sum())
        if not has.all():
            has_key[column.name] = has
    # If a line has as many keys as columns, none is a duplicate or unknown, so nothing adds quotes.
    # Then a value that became text has fewer quotes than a text, or it has brackets.
    tokens = lines.str.count_matches('":', literal=True).to_numpy()
    quotes = 2 * (int(keys.sum()) + texts)
    is_exact = block.count(b'"') == quotes and block.count(b"[") == lists
    return BlockColumns(frame, has_key) if is_exact and (tokens == keys).all() else None
