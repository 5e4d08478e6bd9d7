"""Parsing the cells and columns of a log: ids, lists of ids or ranks, numbers and flags."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import TypeVar

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.plain_values import as_flag
from pytest_rankcheck.files.table_columns import Column

__all__ = [
    "LARGEST",
    "Errors",
    "flag_of",
    "id_list_of",
    "id_of",
    "is_absent",
    "is_placeholder",
    "number_of",
    "numbers",
    "per_distinct_value",
    "plain_lists",
    "rank_list_of",
]

T = TypeVar("T")

Errors = Mapping[int, str]
"""By row, why its cell is invalid."""

LARGEST = 2**31
"""A bound that no number of results reaches."""
_EXACT = 2**53
"""From here on, a float may be another whole number, rounded."""
_NOTHING = frozenset({"", "null", "none", "nan", "[]", "n/a", "na"})
_PLACEHOLDERS = _NOTHING | {
    *("nil", "nat", "undefined", "unknown", "anonymous", "anon", "guest", "not set", "missing"),
    *("-", "--", "?", "00000000-0000-0000-0000-000000000000"),
}
_SEPARATORS = ("|", ";", ",")


def is_absent(value: object) -> bool:
    """Whether a cell is empty: None, NaN, or a text such as "null" or "n/a"."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and value.strip().lower() in _NOTHING


def is_placeholder(text: str) -> bool:
    """Whether an id stands for a missing one: "null", "unknown", "anonymous" and the like.

    "0" is not one: it is also an ordinary number of a session.
    """
    if "1" <= text[-1:] <= "9":  # most ids, quickly
        return False
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
    if isinstance(value, (bool, list, dict, tuple)):
        raise ValueError(f"'{quoted(value, 60)}' is not an id")
    if isinstance(value, Integral):
        return str(int(value))
    number = number_of(value)
    if number is None or not number.is_integer() or abs(number) >= _EXACT:
        raise ValueError(f"'{quoted(value, 60)}' is not an id; ids are text or whole numbers")
    return str(int(number))


def id_list_of(value: object) -> Sequence[str] | None:
    """Return a list of ids; None for an empty cell.

    A text is a JSON list, or ids separated by bars, semicolons, commas or white space: the first
    of these that occurs.

    Raises:
        ValueError: an item is not an id.
    """
    items = _items(value)
    if items is None:
        return None
    if set(map(type, items)) <= {str} and all(map(str.strip, items)):  # type: ignore[arg-type]
        return items  # type: ignore[return-value]
    ids = [id_of(item) for item in items]
    if any(item is None for item in ids):
        raise ValueError(f"the list '{quoted(value, 60)}' has an empty id")
    return [item for item in ids if item is not None]


def plain_lists(cells: Sequence[object]) -> tuple[list[int], list[str]] | None:
    """Return the length of each list of ids, and the ids of all lists one after the other.

    None unless `id_list_of` would only split each cell: all cells are texts without white space
    that use the same separator, and none is empty, JSON, or has an empty id.
    """
    if not set(map(type, cells)) <= {str}:
        return None
    text = "\n".join(cells)  # type: ignore[arg-type]
    used = [separator for separator in _SEPARATORS if separator in text]
    if len(used) > 1 or "[" in text or not _NOTHING.isdisjoint(map(str.lower, cells)):  # type: ignore[arg-type]
        return None
    separator = used[0] if used else "\n"
    lines = text.replace(separator, "\n")
    ids, lengths = lines.split("\n"), [1 + cell.count(separator) for cell in cells]  # type: ignore[attr-defined]
    return (lengths, ids) if ids == lines.split() and sum(lengths) == len(ids) else None


def rank_list_of(value: object) -> list[int] | None:
    """Return a list of ranks as they are written; None for an empty cell.

    Raises:
        ValueError: an item is not a whole number.
    """
    items = _items(value)
    if items is None:
        return None
    ranks = []
    for item in items:
        number = number_of(item)
        if number is None or not number.is_integer() or abs(number) > LARGEST:
            raise ValueError(f"'{quoted(item, 60)}' is not a rank; ranks are whole numbers")
        ranks.append(int(number))
    return ranks


def _items(value: object) -> Sequence[object] | None:
    """Return the items of a list, which `id_list_of` describes; None for an empty cell.

    Raises:
        ValueError: a text begins like a JSON list and is not one.
    """
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            return _json_list(text)
        for separator in _SEPARATORS:
            if separator in text:
                return [part.strip() for part in text.split(separator)]
        parts = text.split()
        return None if len(parts) < 2 and text.lower() in _NOTHING else parts
    if isinstance(value, (list, tuple)):
        return value
    to_list = getattr(value, "tolist", None)  # a numpy array or a polars series
    if callable(to_list) and hasattr(value, "ndim"):
        return list(to_list())
    return None if is_absent(value) else [value]


def number_of(value: object) -> float | None:
    """Return a finite number; None for an empty cell.

    Raises:
        ValueError: the value is not a finite number.
    """
    if is_absent(value):
        return None
    if isinstance(value, bool):
        raise ValueError(f"'{value}' is not a number")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"'{quoted(value, 60)}' is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a finite number")
    return number


def flag_of(value: object) -> bool:
    """Return a flag; an empty cell is false.

    Raises:
        ValueError: the value is neither true nor false.
    """
    if is_absent(value):
        return False
    flag = as_flag(value)
    if flag is None:
        raise ValueError(f"'{quoted(value, 60)}' is neither true nor false")
    return flag


def numbers(column: Column) -> tuple[FloatArray, Errors]:
    """Return a column of numbers, NaN where a cell is empty or invalid, ``[N]``."""
    found = column.numbers()
    values, errors = found.values.copy(), dict[int, str]()
    for row in found.invalid.tolist():  # perhaps "n/a", or a spelling that only a log may have
        try:
            number = number_of(column.cell(row))
        except ValueError as error:
            errors[row] = str(error)
        else:
            values[row] = np.nan if number is None else number
    return values, errors


def per_distinct_value(
    column: Column, convert: Callable[[object], T]
) -> tuple[Sequence[T | None], IntArray, Errors]:
    """Convert the distinct values of a column.

    Returns:
        The converted values, None for an invalid one; which one each row has, ``[N]``; and the
        errors.
    """
    coded = column.coded()
    values: list[T | None] = []
    problems: dict[int, str] = {}
    for code, value in enumerate(coded.values):
        try:
            values.append(convert(value))
        except ValueError as error:
            values.append(None)
            problems[code] = str(error)
    errors: Errors = {}
    if problems:
        rows = np.flatnonzero(np.isin(coded.codes, list(problems)))
        codes = coded.codes[rows].tolist()
        errors = {row: problems[code] for row, code in zip(rows.tolist(), codes, strict=True)}
    return values, coded.codes, errors


def _json_list(text: str) -> list[object]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"'{quoted(text, 60)}' is not a JSON list") from None
    if not isinstance(items, list):
        raise ValueError(f"'{quoted(text, 60)}' is not a JSON list")
    return items
