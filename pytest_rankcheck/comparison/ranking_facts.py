"""Facts about the rankings of queries that fell: lost documents, empty answers, reverse order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np

from pytest_rankcheck.comparison.cause import LEVEL, Cause, CauseKind, Fall, Rankings
from pytest_rankcheck.comparison.rank_changes import TOP, crossed_in
from pytest_rankcheck.document_ids import DocIdMap, joining_rule
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError
from pytest_rankcheck.statistics.counts import more_falls_p

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
