"""Replaying a log: search states become queries, and the selected documents their judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import ConfigurationError, SessionLogError, quoted
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.ranking import checked_option
from pytest_rankcheck.sessions.event_columns import number_at
from pytest_rankcheck.sessions.log_reader import LogContents
from pytest_rankcheck.sessions.log_trails import event_places, final_events, final_selections
from pytest_rankcheck.sessions.propensity import Propensity, propensity_weights

__all__ = ["CLUSTER", "WEIGHT", "ReplayOptions", "States", "queries_of_log", "state_ids"]

States = Literal["last", "all", "prefixes"]
"""Which states are replayed: the one with the final selection, all with a selection, or all up to
the final selection."""

CLUSTER = "session"
"""The query attribute with the id of its session."""
WEIGHT = "weight"
"""The query attribute with its weight."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Which states of a log are replayed, and how; see `SessionLog.to_golden_set`."""

    states: States
    propensity: Propensity | None
    clip: float
    unselected: bool

    def __post_init__(self) -> None:
        checked_option(self.states, States, "states")
        if self.unselected and (self.states == "prefixes" or self.propensity is not None):
            other = "states='prefixes'" if self.states == "prefixes" else "a propensity"
            raise ConfigurationError(
                f"unselected=True cannot be combined with {other}, which judges a state by a "
                "selection that it does not have"
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
    """The ranks of the selections in that event."""


def queries_of_log(log: LogContents, options: ReplayOptions, name: str) -> Contents:
    """Return the queries, candidates and judgments of a replay.

    Raises:
        SessionLogError: the log has no selections, or the results shown are unknown.
        ConfigurationError: the propensity is invalid.
    """
    replayed = list(_replayed(log, options, name))
    weights = _weights(replayed, options)
    contents = Contents()
    for number, state in enumerate(replayed):
        session = int(log.events.session[state.place])
        attributes = {**log.attributes[session], CLUSTER: log.session_ids[session]}
        if weights is not None:
            attributes[WEIGHT] = weights[number]
        contents.queries[state.id] = Query(state.id, log.query_at(state.place), attributes)
        for doc_id in dict.fromkeys(log.results_at(state.place)):
            contents.candidates.add(state.id, doc_id, {})
        shown = log.results_at(state.judged_by)
        contents.collected.add_all(state.id, {shown[rank - 1]: 1.0 for rank in state.ranks})
    contents.candidates.complete()
    contents.cluster_by = CLUSTER
    contents.weight_by = None if weights is None else WEIGHT
    return contents


def _replayed(log: LogContents, options: ReplayOptions, name: str) -> Iterator[_Replayed]:
    """Yield the queries; with a propensity, each selection becomes a query of its own."""
    final = final_events(log.events, len(log.session_ids))
    ids = state_ids(log)
    ranks_at = _SelectedRanks(log, only_final=options.states != "all")
    for place in _places(log, options, final, name):
        judged_by = int(final[log.events.session[place]]) if options.states == "prefixes" else place
        ranks = ranks_at.event(judged_by)
        if options.propensity is None or len(ranks) == 1:
            yield _Replayed(ids[place], place, judged_by, ranks)
        else:
            for rank in ranks:
                yield _Replayed(f"{ids[place]}/{rank}", place, judged_by, (rank,))


class _SelectedRanks:
    """Looks up the ranks of the selections of events."""

    def __init__(self, log: LogContents, *, only_final: bool) -> None:
        self._events = log.events
        of_event = np.repeat(np.arange(len(log.events)), log.events.selections)
        self._final = final_selections(log.events, of_event) if only_final else None

    def event(self, place: int) -> Sequence[int]:
        """Return the distinct ranks of an event, or only that of its final selection."""
        if self._final is not None:
            final = int(self._final[place])
            return () if final < 0 else (int(self._events.selected_rank[final]),)
        start, end = self._events.selected_starts[place : place + 2].tolist()
        return tuple(dict.fromkeys(self._events.selected_rank[start:end].tolist()))


def _places(log: LogContents, options: ReplayOptions, final: IntArray, name: str) -> Sequence[int]:
    """Return the events to replay.

    Raises:
        SessionLogError: the log has no selections, or the results shown are unknown.
    """
    events = log.events
    if options.states == "last":
        chosen: IntArray = final[final >= 0]
        if options.unselected:
            chosen = np.where(final >= 0, final, log.last_events)
    elif options.states == "all":
        every = np.arange(len(events))
        chosen = every if options.unselected else np.flatnonzero(events.selections)
    else:
        chosen = np.flatnonzero(np.arange(len(events)) <= final[events.session])
    if not len(chosen):
        raise SessionLogError(
            f"session log '{quoted(name)}' has no selections, so there is nothing to replay"
        )
    unknown = chosen[~events.has_list[chosen]]
    if len(unknown):
        session = log.session_ids[int(events.session[unknown[0]])]
        row = number_at(events.position[unknown[0]])
        raise SessionLogError(
            f"session log '{quoted(name)}': the results shown are unknown, first in session "
            f"'{quoted(session)}', row {row}; a replay needs their ids (the column results)"
        )
    places: list[int] = chosen.tolist()
    return places


def state_ids(log: LogContents) -> Sequence[str]:
    """Return the query id of each event, ``session.event``, from its session and its index.

    If the log has no indexes that are whole numbers, the 1-based place in the session is used.
    """
    events, sessions = log.events, len(log.session_ids)
    index = events.event
    is_whole = bool((np.isfinite(index) & (index == np.floor(index))).all())
    numbers = index.astype(np.int64) if is_whole else event_places(events, sessions)
    pairs = zip(events.session.tolist(), numbers.tolist(), strict=True)
    return [f"{log.session_ids[session]}.{number}" for session, number in pairs]


def _weights(replayed: Sequence[_Replayed], options: ReplayOptions) -> Sequence[float] | None:
    """Return the weight of each query; None if all count the same."""
    if options.propensity is None:
        return None
    ranks = np.array([state.ranks[0] for state in replayed], dtype=np.int64)
    weights: list[float] = propensity_weights(ranks, options.propensity, options.clip).tolist()
    return weights
