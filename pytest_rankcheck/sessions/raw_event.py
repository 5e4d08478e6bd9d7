"""An event as it comes from a file: one state of a search, with what was selected in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["RawEvent", "Selection"]


@dataclass(frozen=True, slots=True)
class Selection:
    """A document that the user took."""

    rank: int
    """Its 1-based rank in the list that was shown."""
    time: float = math.nan
    """When, in seconds; NaN where only the event's time is known."""


@dataclass(frozen=True, slots=True)
class RawEvent:
    """One row of a log, read and checked by itself."""

    row: int
    session: str
    event: float = math.nan
    """Its index in the session; NaN where the log has none."""
    time: float = math.nan
    """Seconds; NaN where the log has no times."""
    query: str | None = None
    results: Sequence[str] | None = None
    """The documents shown, best first; None where they are not known."""
    count: int | None = None
    """How many were shown; None where that is not known."""
    selections: Sequence[Selection] = ()
    is_finish: bool = False
    attributes: Mapping[str, object] = field(default_factory=dict)
    start: float = math.nan
    """When the session started, in seconds; NaN where that is not told."""
