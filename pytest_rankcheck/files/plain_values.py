"""Cells as plain values (text, numbers, booleans, lists and objects of them), as ids or numbers.

Every reader of attributes and features uses `plain_value`, so the same content is the same value,
and has the same fingerprint, whichever library it comes from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from numbers import Integral, Real
from typing import Any
from uuid import UUID

_WORDS = {"true": True, "false": False}
_FLAGS = {**_WORDS, "yes": True, "no": False, "1": True, "0": False, "1.0": True, "0.0": False}
_MISSING_TYPES = frozenset({"NAType", "NaTType"})
"""The types of pandas' NA and NaT."""

_HOLDERS = ("attributes", "metadata")
"""Objects whose own key is left out of dotted names."""


def plain_value(value: object) -> object:
    """Return a value of any common library as a plain value; None if it is missing.

    - Numbers (numpy, Arrow, decimals, fractions) become int if they are whole, otherwise float.
    - Booleans stay booleans.
    - Datetimes, dates and times become ISO 8601 text, to the microsecond.
    - UUIDs become text.
    - Lists, tuples and arrays become lists; sets become sorted lists.
    - None, NaN, NA and NaT become None.

    Raises:
        TypeError: the value has another type, such as a duration or bytes.
    """
    kind = type(value)
    if kind is str or kind is int or kind is bool:
        return value
    if kind is float:
        return _whole_as_int(value)  # type: ignore[arg-type]
    if is_missing(value):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (Real, Decimal)) and kind.__name__ != "timedelta64":
        return _plain_number(value)
    if isinstance(value, (datetime, date, time)):
        exact = getattr(value, "to_pydatetime", None)  # pandas has nanoseconds
        return (exact(warn=False) if exact else value).isoformat()
    if isinstance(value, UUID):
        return str(value)
    return _plain_collection(value)


def flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the values of the objects within it, by dotted names."""
    found = dict(entry)
    for key in [key for key, value in entry.items() if isinstance(value, Mapping)]:
        for name, value in flat(found.pop(key)).items():
            found.setdefault(name if key in _HOLDERS else f"{key}.{name}", value)
    return found


def is_blank(value: object) -> bool:
    """Whether a cell is missing or an empty text; an array is neither."""
    return is_missing(value) or (isinstance(value, str) and not value)


def is_missing(value: object) -> bool:
    """Whether a cell is None, NaN, or the NA or NaT of pandas."""
    kind = type(value).__name__
    if value is None or kind in _MISSING_TYPES:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return kind.startswith("float") and value != value  # noqa: PLR0124 - also floats of numpy


def _plain_number(value: Real | Decimal) -> object:
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    return _whole_as_int(float(value))


def _whole_as_int(number: float) -> float | None:
    if number != number:  # noqa: PLR0124 - faster than math
        return None
    if number.is_integer() and abs(number) < 2**53:
        return int(number)
    return number


def _plain_collection(value: object) -> object:
    """Return a collection, or a scalar of numpy, Arrow or pandas, as plain values."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((plain_value(item) for item in value), key=str)
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    kind = type(value)
    if kind.__name__ == "datetime64" and isinstance(value.item(), int):  # type: ignore[attr-defined]
        return plain_value(value.astype("M8[us]"))  # type: ignore[attr-defined]  # of nanoseconds
    for converter in ("as_py", "tolist", "to_list"):  # of Arrow, numpy and pandas, polars
        if hasattr(value, converter) and kind.__name__ != "timedelta64":
            converted = getattr(value, converter)()
            if type(converted) is not kind:
                return plain_value(converted)
            return converted
    raise TypeError(
        f"a value of type {kind.__name__} is not supported; convert it to text or a number"
    )


def as_booleans(cells: Sequence[object]) -> list[bool | None] | None:
    """Return the cells of a column as booleans, if all are booleans or the words true and false.

    Text formats have no booleans. Case does not matter; None is an empty cell.
    """
    booleans: list[bool | None] = []
    for cell in cells:
        boolean = _WORDS.get(cell.lower()) if isinstance(cell, str) else cell
        if cell is not None and not isinstance(boolean, bool):
            return None
        booleans.append(boolean)  # type: ignore[arg-type]
    return booleans


def as_flag(value: object) -> bool | None:
    """Return a cell that says yes or no: true, yes or 1, or false, no or 0; None if it is neither.

    Case and surrounding spaces do not matter.
    """
    with suppress(TypeError):
        return _FLAGS.get(str(plain_value(value)).strip().lower())
    return None


def checked_number(value: object) -> float | None:
    """Return a finite number, given as a number or its text; None for anything else.

    Whole numbers are returned as int, so that they are written as they were read.
    """
    number = finite_number(value)
    return None if number is None else _whole_as_int(number)


def finite_number(value: object) -> float | None:
    """Return a finite number, given as a number or its text, as a float; else None.

    The text ``1_000`` is not a number, although Python reads it as one.
    """
    if isinstance(value, str):
        is_number = "_" not in value
    else:
        is_number = isinstance(value, (Real, Decimal)) and not isinstance(value, bool)
    if not is_number:
        return None
    try:
        number = float(value)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def id_text(value: object) -> str | None:
    """Return an id as text: text and whole numbers are ids. None for anything else.

    Floats are not ids, even whole ones; nor is empty text.
    """
    if isinstance(value, str):
        return str(value) or None
    if isinstance(value, Integral) and not isinstance(value, bool):
        with suppress(ValueError):  # Python converts a limited number of digits
            return str(int(value))
    return None
