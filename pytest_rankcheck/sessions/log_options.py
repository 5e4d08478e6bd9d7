"""The options for reading a log, checked: the one place that says what each of them means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from numbers import Real
from typing import Literal, TypedDict, get_args

import numpy as np
import pandas as pd

from pytest_rankcheck.argument_checks import check_whole_number, is_number
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import ConfigurationError, listed, quoted, suggestion
from pytest_rankcheck.files.plain_values import as_flag, is_missing
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.event_times import TimeUnit

Duplicates = Literal["error", "drop", "keep"]
"""What happens to rows that are identical in all columns."""

Gap = float | str | timedelta
"""A length of time: seconds, a text such as "30min", or a timedelta."""

SelectionsWhere = Mapping[str, Sequence[object]] | Literal["all"]
"""``{column: values}`` of the rows that are selections, or ``"all"``."""


_CHOICES: Mapping[str, Sequence[object]] = {
    "first_rank": (0, 1),
    "time_unit": get_args(TimeUnit),
    "duplicates": get_args(Duplicates),
}
"""The options with few possible values."""


class Reading(TypedDict, total=False):
    """How a log is read, as keywords; `SessionLog.load` describes each."""

    columns: Mapping[str, str] | None
    session: str | None
    first_rank: int | None
    time_unit: str | None
    attributes: Sequence[str] | None
    selections_where: SelectionsWhere | None
    grades: Mapping[str, float] | None
    session_gap: Gap | None
    duplicates: Duplicates
    drop_sessions_over: int | None


def value_key(value: object) -> str:
    """Return a value in the form in which values are compared; empty for a missing one.

    Case and surrounding spaces do not matter; True, 1, "yes" and "true" are equal, as are False, 0,
    "no" and "false".
    """
    if is_missing(value):
        return ""
    flag = as_flag(value)
    return str(value).strip().casefold() if flag is None else str(flag).casefold()


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """Tells the rows that are selections from all others."""

    wanted: Mapping[str, frozenset[str]]
    """By column, the keys of the values that mean a selection: see `value_key`. A row is a
    selection if every column has one of its values; without columns, all rows are."""
    grades: Mapping[str, float]
    """The grade of a selection, by the key of a value; 1 for all others."""

    def mask(self, columns: Mapping[str, Column], size: int) -> BoolArray:
        """Return which of N rows are selections, ``[N]``; a row without a column is not one."""
        chosen = np.full(size, self.wanted.keys() <= columns.keys())
        for name in self.wanted.keys() & columns.keys():
            coded = columns[name].coded()
            is_wanted = [value_key(value) in self.wanted[name] for value in coded.values]
            chosen &= np.array(is_wanted, dtype=bool)[coded.codes]
        return chosen

    def grades_of(self, columns: Mapping[str, Column], size: int) -> FloatArray:
        """Return the highest grade of a value of each row, NaN without one, ``[N]``."""
        highest = np.full(size, np.nan)
        for name in (self.wanted.keys() & columns.keys()) if self.grades else ():
            coded = columns[name].coded()
            found = [self.grades.get(value_key(value), np.nan) for value in coded.values]
            highest = np.fmax(highest, np.array(found, dtype=np.float64)[coded.codes])
        return highest


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The options for reading a log, checked; `SessionLog.load` describes each."""

    columns: Mapping[str, str]
    """``{role: column}`` for columns with unusual names."""
    first_rank: int | None
    """The rank of the first result, 0 or 1; None if not given."""
    time_unit: str | None
    attributes: Sequence[str] | None
    """The columns that are attributes of sessions; None for all suitable ones."""
    rule: SelectionRule | None
    """Which rows are selections, and their grades; None if ``selections_where`` is not given."""
    gap: float | None
    """The time in seconds after which a new session begins; None if sessions are not split."""
    duplicates: Duplicates
    drop_sessions_over: int | None
    convention: str
    """What decides which sessions there are and what they came to, as records keep it.

    Empty with the usual options. Attributes and the unit of times change no value.
    """
    is_ubi: bool = False
    """Whether the rows are of User Behavior Insights: in sessions, with times in seconds."""

    @classmethod
    def of(cls, reading: Reading) -> LogOptions:
        """Return the options that are given as keywords.

        Raises:
            TypeError: a keyword is unknown.
            ConfigurationError: an option is invalid, or two contradict each other.
        """
        for name in reading:
            if name not in Reading.__annotations__:
                known = list(Reading.__annotations__)
                raise TypeError(
                    f"'{name}' is not a keyword for reading a log{suggestion(name, known)}; the "
                    f"keywords are {', '.join(known)}"
                )
        for name, allowed in _CHOICES.items():
            given = reading.get(name)
            if given is not None and (given not in allowed or isinstance(given, bool)):
                raise ConfigurationError(
                    f"{name}={quoted(given)} is invalid{suggestion(str(given), map(str, allowed))};"
                    f" give one of {', '.join(map(str, allowed))}"
                )
        first_rank, limit = reading.get("first_rank"), reading.get("drop_sessions_over")
        if limit is not None:
            check_whole_number("drop_sessions_over", limit, 1, ConfigurationError)
        columns, where = _columns(reading), reading.get("selections_where")
        grades = reading.get("grades")
        duplicates = reading.get("duplicates") or "error"
        rule = _selection_rule(where, grades)
        gap = _seconds(reading.get("session_gap"))
        choices = {
            "columns": columns,
            "first_rank": first_rank,
            "selections_where": where,
            "grades": grades,
            "session_gap": gap,
            "duplicates": None if duplicates == "error" else duplicates,
            "drop_sessions_over": limit,
        }
        unit, attributes = reading.get("time_unit"), reading.get("attributes")
        convention = choices_text(choices)
        return cls(columns, first_rank, unit, attributes, rule, gap, duplicates, limit, convention)

    @property
    def named(self) -> list[str]:
        """The columns that the options name; a dotted name is in an object of each row."""
        conditions = self.rule.wanted if self.rule else ()
        return [*self.columns.values(), *(self.attributes or ()), *conditions]


