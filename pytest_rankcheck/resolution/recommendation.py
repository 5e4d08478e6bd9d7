"""The recommendation: which of some metrics to gate on a golden set, and why, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.resolution.metric_resolution import Resolution
    from pytest_rankcheck.resolution.resolution_table import Resolutions

__all__ = ["ALIKE", "HALF", "recommended"]

ALIKE = 0.9
"""From this tau on, two orders count as the same: the convention of Voorhees (Evaluation by highly
relevant documents, SIGIR 2001), which is about orders of systems; here it is about queries."""
HALF = 0.5
"""The share of queries, or of what could be seen, from which it is worth a word."""


def recommended(found: Resolutions) -> Iterator[str]:
    """Yield which metrics to gate, as sentences.

    Left out are metrics that see no telling swap of these rankings, and those that are declared
    not to be monotone: a worse ranking can have a better value. Of the others,

    - the one that sees the most telling swaps leads; one that can fall on more than half of the
      queries comes before one that cannot;
    - one more stands beside it, the one with the lowest tau, if that is below 0.9 and it is not at
      its ceiling or floor on half of the queries; one that overlooks much (see below) only where
      there is no other. Each gate more is one more that can fail by chance;
    - the rest is to be watched, or adds little where its tau with one of these two is 0.9 or more.

    Then come the metrics that see less than half of the telling swaps that nDCG would see at the
    same cutoff, and those at their floor or their ceiling on half of the queries.
    """
    if not any(one.telling for one in found.found):
        yield (
            "no two neighbours of these rankings have different grades, so that no metric can see "
            "a swap: judge more of what is ranked"
        )
        return
    usable = []
    for place, one in enumerate(found.found):
        if one.metric.declared("monotone") is False:
            yield f"do not gate on {one.metric}: a worse ranking can have a better value of it"
        elif not one.seen_telling:
            yield (
                f"do not gate on {one.metric} alone: it sees no swap of documents with different "
                "grades"
            )
        else:
            usable.append(place)
    if usable:
        yield from _chosen(found, usable)
        yield from _overlooked(found, usable)
        yield from _at_ends(found, usable)


def _chosen(found: Resolutions, usable: Sequence[int]) -> Iterator[str]:
    """Yield what leads, what stands beside it, and what the others add."""
    lead, *others = sorted(usable, key=lambda place: _order(found.found[place]))
    one = found.found[lead]
    most = ", the most of these" if others else ""
    yield (
        f"gate on {one.metric}: it sees {one.share_of_telling:.1%} of the swaps of documents with "
        f"different grades{most}"
    )
    if found.of_ideal:
        return  # how alike they are, a run tells
    tau = found.tau[lead]
    taken = [lead]
    adding = [
        place
        for place in others
        if tau[place] < ALIKE and found.found[place].share_at_an_end < HALF
    ]
    if adding:
        beside = min(adding, key=lambda place: (_overlooks(found, place), float(tau[place])))
        taken.append(beside)
        yield (
            f"gate on {found.found[beside].metric} beside it: it orders the queries in another "
            f"way (tau {tau[beside]:.2f})"
        )
    yield from _rest(found, taken, sorted(set(others) - set(taken)))


def _rest(found: Resolutions, taken: Sequence[int], others: Sequence[int]) -> Iterator[str]:
    """Yield which metrics add little to those that are gated, and which are to be watched."""
    watched = []
    for place in others:
        name, taus = found.found[place].metric, found.tau[place, taken]
        if np.isnan(taus).all():
            yield f"{name} adds nothing: it does not order the queries"
        elif np.nanmax(taus) >= ALIKE:
            most = float(np.nanmax(taus))
            other = found.found[taken[int(np.nanargmax(taus))]].metric
            yield f"{name} adds little: it orders the queries as {other} does (tau {most:.2f})"
        else:
            watched.append(str(name))
    if watched:
        yield f"watch without a gate: {', '.join(watched)}; more gates fail more often by chance"


def _order(one: Resolution) -> tuple[bool, int]:
    return one.share_that_cannot_fall >= HALF, -one.seen_telling


def _overlooks(found: Resolutions, place: int) -> bool:
    return found.found[place].share_of_telling < HALF * found.would_see[place]


def _overlooked(found: Resolutions, usable: Sequence[int]) -> Iterator[str]:
    """Yield which metrics see less than half of what they could."""
    told = []
    for place in usable:
        if _overlooks(found, place):
            one, would_see = found.found[place], found.would_see[place]
            told.append(
                f"{one.metric} sees {one.share_of_telling:.1%} where "
                f"{Metric.of('nDCG', one.metric.cutoff)} would see {would_see:.1%}"
            )
    if told:
        yield f"overlooks much alone: {'; '.join(told)}"


def _at_ends(found: Resolutions, usable: Sequence[int]) -> Iterator[str]:
    """Yield which metrics are at an end on half of the queries."""
    chosen = [found.found[place] for place in usable]
    low = [
        f"{one.metric} ({one.share_that_cannot_fall:.0%} of the queries)"
        for one in chosen
        if one.share_that_cannot_fall >= HALF
    ]
    high = [
        f"{one.metric} ({one.at_ceiling / one.queries:.0%})"
        for one in chosen
        if one.queries and one.at_ceiling >= HALF * one.queries
    ]
    if low:
        yield f"at the floor, so that it does not notice what gets worse there: {', '.join(low)}"
    if high and not found.of_ideal:
        yield (
            "at the ceiling on half of the queries or more, so that it hardly tells good rankers "
            f"apart: {', '.join(high)}; add harder queries"
        )
