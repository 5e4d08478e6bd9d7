"""Reading a log: rows become events, events are sorted, and unusable sessions are set aside."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import SessionLogError, listed, plural
from pytest_rankcheck.files.table_batches import Table, collector_paused
from pytest_rankcheck.sessions.event_frames import ATTRIBUTE, Events, Normaliser
from pytest_rankcheck.sessions.event_times import EPOCH
from pytest_rankcheck.sessions.log_columns import LogColumns
from pytest_rankcheck.sessions.log_contents import LogContents
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_sources import Problems
from pytest_rankcheck.sessions.searches import merged

_SECOND_RANKS = 10
"""With at least this many selections of the second result and none of the first, ranks are
doubtful: if people selected the first at least as often, the probability would be 0.5 ** 10, below
0.001."""


def read_log(table: Table, options: LogOptions, problems: Problems) -> LogContents:
    """Read a table into a log.

    Raises:
        SessionLogError: the log is empty, lacks a required column or mixes kinds of times; or a
            row cannot be used and the log is read strictly.
    """
    problems.numbering = table.numbering
    columns = LogColumns(options, problems)
    events = _events(table, columns, options, problems)
    events = _with_sessions(events, columns, options, problems)
    attributes, varying = _attributes(events)
    events, copies = _without_duplicates(events, options, problems)
    if columns.merges_rows:
        events = merged(events, problems)
        if options.gap is not None:
            events.frame["event"] = np.nan
        events = in_order(events)
    check_order(events, problems)
    problems.refuse()
    sizes, broken = events.sizes, problems.sessions
    is_sound = np.array([each not in broken for each in events.session_ids], dtype=bool)
    set_aside = problems.set_aside(int(sizes[~is_sound].sum()))
    kept: IntArray = np.flatnonzero(is_sound & (sizes > 0))
    if not len(kept):
        raise SessionLogError(f"{problems.source}: no session is left; {set_aside}")
    notes = [*problems.notes]
    if set_aside:
        notes.append(str(set_aside))
    if copies:
        notes.append(f"{plural(copies, 'identical row')} dropped")
    if len(kept) < len(sizes):
        events = events.of_sessions(kept)
    if not columns.has_selections:
        notes.append(
            "no column has selections, so every session counts as abandoned; name the column "
            "selected or selected_rank, or give columns={'selected': ...}"
        )
    if doubt := _doubtful_ranks(events, options.first_rank):
        notes.append(doubt)
    if varying:
        notes.append(f"not attributes, because they change within a session: {listed(varying)}")
    strictness = "lenient=True" if problems.is_lenient else ""
    return LogContents(
        events=events,
        attributes=[attributes[session] for session in kept.tolist()],
        varying=varying,
        set_aside=set_aside,
        notes=notes,
        reading=", ".join(filter(None, (options.convention, strictness))),
    )


def _events(table: Table, columns: LogColumns, options: LogOptions, problems: Problems) -> Events:
    """Return the events of all rows that can be used, in the order of the file."""
    normaliser = Normaliser(options, problems, merges_rows=columns.merges_rows)
    with collector_paused():
        for batch in table.batches():
            normaliser.read(columns.rows(batch))
    columns.check()
    normaliser.clock.refuse_mixture(problems.place)
    if options.rule is not None:
        problems.notes.extend(options.rule.unmet(problems.source))
    if normaliser.parts:
        return Events.joined(normaliser.parts)
    problems.refuse()
    why = "is empty; a log needs at least one event"
    if set_aside := problems.set_aside(0):
        why = f"has no session left; {set_aside}"
    raise SessionLogError(f"{problems.source} {why}")


def _with_sessions(
    events: Events, columns: LogColumns, options: LogOptions, problems: Problems
) -> Events:
    """Return the events in order, with the number of each one's session.

    Sessions are in the order of their first events.
    """
    numbers, ids = pd.factorize(events.frame["session"])
    events.frame["session"] = numbers
    events = replace(events, session_ids=tuple(ids))
    if options.gap is not None:
        if problems.sessions:  # an unusable row of a client may belong to any of its sessions
            is_sound = np.array([each not in problems.sessions for each in ids], dtype=bool)
            problems.lost_rows += int(events.sizes[~is_sound].sum())
            events = events.of_sessions(np.flatnonzero(is_sound))
        events = split_by_pauses(events, options.gap)
        if not columns.merges_rows:  # else the index tells which rows are one event
            events.frame["event"] = np.nan
    return in_order(events)


def _attributes(events: Events) -> tuple[Sequence[Mapping[str, object]], Sequence[str]]:
    """Return the attributes of each session, and the columns that change within a session.

    The columns are removed from the events.
    """
    frame, session = events.frame, events.column("session")
    found: list[dict[str, object]] = [{} for _ in events.session_ids]
    varying = []
    for column in [name for name in frame if name.startswith(ATTRIBUTE)]:
        name, values = column.removeprefix(ATTRIBUTE), frame.pop(column)
        codes = pd.factorize(values)[0]  # 1 and True count as equal here
        rows = np.flatnonzero(codes >= 0)
        owners, firsts = np.unique(session[rows], return_index=True)
        first = np.full(len(found), -1)
        first[owners] = rows[firsts]
        if (codes[rows] != codes[first[session[rows]]]).any():
            varying.append(name)
            continue
        cells = values.to_numpy(dtype=object)[rows[firsts]].tolist()
        for owner, cell in zip(owners.tolist(), cells, strict=True):
            found[owner][name] = cell
    return found, varying


def _without_duplicates(
    events: Events, options: LogOptions, problems: Problems
) -> tuple[Events, int]:
    """Return the events without identical rows, and how many these were.

    If identical rows are not to be dropped, they are noted as problems.
    """
    if options.duplicates == "keep":
        return events, 0
    may_repeat = events.frame.duplicated(["session", "time", "other"], keep=False)  # a quick filter
    frame = events.frame[may_repeat]
    keys = [name for name in frame if name != "position"]
    copies: IntArray = frame.index[frame.duplicated(keys)].to_numpy()
    del events.frame["other"]
    if not len(copies):
        return events, 0
    if options.duplicates == "error":
        text = (
            "the row is identical to an earlier one; if rows were delivered twice, "
            'duplicates="drop" drops the copies; if users did the same twice, duplicates="keep" '
            "keeps them"
        )
        texts = dict.fromkeys(copies.tolist(), text)
        events.note(texts, problems, "identical row")
    return events.taken(np.setdiff1d(np.arange(len(events)), copies)), len(copies)


def _doubtful_ranks(events: Events, first_rank: int | None) -> str:
    """Return a doubt if ranks read from 0 seem to count from 1, so each is too large by 1."""
    ranks = events.selections["rank"]
    second = int((ranks == 2).sum())
    if first_rank != 0 or (ranks == 1).any() or second < _SECOND_RANKS:
        return ""
    return (
        f"first_rank=0 was given, but no selection has rank 0, and {second:,} have rank 1; if "
        "people select the first result at least as often as the second, the probability of that "
        "is below 1 in 1,000. If ranks count from 1, give first_rank=1"
    )


# --- the sessions of events: split by pauses, named, in order, and checked ----------------------


def split_by_pauses(events: Events, gap: float) -> Events:
    """Return the events with a client's stretches without a long pause as sessions.

    Sessions are named after the times at which they begin, because records keep their ids, which
    must not reveal who searched. They are in the order of their first rows. A later row of a search
    belongs to the session of that search, however late it is.

    Args:
        events: events with clients as sessions, all with times.
        gap: the longest pause within a session, in seconds.
    """
    rows = events.frame
    ordered = rows[["session", "time", "position"]].sort_values(["session", "time", "position"])
    client = ordered["session"]
    is_first = ~client.duplicated()
    starts = is_first | (ordered["time"].diff() > gap)
    if "search" in rows:  # only the first row of a search can begin a session
        search = rows["search"].loc[ordered.index]
        is_later = search.notna() & pd.DataFrame({"client": client, "search": search}).duplicated()
        starts &= is_first | ~is_later
    label = starts.cumsum()
    if "search" in rows:
        label = label.groupby([client, search]).transform("first").where(search.notna(), label)
    owners = [events.session_ids[number] for number in client[starts].tolist()]
    names = names_by_start(ordered["time"][starts].tolist(), owners)
    rows["session"], firsts = pd.factorize(label.sort_index().astype(np.int64))
    return replace(events, session_ids=tuple(names[each - 1] for each in firsts.tolist()))


def names_by_start(
    starts: Sequence[float], owners: Sequence[str], taken: Collection[str] = ()
) -> list[str]:
    """Return a name for each session: ``2026-11-16T09:00:00``, or ``12.5 s`` of relative times.

    Records keep the ids of sessions, so an id must not reveal who searched, and the sessions of two
    logs must have different ids. Sessions that begin at the same instant are numbered in the order
    of their clients: ``2026-11-16T09:00:00#2``.

    Args:
        starts: when each began, in seconds; NaN if unknown.
        owners: the client of each.
        taken: names that other sessions have.
    """
    counts, names = Counter(taken), [""] * len(starts)
    for place in sorted(range(len(starts)), key=lambda each: (owners[each], each)):
        start = _shown(starts[place])
        counts[start] += 1
        names[place] = start if counts[start] == 1 else f"{start}#{counts[start]}"
    return names


def _shown(seconds: float) -> str:
    low, high = EPOCH["s"]
    if math.isnan(seconds):
        return "no time"
    if not low <= seconds < high:
        return f"{seconds:.12g} s"
    moment = datetime.fromtimestamp(round(seconds, 3), UTC).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")


def in_order(events: Events) -> Events:
    """Return the events sorted by session, then by index; without indexes by time, then by place.

    Sessions are in the order of their numbers.
    """
    key = events.column("event")
    if np.isnan(key).any():
        key = events.column("time")
    return events.taken(np.lexsort((events.column("position"), key, events.column("session"))))


def check_order(events: Events, problems: Problems) -> None:
    """Note duplicate events, and times that run backwards.

    The events are in order.
    """
    same: BoolArray = np.diff(events.column("session"), prepend=-1) == 0
    index = events.column("event")
    backwards = -np.diff(events.column("time"), prepend=np.nan)
    is_again = same & (np.diff(index, prepend=np.nan) == 0)

    again, late = {}, {}
    for row in np.flatnonzero(is_again).tolist():
        again[row] = f"duplicate event {index[row]:g}"
    for row in np.flatnonzero(same & (backwards > 0) & ~is_again).tolist():
        name = "" if np.isnan(index[row]) else f" {index[row]:g}"
        late[row] = f"the event{name} is {backwards[row]:g} s earlier than the event before it"
    events.note(again, problems, "duplicate event")
    events.note(late, problems, "time runs backwards")
