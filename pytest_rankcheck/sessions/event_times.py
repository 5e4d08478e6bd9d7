"""Times of events: ISO 8601 text, with or without a zone, and numbers since an epoch or a start."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Literal, get_args

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, SessionLogError, quoted, suggestion
from pytest_rankcheck.files.plain_values import is_blank
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_columns import Column

__all__ = ["Clock", "TimeUnit"]

TimeUnit = Literal["s", "ms", "us", "ns"]
"""The unit of times that are numbers."""

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_EPOCH = {"s": (3e8, 1e10), "ms": (3e11, 1e13), "us": (3e14, 1e16), "ns": (3e17, 1e19)}
"""Per unit, the range of numbers that are times since 1970, between 1979 and 2286."""
_WORDS = {
    "zoned": "text with a time zone",
    "local": "text without a time zone",
    "s": "seconds since 1970",
    "ms": "milliseconds since 1970",
    "us": "microseconds since 1970",
    "ns": "nanoseconds since 1970",
    "relative": "a number that is not a time since 1970",
}


class Clock:
    """Converts the times of a log to seconds, and checks that all are of one kind."""

    def __init__(self, unit: str | None) -> None:
        if unit is not None and unit not in get_args(TimeUnit):
            raise ConfigurationError(
                f"time_unit='{quoted(unit)}' is invalid{suggestion(unit, _SECONDS)}; give one of "
                f"{', '.join(_SECONDS)}"
            )
        self._unit = unit
        self._first: dict[str, int] = {}
        """The first row with each kind of time."""

    def column(
        self, column: Column, numbers: IntArray, rows: IntArray
    ) -> tuple[FloatArray, dict[int, str]]:
        """Return a column of times in seconds, NaN where a cell is empty or invalid.

        Args:
            column: the column, ``[N]``.
            numbers: the number of each row, for messages, ``[N]``.
            rows: the rows to convert; the others are NaN.

        Returns:
            The seconds, ``[N]``; and by row, why a cell is not a time.
        """
        seconds: FloatArray = np.full(len(column), np.nan)
        moments = column.moments()
        if moments is not None:
            kind = "zoned" if moments.is_zoned else "local"
            self._note(kind, numbers[rows][~moments.is_missing[rows]])
            seconds[rows] = np.where(moments.is_missing, np.nan, moments.microseconds / 1_000_000)[
                rows
            ]
            return seconds, {}
        cells: Sequence[object] | None = None
        others = rows
        if not _is_text_of_a_moment(column, rows):
            found = column.numbers()
            seconds[rows] = self._of_numbers(found.values[rows], numbers[rows])
            others = found.invalid[np.isin(found.invalid, rows)]
        else:
            cells = column.cells()
            texts = [cells[row] for row in rows.tolist()]
            usual = self._of_texts(texts, numbers[rows])
            if usual is not None:
                seconds[rows] = usual
                return seconds, {}
        errors: dict[int, str] = {}
        for row in others.tolist():
            try:
                cell = column.cell(row) if cells is None else cells[row]
                seconds[row] = self.seconds(cell, int(numbers[row]))
            except ValueError as error:
                errors[row] = str(error)
        return seconds, errors

    def _of_numbers(self, values: FloatArray, rows: IntArray) -> FloatArray:
        """Return numbers in seconds, and note the first row of each kind."""
        factor: FloatArray = np.full(len(values), _SECONDS.get(str(self._unit), 1.0))
        is_relative = np.isfinite(values)
        for unit, (low, high) in _EPOCH.items():
            is_unit = (values >= low) & (values < high)
            is_relative &= ~is_unit
            self._note(unit, rows[is_unit])
            if self._unit is None:
                factor[is_unit] = _SECONDS[unit]
        self._note("relative", rows[is_relative])
        return values * factor

    def _of_texts(self, texts: list[str], rows: IntArray) -> list[float] | None:
        """Return ISO 8601 times of one kind in seconds; None if there is another text."""
        try:
            if not all(":" in text for text in texts):  # "20261121" is a number
                return None
            moments = list(map(datetime.fromisoformat, texts))
        except (TypeError, ValueError):
            return None
        zones = {moment.tzinfo is None for moment in moments}
        if len(zones) > 1:
            return None
        if zones == {True}:
            moments = [moment.replace(tzinfo=UTC) for moment in moments]
        self._note("local" if zones == {True} else "zoned", rows)
        return [moment.timestamp() for moment in moments]

    def _note(self, kind: str, rows: IntArray) -> None:
        """Note the first of some rows with a kind of time."""
        if len(rows):
            self._note_row(kind, int(rows.min()))

    def _note_row(self, kind: str, row: int) -> None:
        self._first[kind] = min(row, self._first.get(kind, row))

    def seconds(self, value: object, row: int) -> float:
        """Return a time in seconds; NaN for an empty cell, NaN or NaT.

        Raises:
            ValueError: the value is not a time; the message says why.
        """
        is_nat = isinstance(value, np.datetime64) and np.isnat(value)
        if is_nat or is_blank(value):
            return math.nan
        if isinstance(value, str):
            number = _number(value)
            return self._of_text(value, row) if number is None else self._of_number(number, row)
        if isinstance(value, datetime):
            return self._of_moment(value, row)
        if isinstance(value, date):
            raise ValueError(f"'{quoted(value)}' is a date without a time")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            timestamp = getattr(value, "timestamp", None)  # of pandas and numpy
            if callable(timestamp):
                return self._of_moment(value, row)
            raise ValueError(f"'{quoted(value, 60)}' is not a time")
        try:
            return self._of_number(float(value), row)
        except OverflowError:  # a whole number of 400 digits
            raise ValueError(f"'{quoted(value, 60)}' is not a time") from None

    def _of_number(self, number: float, row: int) -> float:
        if not math.isfinite(number):
            raise ValueError(f"{number} is not a time")
        kind = next((unit for unit, (low, high) in _EPOCH.items() if low <= number < high), None)
        self._note_row(kind or "relative", row)
        unit = self._unit or kind
        return number * _SECONDS[unit] if unit else number

    def _of_text(self, text: str, row: int) -> float:
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            raise ValueError(
                f"'{quoted(text, 60)}' is not a time, such as 2026-11-21T14:30:05Z or a number"
            ) from None
        return self._of_moment(moment, row)

    def _of_moment(self, moment: object, row: int) -> float:
        is_zoned = getattr(moment, "tzinfo", None) is not None
        self._note_row("zoned" if is_zoned else "local", row)
        if isinstance(moment, datetime) and not is_zoned:
            moment = moment.replace(tzinfo=UTC)  # for all of them, so differences are right
        return float(moment.timestamp())  # type: ignore[attr-defined]

    def refuse_mixture(self, rows: Numbering) -> None:
        """Check that all times are of one kind, and that the kind matches ``time_unit``.

        Raises:
            SessionLogError: times are of several kinds (a row of each is named), contradict
                ``time_unit``, or are numbers whose unit is unknown.
        """
        kinds = sorted(self._first.items(), key=lambda item: item[1])
        if len(kinds) > 1:
            (kind, row), (other_kind, other_row) = kinds[:2]
            raise SessionLogError(
                f"{rows.place(row)}: the time is {_WORDS[kind]}, but in "
                f"{rows.place(other_row)} it is {_WORDS[other_kind]}; write all times "
                "in the same way"
            )
        wrong = next((kind for kind, _ in kinds if kind in _EPOCH), self._unit)
        if self._unit is not None and wrong != self._unit:
            raise SessionLogError(
                f"{rows.place(self._first[str(wrong)])}: time_unit={self._unit} was "
                f"given, but the time is {_WORDS[str(wrong)]}; omit time_unit, or give {wrong}"
            )
        if self._unit is None and "relative" in self._first:
            place = rows.place(self._first["relative"])
            raise SessionLogError(
                f"{place}: the time is a number that is not a time since 1970; give its unit: "
                'time_unit="s", "ms", "us" or "ns"'
            )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_text_of_a_moment(column: Column, rows: IntArray) -> bool:
    """Whether the first cell is a text with a colon, which no number has."""
    cell = column.cell(int(rows[0])) if len(rows) else None
    return isinstance(cell, str) and ":" in cell
