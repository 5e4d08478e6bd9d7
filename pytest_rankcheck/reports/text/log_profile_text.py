"""The profile of a session log as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.sessions.log_notes import PAUSE
from pytest_rankcheck.sessions.profile.log_profile import LogProfile
from pytest_rankcheck.sessions.profile.raw_rows import ColumnCounts

__all__ = ["profile_lines"]

_TOP = 5
_VALUES = 4
_WIDTH = 30
_BAR = 40
_RANKS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 10), (11, 20), (21, 50), (51, 1 << 31))


def profile_lines(profile: LogProfile) -> Iterator[str]:
    """Yield the profile of a log; ids and values are escaped."""
    yield from _sizes(profile)
    yield from _columns(profile)
    if profile.log is not None:
        yield from _histogram(profile)
        yield from _pauses(profile)
        yield from _repeated(profile)
    yield from _largest(profile)
    notes = profile.log.notes if profile.log else ()
    if notes:
        yield "notes"
        yield from (f"  {note}" for note in notes)


def _sizes(profile: LogProfile) -> Iterator[str]:
    rows = plural(profile.rows.count, "row")
    yield f"session log '{quoted(profile.name)}' ({quoted(profile.source, 300)}): {rows}"
    if profile.refusals:
        for refusal in profile.refusals:
            yield f"  refused: {refusal}".replace("\n", "\n    ")
        yield (
            "  below is what could be read nevertheless"
            if profile.log
            else "  below is what its rows are"
        )
    sizes = profile.session_sizes
    if profile.log:
        events = plural(profile.event_count, "event")
        middle, high = np.median(sizes), np.quantile(sizes, 0.99, method="higher")
        yield (
            f"  {plural(len(sizes), 'session')}, {events}; events per session: median {middle:g}, "
            f"99% at most {high:g}, the largest {sizes.max():g}"
        )
    elif len(sizes):
        yield f"  {plural(len(sizes), 'session id')}"
    if profile.rows.duplicates:
        yield f"  {plural(profile.rows.duplicates, 'row')} identical to an earlier one"


def _columns(profile: LogProfile) -> Iterator[str]:
    meanings = {column: role for role, column in profile.rows.roles.items()}
    table = [("column", "meaning", "filled", "values")]
    table += [
        (
            quoted(name, _WIDTH),
            meanings.get(name, "-"),
            f"{counts.filled / max(profile.rows.count, 1):.0%}",
            _values(counts),
        )
        for name, counts in profile.rows.columns.items()
    ]
    yield "columns"
    yield from _aligned(table, right=(2,))


def _values(counts: ColumnCounts) -> str:
    """Return the number of values of a column, and the most frequent ones if they are few."""
    size = f"{len(counts.values):,}{' or more' if counts.has_more else ''}"
    if counts.has_more or not counts.values:
        return size if counts.values else "-"
    frequent = sorted(counts.values.items(), key=lambda item: (-item[1], item[0]))[:_VALUES]
    shown = ", ".join(f"{quoted(value, _WIDTH)} ({count:,})" for value, count in frequent)
    return f"{size}: {shown}{', ...' if len(counts.values) > _VALUES else ''}"


def _histogram(profile: LogProfile) -> Iterator[str]:
    ranks = profile.selected_ranks
    yield f"selected ranks, from 1 ({plural(len(ranks), 'selection')})"
    counts = [int(((ranks >= low) & (ranks <= high)).sum()) for low, high in _RANKS]
    table = []
    for (low, high), count in zip(_RANKS, counts, strict=True):
        if count or high <= _TOP:
            label = str(low) if low == high else f"{low}-{high}" if high < 1 << 31 else f"{low}-"
            bar = "#" * round(_BAR * count / max(*counts, 1))
            table.append((label, f"{count:,}", f"{count / max(len(ranks), 1):.1%}", bar))
    yield from _aligned(table, right=(0, 1, 2))


def _pauses(profile: LogProfile) -> Iterator[str]:
    pauses = profile.pauses
    if not pauses:
        return
    yield "longest pauses within a session"
    table = [(_length(each.seconds), quoted(each.session_id, _WIDTH)) for each in pauses[:_TOP]]
    yield from _aligned(table, right=(0,))
    more = profile.long_pauses
    if more:
        split = f"{len(profile.session_sizes) + more:,} sessions"
        pauses_text = plural(more, "pause is", "pauses are")
        yield f'  {pauses_text} longer than {PAUSE / 60:g} min: session_gap="30min" makes {split}'


def _length(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _repeated(profile: LogProfile) -> Iterator[str]:
    found = profile.log.repeated_users if profile.log else ()
    if found:
        yield "attributes that repeat across sessions"
        table = [("attribute", "values", "sessions", "most of one value")]
        table += [
            (
                quoted(each.attribute, _WIDTH),
                f"{each.users:,}",
                f"{each.sessions:,}",
                f"{each.most:,}",
            )
            for each in found
        ]
        yield from _aligned(table, right=(1, 2, 3))


def _largest(profile: LogProfile) -> Iterator[str]:
    largest = profile.largest_sessions(_TOP)
    if largest:
        yield "largest sessions"
        total = max(profile.event_count, 1)
        table = [
            (quoted(name, _WIDTH), plural(size, "event"), f"{size / total:.1%}")
            for name, size in largest
        ]
        yield from _aligned(table, right=(1, 2))


def _aligned(table: Sequence[Sequence[str]], right: Sequence[int]) -> Iterator[str]:
    """Yield the rows of a table, indented, with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {'  '.join(cells)}".rstrip()
