"""The sessions of searches: by their session ids where there are any, else by inactivity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pytest_rankcheck.sessions.log_cells import is_placeholder
from pytest_rankcheck.sessions.session_names import names_by_start

__all__ = ["sessions_of"]

Ids = Sequence[str | None]


def sessions_of(known: Ids, clients: Ids, times: Sequence[float], gap: float) -> list[str | None]:
    """Return the session of each of N searches; None for one without a session and a client.

    A search without a session id joins the last session of its client if the pause since then is at
    most the gap, or else the client's next session if the pause before it is at most the gap.
    Otherwise, it begins a new session, named after its start time, which lasts until the client's
    next long pause.

    Args:
        known: ``[N]`` the session ids; None for a search without one.
        clients: ``[N]`` who searched; None if unknown.
        times: ``[N]`` in seconds; NaN if unknown.
        gap: in seconds.
    """
    found = list(known)
    unnamed: list[tuple[str, list[int]]] = []
    by_client: dict[str, list[int]] = {}
    for place, client in enumerate(clients):
        if client is not None:
            by_client.setdefault(client, []).append(place)
    for client, places in by_client.items():
        if all(found[place] is not None for place in places):
            continue
        if is_placeholder(client):  # nobody: the reader refuses such a session
            for place in places:
                found[place] = found[place] or client
            continue
        ordered = sorted(places, key=lambda place: (math.isnan(times[place]), times[place]))
        for run in (*_runs(ordered, times, gap), *_runs(ordered[::-1], times, gap)):
            _carry(found, run)
        for run in _runs(ordered, times, gap):
            unknown = [place for place in run if found[place] is None]
            if unknown:
                unnamed.append((client, unknown))
    names = names_by_start(
        [times[places[0]] for _, places in unnamed],
        [client for client, _ in unnamed],
        {session for session in known if session is not None},
    )
    for name, (_, places) in zip(names, unnamed, strict=True):
        for place in places:
            found[place] = name
    return found


def _runs(ordered: Sequence[int], times: Sequence[float], gap: float) -> Iterator[list[int]]:
    """Yield the searches of a client that no pause separates."""
    run: list[int] = []
    for place in ordered:
        if run and not abs(times[place] - times[run[-1]]) <= gap:
            yield run
            run = []
        run.append(place)
    if run:
        yield run


def _carry(found: list[str | None], run: Sequence[int]) -> None:
    """Give the searches of a run that have no session that of the search before."""
    session = None
    for place in run:
        session = found[place] or session
        found[place] = session
