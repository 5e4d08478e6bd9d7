"""Single cells, checked: numbers and ids."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from decimal import Decimal
from numbers import Integral, Real

__all__ = ["checked_number", "decimal_comma_hint", "finite_number", "id_text"]

_DECIMAL_COMMA = re.compile(r"\s*([+-]?\d*),(\d+)\s*")


def checked_number(value: object) -> float | None:
    """Return a number, given as a number or its text; None if it is not a finite number.

    Whole numbers are returned as int, so that they are written as they were read.
    """
    number = finite_number(value)
    is_whole = number is not None and number.is_integer() and abs(number) < 2**53
    return int(number) if is_whole else number  # type: ignore[arg-type]


def finite_number(value: object) -> float | None:
    """Return a number, given as a number or its text, as a float; None if it is not finite.

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

    Floats are not ids, even if they are whole; nor is empty text.
    """
    if isinstance(value, str):
        return str(value) or None
    if isinstance(value, Integral) and not isinstance(value, bool):
        with suppress(ValueError):  # Python converts a limited number of digits
            return str(int(value))
    return None


def decimal_comma_hint(text: object, *, is_frame: bool = False) -> str:
    """Return what to do about a number with a decimal comma, as the end of a message, or ``""``.

    Args:
        text: what should be a number.
        is_frame: whether it comes from a DataFrame.
    """
    comma = _DECIMAL_COMMA.fullmatch(text) if isinstance(text, str) else None
    if comma is None:
        return ""
    pandas = " (pandas: decimal=',')" if is_frame else ""
    return f"; write {comma[1] or 0}.{comma[2]}, with a decimal point{pandas}"
