"""The checked options for reading a log, and the rule that says which rows are selections.

No other place interprets the options.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypedDict, get_args

import numpy as np
import pandas as pd

from pytest_rankcheck.argument_checks import is_number
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import (
    ConfigurationError,
    SessionLogError,
    listed,
    quoted,
    suggestion,
)
from pytest_rankcheck.files.plain_values import as_flag, is_missing
from pytest_rankcheck.files.table_batches import Column
from pytest_rankcheck.sessions.event_times import TimeUnit

SelectionsWhere = Mapping[str, Sequence[object]] | Literal["all"]
"""``{column: values}`` of the rows that are selections, or ``"all"``."""

Duplicates = Literal["error", "drop", "keep"]
"""What happens to rows that are identical in all columns."""

Gap = float | str
"""A length of time: seconds, or a text such as "30min"."""

_CHOICES: Mapping[str, Sequence[object]] = {
    "first_rank": (0, 1),
    "time_unit": get_args(TimeUnit),
    "duplicates": get_args(Duplicates),
}
"""The options with few possible values."""
_WITHOUT_EFFECT = ("time_unit", "attributes")
"""The options that change no value."""


class Reading(TypedDict, total=False):
    """How a log is read, as keywords; `SessionLog.load` describes each."""

    columns: Mapping[str, str] | None
    first_rank: int | None
    time_unit: str | None
    attributes: Sequence[str] | None
    selections_where: SelectionsWhere | None
    grades: Mapping[str, float] | None
    session_gap: Gap | None
    duplicates: Duplicates


class LogOptions:
    """The options for reading a log, checked; `SessionLog.load` describes each."""

    def __init__(self, reading: Reading) -> None:
        """Check the options that are given as keywords.

        Raises:
            TypeError: a keyword is unknown.
            ConfigurationError: an option is invalid, or two contradict each other.
        """
        _check(reading)
        self.columns = reading.get("columns") or {}
        """``{role: column}`` for columns with unusual names."""
        self.first_rank = reading.get("first_rank")
        """The rank of the first result, 0 or 1; None if not given."""
        self.time_unit = reading.get("time_unit")
        self.attributes = reading.get("attributes")
        """The columns that are attributes of sessions; None for all suitable ones."""
        self.rule = selection_rule(reading.get("selections_where"), reading.get("grades"))
        """Which rows are selections, and their grades; None without ``selections_where``."""
        self.gap = _seconds(reading.get("session_gap"))
        """The pause in seconds after which a new session begins; None: sessions are not split."""
        self.duplicates: Duplicates = reading.get("duplicates") or "error"
        unusual = None if self.duplicates == "error" else self.duplicates
        choices = {**reading, "session_gap": self.gap, "duplicates": unusual}
        names = [name for name in Reading.__annotations__ if name not in _WITHOUT_EFFECT]
        self.convention = choices_text({name: choices.get(name) for name in names})
        """What decides which sessions there are and their outcomes, in the form of records.

        Empty with the usual options.
        """

    @property
    def named(self) -> list[str]:
        """The columns that the options name; a dotted name is in an object of each row."""
        conditions = self.rule.wanted if self.rule else ()
        return [*self.columns.values(), *(self.attributes or ()), *conditions]


def _check(reading: Reading) -> None:
    """Check the names of keywords, and the values that do not need to be converted."""
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


def _seconds(gap: object) -> float | None:
    """Return a length of time in seconds.

    Raises:
        ConfigurationError: it is not a positive length of time.
    """
    if gap is None:
        return None
    seconds = math.nan
    with suppress(ValueError, TypeError):
        is_text = isinstance(gap, str) and not gap.isdecimal()
        seconds = pd.Timedelta(str(gap).lower()).total_seconds() if is_text else float(gap)  # type: ignore[arg-type]
    if isinstance(gap, bool) or not 0 < seconds < math.inf:
        raise ConfigurationError(
            f"session_gap={quoted(gap, 60)} is invalid; give the time without an event after which "
            'a new session begins: a number of seconds, or a text such as "30min", "1h" or "45s"'
        )
    return seconds


def choices_text(choices: Mapping[str, object]) -> str:
    """Return what was chosen as text; without the options that are None or empty."""
    ordered = {
        name: dict(sorted(each.items())) if isinstance(each, Mapping) else each
        for name, each in choices.items()
    }
    return ", ".join(f"{name}={each}" for name, each in ordered.items() if each not in (None, {}))


# --- which rows are selections ----------------------------------------------------------------


def value_key(value: object) -> str:
    """Return a value in the form in which values are compared; empty for a missing one.

    Case and surrounding spaces do not matter; True, 1, "yes" and "true" are equal, as are False, 0,
    "no" and "false".
    """
    if is_missing(value):
        return ""
    flag = as_flag(value)
    return str(value).strip().casefold() if flag is None else str(flag).casefold()


class SelectionRule:
    """Finds the rows that are selections, and counts the values that make them selections.

    Args:
        wanted: by column, the keys of the values that mean a selection: see `value_key`. A row is a
            selection if every column has one of its values; without columns, all rows are.
        grades: the grade of a selection, by the key of a value; 1 for all others.
    """

    def __init__(self, wanted: Mapping[str, frozenset[str]], grades: Mapping[str, float]) -> None:
        self.wanted, self._grades = wanted, grades
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in wanted}
        self._has_selections = False

    def read(self, columns: Mapping[str, Column], size: int) -> tuple[BoolArray, FloatArray]:
        """Return which of N rows are selections, and the highest grade of a value of each, ``[N]``.

        If a column is missing, no row is a selection. The grade is NaN if no value has one.
        """
        chosen = np.full(size, self.wanted.keys() <= columns.keys())
        highest = np.full(size, np.nan)
        for name in self.wanted.keys() & columns.keys():
            coded = columns[name].coded()
            keys = [*map(value_key, coded.values)]
            chosen &= np.array([key in self.wanted[name] for key in keys], dtype=bool)[coded.codes]
            found = np.array([self._grades.get(key, np.nan) for key in keys], dtype=np.float64)
            highest = np.fmax(highest, found[coded.codes])
            rows = np.bincount(coded.codes, minlength=len(keys)).tolist()
            for value, key, count in zip(coded.values, keys, rows, strict=True):
                if key:
                    self._counts[name][str(value)] += count
        self._has_selections |= bool(chosen.any())
        return chosen, highest

    def unmet(self, source: str) -> Sequence[str]:
        """Return the wanted values that never occur, because they may be misspelt.

        Raises:
            SessionLogError: no row is a selection.
        """
        texts = []
        for name, counts in self._counts.items():
            missing = sorted(self.wanted[name] - set(map(value_key, counts)))
            if missing:
                values = listed([value for value, _ in counts.most_common()], 6)
                texts.append(
                    f"'{quoted(name)}' is never {listed(missing)}"
                    f"{suggestion(missing[0], counts) or ';'} its values are "
                    f"{values or 'all empty'}"
                )
        if self.wanted and not self._has_selections:
            why = texts[0] if texts else "no row has a value of each of the columns"
            raise SessionLogError(
                f"{source}: no row is a selection: {why}. Correct selections_where"
            )
        return texts


def selection_rule(
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
