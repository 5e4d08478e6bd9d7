"""Times of events: ISO 8601 text, with or without a zone, and numbers since an epoch or a start."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, date, datetime
from typing import Literal, get_args

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, SessionLogError, quoted, suggestion
from pytest_rankcheck.files.plain_values import is_blank
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.log_cells import Errors

__all__ = ["Clock", "TimeUnit"]

TimeUnit = Literal["s", "ms", "us", "ns"]
"""The unit of times that are numbers."""

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_EPOCH = {"s": (3e8, 1e10), "ms": (3e11, 1e13), "us": (3e14, 1e16), "ns": (3e17, 1e19)}
"""Per unit, the range of numbers that are times since 1970, between 1979 and 2286."""
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
        if unit is not None and unit not in get_args(TimeUnit):
            raise ConfigurationError(
                f"time_unit='{quoted(unit)}' is invalid{suggestion(unit, _SECONDS)}; give one of "
                f"{', '.join(_SECONDS)}"
            )
        self._unit = unit
        given = _SECONDS.get(str(unit))
        numbers = [given or 1.0, *(given or seconds for seconds in _SECONDS.values())]
        self._factors = np.array([1.0, 1.0, *numbers, math.nan])
        """How many seconds one is, by kind; the last is that of empty cells."""
        self._first: dict[str, int] = {}
        """The first position of each kind of time."""

    def column(
        self, column: Column, positions: IntArray, rows: IntArray
    ) -> tuple[FloatArray, Errors]:
        """Return some rows of a column in seconds, and why a cell of them is not a time.

        All other rows are NaN, as are empty and invalid cells. Each row has a position in the log.
        """
        values, kinds, others = _values_and_kinds(column)
        errors: dict[int, str] = {}
        others = others[np.isin(others, rows)]
        cells = column.cells() if len(others) else ()
        for row in others.tolist():
            try:
                values[row], kinds[row] = _value_and_kind(cells[row])
            except ValueError as error:
                errors[row] = str(error)
        is_used = np.zeros(len(kinds), dtype=bool)
        is_used[rows] = True
        kinds[~is_used] = _MISSING
        for kind in set(np.unique(kinds).tolist()) - {_MISSING}:
            first = int(positions[kinds == kind].min())
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
            are_seconds: whether the log's format says that numbers are seconds since a start.

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
        wrong = next((kind for kind, _ in kinds if kind in _EPOCH), self._unit)
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


def _values_and_kinds(column: Column) -> tuple[FloatArray, IntArray, IntArray]:
    """Return times as numbers of their units, their kinds, and the rows left to read."""
    moments = column.moments()
    if moments is not None:
        kind = _ZONED if moments.is_zoned else _LOCAL
        kinds = np.where(moments.is_missing, _MISSING, kind)
        return moments.microseconds / 1_000_000, kinds, kinds[:0]
    first = column.cell(0) if len(column) else None
    if isinstance(first, str) and ":" in first:
        return _iso_texts(column.cells())
    found = column.numbers()
    return found.values.copy(), _kinds_of(found.values), found.invalid


def _iso_texts(cells: Sequence[object]) -> tuple[FloatArray, IntArray, IntArray]:
    """Return texts as times; all rows are left to read if one of them is anything else."""
    try:
        moments = list(map(datetime.fromisoformat, cells))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        values: FloatArray = np.full(len(cells), np.nan)
        return values, _kinds_of(values), np.arange(len(cells))
    seconds, kinds = zip(*map(_of_moment, moments), strict=True)
    return np.array(seconds), np.array(kinds), np.arange(0)


def _kinds_of(values: FloatArray) -> IntArray:
    """Return the kinds of times that are numbers, and of NaN."""
    kinds: IntArray = np.where(np.isnan(values), _MISSING, _RELATIVE)
    for kind, (low, high) in enumerate(_EPOCH.values(), start=_RELATIVE + 1):
        kinds[(values >= low) & (values < high)] = kind
    return kinds


def _value_and_kind(value: object) -> tuple[float, int]:
    """Return a time, as a number of its unit, and its kind; NaN for an empty cell, NaN or NaT.

    Raises:
        ValueError: the value is not a time; the message says why.
    """
    is_nat = isinstance(value, np.datetime64) and np.isnat(value)
    if is_nat or is_blank(value):
        return math.nan, _MISSING
    if isinstance(value, str):
        number = _number(value)
        return _of_text(value) if number is None else _of_number(number)
    if isinstance(value, date) and not isinstance(value, datetime):
        raise ValueError(f"'{quoted(value)}' is a date without a time")
    if hasattr(value, "timestamp"):  # also of pandas and numpy
        return _of_moment(value)
    try:
        if not isinstance(value, bool) and isinstance(value, (int, float)):
            return _of_number(float(value))
    except OverflowError:  # a whole number of 400 digits
        pass
    raise ValueError(f"'{quoted(value, 60)}' is not a time")


def _number(text: str) -> float | None:
    try:
        return None if ":" in text else float(text)
    except ValueError:
        return None


def _of_number(number: float) -> tuple[float, int]:
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a time")
    return number, int(_kinds_of(np.array([number]))[0])


def _of_text(text: str) -> tuple[float, int]:
    try:
        return _of_moment(datetime.fromisoformat(text.strip()))
    except ValueError:
        raise ValueError(
            f"'{quoted(text, 60)}' is not a time, such as 2026-11-21T14:30:05Z or a number"
        ) from None


def _of_moment(moment: object) -> tuple[float, int]:
    if getattr(moment, "tzinfo", None) is not None:
        return moment.timestamp(), _ZONED  # type: ignore[attr-defined]
    if isinstance(moment, datetime):  # for all of them, so differences are right
        moment = moment.replace(tzinfo=UTC)
    return float(moment.timestamp()), _LOCAL  # type: ignore[attr-defined]
