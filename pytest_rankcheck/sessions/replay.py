"""Replaying a log: states of a search become queries, and what was selected their judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_rankcheck.errors import ConfigurationError, SessionLogError, quoted
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.ranking import checked_option
from pytest_rankcheck.sessions.log_reader import LogContents
from pytest_rankcheck.sessions.log_trails import event_places, final_events, final_selections
from pytest_rankcheck.sessions.propensity import Propensity, weights_of
from pytest_rankcheck.statistics.array_types import IntArray

__all__ = ["CLUSTER", "WEIGHT", "Choice", "States", "queries_of_log", "state_ids"]

States = Literal["last", "all", "prefixes"]
"""Which states are replayed: that of the final selection, all with one, or all up to the final."""

CLUSTER = "session"
"""The attribute of a query that says from which session it is."""
WEIGHT = "weight"
"""The attribute of a query that says how much it counts."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a log is replayed, and how; see `SessionLog.to_golden_set`."""

    states: States
    propensity: Propensity | None
    clip: float
    unselected: bool

    def __post_init__(self) -> None:
        checked_option(self.states, States, "states")
        if self.unselected and (self.states == "prefixes" or self.propensity is not None):
            with_what = "states='prefixes'" if self.states == "prefixes" else "a propensity"
            raise ConfigurationError(
                f"unselected=True and {with_what} do not go together: a state is judged there by "
                "a selection that it does not have"
            )


@dataclass(frozen=True, slots=True)
class _Replayed:
    """A query of a replay."""

    id: str
    place: int
    """The event whose results are its candidates."""
    judged_by: int
    """The event whose selection judges it."""
    ranks: Sequence[int]
    """The ranks, in that event, of what was selected."""


def queries_of_log(log: LogContents, choice: Choice, name: str) -> Contents:
    """Return the queries, candidates and judgments of a replay.

    Raises:
        SessionLogError: nothing was selected, or what was shown is not known.
        ConfigurationError: the propensity is none.
    """
    replayed = list(_replayed(log, choice, name))
    weights = _weights(replayed, choice)
    contents = Contents()
    for number, one in enumerate(replayed):
        session = int(log.events.session[one.place])
        attributes: dict[str, object] = {
            **log.attributes[session],
            CLUSTER: log.session_ids[session],
        }
        if weights is not None:
            attributes[WEIGHT] = weights[number]
        contents.queries[one.id] = Query(one.id, log.query_at(one.place), attributes)
        for doc_id in dict.fromkeys(log.results_at(one.place)):
            contents.candidates.add(one.id, doc_id, {})
        shown = log.results_at(one.judged_by)
        contents.grades[one.id] = {shown[rank - 1]: 1.0 for rank in one.ranks}
    contents.candidates.complete()
    contents.cluster_by = CLUSTER
    contents.weight_by = None if weights is None else WEIGHT
    return contents


def _replayed(log: LogContents, choice: Choice, name: str) -> Iterator[_Replayed]:
    """Yield the queries; under a propensity, each selection is one of its own."""
    final = final_events(log.events, len(log.session_ids))
    ids = state_ids(log)
    ranks_at = _SelectedRanks(log, only_final=choice.states != "all")
    for place in _places(log, choice, final, name):
        of = int(final[log.events.session[place]]) if choice.states == "prefixes" else place
        ranks = ranks_at.event(of)
        if choice.propensity is None or len(ranks) == 1:
            yield _Replayed(ids[place], place, of, ranks)
        else:
            for rank in ranks:
                yield _Replayed(f"{ids[place]}/{rank}", place, of, (rank,))


class _SelectedRanks:
    """The ranks of what was selected in events."""

    def __init__(self, log: LogContents, *, only_final: bool) -> None:
        self._events = log.events
        of_event = np.repeat(np.arange(len(log.events)), log.events.selections)
        self._final = final_selections(log.events, of_event) if only_final else None

    def event(self, place: int) -> Sequence[int]:
        """Return the ranks of an event, each once; only that of its final selection, if asked."""
        if self._final is not None:
            final = int(self._final[place])
            return () if final < 0 else (int(self._events.selected_rank[final]),)
        start, end = self._events.selected_starts[place : place + 2].tolist()
        return tuple(dict.fromkeys(self._events.selected_rank[start:end].tolist()))


def _places(log: LogContents, choice: Choice, final: IntArray, name: str) -> Sequence[int]:
    """Return the events that are replayed.

    Raises:
        SessionLogError: nothing was selected, or what was shown is not known.
    """
    events = log.events
    if choice.states == "last":
        chosen: IntArray = final[final >= 0]
        if choice.unselected:
            chosen = np.where(final >= 0, final, log.last_events)
    elif choice.states == "all":
        every = np.arange(len(events))
        chosen = every if choice.unselected else np.flatnonzero(events.selections)
    else:
        chosen = np.flatnonzero(np.arange(len(events)) <= final[events.session])
    if not len(chosen):
        raise SessionLogError(
            f"session log '{quoted(name)}' has no selection: there is nothing to replay"
        )
    unknown = chosen[~events.has_list[chosen]]
    if len(unknown):
        session = log.session_ids[int(events.session[unknown[0]])]
        raise SessionLogError(
            f"session log '{quoted(name)}': what was shown is not known, first of session "
            f"'{quoted(session)}', row {int(events.row[unknown[0]])}; a replay needs the ids of "
            "the results (the column results)"
        )
    places: list[int] = chosen.tolist()
    return places


def state_ids(log: LogContents) -> Sequence[str]:
    """Return the id of each event as a query: its session and its index, ``session.event``.

    Without an index of whole numbers in the log, the place in the session from 1.
    """
    events, sessions = log.events, len(log.session_ids)
    index = events.event
    is_whole = bool((np.isfinite(index) & (index == np.floor(index))).all())
    numbers = index.astype(np.int64) if is_whole else event_places(events, sessions)
    pairs = zip(events.session.tolist(), numbers.tolist(), strict=True)
    return [f"{log.session_ids[session]}.{number}" for session, number in pairs]


def _weights(replayed: Sequence[_Replayed], choice: Choice) -> Sequence[float] | None:
    """Return how much each query counts; None where all count the same."""
    if choice.propensity is None:
        return None
    ranks = np.array([one.ranks[0] for one in replayed], dtype=np.int64)
    weights: list[float] = weights_of(ranks, choice.propensity, choice.clip).tolist()
    return weights
