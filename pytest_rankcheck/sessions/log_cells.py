"""Parsing the cells of a log: ids, lists of ids or ranks, numbers and flags."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.plain_values import as_flag

__all__ = [
    "LARGEST",
    "SEPARATORS",
    "flag_of",
    "id_list_of",
    "id_of",
    "is_absent",
    "number_of",
    "rank_list_of",
]

LARGEST = 2**31
"""A bound that no number of results reaches."""
_NOTHING = frozenset({"", "null", "none", "nan", "[]", "n/a", "na"})
SEPARATORS = ("|", ";", ",")


def is_absent(value: object) -> bool:
    """Whether a cell is empty: None, NaN, or a text such as "null" or "n/a"."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and value.strip().lower() in _NOTHING


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
    number = number_of(value)
    if number is None or not number.is_integer():
        raise ValueError(f"'{quoted(value, 60)}' is not an id; ids are text or whole numbers")
    return str(int(number))


def id_list_of(value: object) -> list[str] | None:
    """Return a list of ids; None for an empty cell.

    A text is a JSON list, or ids separated by bars, semicolons, commas or white space: the first
    of these that occurs.

    Raises:
        ValueError: an item is not an id.
    """
    items = _items(value)
    if items is None:
        return None
    if isinstance(items, list) and set(map(type, items)) <= {str}:
        texts: list[str] = items
        if all(map(str.strip, texts)):  # the usual case, worth a fast path
            return texts
    ids = [id_of(item) for item in items]
    if any(item is None for item in ids):
        raise ValueError(f"the list '{quoted(value, 60)}' has an empty id")
    return [item for item in ids if item is not None]


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


def _items(value: object) -> Sequence[object] | None:
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in _NOTHING - {"[]"}:
            return None
        if text.startswith("["):
            return _json_list(text)
        separator = next((char for char in SEPARATORS if char in text), None)
        return [part.strip() for part in text.split(separator)]
    if isinstance(value, (list, tuple)):
        return value
    to_list = getattr(value, "tolist", None)  # a numpy array or a polars series
    if callable(to_list) and hasattr(value, "ndim"):
        return list(to_list())
    return None if is_absent(value) else [value]


def _json_list(text: str) -> list[object]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"'{quoted(text, 60)}' is not a JSON list") from None
    if not isinstance(items, list):
        raise ValueError(f"'{quoted(text, 60)}' is not a JSON list")
    return items
