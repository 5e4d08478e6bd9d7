"""The checked options for reading a log; the only place that interprets them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from numbers import Real
from typing import Literal, TypedDict, get_args

import pandas as pd

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.errors import (
    ConfigurationError,
    quoted,
    suggestion,
)
from pytest_rankcheck.sessions.event_times import TimeUnit
from pytest_rankcheck.sessions.selection_rule import (
    SelectionsWhere,
    selection_rule,
)

Duplicates = Literal["error", "drop", "keep"]
"""What happens to rows that are identical in all columns."""

Gap = float | str | timedelta
"""A length of time: seconds, a text such as "30min", or a timedelta."""

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
    drop_sessions_over: int | None


class LogOptions:
    """The options for reading a log, checked; `SessionLog.load` describes each."""

    def __init__(self, reading: Reading, *, is_ubi: bool = False) -> None:
        """Check the options that are given as keywords.

        Args:
            reading: the keywords.
            is_ubi: whether the rows come from User Behavior Insights: in sessions, times in
                seconds.

        Raises:
            TypeError: a keyword is unknown.
            ConfigurationError: an option is invalid, or two contradict each other.
        """
        _check(reading)
        self.is_ubi = is_ubi
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
        self.drop_sessions_over = reading.get("drop_sessions_over")
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
    if (limit := reading.get("drop_sessions_over")) is not None:
        check_whole_number("drop_sessions_over", limit, 1, ConfigurationError)


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


def choices_text(choices: Mapping[str, object]) -> str:
    """Return what was chosen as text; without the options that are None or empty."""
    ordered = {
        name: dict(sorted(each.items())) if isinstance(each, Mapping) else each
        for name, each in choices.items()
    }
    return ", ".join(f"{name}={each}" for name, each in ordered.items() if each not in (None, {}))
