"""Names for sessions that were made by pauses: when each began.

A record keeps the ids of sessions, so an id must not tell who searched. And the sessions of two
logs must not have the same ids, or they would be taken for the same sessions. The start of a
session meets both needs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

__all__ = ["names_by_start"]

_SINCE_1970 = (3e8, 1e10)
"""The range of numbers that are times since 1970, as in `event_times`."""


def names_by_start(
    starts: Sequence[float], owners: Sequence[str], taken: Collection[str] = ()
) -> list[str]:
    """Return a name for each session: ``2026-11-16T09:00:00``, or ``12.5 s`` of relative times.

    Sessions that begin in the same instant are numbered in the order of their clients:
    ``2026-11-16T09:00:00#2``.

    Args:
        starts: when each began, in seconds; NaN if unknown.
        owners: the client of each.
        taken: names that other sessions have.
    """
    names = [""] * len(starts)
    used: dict[str, int] = dict.fromkeys(taken, 1)
    for place in sorted(range(len(starts)), key=lambda each: (owners[each], each)):
        start = _shown(starts[place])
        count = used.get(start, 0) + 1
        while count > 1 and f"{start}#{count}" in used:
            count += 1
        used[start] = count
        names[place] = start if count == 1 else f"{start}#{count}"
        used.setdefault(names[place], 1)
    return names


def _shown(seconds: float) -> str:
    low, high = _SINCE_1970
    if math.isnan(seconds):
        return "no time"
    if not low <= seconds < high:
        return f"{seconds:.12g} s"
    moment = datetime.fromtimestamp(round(seconds, 3), UTC).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
