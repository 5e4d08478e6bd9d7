"""Splitting what one client did into sessions, by pauses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.sessions.event_columns import Events
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.session_names import names_by_start

__all__ = ["split_by_pauses"]


def split_by_pauses(
    events: Events,
    ids: Sequence[str],
    gap: float,
    searches: IntArray | None,
    problems: Problems,
) -> tuple[Events, Sequence[str]]:
    """Return rows with one session for each stretch of a client without a long pause.

    Sessions are named after the times at which they begin, because records keep their ids, which
    must not reveal who searched. A later row of a search belongs to the session of that search,
    however late it is. Rows without a time become problems.

    Args:
        events: one per row; a session is a client.
        ids: the ids of the clients.
        gap: the longest pause within a session, in seconds.
        searches: ``[N]`` the search of each row, -1 without one; None if no row has one.
        problems: collects rows without a time. Clients with problems become all their sessions.
    """
    for row in np.flatnonzero(np.isnan(events.time)).tolist():
        client = ids[events.session[row]]
        text = f"session '{quoted(client)}': the event has no time; session_gap needs times"
        problems.add(events.position[row], client, "bad time", text, is_read=True)
    order: IntArray = np.lexsort((events.position, events.time, events.session))
    client, time = events.session[order], events.time[order]
    is_new_client = np.ones(len(order), dtype=bool)
    is_new_client[1:] = client[1:] != client[:-1]
    starts = is_new_client.copy()
    starts[1:] |= np.diff(time) > gap
    first = None if searches is None else _first_of_search(client, searches[order])
    if first is not None:
        starts &= is_new_client | (first == np.arange(len(order)))
    labels: IntArray = np.cumsum(starts) - 1
    if first is not None:
        labels = labels[first]
    owners = [ids[owner] for owner in client[starts].tolist()]
    names = names_by_start(time[starts].tolist(), owners)
    problems.split(_sessions_of(problems.sessions, owners, names))
    session = np.empty_like(labels)
    session[order] = labels
    return replace(events, session=session), names


def _first_of_search(client: IntArray, search: IntArray) -> IntArray:
    """Return the first row of the search of each row; of rows without a search, the row itself."""
    rows: IntArray = np.arange(len(search))
    with_search = np.flatnonzero(search >= 0)
    keys = client[with_search] * (int(search.max(initial=0)) + 1) + search[with_search]
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    rows[with_search] = with_search[first[which]]
    return rows


def _sessions_of(
    clients: frozenset[str], owners: Sequence[str], names: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    """Return the sessions of some clients."""
    found: dict[str, list[str]] = {client: [] for client in clients}
    for client, name in zip(owners, names, strict=True) if clients else ():
        if client in found:
            found[client].append(name)
    return found
