"""The rows of a log on their way to events: split, without duplicates, merged and in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.sessions.duplicate_rows import identical_rows
from pytest_rankcheck.sessions.event_columns import Events, joined
from pytest_rankcheck.sessions.event_order import order_of
from pytest_rankcheck.sessions.event_rows import EventReader
from pytest_rankcheck.sessions.inactivity import split_by_pauses
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.searches import RowItems, merged

__all__ = ["LogRows", "events_of"]


@dataclass(frozen=True, slots=True)
class LogRows:
    """Rows that could be read, one event each."""

    events: Events
    """In the order of the file."""
    ids: Sequence[str]
    """The id of each session."""
    order: IntArray
    """The place of each row among all that were read."""
    items: RowItems | None
    """What the rows are about, if they are to be merged."""

    @classmethod
    def of(cls, reader: EventReader, ids: Sequence[str]) -> LogRows:
        """Return the rows in the order of the file; those with other keys were read elsewhere."""
        events = joined(reader.parts)
        order: IntArray = np.argsort(events.position, kind="stable")
        if (np.diff(order) < 0).any():
            events = events.taken(order)
        items = RowItems.joined(reader.items).taken(order) if reader.items else None
        return cls(events, ids, order, items)

    def in_sessions(self, gap: float | None, problems: Problems) -> LogRows:
        """Return the rows with sessions in the order of their first events.

        With a gap, there is a session for each stretch without a longer pause.
        """
        return (self if gap is None else self._split(gap, problems))._by_first_event()

    def _split(self, gap: float, problems: Problems) -> LogRows:
        """Return the rows with a session for each stretch without a long pause.

        The index of an event is kept only if it says which rows are one event.
        """
        search = None if self.items is None else self.items.search
        events, ids = split_by_pauses(self.events, self.ids, gap, search, problems)
        if self.items is None:
            events = replace(events, event=np.full(len(events), np.nan))
        return replace(self, events=events, ids=ids)

    def _by_first_event(self) -> LogRows:
        """Return the rows with sessions in the order of their first events."""
        codes, first, which = np.unique(self.events.session, return_index=True, return_inverse=True)
        by_first = np.argsort(first)
        numbers = np.argsort(by_first)  # the inverse
        ids = [self.ids[code] for code in codes[by_first].tolist()]
        return replace(self, events=replace(self.events, session=numbers[which]), ids=ids)


def events_of(
    rows: LogRows, reader: EventReader, options: LogOptions, problems: Problems
) -> tuple[Events, int]:
    """Return the events in order, without duplicates and merged, and how many were dropped."""
    events, items, order = rows.events, rows.items, order_of(rows.events)
    later: IntArray = order[:0]
    if reader.hashes:
        hashes = np.concatenate(reader.hashes)[rows.order]
        later, first = identical_rows(events, hashes, items, order)
        if options.duplicates == "error":
            # With an index of its own for each row, a copy that is kept is a duplicate event.
            keep = items is not None or bool(np.isnan(events.event).any())
            _note_duplicates(events, (later, first), rows.ids, problems, may_keep=keep)
    if len(later):
        order = order[~np.isin(order, later)]
    events = events.taken(order)
    if items is not None:
        documents = tuple(reader.documents)
        events = merged(events, items.taken(order), rows.ids, documents, problems)
        if options.gap is not None:
            events = replace(events, event=np.full(len(events), np.nan))
        events = events.taken(order_of(events))
    return events, len(later)


def _note_duplicates(
    events: Events,
    pairs: tuple[IntArray, IntArray],
    ids: Sequence[str],
    problems: Problems,
    *,
    may_keep: bool,
) -> None:
    """Note rows that are identical to an earlier one: the rows, and the earlier ones."""
    keep = '; if users did the same twice, duplicates="keep" keeps them' if may_keep else ""
    for row, other in zip(*(each.tolist() for each in pairs), strict=True):
        session = ids[events.session[row]]
        text = (
            f"session '{quoted(session)}': the row is identical to "
            f"{problems.place(events.position[other])}; if rows were delivered twice, "
            f'duplicates="drop" drops the copies{keep}'
        )
        problems.add(events.position[row], session, "identical row", text)
