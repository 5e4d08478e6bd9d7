"""Reading a log: rows become events, events are sorted, and unusable sessions are set aside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.rankers.paused_collector import collector_paused
from pytest_rankcheck.sessions.event_columns import EventCollector, Events
from pytest_rankcheck.sessions.event_order import check_order, in_order, out_of_order
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import NumberedRow, Problems, SetAside
from pytest_rankcheck.sessions.log_rows import RowReader
from pytest_rankcheck.sessions.log_trails import session_starts

__all__ = ["LogContents", "read_log"]


@dataclass(frozen=True)
class LogContents:
    """The contents of a log, and what was set aside while reading it."""

    events: Events
    session_ids: Sequence[str]
    queries: Sequence[str]
    documents: Sequence[str]
    starts: Mapping[int, float]
    """When sessions started, by session index, where the log says so."""
    attributes: Sequence[Mapping[str, object]]
    """The attributes of each session."""
    set_aside: SetAside
    reordered: int
    """How many events came later in the file than the next event of their session."""
    ignored: Mapping[str, int]
    """How many events of other kinds were ignored, by kind."""
    varying: Sequence[str]
    """The columns that change within a session and therefore are not attributes."""
    has_selections: bool
    """Whether the log has a column of selections."""

    @cached_property
    def last_events(self) -> IntArray:
        """The last event of each session, ``[S]``."""
        return session_starts(self.events, len(self.session_ids))[1:] - 1

    def query_at(self, place: int) -> str | None:
        """Return the query text of an event; None without one."""
        number = int(self.events.query[place])
        return None if number < 0 else self.queries[number]

    def results_at(self, place: int) -> Sequence[str]:
        """Return the documents that an event showed; empty where unknown."""
        start, end = self.events.shown_starts[place : place + 2].tolist()
        return [self.documents[number] for number in self.events.shown[start:end].tolist()]


def read_log(rows: Iterable[NumberedRow], options: LogOptions, problems: Problems) -> LogContents:
    """Read rows into a log.

    Raises:
        SessionLogError: the log is empty, lacks a required column or mixes kinds of times; or a
            row cannot be used and the log is read strictly.
    """
    reader, collector = RowReader(options.checked(), problems), EventCollector()
    with collector_paused():
        for number, row in rows:
            for event in reader.events(number, row):
                collector.add(event)
    reader.check_columns()
    reader.clock.refuse_mixture(problems.numbering)
    _note_varying(collector, options, problems)
    session_ids = tuple(collector.sessions)
    events = in_order(collector.finished())
    if len(events):
        check_order(events, session_ids, problems)
    problems.refuse()
    broken = problems.sessions
    is_broken = np.array([session in broken for session in session_ids], dtype=bool)
    kept = np.flatnonzero(~is_broken[events.session]) if len(events) else np.zeros(0, np.int64)
    set_aside = problems.set_aside(len(events) - len(kept))
    if not len(kept):
        raise SessionLogError(_no_events(problems, set_aside, reader.ignored))
    is_whole = len(kept) == len(events)
    return LogContents(
        events=events if is_whole else _renumbered(events.taken(kept), is_broken),
        session_ids=session_ids if is_whole else tuple(np.array(session_ids, object)[~is_broken]),
        queries=tuple(collector.queries),
        documents=tuple(collector.documents),
        starts=_starts(collector.starts, is_broken),
        attributes=[
            session
            for session, dropped in zip(
                collector.plain_attributes(), is_broken.tolist(), strict=True
            )
            if not dropped
        ],
        set_aside=set_aside,
        reordered=out_of_order(events),
        ignored=dict(reader.ignored),
        varying=tuple(collector.varying),
        has_selections=reader.has_selections,
    )


def _note_varying(collector: EventCollector, options: LogOptions, problems: Problems) -> None:
    """Note requested attributes that change within a session."""
    for name, (row, session) in collector.varying.items():
        if options.attributes is not None and name in options.attributes:
            text = (
                f"session '{quoted(session)}': the attribute '{quoted(name)}' changes; an "
                "attribute must be constant within a session"
            )
            problems.add(row, session, "attribute changes", text, is_read=True)


def _renumbered(events: Events, is_broken: BoolArray) -> Events:
    """Return the events with sessions renumbered to skip the broken ones."""
    numbers: IntArray = np.cumsum(~is_broken) - 1
    return replace(events, session=numbers[events.session])


def _starts(starts: Mapping[int, float], is_broken: BoolArray) -> Mapping[int, float]:
    numbers = np.cumsum(~is_broken) - 1
    return {
        int(numbers[session]): start for session, start in starts.items() if not is_broken[session]
    }


def _no_events(problems: Problems, set_aside: SetAside, ignored: Mapping[str, int]) -> str:
    if set_aside:
        return f"{problems.source}: no session is left; {set_aside}"
    if ignored:
        kinds = ", ".join(f"{count:,} x {quoted(kind)}" for kind, count in ignored.items())
        return (
            f"{problems.source} has no search events: only events with event_id searchRestarted "
            f"or sessionFinished are read, and it has {kinds}"
        )
    return f"{problems.source} is empty; a log needs at least one event"
