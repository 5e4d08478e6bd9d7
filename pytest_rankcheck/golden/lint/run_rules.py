"""Lint rules that compare judgments with a run: a reversed scale, and stale documents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import listed, quoted
from pytest_rankcheck.golden.lint.lint_options import Level
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule
from pytest_rankcheck.golden.lint.ranked_judgments import RankedQueries, depth_of

__all__ = ["STALE_DEPTH", "unchecked_rules"]

STALE_DEPTH = 1000
"""A relevant document may have left the index if no query that judges it ranks it this high."""
_MOST_STALE = 0.2
"""On the clean Cranfield set, BM25 misses no relevant document in this way (but 4% of the pairs of
a query and a document); with 30% of the documents replaced, it misses 30% (32% of the pairs)."""
_LEAST_RELEVANT = 20
"""With fewer relevant documents, the missing share is too uncertain."""
_CLEAR = -3.0
"""The grades look reversed if the mean tau, in standard errors from 0, is at most this."""
_LEAST_QUERIES = 10
"""The standard error of a mean over fewer queries is too uncertain."""
_MOST_QUERIES = 2000
"""How many queries, from the first on, are used; enough to detect a reversed scale."""
_MOST_CODES = 10
"""More distinct grades than this are measurements, not codes."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a run's order with the grades within queries."""

    tau: float
    """The mean of Kendall's tau-b, in [-1, 1]; NaN if no query has one."""
    errors: float
    """The mean divided by its standard error over queries; NaN with fewer than two queries."""
    queries: int
    """How many queries have a tau, because they have two grades and two ranks."""

    @property
    def distance(self) -> str:
        """How far the mean is from 0, as text; empty if tau is the same in all queries."""
        return f", {self.errors:+.1f} standard errors" if math.isfinite(self.errors) else ""

    @classmethod
    def of(cls, ranks: FloatArray, grades: FloatArray, starts: Sequence[int]) -> Agreement:
        """Return the mean of tau-b (Kendall, Biometrika 1945) over queries.

        Args:
            ranks: the rank of each judgment; infinite ranks are tied for the last place, and
                judgments whose rank or grade is NaN do not count.
            grades: the grade of each judgment.
            starts: where the judgments of each query begin, and the end of the last.
        """
        from scipy.stats import kendalltau

        counted = ~(np.isnan(ranks) | np.isnan(grades))
        last = np.where(np.isinf(ranks), np.finfo(np.float64).max, ranks)
        taus = []
        for start, end in pairwise(starts):
            rows = np.flatnonzero(counted[start:end]) + start
            if all(len(np.unique(values[rows])) > 1 for values in (grades, last)):
                taus.append(float(kendalltau(-last[rows], grades[rows]).statistic))
        count = len(taus)
        if not count:
            return cls(math.nan, math.nan, 0)
        mean = math.fsum(taus) / count
        error = float(np.std(taus, ddof=1)) / math.sqrt(count) if count > 1 else math.nan
        return cls(mean, mean / error if error else math.copysign(math.inf, mean), count)


@rule("warning")
def inverted_scale(linted: Linted) -> RuleResult | None:
    """Grades that fall where the run's scores rise, so the scale may be reversed."""
    run = linted.ranked
    grades = linted.contents.judgments.grades
    codes = linted.contents.judgments.distinct_grades
    if run is None or not 2 <= len(codes) <= _MOST_CODES:
        return None
    starts: list[int] = run.judgments.starts[: _MOST_QUERIES + 1].tolist()
    found = Agreement.of(run.ranks, grades, starts)
    if not (found.queries >= _LEAST_QUERIES and found.errors <= _CLEAR):
        return None
    if any(Agreement.of(*kept, starts).tau >= 0 for kept in _doubts(run.ranks, grades)):
        return None
    turned, remedy = _turned(run.ranks, grades, codes, starts)
    return RuleResult(
        query_ids=(),
        what=f"documents that run '{quoted(run.name)}' ranks higher have lower grades: Kendall's "
        f"tau between ranking and grades is {found.tau:+.2f} on average over {found.queries:,} "
        f"queries{found.distance}{turned}",
        why="If the scale is reversed (1 is the best, not the worst), a better ranker scores "
        "lower. If the run's scores are distances, the run is reversed instead",
        remedy=remedy,
    )


