"""Merge the parts of a session log; each session must be whole in one part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.sessions.event_columns import Codes, Events, joined, number_at, positions
from pytest_rankcheck.sessions.log_problems import SetAside
from pytest_rankcheck.sessions.log_reader import LogContents
from pytest_rankcheck.sessions.log_trails import session_starts
from pytest_rankcheck.sessions.session_attributes import Described

__all__ = ["MergedLog", "merged_log"]


@dataclass(frozen=True, slots=True)
class MergedLog:
    """The contents of several parts of a log together."""

    contents: LogContents
    kept: Sequence[IntArray]
    """For each part, the places of its sessions that are in `contents`, in the order there."""
    copies: int
    """How many sessions were repeated with the same events; each counts once."""


def merged_log(names: Sequence[str], parts: Sequence[LogContents]) -> MergedLog:
    """Return the contents of all parts of a log.

    Raises:
        SessionLogError: a session has different events in two parts.
    """
    owners: dict[str, tuple[int, int]] = {}
    conflicts: dict[str, tuple[int, int]] = {}
    kept: list[list[int]] = [[] for _ in parts]
    starts = [session_starts(each.events, len(each.session_ids)).tolist() for each in parts]

    def events_at(number: int, place: int) -> Sequence[object]:
        return _events_of(parts[number], place, *starts[number][place : place + 2])

    for number, contents in enumerate(parts):
        for place, session_id in enumerate(contents.session_ids):
            owner = owners.setdefault(session_id, (number, place))
            if owner == (number, place):
                kept[number].append(place)
            elif events_at(*owner) != events_at(number, place):
                conflicts.setdefault(session_id, (owner[0], number))
    if conflicts:
        raise _conflict(names, conflicts)
    places = [np.array(of_part, np.int64) for of_part in kept]
    copies = sum(len(contents.session_ids) for contents in parts) - len(owners)
    chosen = [contents.part(at.tolist()) for contents, at in zip(parts, places, strict=True)]
    return MergedLog(_joined(chosen), places, copies)


def _conflict(names: Sequence[str], conflicts: dict[str, tuple[int, int]]) -> SessionLogError:
    session_id, (one, other) = next(iter(conflicts.items()))
    return SessionLogError(
        f"session '{quoted(session_id)}' has different events in part {one + 1} "
        f"('{quoted(names[one])}') and part {other + 1} ('{quoted(names[other])}') "
        f"({plural(len(conflicts), 'such session')} in all): the log was cut within sessions. "
        "Partition by session, so that all events of a session are in one part"
    )


def _events_of(contents: LogContents, session: int, start: int, end: int) -> Sequence[object]:
    """Return everything known about a session whose events begin at ``start``, for comparison."""
    events = contents.events.taken(np.arange(start, end))
    texts = [contents.queries[number] if number >= 0 else None for number in events.query.tolist()]
    shown = [contents.documents[number] for number in events.shown.tolist()]
    numbers = (
        getattr(events, name).tobytes()
        for name in (
            *("event", "time", "end", "start", "count", "has_list", "is_finish"),
            *("shown_starts", "selected_starts", "selected_rank"),
            *("selected_time", "selected_grade"),
        )
    )
    return [texts, shown, *numbers, dict(contents.attributes[session])]


def _joined(parts: Sequence[LogContents]) -> LogContents:
    """Return the contents of parts that have no session in common."""
    queries, documents = Codes[str](), Codes[str]()
    events: list[Events] = []
    sessions = rows = 0
    for contents in parts:
        own = contents.events
        texts = _codes(contents.queries, queries)
        shown = _codes(contents.documents, documents)
        events.append(
            replace(
                own,
                session=own.session + sessions,
                query=np.where(own.query < 0, own.query, texts[own.query]),
                shown=shown[own.shown],
                position=own.position + positions([rows])[0],
            )
        )
        sessions += len(contents.session_ids)
        rows += number_at(own.position.max(initial=0)) + 1
    varying = _distinct(contents.varying for contents in parts)
    return replace(
        parts[0],
        events=joined(events),
        session_ids=tuple(chain.from_iterable(contents.session_ids for contents in parts)),
        queries=tuple(queries),
        documents=tuple(documents),
        attributes=Described.joined([_described(contents) for contents in parts], without=varying),
        set_aside=_set_aside([contents.set_aside for contents in parts]),
        reordered=sum(contents.reordered for contents in parts),
        ignored=sum((Counter(contents.ignored) for contents in parts), Counter()),
        varying=varying,
        has_selections=any(contents.has_selections for contents in parts),
        source_notes=_distinct(contents.source_notes for contents in parts),
        duplicates=sum(contents.duplicates for contents in parts),
        dropped=replace(
            parts[0].dropped,
            sessions=sum(contents.dropped.sessions for contents in parts),
            events=sum(contents.dropped.events for contents in parts),
        ),
    )


def _codes(texts: Sequence[str], codes: Codes[str]) -> IntArray:
    """Return the code of each text, and one more code that no text has."""
    return np.array([*(codes[text] for text in texts), -1], np.int64)


def _described(contents: LogContents) -> Described:
    assert isinstance(contents.attributes, Described)
    return contents.attributes


def _distinct(lists: Iterable[Sequence[str]]) -> Sequence[str]:
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


def _set_aside(parts: Sequence[SetAside]) -> SetAside:
    reasons: Counter[str] = sum((Counter(part.reasons) for part in parts), Counter())
    return SetAside(
        sum(part.rows for part in parts),
        sum(part.sessions for part in parts),
        dict(reasons),
        tuple(chain.from_iterable(part.examples for part in parts)),
    )
