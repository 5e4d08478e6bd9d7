"""Reading a log: rows to events, events in order, those that cannot be used set aside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.rankers.paused_collector import collector_paused
from pytest_rankcheck.sessions.event_columns import Collected, Events
from pytest_rankcheck.sessions.event_order import check_order, in_order, out_of_order
from pytest_rankcheck.sessions.log_problems import Problems, SetAside
from pytest_rankcheck.sessions.log_reading import LogReading
from pytest_rankcheck.sessions.log_rows import Rows
from pytest_rankcheck.sessions.log_source import NumberedRow
from pytest_rankcheck.sessions.log_trails import session_starts
from pytest_rankcheck.statistics.array_types import BoolArray, IntArray

__all__ = ["LogContents", "read_log"]


@dataclass(frozen=True)
class LogContents:
    """What a log holds, with what the reading of it has set aside."""

    events: Events
    session_ids: Sequence[str]
    queries: Sequence[str]
    documents: Sequence[str]
    starts: Mapping[int, float]
    """When sessions started, by their numbers, where that is told."""
    attributes: Sequence[Mapping[str, object]]
    """Of each session."""
    set_aside: SetAside
    reordered: int
    """How many events stood after a later one of their session in the file."""
    ignored: Mapping[str, int]
    """How many events of other kinds there were."""
    varying: Sequence[str]
    """The columns that change within a session, and so are none of its attributes."""
    has_selections: bool
    """Whether a column says what was selected."""

    @cached_property
    def last_events(self) -> IntArray:
        """The last event of each session, ``[S]``."""
        return session_starts(self.events, len(self.session_ids))[1:] - 1

    def query_at(self, place: int) -> str | None:
        """Return the query text of an event; None where there is none."""
        number = int(self.events.query[place])
        return None if number < 0 else self.queries[number]

    def results_at(self, place: int) -> Sequence[str]:
        """Return the documents that an event showed; nothing where they are not known."""
        start, end = self.events.shown_starts[place : place + 2].tolist()
        return [self.documents[number] for number in self.events.shown[start:end].tolist()]


def read_log(rows: Iterable[NumberedRow], reading: LogReading, problems: Problems) -> LogContents:
    """Read rows into a log.

    Raises:
        SessionLogError: the log is empty, its columns are not those of one, times are of several
            kinds; or a row cannot be used, and the reading is strict.
    """
    reader, collected = Rows(reading.checked(), problems), Collected()
    with collector_paused():
        for number, row in rows:
            for event in reader.events(number, row):
                collected.add(event)
    reader.check_columns()
    reader.clock.refuse_mixture(problems.source, problems.before_number)
    _note_varying(collected, reading, problems)
    session_ids = tuple(collected.sessions)
    events = in_order(collected.finished())
    if len(events):
        check_order(events, session_ids, problems)
    problems.refuse()
    broken = problems.sessions
    is_broken = np.array([session in broken for session in session_ids], dtype=bool)
    kept = np.flatnonzero(~is_broken[events.session]) if len(events) else np.zeros(0, np.int64)
    aside = problems.set_aside(len(events) - len(kept))
    if not len(kept):
        raise SessionLogError(_nothing(problems, aside, reader.ignored))
    whole = len(kept) == len(events)
    return LogContents(
        events=events if whole else _renumbered(events.taken(kept), is_broken),
        session_ids=session_ids if whole else tuple(np.array(session_ids, object)[~is_broken]),
        queries=tuple(collected.queries),
        documents=tuple(collected.documents),
        starts=_starts(collected.starts, is_broken),
        attributes=[
            known
            for known, dropped in zip(collected.plain_attributes(), is_broken.tolist(), strict=True)
            if not dropped
        ],
        set_aside=aside,
        reordered=out_of_order(events),
        ignored=dict(reader.ignored),
        varying=tuple(collected.varying),
        has_selections=reader.has_selections,
    )


def _note_varying(collected: Collected, reading: LogReading, problems: Problems) -> None:
    """Note an attribute that was asked for and changes within a session."""
    for name, (row, session) in collected.varying.items():
        if reading.attributes is not None and name in reading.attributes:
            text = (
                f"session '{quoted(session)}': the attribute '{quoted(name)}' changes; an "
                "attribute belongs to the whole session"
            )
            problems.add(row, session, "attribute changes", text, is_read=True)


def _renumbered(events: Events, is_broken: BoolArray) -> Events:
    """Return the events with their sessions numbered anew, without those that are gone."""
    numbers: IntArray = np.cumsum(~is_broken) - 1
    return replace(events, session=numbers[events.session])


def _starts(starts: Mapping[int, float], is_broken: BoolArray) -> Mapping[int, float]:
    numbers = np.cumsum(~is_broken) - 1
    return {
        int(numbers[session]): start for session, start in starts.items() if not is_broken[session]
    }


def _nothing(problems: Problems, aside: SetAside, ignored: Mapping[str, int]) -> str:
    if aside:
        return f"{problems.source}: no session is left; {aside}"
    if ignored:
        kinds = ", ".join(f"{count:,} x {quoted(kind)}" for kind, count in ignored.items())
        return (
            f"{problems.source} holds no event of a search; those with an event_id of "
            f"searchRestarted and sessionFinished are read, and it has {kinds}"
        )
    return f"{problems.source} is empty; a log has at least one event"
