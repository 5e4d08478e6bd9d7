"""Times of events: ISO 8601 text, with or without a zone, and numbers since an epoch or a start."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.files.plain_values import finite_number, is_blank
from pytest_rankcheck.files.table_batches import Column
from pytest_rankcheck.sessions.log_cells import Errors

TimeUnit = Literal["s", "ms", "us", "ns"]
"""The unit of times that are numbers."""

EPOCH = {"s": (3e8, 1e10), "ms": (3e11, 1e13), "us": (3e14, 1e16), "ns": (3e17, 1e19)}
"""Per unit, the range of numbers that are times since 1970, between 1979 and 2286."""
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_WORDS = {
    "zoned": "text with a time zone",
    "local": "text without a time zone",
    "relative": "a number that is not a time since 1970",
    "s": "seconds since 1970",
    "ms": "milliseconds since 1970",
    "us": "microseconds since 1970",
    "ns": "nanoseconds since 1970",
}
_KINDS = tuple(_WORDS)
_ZONED, _LOCAL, _RELATIVE = range(3)
_MISSING = -1
"""The kind of an empty cell."""


class Clock:
    """Converts the times of a log to seconds, and checks that all are of one kind."""

    def __init__(self, unit: str | None) -> None:
        self._unit = unit
        given = _SECONDS.get(str(unit))
        factors = [given or 1.0, *(given or seconds for seconds in _SECONDS.values())]
        self._factors = np.array([1.0, 1.0, *factors, math.nan])
        """The seconds per unit, by kind; the last is for empty cells."""
        self._first: dict[str, int] = {}
        """The first position of each kind of time."""

    def column(
        self, column: Column, positions: IntArray, is_used: BoolArray
    ) -> tuple[FloatArray, Errors]:
        """Return a column in seconds, NaN where a cell is empty, and why a cell is not a time.

        Each row has a position in the log; only the kinds of times in usable rows count.
        """
        values, kinds, others = _values_and_kinds(column)
        errors: dict[int, str] = {}
        for row in others:
            try:
                values[row], kinds[row] = _value_and_kind(column.cell(row))
            except ValueError as error:
                errors[row] = str(error)
        for kind in set(np.unique(kinds[is_used]).tolist()) - {_MISSING}:
            first = int(positions[is_used & (kinds == kind)].min())
            self._first[_KINDS[kind]] = min(first, self._first.get(_KINDS[kind], first))
        return values * self._factors[kinds], errors

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of times so far: of text with or without a zone, of numbers since 1970."""
        return self._first.keys()

    def refuse_mixture(self, place: Callable[[int], str], *, are_seconds: bool = False) -> None:
        """Check that all times are of one kind, and that the kind matches ``time_unit``.

        Args:
            place: returns the place of a position, for messages.
            are_seconds: whether numbers are known to be seconds since a start.

        Raises:
            SessionLogError: times are of several kinds (a row of each is named), contradict
                ``time_unit``, or are numbers whose unit is unknown.
        """
        kinds = sorted(self._first.items(), key=lambda item: item[1])
        if len(kinds) > 1:
            (kind, first), (other_kind, other) = kinds[:2]
            raise SessionLogError(
                f"{place(first)}: the time is {_WORDS[kind]}, but in "
                f"{place(other)} it is {_WORDS[other_kind]}; write all times "
                "in the same way"
            )
        wrong = next((kind for kind, _ in kinds if kind in EPOCH), self._unit)
        if self._unit is not None and wrong != self._unit:
            raise SessionLogError(
                f"{place(self._first[str(wrong)])}: time_unit={self._unit} was "
                f"given, but the time is {_WORDS[str(wrong)]}; omit time_unit, or give {wrong}"
            )
        if self._unit is None and "relative" in self._first and not are_seconds:
            raise SessionLogError(
                f"{place(self._first['relative'])}: the time is a number that is not a time since "
                '1970; give its unit: time_unit="s", "ms", "us" or "ns"'
            )


def _values_and_kinds(column: Column) -> tuple[FloatArray, IntArray, Sequence[int]]:
    """Return times as numbers of their units, their kinds, and the rows left to read."""
    moments = column.moments()
    if moments is not None:
        known = np.where(moments.is_missing, _MISSING, _ZONED if moments.is_zoned else _LOCAL)
        return moments.microseconds / 1_000_000, known, ()
    first = column.cell(0) if len(column) else None
    if not (isinstance(first, str) and ":" in first):
        numbers = column.numbers()
        return numbers.values.copy(), _kinds_of(numbers.values), numbers.invalid.tolist()
    with suppress(TypeError, ValueError):
        found = [_of_moment(datetime.fromisoformat(cell)) for cell in column.cells()]  # type: ignore[arg-type]
        seconds, kinds = zip(*found, strict=True)
        return np.array(seconds), np.array(kinds), ()
    return np.full(len(column), np.nan), np.full(len(column), _MISSING), range(len(column))


def _kinds_of(values: FloatArray) -> IntArray:
    """Return the kinds of times that are numbers, and of NaN."""
    kinds: IntArray = np.where(np.isnan(values), _MISSING, _RELATIVE)
    for kind, (low, high) in enumerate(EPOCH.values(), start=_RELATIVE + 1):
        kinds[(values >= low) & (values < high)] = kind
    return kinds


def _value_and_kind(value: object) -> tuple[float, int]:
    """Return a time, as a number of its unit, and its kind; NaN for an empty cell, NaN or NaT.

    Raises:
        ValueError: the value is not a time; the message says why.
    """
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else value.astype("M8[us]").item()
    if is_blank(value):
        return math.nan, _MISSING
    if isinstance(value, str) and finite_number(value) is None:
        with suppress(ValueError):
            return _of_moment(datetime.fromisoformat(value.strip()))
        raise ValueError(
            f"'{quoted(value, 60)}' is not a time, such as 2026-11-21T14:30:05Z or a number"
        )
    if hasattr(value, "timestamp"):  # pandas timestamps too
        return _of_moment(value)
    number = finite_number(value)
    if number is None:
        raise ValueError(f"'{quoted(value, 60)}' is not a time")
    return number, int(_kinds_of(np.array([number]))[0])


def _of_moment(moment: Any) -> tuple[float, int]:
    if moment.tzinfo is not None:
        return float(moment.timestamp()), _ZONED
    if isinstance(moment, datetime):  # one zone for all, so differences are right
        moment = moment.replace(tzinfo=UTC)
    return float(moment.timestamp()), _LOCAL
