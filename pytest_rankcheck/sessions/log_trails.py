"""Computing the trails of sessions from the events of a log."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.metrics.session_trails import Trails
from pytest_rankcheck.sessions.event_columns import Events

__all__ = ["event_places", "final_events", "final_selections", "session_starts", "trails_of"]


def trails_of(events: Events, sessions: int) -> Trails:
    """Return the trails of all sessions as one block; the events are in order."""
    first = session_starts(events, sessions)
    starts = _least_by(events.session, events.start, sessions)
    begin = np.where(np.isnan(starts), events.time[first[:-1]], starts)
    of_event = np.repeat(np.arange(len(events)), events.selections)
    selected_at = np.where(
        np.isnan(events.selected_time), events.time[of_event], events.selected_time
    )
    session_of = events.session[of_event]
    order = _by_finality(events, of_event)
    final, rank = _final(events, of_event, order, sessions)
    once = _distinct(of_event, events.selected_rank)
    shown = events.count[first[1:] - 1].astype(np.float64)
    return Trails(
        events=np.diff(first).astype(np.float64),
        final_rank=rank,
        final_event=final,
        shown_last=np.where(shown < 0, np.nan, shown),
        click_rank=_mean_by(session_of[once], events.selected_rank[once], sessions),
        duration=_latest(events, session_of, selected_at, sessions) - begin,
        first_selection=_least_by(session_of, selected_at, sessions) - begin,
        selected_in=session_of[order].astype(np.intp),
        selected_rank=events.selected_rank[order].astype(np.float64),
        selected_grade=events.selected_grade[order],
    )


def session_starts(events: Events, sessions: int) -> IntArray:
    """Return where the events of each session begin, and where the last ends, ``[S + 1]``."""
    return starts_of(np.bincount(events.session, minlength=sessions))


def event_places(events: Events, sessions: int) -> IntArray:
    """Return the 1-based place of each event in its session, ``[N]``."""
    first = session_starts(events, sessions)
    places: IntArray = np.arange(len(events)) - np.repeat(first[:-1], np.diff(first)) + 1
    return places


def final_events(events: Events, sessions: int) -> IntArray:
    """Return the last event with a selection in each session, -1 without one, ``[S]``."""
    final = np.full(sessions, -1, dtype=np.int64)
    with_selection = np.flatnonzero(events.selections)
    final[events.session[with_selection]] = with_selection  # the last assignment wins
    return final


def final_selections(events: Events, of_event: IntArray) -> IntArray:
    """Return the index of the final selection of each event, -1 without one, ``[N]``.

    The final selection is the last in time; among simultaneous ones, or if not all times are
    known, the one highest in the list.
    """
    order = _by_finality(events, of_event)
    final = np.full(len(events), -1, dtype=np.int64)
    final[of_event[order]] = order  # the last assignment wins
    return final


def _by_finality(events: Events, of_event: IntArray) -> IntArray:
    """Return the selections by event, and those of each event with the final one last, ``[M]``."""
    if (of_event[1:] > of_event[:-1]).all():  # one in each event
        return np.arange(len(of_event))
    untimed = np.zeros(len(events), dtype=bool)
    untimed[of_event[np.isnan(events.selected_time)]] = True
    time = np.where(untimed[of_event], 0.0, events.selected_time)
    return np.lexsort((-events.selected_rank, time, of_event))


def _distinct(of_event: IntArray, ranks: IntArray) -> IntArray:
    """Return the selections without those of a rank that was selected before in the event."""
    if (of_event[1:] > of_event[:-1]).all():
        return np.arange(len(of_event))
    order = np.lexsort((ranks, of_event))
    event, rank = of_event[order], ranks[order]
    is_new = np.append(True, (event[1:] != event[:-1]) | (rank[1:] != rank[:-1]))
    return np.sort(order[is_new[: len(order)]])


def _final(
    events: Events, of_event: IntArray, order: IntArray, sessions: int
) -> tuple[FloatArray, FloatArray]:
    """Return the place of the event with the final selection, and the selection's rank, ``[S]``.

    The selections are in the order of `_by_finality`.
    """
    last = final_events(events, sessions)
    has_any = last >= 0
    place, rank = np.full(sessions, np.nan), np.full(sessions, np.nan)
    place[has_any] = event_places(events, sessions)[last[has_any]]
    rank[events.session[of_event[order]]] = events.selected_rank[order]  # the last one wins
    return place, rank


def _latest(
    events: Events, session_of: IntArray, selected_at: FloatArray, sessions: int
) -> FloatArray:
    """Return the time of the last event or selection of each session, ``[S]``."""
    latest = np.full(sessions, -np.inf)
    with np.errstate(invalid="ignore"):
        np.fmax.at(latest, events.session, events.end)
        np.fmax.at(latest, session_of, selected_at)
    return np.where(np.isinf(latest), np.nan, latest)


def _least_by(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    least = np.full(count, np.inf)
    np.fmin.at(least, groups, values)
    return np.where(np.isinf(least), np.nan, least)


def _mean_by(groups: IntArray, values: IntArray, count: int) -> FloatArray:
    sizes = np.bincount(groups, minlength=count)
    sums = np.bincount(groups, weights=values, minlength=count)
    means: FloatArray = np.divide(sums, sizes, out=np.full(count, np.nan), where=sizes > 0)
    return means
