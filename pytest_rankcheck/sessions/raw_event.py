"""An event as read from a file: one state of a search, with the documents selected in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["RawEvent", "Selection"]


@dataclass(frozen=True, slots=True)
class Selection:
    """A document that the user selected."""

    rank: int
    """Its 1-based rank in the list that was shown."""
    time: float = math.nan
    """When it was selected, in seconds; NaN where only the event's time is known."""


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One row of a log, parsed and checked on its own."""

    row: int
    session: str
    event: float = math.nan
    """The event's index in its session; NaN if the log does not say."""
    time: float = math.nan
    """In seconds; NaN where the log has no times."""
    query: str | None = None
    results: Sequence[str] | None = None
    """The documents shown, best first; None if unknown."""
    count: int | None = None
    """How many were shown; None if unknown."""
    selections: Sequence[Selection] = ()
    is_finish: bool = False
    attributes: Mapping[str, object] = field(default_factory=dict)
    start: float = math.nan
    """When the session started, in seconds; NaN if unknown."""
