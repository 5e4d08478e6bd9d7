"""The sessions of events: split by pauses, named, in order, and checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.sessions.event_frames import Events
from pytest_rankcheck.sessions.event_times import EPOCH
from pytest_rankcheck.sessions.log_problems import Problems


def split_by_pauses(events: Events, gap: float) -> Events:
    """Return the events with a client's stretches without a long pause as sessions.

    Sessions are named after the times at which they begin, because records keep their ids, which
    must not reveal who searched. They are in the order of their first rows. A later row of a search
    belongs to the session of that search, however late it is.

    Args:
        events: events with clients as sessions, all with times.
        gap: the longest pause within a session, in seconds.
    """
    rows = events.frame
    ordered = rows[["session", "time", "position"]].sort_values(["session", "time", "position"])
    client = ordered["session"]
    is_first = ~client.duplicated()
    starts = is_first | (ordered["time"].diff() > gap)
    if "search" in rows:  # only the first row of a search can begin a session
        search = rows["search"].loc[ordered.index]
        is_later = search.notna() & pd.DataFrame({"client": client, "search": search}).duplicated()
        starts &= is_first | ~is_later
    label = starts.cumsum()
    if "search" in rows:
        label = label.groupby([client, search]).transform("first").where(search.notna(), label)
    owners = [events.session_ids[number] for number in client[starts].tolist()]
    names = names_by_start(ordered["time"][starts].tolist(), owners)
    rows["session"], firsts = pd.factorize(label.sort_index().astype(np.int64))
    return replace(events, session_ids=tuple(names[each - 1] for each in firsts.tolist()))


def names_by_start(
    starts: Sequence[float], owners: Sequence[str], taken: Collection[str] = ()
) -> list[str]:
    """Return a name for each session: ``2026-11-16T09:00:00``, or ``12.5 s`` of relative times.

    Records keep the ids of sessions, so an id must not reveal who searched, and the sessions of two
    logs must have different ids. Sessions that begin at the same instant are numbered in the order
    of their clients: ``2026-11-16T09:00:00#2``.

    Args:
        starts: when each began, in seconds; NaN if unknown.
        owners: the client of each.
        taken: names that other sessions have.
    """
    counts, names = Counter(taken), [""] * len(starts)
    for place in sorted(range(len(starts)), key=lambda each: (owners[each], each)):
        start = _shown(starts[place])
        counts[start] += 1
        names[place] = start if counts[start] == 1 else f"{start}#{counts[start]}"
    return names


def _shown(seconds: float) -> str:
    low, high = EPOCH["s"]
    if math.isnan(seconds):
        return "no time"
    if not low <= seconds < high:
        return f"{seconds:.12g} s"
    moment = datetime.fromtimestamp(round(seconds, 3), UTC).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")


def in_order(events: Events) -> Events:
    """Return the events sorted by session, then by index; without indexes by time, then by place.

    Sessions are in the order of their numbers.
    """
    key = events.column("event")
    if np.isnan(key).any():
        key = events.column("time")
    return events.taken(np.lexsort((events.column("position"), key, events.column("session"))))


def check_order(events: Events, problems: Problems) -> None:
    """Note duplicate events, and times that run backwards.

    The events are in order.
    """
    same: BoolArray = np.diff(events.column("session"), prepend=-1) == 0
    index = events.column("event")
    backwards = -np.diff(events.column("time"), prepend=np.nan)
    is_again = same & (np.diff(index, prepend=np.nan) == 0)

    again, late = {}, {}
    for row in np.flatnonzero(is_again).tolist():
        again[row] = f"duplicate event {index[row]:g}"
    for row in np.flatnonzero(same & (backwards > 0) & ~is_again).tolist():
        name = "" if np.isnan(index[row]) else f" {index[row]:g}"
        late[row] = f"the event{name} is {backwards[row]:g} s earlier than the event before it"
    events.note(again, problems, "duplicate event")
    events.note(late, problems, "time runs backwards")
