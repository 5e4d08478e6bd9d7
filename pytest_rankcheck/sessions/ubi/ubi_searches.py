"""The searches of User Behavior Insights: each with what it showed and what was selected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rankcheck.errors import SessionLogError, listed, plural, quoted, suggestion
from pytest_rankcheck.sessions.log_cells import id_list_of, number_of
from pytest_rankcheck.sessions.ubi.ubi_rows import UbiRows

__all__ = ["Action", "NotCounted", "Search", "searches_of"]

_IMPRESSION = "impression"


@dataclass(frozen=True, slots=True)
class Action:
    """What an event was about."""

    row: int
    documents: tuple[str, ...]
    """Its object: by the external id, then by the internal one."""
    ordinal: int | None
    """Its position, as it is written."""
    grade: float = 1.0


@dataclass
class Search:
    """All rows with one ``query_id``."""

    rows: list[int]
    """The rows of the queries."""
    hits: dict[str, int] | None = None
    """The documents shown, with their ranks from 1; None if unknown."""
    selections: list[Action] = field(default_factory=list)
    impressions: list[Action] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    """The rows of its events, of any action."""

    def rank_of(self, action: Action) -> int | None:
        """Return the rank of the document of an event; None if it was not shown."""
        hits = self.hits or {}
        return next((hits[document] for document in action.documents if document in hits), None)


@dataclass
class NotCounted:
    """How many rows do not count, and why."""

    pages: int = 0
    """Further rows of a ``query_id``."""
    others: Counter[str] = field(default_factory=Counter)
    """Events of other actions, by action."""
    selections: Counter[str] = field(default_factory=Counter)
    """By reason, in words that follow a number."""
    unknown_action: str = ""
    """Which of the given actions no event has, as a sentence."""

    def notes(self) -> list[str]:
        """Return the numbers as sentences."""
        notes = [self.unknown_action] if self.unknown_action else []
        if self.pages:
            rows = plural(self.pages, "row repeats", "rows repeat")
            notes.append(
                f"{rows} a query_id, such as a further page of results; each query_id is one search"
            )
        if self.others:
            shown = ", ".join(
                f"{quoted(name) or 'none'} ({count:,})"
                for name, count in self.others.most_common(8)
            )
            events = plural(self.others.total(), "event")
            notes.append(f"{events} of other actions not counted: {shown}")
        if self.selections:
            reasons = ", ".join(f"{count:,} {why}" for why, count in self.selections.items())
            notes.append(f"selections not counted: {reasons}")
        return notes


def searches_of(
    queries: UbiRows, events: UbiRows, grades: Mapping[str, float]
) -> tuple[Mapping[str, Search], NotCounted]:
    """Return the searches by ``query_id``, and what does not count.

    Args:
        queries: the queries; further rows of a ``query_id`` are further pages of its results.
        events: the events.
        grades: the grade of each action that is a selection, in lower case.

    Raises:
        SessionLogError: no event has one of the actions, or no such event belongs to a query.
    """
    ignored = NotCounted()
    found: dict[str, Search] = {}
    ids = queries.ids("query_id")
    for row in queries.in_order():
        query_id = ids[row]
        if query_id is None:
            queries.note(row, "no query_id", "the query has no query_id; give it one")
            continue
        ignored.pages += query_id in found
        search = found.setdefault(query_id, Search([]))
        search.rows.append(row)
        _add_hits(queries, row, search)
    _add_events(found, events, grades, ignored)
    _refuse_unjoined(found, events)
    for search in found.values():
        if search.hits is None:
            search.hits = _hits_seen(search.impressions)
    return found, ignored


def _refuse_unjoined(found: Mapping[str, Search], events: UbiRows) -> None:
    """Refuse queries and events that have no query_id in common: nothing would be selected."""
    given = [each for each in events.ids("query_id") if each is not None]
    if found and given and not any(search.events for search in found.values()):
        raise SessionLogError(
            f"no event belongs to a query: their query_ids are such as '{quoted(given[0])}', those "
            f"of the queries such as '{quoted(next(iter(found)))}'; are both of the same time, or "
            "is the query_id in another column? columns={'query_id': ...}"
        )


def _add_hits(queries: UbiRows, row: int, search: Search) -> None:
    try:
        documents = id_list_of(queries.cells["query_response_hit_ids"][row])
    except ValueError as error:
        queries.note(row, "bad results", f"query_response_hit_ids: {error}")
        return
    if documents is not None:
        search.hits = {} if search.hits is None else search.hits
        for document in documents:
            search.hits.setdefault(document, len(search.hits) + 1)


def _add_events(
    found: Mapping[str, Search],
    events: UbiRows,
    grades: Mapping[str, float],
    ignored: NotCounted,
) -> None:
    """Add the events to their searches."""
    actions = [str(name or "").strip().casefold() for name in events.cells["action_name"]]
    ignored.unknown_action = _check_actions(actions, grades)
    ids = events.ids("query_id")
    seen = set[tuple[object, ...]]()
    for row in events.in_order():
        name, search = actions[row], found.get(ids[row] or "")
        is_selection = name in grades
        if search is not None:
            search.events.append(row)
        if not is_selection:
            ignored.others[name] += 1
            if search is not None and name == _IMPRESSION:
                search.impressions += _action(events, row, 0.0)
            continue
        if search is None:
            missing = "without a query_id" if ids[row] is None else "of an unknown query_id"
            ignored.selections[missing] += 1
            continue
        for action in _action(events, row, grades[name]):
            identity = ids[row], name, action.documents, action.ordinal, events.seconds[row]
            if identity in seen:
                ignored.selections["delivered more than once"] += 1
            else:
                seen.add(identity)
                search.selections.append(action)


def _check_actions(actions: Sequence[str], grades: Mapping[str, float]) -> str:
    """Return which actions no event has, as a sentence; empty if each occurs.

    Raises:
        SessionLogError: none of them occurs.
    """
    counts = Counter(actions)
    unknown = [name for name in grades if name not in counts]
    if not unknown:
        return ""
    given = {name: count for name, count in counts.most_common() if name}
    shown = ", ".join(f"{quoted(name)} ({count:,})" for name, count in list(given.items())[:8])
    text = (
        f"no event has the action_name {listed(unknown)}{suggestion(unknown[0], given)}; the "
        f"actions are {shown or 'not given'}"
    )
    if len(unknown) < len(grades):
        return text
    raise SessionLogError(f"{text}. Give those that are selections: select=(...)")


def _action(events: UbiRows, row: int, grade: float) -> Sequence[Action]:
    """Return what an event was about; nothing if it cannot be used."""
    try:
        ordinal = number_of(events.cells["ordinal"][row])
        if ordinal is not None and not ordinal.is_integer():
            raise ValueError(f"{ordinal:g} is not a whole number")
    except ValueError as error:
        events.note(row, "bad position", f"the position: {error}")
        return ()
    given = (events.object_ids[row], events.internal_ids[row])
    documents = tuple(each for each in given if each is not None)
    return (Action(row, documents, None if ordinal is None else int(ordinal), grade),)


def _hits_seen(impressions: Sequence[Action]) -> dict[str, int] | None:
    """Return what was shown according to impressions; None if they do not say."""
    shown = [action for action in impressions if action.documents]
    ordinals = {action.ordinal for action in shown}
    if ordinals != {None}:
        numbers = sorted(ordinal for ordinal in ordinals if ordinal is not None)
        if (
            not numbers
            or None in ordinals
            or numbers not in (_up_to(numbers, 0), _up_to(numbers, 1))
        ):
            return None
        shown.sort(key=lambda action: action.ordinal or 0)
    hits: dict[str, int] = {}
    for action in shown:
        hits.setdefault(action.documents[0], len(hits) + 1)
    return hits


def _up_to(numbers: Sequence[int], first: int) -> list[int]:
    """Return as many whole numbers, from a first one on."""
    return list(range(first, first + len(numbers)))