def _columns(reading: Reading) -> Mapping[str, str]:
    """Return ``{role: column}``, with the column of the session."""
    columns, session = reading.get("columns") or {}, reading.get("session")
    if session is None:
        return columns
    if columns.get("session", session) != session:
        raise ConfigurationError(
            f"session='{quoted(session)}' and columns={{'session': '{quoted(columns['session'])}'}}"
            " contradict each other; give one of them"
        )
    return {**columns, "session": session}


def _seconds(gap: object) -> float | None:
    """Return a length of time in seconds.

    Raises:
        ConfigurationError: it is not a positive length of time.
    """
    if gap is None:
        return None
    seconds = math.nan
    with suppress(ValueError):
        if isinstance(gap, timedelta):
            seconds = gap.total_seconds()
        elif isinstance(gap, str) and not gap.isdecimal():
            seconds = pd.Timedelta(gap.lower()).total_seconds()
        elif isinstance(gap, (Real, str)) and not isinstance(gap, bool):
            seconds = float(gap)
    if not 0 < seconds < math.inf:
        raise ConfigurationError(
            f"session_gap={quoted(gap, 60)} is invalid; give the time without an event after which "
            'a new session begins: a number of seconds, or a text such as "30min", "1h" or "45s"'
        )
    return seconds


def _selection_rule(
    where: SelectionsWhere | None, grades: Mapping[str, float] | None
) -> SelectionRule | None:
    """Return which rows are selections.

    Raises:
        ConfigurationError: an argument is invalid.
    """
    if where is None or where == "all":
        if grades is not None:
            raise ConfigurationError(
                "grades needs the column that has these values: give selections_where as well, "
                'such as selections_where={"action_name": ["click"]}'
            )
        return None if where is None else SelectionRule({}, {})
    if not isinstance(where, Mapping) or not where:
        raise ConfigurationError(
            f"selections_where={quoted(where, 60)} is invalid; give {{column: values}}, such as "
            'selections_where={"action_name": ["click"]}, or "all"'
        )
    wanted = {str(column): _keys(column, values) for column, values in where.items()}
    by_key = {
        value_key(value): checked_grade(value, grade) for value, grade in (grades or {}).items()
    }
    unknown = set(by_key).difference(*wanted.values())
    if unknown and len(wanted) > 1:
        raise ConfigurationError(
            f"grades: {listed(sorted(unknown))} does not occur in selections_where; add it to the "
            "values of its column"
        )
    if unknown:  # a value with a grade is a selection
        wanted = {column: keys | unknown for column, keys in wanted.items()}
    return SelectionRule(wanted, by_key)


def _keys(column: object, values: object) -> frozenset[str]:
    """Return the values that mean a selection, in the form in which they are compared."""
    several = values if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    keys = frozenset(map(value_key, several))
    if not keys or "" in keys:
        raise ConfigurationError(
            f"selections_where: the column '{quoted(column)}' has no value or an empty one; give "
            "the values that mean a selection"
        )
    return keys


def choices_text(choices: Mapping[str, object]) -> str:
    """Return what was chosen as text; without the options that are None or empty."""
    ordered = {
        name: dict(sorted(each.items())) if isinstance(each, Mapping) else each
        for name, each in choices.items()
    }
    return ", ".join(f"{name}={each}" for name, each in ordered.items() if each not in (None, {}))


def checked_grade(value: object, grade: object) -> float:
    """Return the grade of a selection.

    Raises:
        ConfigurationError: it is not a number from 0 on.
    """
    if not (is_number(grade) and 0 <= grade < math.inf):
        raise ConfigurationError(
            f"grades: the grade {quoted(grade, 60)} of '{quoted(value)}' is invalid; give a number "
            "from 0 on"
        )
    return float(grade)
