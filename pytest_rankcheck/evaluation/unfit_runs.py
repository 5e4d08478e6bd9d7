"""Runs that do not fit a golden set: nothing ranked, other queries, or other document ids.

Impossible runs are refused. If document ids never or hardly ever match, an evaluation warns and an
assertion fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import not_
from typing import TypeAlias

import numpy as np

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.document_ids import ATTRIBUTE, differences, joining_rule
from pytest_rankcheck.errors import RunError, listed, plural, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.run_golden_join import Joined
from pytest_rankcheck.golden.golden_set import GoldenSet

_REFUSED_FROM = 5
"""With at least this many queries that have a relevant judgment, ids that never match fail
assertions. With fewer, this is reported only if a rule makes the ids match."""
_FEW_SHARE, _FEW_FROM = 0.01, 50
"""Ids are suspicious if they match in less than this share of at least this many queries."""
_SAMPLED_QUERIES, _SAMPLED_IDS = 50, 100
_SHOWN = 3
_SAMPLE, _NEAR_TOP = 500, 10
"""In how many queries, evenly spread, and how far down a query's own document and repeated
documents are searched for."""
_KNOWN = (
    "The golden set knows ranked documents, as candidates, from expectations or judged for other "
    "queries, so the ids are right. Is the depth too small, or does the run have other query ids?"
)
_NO_TEXT = "no ranked chunk contains an expected text: compare the two, and lint the golden set"

_MANY = 0.05
"""If something is unknown about at least this share of documents or queries, means may mislead."""

Notes: TypeAlias = dict[str, bool]
"""What a reader must know about documents, as sentences, and whether it concerns many."""

Rankings = Callable[[str], Sequence[str]]
"""Returns the known top of the ranking of a query."""


def are_many(count: int, total: int) -> bool:
    """Return whether this many of all documents or queries may mislead a reader of a mean."""
    return count >= _MANY * total


def refuse_unusable(name: str, golden: GoldenSet, joined: Joined, conventions: Conventions) -> None:
    """Refuse a run in which nothing is ranked or which breaks the conventions.

    Raises:
        RunError: every ranking of a judged query is empty; judged queries are missing, but ranked
            under the same ids without leading zeros; or a query is missing or extra, and the
            conventions make that an error.
    """
    if not joined.retrieved.any():
        why = "every ranking is empty: the ranker is broken, not bad"
        if not joined.is_ranked.any():
            why = (
                f"they share no query: the run has {listed(joined.extra, 3) or 'no query'}, the "
                f"golden set {listed(golden.query_ids, 3)}; are the ids of the same kind, and "
                "spelled alike?"
            )
        raise RunError(
            f"run '{quoted(name)}' cannot be measured on golden set '{quoted(golden.name)}': {why}"
        )
    ranked = {each.lstrip("0") for each in joined.extra if each.isdecimal()}
    lost = [each for each in joined.missing if each.isdecimal() and each.lstrip("0") in ranked]
    if lost:  # some files or parts have the id "004" as 4
        raise RunError(
            f"run '{quoted(name)}' has {plural(len(lost), 'query', 'queries')} of golden set "
            f"'{quoted(golden.name)}' without the leading zeros: {listed(lost)}; ids that are read "
            "as numbers lose them, so read them as text"
        )
    for convention, query_ids, problem in (
        (conventions.missing, joined.missing, "lacks judged queries"),
        (conventions.extra, joined.extra, "has queries without judgments"),
    ):
        if convention == "error" and query_ids:
            raise RunError(
                f"run '{quoted(name)}' {problem} of golden set '{quoted(golden.name)}', "
                f"{len(query_ids):,}: {listed(query_ids)}; fix the run, or use the conventions "
                "missing='empty' and extra='ignore'"
            )


@dataclass(frozen=True, slots=True)
class UnmetIds:
    """How few of the queries rank a judged document, and the ids of both sides."""

    lines: Sequence[str]
    """What is wrong, three ids of each side, and what to do."""
    is_error: bool
    """Whether assertions and updates must fail."""


def unmet_ids(name: str, golden: GoldenSet, joined: Joined, ranking: Rankings) -> UnmetIds | None:
    """Return what is wrong if judged documents are never or hardly ever ranked, otherwise None.

    Args:
        name: what messages call the run.
        golden: the judged queries.
        joined: the judged documents that were ranked.
        ranking: the rankings.
    """
    relevant, has_hits = golden.columns.has_relevant, joined.has_hits
    queries = int(relevant.sum())
    meeting = int((relevant & has_hits).sum())
    if not queries or (meeting and (queries < _FEW_FROM or meeting >= _FEW_SHARE * queries)):
        return None
    apart = _ids(golden, relevant & ~has_hits & (joined.retrieved > 0))
    samples = [
        (_best(golden.grades(query_id)), ranking(query_id)[:_SAMPLED_IDS])
        for query_id in apart[:_SAMPLED_QUERIES]
    ]
    samples = samples or [(_best(golden.grades(_ids(golden, relevant)[0])), ())]
    rule, met = joining_rule(samples)
    if queries < _REFUSED_FROM and not rule:
        return None  # a ranker may miss the judged documents of a few queries
    # A spelling that joins most queries cannot be chance.
    is_sure = 2 * met > len(samples) and ":" not in "".join(rule)
    is_known = not is_sure and _knows_ranked(golden, joined, ranking)
    few = "no ranked document is judged in any of"
    if meeting:
        few = f"a judged document is ranked in only {meeting:,} of"
    judged, ranked = (
        list(dict.fromkeys(each[0] for each in side if each))[:_SHOWN]
        for side in zip(*samples, strict=True)
    )
    lines = (
        (
            f"run '{quoted(name)}' on golden set '{quoted(golden.name)}': {few} the "
            f"{plural(queries, 'query', 'queries')} with a relevant judgment"
        ),
        f"judged: {listed(judged)}",
        f"ranked: {listed(ranked) or 'nothing'}",
        _KNOWN if is_known else _NO_TEXT if golden.by_text else _advice(golden, rule),
    )
    return UnmetIds(lines, not meeting and queries >= _REFUSED_FROM and not is_known)


def document_notes(golden: GoldenSet, ranking: Rankings) -> Iterator[tuple[str, bool]]:
    """Yield what may be wrong with the documents of a run, and whether many are concerned."""
    sample = golden.query_ids[:: max(1, len(golden) // _SAMPLE)]
    own = [each for each in sample if each in ranking(each)[:_NEAR_TOP]]
    if own := [each for each in own if each not in golden.grades(each)]:
        count = f"{len(own):,} of {plural(len(sample), 'query', 'queries')}"
        text = (
            f"{count} rank a document with their own id: {listed(own)}; if it is the query itself, "
            "own_document=drop (rankcheck_conventions) leaves it out, as BEIR does"
        )
        yield text, 2 * len(own) >= len(sample)
    if golden.catalogue is None or golden.doc_id is None or ATTRIBUTE not in golden.doc_id.name:
        return
    ranked = [*chain.from_iterable(map(ranking, golden.query_ids))]
    if lacking := [*compress(ranked, map(not_, golden.catalogue.has(ranked)))]:
        text = (
            f"{len(lacking):,} of {plural(len(ranked), 'ranked document')} without a row in "
            f"{golden.catalogue.name}, so that doc_id= did not map them: "
            f"{listed([*dict.fromkeys(lacking)])}; is it the table of another index?"
        )
        yield text, are_many(len(lacking), len(ranked))


@dataclass(frozen=True, slots=True)
class Gaps:
    """The queries without a judgment or a ranking, whose values say nothing about the ranker."""

    others: Sequence[int]
    """The places of all other queries."""
    over: str
    """Words for what the mean of the others is over."""
    advice: str


def gaps_of(golden: GoldenSet, joined: Joined) -> Gaps | None:
    """Return the queries that are not judged or not ranked; None without any."""
    is_judged = np.diff(golden.columns.starts) > 0
    is_whole = is_judged & joined.is_ranked
    if is_whole.all() or not is_whole.any():
        return None
    others, lacking = np.flatnonzero(is_whole).tolist(), _ids(golden, ~is_whole)
    are = "judged" if len(others) == is_judged.sum() else "judged and ranked"
    advice = (
        "Queries without a judgment or a ranking count as if nothing were found "
        f"({len(lacking):,}: {listed(lacking, 3)}); judge, rank or remove them"
    )
    return Gaps(others, f"over the {len(others):,} {are} queries", advice)


def _advice(golden: GoldenSet, rule: Sequence[str]) -> str:
    if not rule:
        return (
            "if both mean the same documents, map the ids with doc_id= or rankcheck_doc_id; if "
            "not, this run or golden set is the wrong one"
        )
    names = ", ".join(f'"{quoted(each)}"' for each in rule)
    value = names if len(rule) == 1 else f"[{names}]"
    return (
        f"The ids differ only in {differences(rule)}. To match them, set "
        f"{golden.contents.source.doc_id_line(rule)}, or give doc_id={value} to both "
        "the golden set and the run"
    )


def _ids(golden: GoldenSet, chosen: BoolArray) -> Sequence[str]:
    return [golden.query_ids[code] for code in np.flatnonzero(chosen).tolist()]


def _knows_ranked(golden: GoldenSet, joined: Joined, ranking: Rankings) -> bool:
    """Whether a golden set knows ranked documents that it does not judge for those queries."""
    known = set(chain.from_iterable(map(golden.grades, golden.query_ids)))
    for expectation in golden.expectations:
        known.update(expectation.documents, expectation.others)
    ranked = {each: {*ranking(each)[:_SAMPLED_IDS]} for each in _ids(golden, joined.is_ranked)}
    return any(
        not (known.isdisjoint(doc_ids) and doc_ids.isdisjoint(golden.candidates_of(query_id)))
        for query_id, doc_ids in ranked.items()
    )


def _best(grades: Mapping[str, float]) -> Sequence[str]:
    """Return judged documents of a query, the best grades first."""
    return sorted(grades, key=lambda doc_id: -grades[doc_id])[:_SAMPLED_IDS]