def _turned(
    ranks: FloatArray, grades: FloatArray, codes: Sequence[float], starts: Sequence[int]
) -> tuple[str, str]:
    """Return, as text, tau with the grade map that fits the run best, and the remedy."""
    positive = np.where(grades < 0, np.nan, grades)
    fits = [(Agreement.of(ranks, _mapped(positive, by), starts), by) for by in _maps(codes)]
    fits = [(fit, by) for fit, by in fits if fit.tau > 0]
    if not fits:
        return "", "read what the codes mean, and map them with grades="
    fit, by = max(fits, key=lambda pair: pair[0].tau)
    written = f"grades={{{', '.join(f'{code:g}: {grade:g}' for code, grade in by.items())}}}"
    without = ", without the negative codes" if codes[0] < 0 else ""
    return (
        f"; with {written} it is {fit.tau:+.2f}{fit.distance}{without}",
        f"read what the codes mean; if they are reversed, map them: {written}",
    )


def _doubts(ranks: FloatArray, grades: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield variants of the ranks and grades in which a reversed scale must also look reversed.

    One is without the unranked documents, which other rankers may have found. The others are each
    without one grade, if there are more than two, because a single grade may be out of place, such
    as a code for a note.
    """
    yield np.where(np.isinf(ranks), np.nan, ranks), grades
    codes = np.unique(grades)
    if len(codes) > 2:
        for code in codes:
            yield ranks, np.where(grades == code, np.nan, grades)


def _maps(codes: Sequence[float]) -> Iterator[Mapping[float, float]]:
    """Yield grade maps that reverse a scale: all grades from 0 on, and only those above 0.

    Negative codes, which mark notes or spam, become 0.
    """
    for scale in ([code for code in codes if code >= 0], [code for code in codes if code > 0]):
        if scale:
            total = scale[0] + scale[-1]
            yield {code: total - code if code in scale else max(code, 0) for code in codes}


def _mapped(grades: FloatArray, by_code: Mapping[float, float]) -> FloatArray:
    mapped = np.full_like(grades, np.nan)
    for code, grade in by_code.items():
        mapped[grades == code] = grade
    return mapped


@rule("warning")
def stale_document(linted: Linted) -> RuleResult | None:
    """Relevant documents that the run never finds: they may have left the index."""
    run = linted.ranked
    if linted.corpus is not None or run is None or run.depth < STALE_DEPTH:
        return None
    judgments = linted.contents.judgments
    rows = np.flatnonzero((judgments.grades > 0) & ~np.isnan(run.ranks))
    relevant = judgments.documents.texts(rows)
    found = run.within(STALE_DEPTH)
    missing = list(dict.fromkeys(doc_id for doc_id in relevant if doc_id not in found))
    count = len(set(relevant))
    if count < _LEAST_RELEVANT or len(missing) <= _MOST_STALE * count:
        return None
    lost = rows[[doc_id not in found for doc_id in relevant]]
    return RuleResult(
        query_ids=linted.queries_at(lost),
        what=f"run '{quoted(run.name)}' has {len(missing):,} of {count:,} relevant documents "
        f"({len(missing) / count:.0%}) in no top {STALE_DEPTH:,} of a query that judges them: "
        f"{listed(missing)}",
        why="Documents that left the index, or have new ids, still count as not found, so no "
        "ranker can reach 1. Or the documents exist, but the ranker cannot find them",
        remedy="look a few up in the index; remove judgments of documents that are gone, and map "
        "new ids with doc_id=",
        places=linted.places_at(lost[:10]),
    )


def unchecked_rules(
    run: RankedQueries | None,
    query_ids: Iterable[str],
    levels: Mapping[str, Level],
    *,
    has_corpus: bool,
) -> str:
    """Describe which rules of this module could not be applied, and why; empty if all were.

    Args:
        run: the run that the golden set was linted with, if any.
        query_ids: the queries of the golden set.
        levels: the levels of rules, if not the default; ignored rules are not reported.
        has_corpus: whether the documents were looked up in the corpus, which is more reliable
            than `stale_document`.
    """
    known = (inverted_scale.name,) if has_corpus else (inverted_scale.name, stale_document.name)
    names = [name for name in known if levels.get(name) != "ignore"]
    if run is None:
        why = "no run is given"
    else:
        depth, shown = depth_of(run, query_ids), quoted(run.name)
        why = f"run '{shown}' has {depth:,} documents a query, not {STALE_DEPTH:,}"
        if not depth:
            why = f"run '{shown}' has none of the queries"
        elif depth < STALE_DEPTH:
            names = [name for name in names if name == stale_document.name]
        else:
            names = []
    return f"not checked: {', '.join(names)} ({why})" if names else ""
