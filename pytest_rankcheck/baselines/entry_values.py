"""Values in the JSON of baselines and reports, checked: anyone can edit these files.

Each function returns the value, or raises a `ValueError` that says what is expected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_rankcheck.errors import quoted

__all__ = [
    "as_cluster",
    "as_count",
    "as_list",
    "as_mapping",
    "as_means",
    "as_number",
    "as_number_or_nan",
    "as_text",
    "as_text_or_none",
]

_LARGEST_COUNT = 2**53
"""More than anyone counts, and the last whole number that a float holds exactly."""


def as_text(value: object) -> str:
    """Return a text."""
    if isinstance(value, str):
        return value
    raise _unlike(value, "a text")


def as_text_or_none(value: object) -> str | None:
    """Return a text; null is None."""
    return None if value is None else as_text(value)


def as_number(value: object) -> float:
    """Return a finite number."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan  # type: ignore[arg-type]
    except OverflowError:  # a whole number of 400 digits
        number = math.nan
    if math.isfinite(number):
        return number
    raise _unlike(value, "a finite number")


def as_number_or_nan(value: object) -> float:
    """Return a finite number; null is NaN."""
    return math.nan if value is None else as_number(value)


def as_count(value: object) -> int:
    """Return a whole number from 0 on."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if is_whole and 0 <= value <= _LARGEST_COUNT:  # type: ignore[operator]
        return value  # type: ignore[return-value]
    raise _unlike(value, "a whole number from 0 on")


def as_cluster(value: object) -> int | str:
    """Return an independent unit: a whole number from 0 on, or a text."""
    return value if isinstance(value, str) else as_count(value)


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return an object."""
    if isinstance(value, Mapping):
        return value
    raise _unlike(value, "an object")


def as_list(value: object) -> Sequence[Any]:
    """Return an array."""
    if isinstance(value, list):
        return value
    raise _unlike(value, "an array")


def as_means(value: object) -> dict[str, dict[str, float | None]]:
    """Return means before and after by metric: ``{"RR": {"from": 0.5, "to": null}}``."""
    return {
        name: {
            side: None if (mean := as_mapping(means)[side]) is None else as_number(mean)
            for side in ("from", "to")
        }
        for name, means in as_mapping(value).items()
    }


def _unlike(value: object, expected: str) -> ValueError:
    return ValueError(f"'{quoted(value, 60)}' is not {expected}")
