"""What was unusual when a log was read, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.sessions.log_reader import LogContents

__all__ = ["PAUSE", "large_sessions", "notes_of", "ranks_seem_shifted"]

_MUCH = 0.05
"""If a larger share of sessions is set aside, that is worth a warning."""
_LARGE_LOG = 100
"""From so many events on, a session with a large share of them is worth a warning."""
_LARGE_SHARE = 0.05
"""The share of all events that is large for one session."""
_TIMES_USUAL = 10
"""How many times the mean of the sessions with a smaller share it has."""
PAUSE = 1800.0
"""A longer pause, in seconds, usually lies between two sessions."""
_MOSTLY = 0.5
"""If a larger share of the sessions has such a pause, their ids are probably those of clients."""
_SECOND_RANKS = 10
"""From so many selections of the second result on, and none of the first, the ranks are doubtful:
if people selected the first at least as often, the probability would be 0.5 ** 10, below 0.001."""


def notes_of(contents: LogContents) -> Sequence[str]:
    """Return what was unusual: skipped, ignored, put in order, or implausible."""
    return [
        *contents.source_notes,
        *_left_out(contents),
        *_implausible(contents),
        *(
            f"{plural(count, 'event')} of the kind '{quoted(kind)}' ignored"
            for kind, count in contents.ignored.items()
        ),
        *_order(contents),
    ]


def _left_out(contents: LogContents) -> Iterator[str]:
    aside = contents.set_aside
    if aside:
        share = aside.sessions / (aside.sessions + len(contents.session_ids))
        warning = (
            f"; that is {share:.0%} of all sessions: the rest may be different, and its means may "
            "not represent the whole log"
        )
        yield f"{aside}{warning if share > _MUCH else ''}"
    if contents.duplicates:
        yield f"{plural(contents.duplicates, 'identical row')} dropped"
    if contents.dropped.sessions:
        dropped = contents.dropped
        yield (
            f"{plural(dropped.sessions, 'session')} with more than {dropped.limit:,} events "
            f"dropped, with {plural(dropped.events, 'event')} in all"
        )


def _implausible(contents: LogContents) -> Iterator[str]:
    if not contents.has_selections:
        yield (
            "no column has selections, so every session counts as abandoned; name the column "
            "selected or selected_rank, or give columns={'selected': ...}"
        )
    yield from _large_sessions(contents)
    yield from _long_pauses(contents)
    ranks = contents.events.selected_rank
    if contents.first_rank == 0 and ranks_seem_shifted(ranks):
        second = int((ranks == 2).sum())
        yield (
            f"first_rank=0 was given, but no selection has rank 0, and {second:,} have rank 1; if "
            "people select the first result at least as often as the second, the probability of "
            "that is below 1 in 1,000. If ranks count from 1, give first_rank=1"
        )


def ranks_seem_shifted(ranks: IntArray) -> bool:
    """Whether the second result is often selected, and the first never."""
    return not (ranks == 1).any() and int((ranks == 2).sum()) >= _SECOND_RANKS


def large_sessions(sizes: IntArray) -> IntArray:
    """Return the sessions with a large share of all events, by their sizes, ``[S]``."""
    total = int(sizes.sum())
    is_large = sizes >= _LARGE_SHARE * total
    if total < _LARGE_LOG or not is_large.any():
        return np.zeros(0, dtype=np.int64)
    usual = sizes.min() if is_large.all() else sizes[~is_large].mean()
    is_large &= sizes >= _TIMES_USUAL * (usual if len(sizes) > 1 else 0)
    found: IntArray = np.flatnonzero(is_large)
    return found


def _large_sessions(contents: LogContents) -> Iterator[str]:
    sizes = np.bincount(contents.events.session, minlength=len(contents.session_ids))
    total, large = int(sizes.sum()), large_sessions(sizes)
    if not len(large):
        return
    large = large[np.argsort(-sizes[large], kind="stable")]
    names = [f"'{quoted(contents.session_ids[each])}' ({sizes[each]:,})" for each in large[:3]]
    typical = int(np.median(sizes))
    yield (
        f"{plural(len(large), 'session has', 'sessions have')} a large share of the {total:,} "
        f"events: {listed(names)}; half of all sessions have at most {typical:,}. A bot, or an id "
        "that many users share? drop_sessions_over=N leaves out sessions with more than N events"
    )


def _long_pauses(contents: LogContents) -> Iterator[str]:
    events = contents.events
    if "session_gap" in contents.reading:
        return
    pauses = np.diff(events.time)
    is_long = (np.diff(events.session) == 0) & (pauses > PAUSE)
    paused = np.unique(events.session[1:][is_long])
    if len(paused) > _MOSTLY * len(contents.session_ids):
        yield (
            f"{len(paused):,} of {plural(len(contents.session_ids), 'session')} have a pause of "
            f"more than {PAUSE // 60:.0f} minutes: are these the ids of clients or users? "
            'session_gap="30min" splits them into sessions'
        )


def _order(contents: LogContents) -> Iterator[str]:
    if contents.reordered:
        events = plural(contents.reordered, "event was", "events were")
        yield f"{events} out of order in the file and sorted"
    if contents.varying:
        yield f"not attributes, because they change within a session: {listed(contents.varying)}"
