"""Replaying a log: search states become queries, and the selected documents their judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.query import ALTERNATIVE, REPLAY, WEIGHT, Query
from pytest_rankcheck.sessions.event_columns import number_at
from pytest_rankcheck.sessions.log_reader import LogContents
from pytest_rankcheck.sessions.log_trails import event_places, final_events, final_selections
from pytest_rankcheck.sessions.replays.propensity import propensity_text, propensity_weights
from pytest_rankcheck.sessions.replays.replay_options import ReplayOptions

__all__ = ["CLUSTER", "queries_of_log", "state_ids"]

CLUSTER = "session"
"""The query attribute with the id of its session."""


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


def queries_of_log(
    log: LogContents, options: ReplayOptions, name: str, cluster_by: str | None = None
) -> Contents:
    """Return the queries, candidates and judgments of a replay.

    The independent units are the sessions, or the values of the attribute ``cluster_by``.

    Raises:
        SessionLogError: the log has no selections, or the results shown are unknown.
        ConfigurationError: the propensity is invalid, or the model of relevance returned something
            else than probabilities.
    """
    replayed = list(_replayed(log, options, name))
    ranks = np.array([rank for state in replayed for rank in state.ranks], dtype=np.int64)
    summary = options.summary(ranks).text
    contents = Contents()
    weights = _weights(replayed, options)
    units = None if cluster_by is None else log.units_by(cluster_by)
    for number, state in enumerate(replayed):
        session = int(log.events.session[state.place])
        attributes = {**log.attributes[session], CLUSTER: log.session_ids[session]}
        if cluster_by is not None and units is not None:
            attributes[cluster_by] = units[session]
        attributes |= {attribute: column[number] for attribute, column in weights.items()}
        attributes[REPLAY] = summary
        contents.queries[state.id] = Query(state.id, log.query_at(state.place), attributes)
        for doc_id in dict.fromkeys(log.results_at(state.place)):
            contents.candidates.add(state.id, doc_id, {})
    _judge(contents, log, replayed, options)
    contents.candidates.complete()
    contents.cluster_by = cluster_by or CLUSTER
    contents.weight_by = WEIGHT if WEIGHT in weights else None
    return contents


def _judge(
    contents: Contents, log: LogContents, replayed: Sequence[_Replayed], options: ReplayOptions
) -> None:
    """Add the judgments: what was selected, or estimates for all that was shown."""
    if options.is_estimated:
        from pytest_rankcheck.sessions.replays.estimated_relevance import (
            Impression,
            estimated_grades,
        )

        impressions = [
            Impression(log.query_at(state.place), log.results_at(state.place), state.ranks)
            for state in replayed
        ]
        assert options.propensity is not None
        grades = estimated_grades(
            impressions, options.propensity, options.smallest, options.relevance
        )
        for state, of_state in zip(replayed, grades, strict=True):
            contents.collected.add_all(state.id, of_state)
        return
    for state in replayed:
        shown = log.results_at(state.judged_by)
        of_ranks = log.events.grades_at(state.judged_by)
        judged: dict[str, float] = {}
        for rank in state.ranks:  # a document may be shown at several
            doc_id = shown[rank - 1]
            judged[doc_id] = max(of_ranks[rank], judged.get(doc_id, 0.0))
        contents.collected.add_all(state.id, judged)


def _replayed(log: LogContents, options: ReplayOptions, name: str) -> Iterator[_Replayed]:
    """Yield the queries; with weights, each selection becomes a query of its own."""
    final = final_events(log.events, len(log.session_ids))
    ids = state_ids(log)
    ranks_at = _SelectedRanks(log, only_final=options.states != "all")
    for place in _places(log, options, final, name):
        judged_by = int(final[log.events.session[place]]) if options.states == "prefixes" else place
        ranks = ranks_at.event(judged_by)
        if options.propensity is None or options.is_estimated or len(ranks) == 1:
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
        takes_all = (options.unselected or options.is_estimated) and events.selections.any()
        chosen = every if takes_all else np.flatnonzero(events.selections)
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


def _weights(
    replayed: Sequence[_Replayed], options: ReplayOptions
) -> Mapping[str, Sequence[float]]:
    """Return the weights of all queries, by attribute: under the propensity, and under others."""
    if options.propensity is None or options.is_estimated:
        return {}
    ranks = np.array([state.ranks[0] for state in replayed], dtype=np.int64)
    chosen = {WEIGHT: options.propensity}
    chosen |= {f"{ALTERNATIVE}{propensity_text(each)}": each for each in options.sensitivity}
    return {
        attribute: propensity_weights(ranks, propensity, options.smallest).tolist()
        for attribute, propensity in chosen.items()
    }
