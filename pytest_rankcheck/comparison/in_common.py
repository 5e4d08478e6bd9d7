"""What the queries that fell have in common: facts, and traits more frequent than in others.

It is found from what is known of both sides; nothing is ranked again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress
from typing import TypeVar

import numpy as np

from pytest_rankcheck.comparison.cause import LEVEL, Cause, CauseKind, Fall
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.ranking_facts import ranking_facts
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.table_batches import collector_paused
from pytest_rankcheck.statistics.counts import fisher_p, more_falls_p, smallest_fisher_p
from pytest_rankcheck.statistics.multiplicity import corrected

_SAME_FALLS = 0.8
"""If two contrasts share this much of the falls of either, only the better one is named."""
_FIRST = 3
"""The number of first places in which a document is new."""
_WORD = re.compile(r"\w+")

T = TypeVar("T")
_Trait = tuple[CauseKind, tuple[str, ...], int | None]
"""What queries may have in common: the kind, the names and the number of a `Cause`."""


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
    facts: list[Cause | None] = []
    contrasts: Sequence[Cause] = ()
    if values.is_paired and values.losses:
        fall = Fall(evaluation, other, values)
        with collector_paused():
            facts = [*ranking_facts(fall)] if fall.has_rankings else []
            contrasts = _contrasts(fall)
    if world:
        size = len(values.query_ids)
        facts.append(Cause(CauseKind.WORLD, (), values.losses, size, size, tuple(world)))
    return (*filter(None, facts), *contrasts)


def _contrasts(fall: Fall) -> Sequence[Cause]:
    """Return the traits that those that fell have more often than chance explains, best first.

    The best has the highest harmonic mean of coverage (how many of those that fell have it) and
    precision (how many of those that have it fell).
    """
    found = (
        fall.cause(kind, places, names=names, number=number)
        for (kind, names, number), places in _frequent(fall, _traits(fall))
    )
    best: list[Cause] = []
    for cause in sorted(filter(None, found), key=_agreement, reverse=True):
        if not any(_is_same(cause, better) for better in best):
            best.append(cause)
    return best


def _frequent(
    fall: Fall, places: Mapping[_Trait, Sequence[int]]
) -> Iterator[tuple[_Trait, Sequence[int]]]:
    """Yield the traits that are more frequent among those that fell than chance explains.

    By Fisher's exact test, corrected for all traits, and with more falls than rises by a sign test.
    """
    total, fallen = len(fall.fell), int(fall.fell.sum())
    sizes = np.fromiter(map(len, places.values()), np.int64, len(places))
    trait_of = np.repeat(np.arange(len(sizes)), sizes)
    flat = np.fromiter(chain.from_iterable(places.values()), np.intp, len(trait_of))
    falls, rises = (
        np.bincount(trait_of[has[flat]], minlength=len(sizes)) for has in (fall.fell, fall.rose)
    )
    falls_more = more_falls_p(falls, rises) <= LEVEL
    ps = np.ones(len(sizes))
    for at in np.flatnonzero(falls_more).tolist():
        ps[at] = fisher_p(int(falls[at]), int(sizes[at]), fallen, total)
    smallest = smallest_fisher_p(sizes, fallen, total).tolist()
    together = corrected(ps.tolist(), smallest, [LEVEL] * len(sizes)).p_values
    # A document that is new in most queries leaves too few others for a test.
    is_new = np.array([kind is CauseKind.NEWCOMER for kind, _, _ in places], dtype=np.bool_)
    is_found = falls_more & ((np.array(together) <= LEVEL) | (is_new & (2 * sizes >= total)))
    yield from compress(places.items(), is_found.tolist())


def _agreement(cause: Cause) -> float:
    """Return the harmonic mean of coverage and precision."""
    return 2 * len(cause.queries) / (cause.fallen + cause.shared)


def _is_same(cause: Cause, better: Cause) -> bool:
    common = len({*cause.queries}.intersection(better.queries))
    return common >= _SAME_FALLS * min(len(cause.queries), len(better.queries))


def _traits(fall: Fall) -> Mapping[_Trait, Sequence[int]]:
    """Return which queries, by their places, have each trait."""
    # As far down as both sides are known.
    first = min(_FIRST, *(side.known_depth or _FIRST for side in fall.sides))
    words, newcomers = _grouped(_words(fall)), _grouped(_newcomers(fall, first))
    found = dict(_slices(fall))
    for word, places in words.items():
        trait = ((), word) if isinstance(word, int) else ((word,), None)
        found[CauseKind.WORDS, *trait] = places
    found.update(((CauseKind.NEWCOMER, (doc,), first), its) for doc, its in newcomers.items())
    return found


def _grouped(traits: Iterable[tuple[int, Iterable[T]]]) -> Mapping[T, Sequence[int]]:
    """Return the places of the queries that have each trait."""
    found: dict[T, list[int]] = {}
    for place, its in traits:
        for trait in its:
            found.setdefault(trait, []).append(place)
    return found


def _slices(fall: Fall) -> Iterator[tuple[_Trait, Sequence[int]]]:
    place_of = {query_id: place for place, query_id in enumerate(fall.query_ids)}
    for attribute in fall.golden.attributes:
        for value, query_ids in fall.golden.slices(attribute).items():
            places = [place_of[each] for each in query_ids if each in place_of]
            if places:
                yield (CauseKind.SLICE, (attribute, value), None), places


def _words(fall: Fall) -> Iterator[tuple[int, Sequence[str | int]]]:
    """Yield the number of words of each text, and the words."""
    for place, query_id in enumerate(fall.query_ids):
        text = fall.golden.query(query_id).text
        if text:
            yield place, (len(text.split()), *sorted({*_WORD.findall(text.lower())}))


def _newcomers(fall: Fall, first: int) -> Iterator[tuple[int, Iterable[str]]]:
    """Yield the documents that are new in the first places of each query."""
    for place, (before, now) in enumerate(zip(fall.before, fall.now, strict=True)):
        if before[:first] != now[:first]:
            yield place, dict.fromkeys(doc for doc in now[:first] if doc not in before[:first])
