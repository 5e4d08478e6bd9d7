"""What the queries that fell have in common: facts, and what they have more often than others.

It is found from what is known of both sides; nothing is ranked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.comparison.cause import Cause, CauseKind, Fall
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.ranking_facts import ranking_facts
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.statistics.enrichment import fisher_p, more_falls_p, smallest_fisher_p
from pytest_rankcheck.statistics.multiplicity import corrected

_LEVEL = 0.01
_SAME_FALLS = 0.8
"""Of two contrasts that share so much of the falls of either, only the better one is named."""
_FIRST = 3
"""In how many first places a document is new."""
_WORD = re.compile(r"\w+")


class _Trait(NamedTuple):
    """What queries may have in common, as a `Cause` has it."""

    kind: CauseKind
    names: tuple[str, ...] = ()
    number: int | None = None


def causes_in_common(
    evaluation: Evaluation, other: Measured, values: ComparedValues, world: Sequence[str] = ()
) -> Sequence[Cause]:
    """Return what the queries that fell have in common, facts first, then the best contrasts.

    Args:
        evaluation: what is measured now.
        other: what it is compared with.
        values: the values of the metric that fell, on both sides.
        world: how the declared world has changed, in sentences.
    """
    fall = Fall(evaluation, other, values)
    has_fallen = values.is_paired and bool(fall.fell.any())
    facts = [*filter(None, ranking_facts(fall))] if has_fallen else []
    if world:
        everything = values.losses, len(values.gains), len(values.gains)
        facts.append(Cause(CauseKind.WORLD, (), *everything, names=tuple(world)))
    return (*facts, *(_contrasts(fall) if has_fallen else ()))


def _contrasts(fall: Fall) -> Sequence[Cause]:
    """Return what those that fell have more often than chance explains, the best first.

    The best has the highest harmonic mean of coverage (how many of those that fell have it) and
    precision (how many of those that have it fell).
    """
    places = {trait: np.array(its) for trait, its in _traits(fall).items()}
    found = [
        cause
        for trait, p in _p_values(fall, places).items()
        if p <= _LEVEL and _falls_more(fall, places[trait])
        if (cause := fall.cause(trait.kind, places[trait], trait.names, number=trait.number))
    ]
    best: list[Cause] = []
    for cause in sorted(found, key=_agreement, reverse=True):
        if not any(_is_same(cause, better) for better in best):
            best.append(cause)
    return best


def _p_values(fall: Fall, places: Mapping[_Trait, IntArray]) -> dict[_Trait, float]:
    """Return the p of each trait by Fisher's exact test, corrected for all of them."""
    total, fallen = len(fall.fell), int(fall.fell.sum())
    sizes = np.array([len(its) for its in places.values()])
    falls = np.array([fall.fell[its].sum() for its in places.values()])
    ps = [
        fisher_p(*counts, fallen, total) if counts[0] * total > counts[1] * fallen else 1.0
        for counts in zip(falls.tolist(), sizes.tolist(), strict=True)
    ]
    smallest = smallest_fisher_p(sizes, fallen, total).tolist()
    together = corrected(ps, smallest, [_LEVEL] * len(ps)).p_values
    return dict(zip(places, together, strict=True))


def _falls_more(fall: Fall, places: IntArray) -> bool:
    """Return whether more of these queries fell than rose, by more than chance."""
    falls, rises = int(fall.fell[places].sum()), int(fall.rose[places].sum())
    return more_falls_p(falls, rises) <= _LEVEL


def _agreement(cause: Cause) -> float:
    """Return the harmonic mean of coverage and precision."""
    return 2 * len(cause.queries) / (cause.fallen + cause.shared)


def _is_same(cause: Cause, better: Cause) -> bool:
    common = len({*cause.queries}.intersection(better.queries))
    return common >= _SAME_FALLS * min(len(cause.queries), len(better.queries))


def _traits(fall: Fall) -> Mapping[_Trait, Sequence[int]]:
    """Return the places of the queries with each trait that some, but not all, have."""
    found: dict[_Trait, list[int]] = {}
    for trait, place in chain(_slices(fall), _words(fall), _newcomers(fall)):
        found.setdefault(trait, []).append(place)
    return {trait: its for trait, its in found.items() if len(its) < len(fall.fell)}


def _slices(fall: Fall) -> Iterator[tuple[_Trait, int]]:
    golden = fall.evaluation.golden
    place_of = {query_id: place for place, query_id in enumerate(fall.values.query_ids)}
    for attribute in golden.attributes:
        for value, query_ids in golden.slices(attribute).items():
            trait = _Trait(CauseKind.SLICE, (attribute, value))
            yield from ((trait, place_of[each]) for each in query_ids if each in place_of)


def _words(fall: Fall) -> Iterator[tuple[_Trait, int]]:
    for place, query_id in enumerate(fall.values.query_ids):
        text = fall.evaluation.golden.query(query_id).text or ""
        if text:
            yield _Trait(CauseKind.WORDS, number=len(text.split())), place
        for word in sorted({*_WORD.findall(text.casefold())}):
            yield _Trait(CauseKind.WORDS, (word,)), place


def _newcomers(fall: Fall) -> Iterator[tuple[_Trait, int]]:
    if fall.has_rankings:
        for place, (before, now) in enumerate(zip(fall.before, fall.now, strict=True)):
            for doc_id in dict.fromkeys(now[:_FIRST]):
                if doc_id not in before[:_FIRST]:
                    yield _Trait(CauseKind.NEWCOMER, (doc_id,), _FIRST), place
