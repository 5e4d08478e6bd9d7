"""Reading the cells and columns of a log: ids, lists of ids, numbers, flags, and objects."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.json_files import json_value
from pytest_rankcheck.files.plain_values import finite_number
from pytest_rankcheck.files.table_batches import Column

Cells = NDArray[np.object_]
Errors = Mapping[int, str]
"""For each invalid cell, by row, the reason."""

_EXACT = 2**53
"""From here on, a float may stand for a different whole number, because of rounding."""
_NOTHING = frozenset({"", "null", "none", "nan", "[]", "n/a", "na"})
_PLACEHOLDERS = _NOTHING | {
    *("nil", "nat", "undefined", "unknown", "anonymous", "anon", "guest", "not set", "missing"),
    *("-", "--", "?", "00000000-0000-0000-0000-000000000000"),
}


def is_absent(value: object) -> bool:
    """Whether a cell is empty: None, NaN, or a text such as "null" or "n/a"."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and value.strip().lower() in _NOTHING


def is_placeholder(text: str) -> bool:
    """Whether an id is a placeholder for a missing one: "null", "unknown", "anonymous", ...

    "0" is not one: it is also an ordinary number of a session.
    """
    return text.strip().strip("()<>[]#").casefold() in _PLACEHOLDERS


def id_of(value: object) -> str | None:
    """Return an id as text; None for an empty cell.

    Raises:
        ValueError: the value is neither text nor a whole number.
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if is_absent(value):
        return None
    if type(value) is int:
        return str(value)
    number = finite_number(value)
    if number is None or not number.is_integer() or abs(number) >= _EXACT:
        raise ValueError(f"'{quoted(value, 60)}' is not an id; ids are text or whole numbers")
    return str(int(number))


def id_list_of(value: object) -> tuple[str, ...] | None:
    """Return a list of ids; None for an empty cell.

    A text is a JSON list, or ids separated by bars, semicolons, commas or white space: the first
    of these that occurs.

    Raises:
        ValueError: an item is not an id.
    """
    ids = items_of(value)
    if ids is None:
        return None
    if not isinstance(value, str) or value.lstrip().startswith("["):  # others are stripped text
        ids = [id_of(item) or "" for item in ids]
    if "" in ids:
        raise ValueError(f"the list '{quoted(value, 60)}' has an empty id")
    return tuple(map(sys.intern, ids))  # type: ignore[arg-type]


def items_of(value: object) -> Sequence[object] | None:
    """Return the items of a list, which `id_list_of` describes; None for an empty cell.

    Raises:
        ValueError: a text begins like a JSON list and is not one.
    """
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            return _json_list(text)
        for separator in "|;,":
            if separator in text:
                return [part.strip() for part in text.split(separator)]
        return None if text.lower() in _NOTHING else text.split()
    if isinstance(value, (list, tuple)):
        return value
    if hasattr(value, "ndim"):  # a numpy array or a polars series
        return list(value.tolist())  # type: ignore[attr-defined]
    return None if is_absent(value) else [value]


def _json_list(text: str) -> list[object]:
    try:
        items = json_value(text)
    except ValueError:
        items = None
    if not isinstance(items, list):
        raise ValueError(f"'{quoted(text, 60)}' is not a JSON list")
    return items


# --- columns --------------------------------------------------------------------------------------


def objects(values: Sequence[object]) -> Cells:
    """Return values as an array of objects, even if they are lists."""
    return np.fromiter(values, dtype=object, count=len(values))


def converted(column: Column, convert: Callable[[object], object]) -> tuple[Cells, Errors]:
    """Return each cell converted, ``[N]``, and why a cell is invalid; such a cell is None.

    Each distinct value is converted once.
    """
    coded = column.coded()
    values: list[object] = []
    problems: dict[int, str] = {}
    for code, value in enumerate(coded.values):
        try:
            values.append(convert(value))
        except ValueError as error:
            values.append(None)
            problems[code] = str(error)
    rows = np.flatnonzero(np.isin(coded.codes, list(problems))).tolist() if problems else []
    return objects(values)[coded.codes], {row: problems[int(coded.codes[row])] for row in rows}


def numbers(column: Column) -> tuple[FloatArray, Errors]:
    """Return a column of numbers, NaN where a cell is empty or invalid, ``[N]``."""
    found = column.numbers()
    values = found.values.copy()
    values[found.invalid] = np.nan
    wrong = {row: column.cell(row) for row in found.invalid.tolist()}
    return values, {
        row: f"'{quoted(cell, 60)}' is not a number"
        for row, cell in wrong.items()
        if not is_absent(cell)
    }


def id_lists(column: Column, *, empty_text_is_list: bool = False) -> tuple[Cells, Errors]:
    """Return a column of lists of ids, ``[N]`` tuples; None where there is no list.

    Args:
        column: the column: of lists, or of texts as `id_list_of` reads them.
        empty_text_is_list: whether an empty text is an empty list, instead of an unknown one.
    """
    shared = None if column.kind else _shared_lists(column.cells())
    if shared is not None:
        return shared, {}
    lists = column.lists()
    if lists is not None:
        coded = lists.items.coded()
        if all(isinstance(each, str) and each.strip() for each in coded.values):
            ids = objects(coded.values)[coded.codes].tolist()
            ends = np.cumsum(np.maximum(lists.lengths, 0)).tolist()
            pairs = zip(lists.lengths.tolist(), ends, strict=True)
            found = [
                None if length < 0 else tuple(ids[end - length : end]) for length, end in pairs
            ]
            return objects(found), {}

    def convert(cell: object) -> tuple[str, ...] | None:
        is_empty = empty_text_is_list and isinstance(cell, str) and not cell
        return () if is_empty else id_list_of(cell)

    return converted(column, convert)


def _shared_lists(cells: Sequence[Any]) -> Cells | None:
    """Return lists of texts as tuples that share equal texts; None if any other cell occurs."""
    if not set(map(type, cells)) <= {list, type(None)}:
        return None
    known: dict[object, object] = {}
    share = known.setdefault
    try:
        found = [None if cell is None else tuple(map(share, cell, cell)) for cell in cells]
    except TypeError:  # an item is not hashable
        return None
    are_ids = all(isinstance(each, str) and each.strip() for each in known)
    return objects(found) if are_ids else None


def rank_lists(column: Column) -> tuple[IntArray, FloatArray, Errors]:
    """Return the row of each rank in a column of ranks or of lists of them, and the rank."""
    if column.lists() is None:
        single = column.numbers()
        if not len(single.invalid):
            rows: IntArray = np.flatnonzero(~np.isnan(single.values))
            return rows, single.values[rows], {}
    lists, errors = converted(column, items_of)
    lengths = [len(each or ()) for each in lists]
    owners: IntArray = np.repeat(np.arange(len(lists)), lengths)
    ranks, wrong = numbers(Column([item for each in lists for item in each or ()]))
    unknown = np.flatnonzero(np.isnan(ranks)).tolist()
    wrong = {int(owners[item]): wrong.get(item, "a rank is empty") for item in unknown}
    return np.delete(owners, unknown), np.delete(ranks, unknown), {**wrong, **errors}
