"""The order of the events of each session, and events that violate it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.sessions.event_columns import Events
from pytest_rankcheck.sessions.log_problems import Problems

__all__ = ["check_order", "order_of", "out_of_order"]


def order_of(events: Events) -> IntArray:
    """Return the events sorted by session, then by index; without indexes by time, then by place.

    Sessions are in the order of their first events in the file.
    """
    key = events.event if not np.isnan(events.event).any() else events.time
    order: IntArray = np.lexsort((events.position, key, events.session))
    return order


def out_of_order(events: Events) -> int:
    """Return how many events come later in the file than the next event of their session."""
    is_later = events.position[:-1] > events.position[1:]
    return int((is_later & _same_session(events)).sum())


def check_order(events: Events, session_ids: Sequence[str], problems: Problems) -> None:
    """Note duplicate events, times that run backwards, and events after the end of a session.

    The events are sorted by `order_of`.
    """
    violations = _violations(events)
    for reason, words in _WORDS.items():
        for place in np.flatnonzero(violations[reason]).tolist():
            session = session_ids[events.session[place]]
            text = f"session '{quoted(session)}': {words(events, place)}"
            problems.add(events.position[place], session, reason, text, is_read=True)


_WORDS: Mapping[str, Callable[[Events, int], str]] = {
    "duplicate event": lambda events, place: f"duplicate event {events.event[place]:g}",
    "time runs backwards": lambda events, place: (
        f"the event{_index(events, place)} is {events.time[place - 1] - events.time[place]:g} s "
        "earlier than the event before it"
    ),
    "second finish": lambda *_: "the session finishes twice",
    "event after the finish": lambda *_: "the event comes after the session has finished",
}


def _violations(events: Events) -> Mapping[str, BoolArray]:
    """Return, for each reason, which events violate the order, ``[N]``."""
    first = np.zeros(1, dtype=bool)
    same = _same_session(events)
    twice = np.concatenate((first, same & (events.event[1:] == events.event[:-1])))
    back = np.concatenate((first, same & (events.time[1:] < events.time[:-1]))) & ~twice
    after = _after_finish(events)
    return {
        "duplicate event": twice,
        "time runs backwards": back,
        "second finish": after & events.is_finish,
        "event after the finish": after & ~events.is_finish,
    }


def _index(events: Events, place: int) -> str:
    return "" if np.isnan(events.event[place]) else f" {events.event[place]:g}"


def _same_session(events: Events) -> BoolArray:
    """Return, for each event but the first, whether it has the same session as the one before."""
    same: BoolArray = events.session[1:] == events.session[:-1]
    return same


def _after_finish(events: Events) -> BoolArray:
    """Return which events come after one that finishes their session."""
    before: IntArray = np.cumsum(events.is_finish) - events.is_finish
    starts: IntArray = np.flatnonzero(np.concatenate(([True], ~_same_session(events))))
    lengths = np.diff(np.append(starts, len(events)))
    at_start: IntArray = np.repeat(before[starts], lengths)
    after: BoolArray = before > at_start
    return after
