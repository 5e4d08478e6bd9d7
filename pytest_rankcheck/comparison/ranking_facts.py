"""Facts about the rankings of queries that fell: lost documents, empty answers, reverse order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress

import numpy as np

from pytest_rankcheck.array_types import PlaceArray
from pytest_rankcheck.comparison.cause import Cause, CauseKind, Fall, Rankings
from pytest_rankcheck.document_ids import DocIdMap, joining_rule
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError

_TOP = 10
_FEW, _MANY = 10, 100
"""A ranking became short if it had at least so many documents, and has fewer than so many now."""
_LEAST_MISSING, _MISSING_SHARE = 3, 0.02
_SAMPLE = 50
"""In how many queries a rule is looked for that makes old and new ids meet."""
_LEAST_ORDERED = 4
"""Shorter rankings are too often in the reverse order by chance."""

Documents = Mapping[int, Set[str]]
"""Documents by the place of the query that they belong to."""


def ranking_facts(fall: Fall) -> Iterator[Cause | None]:
    """Yield what the rankings of queries that fell have in common, in the order of `CauseKind`.

    A lost document counts for the first fact that is true of it.
    """
    if not fall.has_rankings:
        return
    lost, shared, now = _lost(fall), _shared(fall), fall.now
    absent = _not_in(shared.union(*lost.values()), now)
    renamed, example = _renamed(fall, _among(lost, absent))
    yield fall.cause(CauseKind.IDS, _places(renamed), example)
    lost = {place: docs - renamed.get(place, set()) for place, docs in lost.items()}
    gone = _among(lost, _unknown(fall, lost))
    yield fall.cause(CauseKind.GONE, _places(gone), _names(gone))
    lost = {place: docs - gone.get(place, set()) for place, docs in lost.items() if now[place]}
    if len(shared & absent) >= max(_LEAST_MISSING, _MISSING_SHARE * len(shared)):
        missing = _among(lost, absent)
        depth = fall.evaluation.known_depth
        yield fall.cause(CauseKind.MISSING, _places(missing), _names(missing), number=depth)
    yield _no_answer(fall)
    yield _reversed(fall)


# --- lost documents --------------------------------------------------------------------------


def _lost(fall: Fall) -> Documents:
    """Return the relevant documents that left the top of queries that fell."""
    lost = {}
    for place in np.flatnonzero(fall.fell).tolist():
        grades = fall.evaluation.golden.grades(fall.values.query_ids[place])
        left = {*fall.before[place][: fall.k]}.difference(fall.now[place][: fall.k])
        lost[place] = {doc for doc in left if grades.get(doc, 0) > 0}
    return lost


def _shared(fall: Fall) -> set[str]:
    """Return the documents that two queries had in their top, of those with an answer now."""
    pairs = zip(fall.before, fall.now, strict=True)
    counts = Counter(doc for ranking, now in pairs if now for doc in ranking[:_TOP])
    return {doc for doc, count in counts.items() if count > 1}


def _not_in(doc_ids: set[str], rankings: Rankings) -> set[str]:
    """Return the documents that are in none of the rankings."""
    tops = (ranking[:_TOP] for ranking in rankings)  # most documents are found here
    return doc_ids.difference(*tops).difference(*rankings)


def _renamed(fall: Fall, absent: Documents) -> tuple[Documents, tuple[str, ...]]:
    """Return the lost documents whose id has another form now, and an example: before, and now.

    Args:
        fall: the fall.
        absent: the lost documents that no query returns any more.
    """
    tops = {place: {*fall.now[place][: fall.k]} for place in absent}
    new = _not_in(set[str]().union(*tops.values()), fall.before)
    unseen = _among(tops, new)
    rules, _ = joining_rule([(absent[place], unseen[place]) for place in [*unseen][:_SAMPLE]])
    renamed: dict[int, set[str]] = {}
    example: tuple[str, ...] = ()
    if not rules:
        return renamed, example
    with suppress(ConfigurationError):  # the rule makes an id empty
        rule = DocIdMap(rules)
        for place, docs in unseen.items():
            now_as = {rule(doc): doc for doc in docs}
            renamed[place] = {doc for doc in absent[place] if rule(doc) in now_as}
            pairs = ((doc, now_as[rule(doc)]) for doc in sorted(renamed[place]))
            example = example or next(pairs, ())
    return renamed, example


def _unknown(fall: Fall, lost: Documents) -> set[str]:
    """Return the lost documents that the table of all documents does not have."""
    golden, doc_ids = fall.evaluation.golden, [*{doc for docs in lost.values() for doc in docs}]
    with suppress(GoldenSetError):  # the linter says what is wrong with the table
        if golden.catalogue is not None:
            golden.catalogue.has(golden.columns.documents.texts())  # as titles do: read it once
            known = golden.catalogue.has(doc_ids)
            return {doc for doc, is_known in zip(doc_ids, known, strict=True) if not is_known}
    return set()


def _among(documents: Documents, chosen: Set[str]) -> Documents:
    """Return only the chosen documents, of the queries that have any."""
    return {place: docs & chosen for place, docs in documents.items() if docs & chosen}


def _places(documents: Documents) -> PlaceArray:
    """Return the places of the queries that have documents."""
    return np.array([place for place, docs in documents.items() if docs], dtype=np.intp)


def _names(documents: Documents) -> list[str]:
    """Return the documents, those of the most queries first."""
    counts = Counter(doc for docs in documents.values() for doc in sorted(docs))
    return [doc for doc, _ in counts.most_common()]


# --- whole rankings --------------------------------------------------------------------------


def _no_answer(fall: Fall) -> Cause | None:
    """Return that queries have no answer now, or that their rankings became short."""
    had, has = (np.array([len(ranking) for ranking in each]) for each in (fall.before, fall.now))
    full = min(_MANY, int(had.max(initial=0)))
    found = []
    for limit, least in ((1, 1), (_FEW, max(_FEW, full))):
        became = (has < limit) & (had >= least)
        if fall.cause(CauseKind.NO_ANSWER, became):
            was = int((had < limit).sum())
            found.append(fall.cause(CauseKind.NO_ANSWER, has < limit, number=limit, before=was))
    return max(filter(None, found), key=lambda cause: len(cause.queries), default=None)


def _reversed(fall: Fall) -> Cause | None:
    """Return that rankings are in the reverse order, as far as those before are known."""
    pairs = list(zip(fall.before, fall.now, strict=True))
    is_long = np.array([min(len(old), len(new)) >= _LEAST_ORDERED for old, new in pairs])
    turned = [tuple(new[: -len(old) - 1 : -1]) == tuple(old) for old, new in pairs]
    return fall.cause(CauseKind.REVERSED, is_long & turned, compared=int(is_long.sum()))
