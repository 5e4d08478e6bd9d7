"""The cells of a log: lists of ids, of ranks, numbers and flags, as files write them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from pytest_rankcheck.errors import quoted

__all__ = ["LARGEST", "flag_of", "id_of", "ids_of", "is_absent", "number_of", "ranks_of"]

LARGEST = 2**31
"""No list of results has so many."""
_NOTHING = frozenset({"", "null", "none", "nan", "[]", "n/a", "na"})
_SEPARATORS = ("|", ";", ",")
_WORDS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def is_absent(value: object) -> bool:
    """Whether a cell says nothing."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and value.strip().lower() in _NOTHING


def id_of(value: object) -> str | None:
    """Return an id as text; None where the cell says nothing.

    Raises:
        ValueError: it is neither text nor a whole number.
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if is_absent(value):
        return None
    if isinstance(value, (bool, list, dict, tuple)):
        raise ValueError(f"'{quoted(value, 60)}' is no id")
    number = number_of(value)
    if number is None or not number.is_integer():
        raise ValueError(f"'{quoted(value, 60)}' is no id: text or a whole number")
    return str(int(number))


def ids_of(value: object) -> list[str] | None:
    """Return a list of ids; None where the cell says nothing.

    A text is a JSON list, or ids between bars, semicolons, commas or white space: the first of
    these that it has.

    Raises:
        ValueError: an item is no id.
    """
    items = _items(value)
    if items is None:
        return None
    if isinstance(items, list) and set(map(type, items)) <= {str}:
        texts: list[str] = items
        if all(map(str.strip, texts)):  # the usual case, which is a million events long
            return texts
    found = [id_of(item) for item in items]
    if any(one is None for one in found):
        raise ValueError(f"the list '{quoted(value, 60)}' has an empty id")
    return [one for one in found if one is not None]


def ranks_of(value: object) -> list[int] | None:
    """Return a list of ranks as they are written; None where the cell says nothing.

    Raises:
        ValueError: an item is no whole number.
    """
    items = _items(value)
    if items is None:
        return None
    found = []
    for item in items:
        number = number_of(item)
        if number is None or not number.is_integer() or abs(number) > LARGEST:
            raise ValueError(f"'{quoted(item, 60)}' is not a rank: a whole number")
        found.append(int(number))
    return found


def number_of(value: object) -> float | None:
    """Return a finite number; None where the cell says nothing.

    Raises:
        ValueError: it is no such number.
    """
    if is_absent(value):
        return None
    if isinstance(value, bool):
        raise ValueError(f"'{value}' is not a number")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"'{quoted(value, 60)}' is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a finite number")
    return number


def flag_of(value: object) -> bool:
    """Return a flag; an empty cell is false.

    Raises:
        ValueError: it is none.
    """
    if is_absent(value):
        return False
    word = str(value).strip().lower()
    if word not in _WORDS:
        raise ValueError(f"'{quoted(value, 60)}' is neither true nor false")
    return _WORDS[word]


def _items(value: object) -> Sequence[object] | None:
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in _NOTHING - {"[]"}:
            return None
        if text.startswith("["):
            return _json_list(text)
        separator = next((one for one in _SEPARATORS if one in text), None)
        return [part.strip() for part in text.split(separator)]
    if isinstance(value, (list, tuple)):
        return value
    to_list = getattr(value, "tolist", None)  # an array of numpy, a series of polars
    if callable(to_list) and hasattr(value, "ndim"):
        return list(to_list())
    return None if is_absent(value) else [value]


def _json_list(text: str) -> list[object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"'{quoted(text, 60)}' is not a JSON list") from None
    if not isinstance(found, list):
        raise ValueError(f"'{quoted(text, 60)}' is not a JSON list")
    return found
