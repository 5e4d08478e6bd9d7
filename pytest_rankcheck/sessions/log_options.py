"""The options for reading a log, checked: the one place that says what each of them means."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from numbers import Integral, Real
from typing import Literal

from pytest_rankcheck.errors import ConfigurationError, listed, quoted
from pytest_rankcheck.sessions.selection_rule import SelectionRule, SelectionsWhere, value_key

__all__ = ["Duplicates", "Gap", "LogOptions"]

Duplicates = Literal["error", "drop", "keep"]
"""What happens to rows that are identical in all columns."""

Gap = float | str | timedelta
"""A length of time: seconds, a text such as "30min", or a timedelta."""

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_GAP = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class LogOptions:
    """The options for reading a log; `SessionLog.load` describes each.

    Raises:
        ConfigurationError: an option is invalid, or two contradict each other.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    """``{role: column}`` for columns with unusual names."""
    first_rank: int | None = None
    """The rank of the first result, 0 or 1; None if not given."""
    time_unit: str | None = None
    attributes: Sequence[str] | None = None
    """The columns that are attributes of sessions; None for all suitable ones."""
    session: str | None = None
    """The column of the session; the same as ``columns["session"]``."""
    selections_where: SelectionsWhere | None = None
    """``{column: values}`` of the rows that are selections, or ``"all"``; None if not given."""
    grades: Mapping[str, float] | None = None
    """The grade of a selection, by a value of a column in ``selections_where``."""
    session_gap: Gap | None = None
    duplicates: Duplicates = "error"
    drop_sessions_over: int | None = None
    rule: SelectionRule | None = field(init=False, default=None)
    """Which rows are selections, and their grades; None if ``selections_where`` is not given."""
    gap: float | None = field(init=False, default=None)
    """The time in seconds after which a new session begins; None if sessions are not split."""

    def __post_init__(self) -> None:
        if self.first_rank not in (None, 0, 1) or isinstance(self.first_rank, bool):
            raise ConfigurationError(
                f"first_rank={quoted(self.first_rank)} is invalid; give 0 or 1, the rank of the "
                "first result in the log"
            )
        object.__setattr__(self, "columns", self._columns_with_session())
        object.__setattr__(self, "rule", _rule(self.selections_where, self.grades))
        object.__setattr__(self, "gap", _seconds(self.session_gap))
        limit = self.drop_sessions_over
        is_whole = isinstance(limit, Integral) and not isinstance(limit, bool)
        if limit is not None and not (is_whole and limit >= 1):
            raise ConfigurationError(
                f"drop_sessions_over={quoted(limit)} is invalid; give the largest number of "
                "events that a session may have, such as drop_sessions_over=500"
            )

    @property
    def convention(self) -> str:
        """What decides which sessions there are and what they came to, as records keep it.

        Empty with the usual options. Attributes and the unit of times change no value.
        """
        where = self.selections_where
        choices = {
            "columns": _sorted(self.columns),
            "first_rank": self.first_rank,
            "selections_where": where if where is None or where == "all" else _sorted(where),
            "grades": _sorted(self.grades),
            "session_gap": self.gap,
            "duplicates": None if self.duplicates == "error" else self.duplicates,
            "drop_sessions_over": self.drop_sessions_over,
        }
        return ", ".join(
            f"{name}={chosen}" for name, chosen in choices.items() if chosen is not None
        )

    @property
    def named(self) -> list[str]:
        """The columns that the options name; a dotted name is in an object of each row."""
        conditions = self.rule.wanted if self.rule else ()
        return [*self.columns.values(), *(self.attributes or ()), *conditions]

    def _columns_with_session(self) -> Mapping[str, str]:
        mapped = self.columns.get("session", self.session)
        if self.session is None:
            return self.columns
        if mapped != self.session:
            raise ConfigurationError(
                f"session='{quoted(self.session)}' and columns={{'session': '{quoted(mapped)}'}} "
                "contradict each other; give one of them"
            )
        return {**self.columns, "session": self.session}


def _sorted(given: Mapping[str, object] | str | None) -> dict[str, object] | None:
    """Return a mapping sorted by key; None if it is empty."""
    return dict(sorted(given.items())) if given and isinstance(given, Mapping) else None


def _rule(
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
    by_key = {value_key(value): _grade(value, grade) for value, grade in (grades or {}).items()}
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


def _grade(value: object, grade: object) -> float:
    is_number = isinstance(grade, Real) and not isinstance(grade, bool)
    if not is_number or not 0 <= float(grade) < math.inf:  # type: ignore[arg-type]
        raise ConfigurationError(
            f"grades: the grade {quoted(grade, 60)} of '{quoted(value)}' is invalid; give a number "
            "from 0 on"
        )
    return float(grade)  # type: ignore[arg-type]


def _seconds(gap: object) -> float | None:
    """Return a length of time in seconds.

    Raises:
        ConfigurationError: it is not a positive length of time.
    """
    if gap is None:
        return None
    seconds = math.nan
    if isinstance(gap, timedelta):
        seconds = gap.total_seconds()
    elif isinstance(gap, Real) and not isinstance(gap, bool):
        seconds = float(gap)
    elif isinstance(gap, str) and (found := _GAP.fullmatch(gap)):
        seconds = float(found[1]) * _UNITS.get(found[2].lower(), math.nan)
    if not 0 < seconds < math.inf:
        raise ConfigurationError(
            f"session_gap={quoted(gap, 60)} is invalid; give the time without an event after which "
            'a new session begins: a number of seconds, or a text such as "30min", "1h" or "45s"'
        )
    return seconds
