"""What the queries that fell have in common: facts, and traits more frequent than in others.

It is found from what is known of both sides; nothing is ranked again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations, compress
from typing import Any, TypeVar

import numpy as np

from pytest_rankcheck.comparison.cause import LEVEL, Cause, CauseKind, Fall, Rankings
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.rank_changes import TOP, crossed_in
from pytest_rankcheck.document_ids import DocIdMap, joining_rule
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.table_batches import collector_paused
from pytest_rankcheck.statistics.counts import fisher_p, more_falls_p, smallest_fisher_p
from pytest_rankcheck.statistics.multiplicity import corrected

_SAME_FALLS = 0.8
"""If two contrasts share this much of the falls of either, only the better one is named."""
_FIRST = 3
"""The number of first places in which a document is new."""
_WORD = re.compile(r"\w+")

_SHORT = 10
"""A ranking is short if it has fewer documents."""
_LEAST_MISSING, _MISSING_SHARE = 3, 0.02
_SAMPLE = 50
"""The number of queries in which a rule that makes old and new ids match is searched for."""
_LEAST_ORDERED, _REVERSED = 4, 0.75
"""A ranking is reversed if at least this many documents are on both sides, and this share of their
pairs is in the reverse order."""

Lost = Sequence[tuple[int, str]]
"""Documents that left the top, each with the place of its query."""

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


# --- facts about rankings ------------------------------------------------------------------------


def ranking_facts(fall: Fall) -> Iterator[Cause | None]:
    """Yield what the rankings of queries that fell have in common, in the order of `CauseKind`.

    A lost document counts for the first fact that applies to it.
    """
    lost = _lost(fall)
    shared = _repeated([old for old, new in zip(fall.before, fall.now, strict=True) if new])
    absent = _not_in(shared.union(doc for _, doc in lost), fall.now)
    renamed = _renamed(fall, [each for each in lost if each[1] in absent])
    example = next(((doc, new) for (_, doc), new in renamed.items()), ())
    yield _of_lost(fall, CauseKind.IDS, [*renamed], names=example)
    lost = [each for each in lost if each not in renamed]
    unknown = _not_in_catalogue(fall, [doc for _, doc in lost])
    yield _of_lost(fall, CauseKind.GONE, [each for each in lost if each[1] in unknown])
    if _are_missing(fall, shared, shared & absent):
        rest = [each for each in lost if each[1] in absent - unknown and fall.now[each[0]]]
        yield _of_lost(fall, CauseKind.MISSING, rest, number=fall.sides[1].known_depth)
    yield _no_answer(fall)
    yield _reversed(fall)


# --- lost documents --------------------------------------------------------------------------


def _lost(fall: Fall) -> Lost:
    """Return the relevant documents that left the top of queries that fell.

    The top is what the metric looks at, or ten documents.
    """
    other, evaluation = fall.sides
    fell = {fall.query_ids[place]: place for place in np.flatnonzero(fall.fell).tolist()}
    crossed = crossed_in(evaluation, other, [*fell], fall.k)
    return [
        (fell[query_id], doc)
        for query_id, (left, _) in crossed.items()
        for doc in fall.golden.grades(query_id)
        if doc in left
    ]


def _repeated(rankings: Rankings) -> set[str]:
    """Return the documents that two queries have in their top."""
    counts = Counter(chain.from_iterable(ranking[:TOP] for ranking in rankings))
    return {doc for doc, count in counts.items() if count > 1}


def _not_in(doc_ids: set[str], rankings: Rankings) -> set[str]:
    """Return the documents that are in none of the rankings."""
    tops = (ranking[:TOP] for ranking in rankings)  # most documents are found here
    for those in (tops, rankings):
        doc_ids = doc_ids.difference(*those) if doc_ids else doc_ids
    return doc_ids


def _are_missing(fall: Fall, shared: set[str], absent: set[str]) -> bool:
    """Return whether many documents that two queries had are in no ranking now.

    If rankings are short, a ranker that only changed also loses some, but as many are new.
    """
    if len(absent) < max(_LEAST_MISSING, _MISSING_SHARE * len(shared)):
        return False
    new = _not_in(_repeated(fall.now), fall.before)
    return not new or bool(more_falls_p(np.array(len(absent)), np.array(len(new))) <= LEVEL)


def _renamed(fall: Fall, absent: Lost) -> Mapping[tuple[int, str], str]:
    """Return the new id of each lost document whose id now has another form.

    Args:
        fall: the fall.
        absent: the lost documents that no query returns any more.
    """
    tops = {place: fall.now[place][: fall.k] for place, _ in absent}
    unseen = _not_in(set[str]().union(*tops.values()), fall.before)
    new = {place: unseen.intersection(top) for place, top in tops.items()}
    samples = [({doc}, new[place]) for place, doc in absent if new[place]]
    rules, _ = joining_rule(samples[:_SAMPLE])
    found = {}
    with suppress(ConfigurationError):  # no rule, or one that makes an id empty
        rule = DocIdMap(rules)
        now_as = {place: {rule(doc): doc for doc in sorted(its)} for place, its in new.items()}
        for place, doc in absent:
            if rule(doc) in now_as[place]:
                found[place, doc] = now_as[place][rule(doc)]
    return found


def _not_in_catalogue(fall: Fall, doc_ids: Sequence[str]) -> set[str]:
    """Return the documents that are not in the table of all documents."""
    catalogue = fall.golden.catalogue
    with suppress(GoldenSetError):  # the linter says what is wrong with the table
        if catalogue is not None:
            catalogue.has(fall.golden.columns.documents.texts())  # titles need these too: read once
            known = catalogue.has(doc_ids)
            return {doc for doc, is_known in zip(doc_ids, known, strict=True) if not is_known}
    return set()


def _of_lost(fall: Fall, kind: CauseKind, lost: Lost, **details: Any) -> Cause | None:
    """Return a fact about lost documents; those that most queries lost are named first."""
    names = tuple(doc for doc, _ in Counter(doc for _, doc in lost).most_common())
    return fall.cause(kind, [place for place, _ in lost], **{"names": names, **details})


# --- whole rankings --------------------------------------------------------------------------


def _no_answer(fall: Fall) -> Cause | None:
    """Return that queries have no answer now, or that their rankings became short."""
    had, has = (np.array([len(ranking) for ranking in each]) for each in (fall.before, fall.now))
    found = [
        fall.cause(CauseKind.NO_ANSWER, has < limit, number=limit, before=int((had < limit).sum()))
        for limit in (1, _SHORT)
        if fall.cause(CauseKind.NO_ANSWER, (has < limit) & (had >= limit))
    ]
    return max(filter(None, found), key=lambda cause: len(cause.queries), default=None)


def _reversed(fall: Fall) -> Cause | None:
    """Return that rankings are in the reverse order, or nearly."""
    pairs = list(zip(fall.before, fall.now, strict=True))
    fell = np.flatnonzero(fall.fell)
    sample = fell[:: len(fell) // _SAMPLE + 1].tolist()
    if not any(_turned(*pairs[place]) >= _REVERSED for place in sample):
        return None
    turned = np.array([_turned(*pair) for pair in pairs])
    found = fall.cause(CauseKind.REVERSED, turned >= _REVERSED)
    return found and replace(found, compared=int((~np.isnan(turned)).sum()))


def _turned(before: Sequence[str], now: Sequence[str]) -> float:
    """Return the share of pairs of the earlier top documents whose order is reversed now.

    NaN if hardly any of them are ranked now.
    """
    rank = {doc: place for place, doc in enumerate(now)}
    ranks = [rank[doc] for doc in before[:TOP] if doc in rank]
    turned = [first > second for first, second in combinations(ranks, 2)]
    return float(np.mean(turned)) if len(ranks) >= _LEAST_ORDERED else np.nan
