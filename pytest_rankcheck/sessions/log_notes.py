"""What was unusual when a log was read, as sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.sessions.event_frames import Events
from pytest_rankcheck.sessions.event_sessions import same_session
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import SetAside

_MUCH = 0.05
"""If a larger share of sessions is set aside, that is worth a warning."""
_LARGE_LOG = 100
"""From so many events on, a session with a large share of them is worth a warning."""
_LARGE_SHARE = 0.05
"""The share of all events that is large for one session."""
_TIMES_USUAL = 10
"""How many times the median of all sessions it has."""
_PAUSE = 1800.0
"""A longer pause, in seconds, usually lies between two sessions."""
_MOSTLY = 0.5
"""If a larger share of the sessions has such a pause, their ids are probably those of clients."""
_SECOND_RANKS = 10
"""From so many selections of the second result on, and none of the first, the ranks are doubtful:
if people selected the first at least as often, the probability would be 0.5 ** 10, below 0.001."""


def left_out(set_aside: SetAside, kept: int, copies: int) -> Iterator[str]:
    """Yield what was left out: rows set aside, beside the sessions kept, and dropped copies."""
    if set_aside:
        share = set_aside.sessions / (set_aside.sessions + kept)
        warning = (
            f"; that is {share:.0%} of all sessions: the rest may be different, and its means may "
            "not represent the whole log"
        )
        yield f"{set_aside}{warning if share > _MUCH else ''}"
    if copies:
        yield f"{plural(copies, 'identical row')} dropped"


def notes_of_events(events: Events, options: LogOptions, *, has_selections: bool) -> Iterator[str]:
    """Yield what is implausible."""
    if not has_selections:
        yield (
            "no column has selections, so every session counts as abandoned; name the column "
            "selected or selected_rank, or give columns={'selected': ...}"
        )
    yield from _large_sessions(events)
    is_long = same_session(events) & (np.diff(events.column("time"), prepend=np.nan) > _PAUSE)
    paused = len(np.unique(events.column("session")[is_long]))
    count = len(events.session_ids)
    if options.gap is None and not options.is_ubi and paused > _MOSTLY * count:
        yield (
            f"{paused:,} of {plural(count, 'session')} have a pause of more than "
            f"{_PAUSE // 60:.0f} minutes: are these the ids of clients or users? "
            'session_gap="30min" splits them into sessions'
        )
    ranks = events.selections["rank"]
    second = int((ranks == 2).sum())
    if options.first_rank == 0 and not (ranks == 1).any() and second >= _SECOND_RANKS:
        yield (
            f"first_rank=0 was given, but no selection has rank 0, and {second:,} have rank 1; if "
            "people select the first result at least as often as the second, the probability of "
            "that is below 1 in 1,000. If ranks count from 1, give first_rank=1"
        )


def _large_sessions(events: Events) -> Iterator[str]:
    sizes, total = events.sizes, len(events)
    typical = int(np.median(sizes))
    is_large = (sizes >= _LARGE_SHARE * total) & (sizes >= _TIMES_USUAL * typical)
    large = np.flatnonzero(is_large | (len(sizes) == 1))
    if len(large) and total >= _LARGE_LOG:
        large = large[np.argsort(-sizes[large], kind="stable")]
        names = [f"'{quoted(events.session_ids[each])}' ({sizes[each]:,})" for each in large[:3]]
        yield (
            f"{plural(len(large), 'session has', 'sessions have')} a large share of the {total:,} "
            f"events: {listed(names)}; half of all sessions have at most {typical:,}. A bot, or an "
            "id that many users share? drop_sessions_over=N leaves out sessions with more than N "
            "events"
        )


def left_aside(varying: Sequence[str]) -> Iterator[str]:
    """Yield which columns are not attributes."""
    if varying:
        yield f"not attributes, because they change within a session: {listed(varying)}"
