"""Reading a log: rows become events, events are sorted, and unusable sessions are set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.files.data_frames import frame_of_columns
from pytest_rankcheck.files.paused_collector import collector_paused
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.golden.query import label_of
from pytest_rankcheck.sessions.action_columns import refuse_only_selections
from pytest_rankcheck.sessions.event_columns import Events
from pytest_rankcheck.sessions.event_order import check_order, out_of_order
from pytest_rankcheck.sessions.event_rows import EventReader
from pytest_rankcheck.sessions.log_cells import is_placeholder
from pytest_rankcheck.sessions.log_layouts import Layouts
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import Problems, SetAside
from pytest_rankcheck.sessions.log_rows import LogRows, events_of
from pytest_rankcheck.sessions.log_trails import event_places, session_starts
from pytest_rankcheck.sessions.nested_events import NestedEvents, SessionIds
from pytest_rankcheck.sessions.search_ids import refuse_shared_searches, refuse_split_searches
from pytest_rankcheck.sessions.session_attributes import Described

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dropped", "LogContents", "read_log"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """The sessions that are left out because they have too many events."""

    limit: float
    """The largest number of events that a session may have."""
    sessions: int
    events: int
    """How many these have in all."""

    @classmethod
    def of(cls, sizes: IntArray, limit: int | None) -> Dropped:
        """Return what is left out of sessions with so many events."""
        if limit is None:
            return cls(np.inf, 0, 0)
        too_large = sizes[sizes > limit]
        return cls(limit, len(too_large), int(too_large.sum()))


@dataclass(frozen=True)
class LogContents:
    """The contents of a log, and what was set aside while reading it."""

    events: Events
    session_ids: Sequence[str]
    queries: Sequence[str]
    documents: Sequence[str]
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
    source_notes: Sequence[str]
    """What was unusual in the files, as sentences."""
    duplicates: int
    """How many identical rows were dropped."""
    dropped: Dropped
    reading: str
    """The options that decide what the sessions came to; empty with the usual ones."""
    first_rank: int | None
    """The rank of the first result that was given."""

    @cached_property
    def last_events(self) -> IntArray:
        """The last event of each session, ``[S]``."""
        return session_starts(self.events, len(self.session_ids))[1:] - 1

    def part(self, places: Sequence[int]) -> LogContents:
        """Return some of the sessions, in the same order."""
        kept: IntArray = np.unique(np.asarray(places, dtype=np.int64))
        events = self.events.taken(np.flatnonzero(np.isin(self.events.session, kept)))
        attributes = self.attributes
        assert isinstance(attributes, Described)
        return replace(
            self,
            events=replace(events, session=np.searchsorted(kept, events.session)),
            session_ids=tuple(self.session_ids[place] for place in kept.tolist()),
            attributes=attributes.taken(kept),
        )

    def units_by(self, attribute: str) -> Sequence[str]:
        """Return the independent unit of each session: the value of an attribute.

        A session without a value, or with a placeholder such as "unknown", is a unit of its own,
        whatever the others are called.
        """
        values = [each.get(attribute) for each in self.attributes]
        named = [None if value is None else label_of(value) for value in values]
        labels = [None if each is None or is_placeholder(each) else each for each in named]
        alone, taken = "(session {})", set(labels)
        pairs = list(zip(labels, self.session_ids, strict=True))
        while any(label is None and alone.format(own) in taken for label, own in pairs):
            alone = f"({alone})"
        return [alone.format(own) if label is None else label for label, own in pairs]

    def query_at(self, place: int) -> str | None:
        """Return the query text of an event; None without one."""
        number = int(self.events.query[place])
        return None if number < 0 else self.queries[number]

    def results_at(self, place: int) -> Sequence[str]:
        """Return the documents that an event showed; empty where unknown."""
        start, end = self.events.shown_starts[place : place + 2].tolist()
        return [self.documents[number] for number in self.events.shown[start:end].tolist()]

    def frame(self) -> pd.DataFrame:
        """Return a DataFrame with one row per event, in order."""
        events, rows = self.events, range(len(self.events))
        starts = events.selected_starts
        ranks = (events.selected_rank[starts[row] : starts[row + 1]] for row in rows)
        return frame_of_columns(
            {
                "session_id": np.array(self.session_ids, dtype=object)[events.session],
                "event": event_places(events, len(self.session_ids)),
                "time": events.time,
                "query": [self.query_at(row) for row in rows],
                "results": [list(self.results_at(row)) for row in rows],
                "selected": [of_event.tolist() for of_event in ranks],
            }
        )


def read_log(table: Table, options: LogOptions, problems: Problems) -> LogContents:
    """Read a table into a log.

    Raises:
        SessionLogError: the log is empty, lacks a required column or mixes kinds of times; or a
            row cannot be used and the log is read strictly.
    """
    problems.numbering = table.numbering
    layouts = Layouts(options, problems)
    sessions = SessionIds(problems)
    nested = NestedEvents(layouts, sessions, problems)
    reader = EventReader(options, sessions, problems, merges_rows=layouts.merges_rows)
    with collector_paused():
        for batch in table.batches():
            for rows in nested.events(batch):
                reader.read(rows)
    layouts.check()
    reader.clock.refuse_mixture(problems.place, are_seconds=problems.times_are_seconds)
    reader.actions.refuse(problems.source)
    problems.notes.extend(reader.actions.unmet())
    if not reader.parts:
        problems.refuse()
        raise SessionLogError(_no_events(problems, problems.set_aside(0), nested.ignored))
    rows_read = LogRows.of(reader, sessions.ids)
    column = layouts.guessed("search")
    if rows_read.items is not None and column is not None:
        search, names = rows_read.items.search, list(reader.searches)
        refuse_shared_searches(search, rows_read.events, column, names, sessions.ids)
    if rows_read.items is not None and options.selections_where != "all":
        refuse_split_searches(rows_read.events, rows_read.items, problems.source)
    read = rows_read.in_sessions(options.gap, problems)
    ids = read.ids
    attributes, varying = reader.attributes.settled(read.order, read.events.session)
    _note_varying(varying, read.events, ids, problems)
    events, duplicates = events_of(read, reader, options, problems)
    check_order(events, ids, problems)
    problems.refuse()
    reordered = out_of_order(events)
    is_kept, dropped, set_aside = _kept(events, ids, options.drop_sessions_over, problems)
    kept: IntArray = np.flatnonzero(is_kept)
    if not is_kept.all():
        events = events.taken(np.flatnonzero(is_kept[events.session]))
        events = replace(events, session=np.searchsorted(kept, events.session))
    if not len(events):
        raise SessionLogError(_no_events(problems, set_aside, nested.ignored, dropped))
    if options.rule is None:
        refuse_only_selections(events, problems.source)
    return LogContents(
        events=events,
        session_ids=tuple(ids[session] for session in kept.tolist()),
        queries=tuple(reader.queries),
        documents=tuple(reader.documents),
        attributes=attributes.taken(kept),
        set_aside=set_aside,
        reordered=reordered,
        ignored=dict(nested.ignored),
        varying=tuple(varying),
        has_selections=layouts.has_selections,
        source_notes=tuple(problems.notes),
        duplicates=duplicates,
        dropped=dropped,
        reading=_reading(options, problems),
        first_rank=options.first_rank,
    )


def _reading(options: LogOptions, problems: Problems) -> str:
    """Return the options that decide what the sessions came to, as text."""
    lenient = "lenient=True" if problems.is_lenient else ""
    return ", ".join(filter(None, (options.convention, lenient)))


def _kept(
    events: Events, ids: Sequence[str], limit: int | None, problems: Problems
) -> tuple[BoolArray, Dropped, SetAside]:
    """Return which sessions are kept, ``[S]``, and what is dropped and set aside."""
    broken = problems.sessions
    is_sound = np.array([session not in broken for session in ids], dtype=bool)
    sizes = np.bincount(events.session, minlength=len(ids))
    dropped = Dropped.of(sizes[is_sound], limit)
    set_aside = problems.set_aside(int(sizes[~is_sound].sum()))
    return is_sound & (sizes <= dropped.limit) & (sizes > 0), dropped, set_aside


def _note_varying(
    varying: Mapping[str, int | None], events: Events, ids: Sequence[str], problems: Problems
) -> None:
    """Note requested attributes that change within a session."""
    for name, place in varying.items():
        if place is not None:
            session = ids[events.session[place]]
            text = (
                f"session '{quoted(session)}': the attribute '{quoted(name)}' changes; an "
                "attribute must be constant within a session"
            )
            position = int(events.position[place])
            problems.add(position, session, "attribute changes", text, is_read=True)


def _no_events(
    problems: Problems,
    set_aside: SetAside,
    ignored: Mapping[str, int],
    dropped: Dropped | None = None,
) -> str:
    if dropped and dropped.sessions:
        return (
            f"{problems.source}: no session is left, because each has more than {dropped.limit:,} "
            "events; give a larger number in drop_sessions_over"
        )
    if set_aside:
        return f"{problems.source}: no session is left; {set_aside}"
    if ignored:
        kinds = ", ".join(f"{count:,} x {quoted(kind)}" for kind, count in ignored.items())
        return (
            f"{problems.source} has no search events: only events with event_id searchRestarted "
            f"or sessionFinished are read, and it has {kinds}"
        )
    return f"{problems.source} is empty; a log needs at least one event"
