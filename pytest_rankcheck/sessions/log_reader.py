"""Reading a log: rows become events, events are sorted, and unusable sessions are set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.rankers.paused_collector import collector_paused
from pytest_rankcheck.sessions.event_columns import Events
from pytest_rankcheck.sessions.event_order import check_order, in_order, out_of_order
from pytest_rankcheck.sessions.event_rows import EventReader
from pytest_rankcheck.sessions.log_layouts import Layouts
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import Problems, SetAside
from pytest_rankcheck.sessions.log_trails import session_starts
from pytest_rankcheck.sessions.nested_events import NestedEvents
from pytest_rankcheck.sessions.session_ids import SessionIds

__all__ = ["LogContents", "read_log"]


@dataclass(frozen=True)
class LogContents:
    """The contents of a log, and what was set aside while reading it."""

    events: Events
    session_ids: Sequence[str]
    queries: Sequence[str]
    documents: Sequence[str]
    starts: FloatArray
    """When each session started, in seconds, ``[S]``; NaN where the log does not say so."""
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


def read_log(table: Table, options: LogOptions, problems: Problems) -> LogContents:
    """Read a table into a log.

    Raises:
        SessionLogError: the log is empty, lacks a required column or mixes kinds of times; or a
            row cannot be used and the log is read strictly.
    """
    problems.numbering = table.numbering
    layouts = Layouts(options.checked(), problems)
    sessions = SessionIds(layouts, problems)
    nested = NestedEvents(layouts, sessions, problems)
    reader = EventReader(options, layouts, sessions, problems)
    _read_all(table, nested, reader)
    layouts.check()
    reader.clock.refuse_mixture(problems.numbering)
    collector = reader.collector
    if not collector:
        problems.refuse()
        raise SessionLogError(_no_events(problems, problems.set_aside(0), nested.ignored))
    varying = collector.attributes.varying
    _note_varying(varying, sessions.ids, options, problems)
    events, codes = collector.finished()
    session_ids = [sessions.ids[code] for code in codes.tolist()]
    events = in_order(events)
    check_order(events, session_ids, problems)
    problems.refuse()
    broken = problems.sessions
    is_kept = np.array([session not in broken for session in session_ids], dtype=bool)
    kept = np.flatnonzero(is_kept[events.session])
    set_aside = problems.set_aside(len(events) - len(kept))
    if not len(kept):
        raise SessionLogError(_no_events(problems, set_aside, nested.ignored))
    reordered = out_of_order(events)
    if not is_kept.all():
        numbers: IntArray = np.cumsum(is_kept) - 1
        events = events.taken(kept)
        events = replace(events, session=numbers[events.session])
    codes = codes[is_kept]
    return LogContents(
        events=events,
        session_ids=tuple(sessions.ids[code] for code in codes.tolist()),
        queries=tuple(collector.queries),
        documents=tuple(collector.documents),
        starts=collector.starts(len(sessions.ids))[codes],
        attributes=collector.attributes.of_sessions(codes),
        set_aside=set_aside,
        reordered=reordered,
        ignored=dict(nested.ignored),
        varying=tuple(varying),
        has_selections=layouts.has_selections,
    )


def _read_all(table: Table, nested: NestedEvents, reader: EventReader) -> None:
    """Read all rows, those of a part of the file at a time."""
    last = 0
    with collector_paused():
        for batch in table.batches():
            if batch.numbers[0] > last:  # else rows with other keys, from between others
                reader.collector.attributes.settle()
            last = max(last, batch.numbers[-1])
            for rows in nested.events(batch):
                reader.read(rows)
        reader.collector.attributes.settle()


def _note_varying(
    varying: Mapping[str, tuple[int, int]],
    ids: Sequence[str],
    options: LogOptions,
    problems: Problems,
) -> None:
    """Note requested attributes that change within a session."""
    for name, (row, code) in varying.items():
        if options.attributes is not None and name in options.attributes:
            text = (
                f"session '{quoted(ids[code])}': the attribute '{quoted(name)}' changes; an "
                "attribute must be constant within a session"
            )
            problems.add(row, ids[code], "attribute changes", text, is_read=True)


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
