"""Agreement of the ranking's order with the order of the grades, in the top k.

Unjudged documents and those without a positive grade all count as grade 0. They are tied, so only
their number is needed. An undefined agreement (fewer than two documents, or all grades equal)
is 0.

In every function, n is the number of documents in the top k, Z are those of grade 0, and the other
documents are called positive hits.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import count_of, depth_of, in_top, share_of

_correlation = partial(metric, range=(-1.0, 1.0), unjudged="of grade 0")
"""Declares a correlation of the order with the grades."""


@_correlation(
    "KendallTau",
    aliases=("Kendall",),
    parameters=(Parameter("ties", default="b", check=choice("a", "b", "c"), allowed="a, b or c"),),
)
def graded_kendall_tau(hits: JudgedHits, cutoff: int | None, *, ties: Value) -> FloatArray:
    """Kendall's tau: the rank correlation of the ranking with the grades.

    ties: the denominator; a: all n(n-1)/2 pairs; b: corrected for equal grades; c: n^2 (m-1) / 2m,
    with m distinct grades

    Formula: (concordant pairs - discordant pairs) / sqrt(all pairs * pairs with different grades)

    Use: to compare a whole order with graded judgments, all pairs weighted equally; use it without
    a cutoff, because with one a worse ranking can have a higher value

    Source: Kendall, A new measure of rank correlation, Biometrika 30, 1938; b: Kendall, The
    treatment of ties in ranking problems, Biometrika 33, 1945; c: Stuart, The estimation and
    comparison of strengths of association in contingency tables, Biometrika 40, 1953
    """
    top = _PairCounts(hits, cutoff)
    difference = top.concordant - top.discordant
    if ties == "b":
        return share_of(difference, np.sqrt(top.pairs * (top.concordant + top.discordant)))
    if ties == "c":
        distinct = count_of(top.positive & (top.equal_above == 0)) + (top.zeros > 0)
        possible = share_of(top.n**2 * (distinct - 1), 2 * distinct)
        return share_of(difference, possible)
    return share_of(difference, top.pairs)


@metric(
    "KendallDistance",
    parameters=(
        Parameter(
            "normalised",
            default="none",
            check=choice("none", "pairs", "graded"),
            allowed="none, pairs or graded",
        ),
    ),
    higher_is_better=False,
    range=(0.0, np.inf),
    unjudged="of grade 0",
)
def graded_kendall_distance(
    hits: JudgedHits, cutoff: int | None, *, normalised: Value
) -> FloatArray:
    """Kendall's distance: the number of document pairs in the wrong order by their grades.

    normalised: the denominator: 1 (none), all n(n-1)/2 pairs (pairs), or the pairs with different
    grades (graded)

    Formula: number of discordant pairs: the document with the lower grade is above the other

    Use: to count misordered pairs in a whole order, such as a list that is always shown to its end;
    use it without a cutoff

    Source: Kendall, A new measure of rank correlation, Biometrika 30, 1938; Fagin, Kumar and
    Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17(1), 2003, section 2
    """
    top = _PairCounts(hits, cutoff)
    match normalised:
        case "pairs":
            return share_of(top.discordant, top.pairs)
        case "graded":
            return share_of(top.discordant, top.concordant + top.discordant)
    return top.discordant


@_correlation("Spearman")
def graded_spearman(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Spearman's rho: the correlation of the documents' ranks with the ranks of their grades.

    Formula: correlation of rank i with the mean rank of grade g_i

    Use: to compare a whole order with graded judgments, with more weight on large misplacements;
    use it without a cutoff

    Source: Spearman, The proof and measurement of association between two things, American Journal
    of Psychology 15(1), 1904; equal grades share the mean of their ranks
    """
    top = _PairCounts(hits, cutoff)
    higher = top.higher_above + _count_lower(hits.grades, top.positive, np.greater)
    equal = top.equal_above + _count_lower(hits.grades, top.positive, np.equal)
    middle = ((top.n + 1) / 2)[:, np.newaxis]
    by_grade = higher + (equal + 2) / 2 - middle  # the mean rank of 1 + equal tied documents
    by_rank = hits.ranks - middle
    number = count_of(top.positive)
    zeros_by_grade = number + (top.zeros + 1) / 2 - middle[:, 0]
    positive = top.positive

    def total(terms: FloatArray) -> FloatArray:
        return last_of_running_sum(np.where(positive, terms, 0.0))

    # The deviations of all ranks sum to 0, so those of Z follow from those of the positive hits.
    covariance = total(by_rank * by_grade) - total(by_rank) * zeros_by_grade
    grade_variance = total(by_grade**2) + top.zeros * zeros_by_grade**2
    rank_variance = top.n * (top.n**2 - 1) / 12
    return share_of(covariance, np.sqrt(grade_variance * rank_variance))


@_correlation(
    "TauAP",
    parameters=(Parameter("ties", default="a", check=choice("a", "b"), allowed="a or b"),),
)
def graded_tau_ap(hits: JudgedHits, cutoff: int | None, *, ties: Value) -> FloatArray:
    """AP correlation: Kendall's tau with more weight on the top of the ranking.

    The mean over the documents i below the first of (c_i - d_i) / (i - 1), where c_i documents
    above i have a higher grade and d_i a lower one.

    ties: how equal grades count; a: the mean over all their possible orders; b: the mean of both
    directions, over the documents below the first group

    Formula: mean over i = 2..n of (documents above i with a higher grade - with a lower grade) /
    (i-1)

    Use: to compare a whole order with graded judgments when mistakes at the top matter most; use it
    without a cutoff

    Source: Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information
    retrieval, SIGIR 2008, section 3; ties: Urbano and Marrero, The treatment of ties in AP
    correlation, ICTIR 2017, sections 3 and 4
    """
    top = _PairCounts(hits, cutoff)
    inverses = 1.0 / np.arange(1, int(top.n.max(initial=0)) + 1)
    harmonic = np.concatenate(([0.0], np.cumsum(inverses)))  # 1 + 1/2 + ... + 1/i
    ranks = np.where(top.positive, hits.ranks, 1.0).astype(np.intp)
    # Between the j-th positive hit and the next (or n), each document has j positive hits above.
    last = np.where(top.positive, _next_rank(hits.ranks, top), 2.0).astype(np.intp) - 1
    places = np.cumsum(top.positive, axis=1, dtype=np.float64)
    between = harmonic[last - 1] - harmonic[ranks - 1]
    of_zeros = np.where(top.positive, places * between, 0.0)
    others = np.where(top.positive & (ranks > 1), ranks - 1.0, np.inf)
    if ties == "a":
        of_hits = (top.higher_above - top.lower_above - top.zeros_above) / others
        terms = np.where(top.positive, of_hits, 0.0) + of_zeros
        return share_of(last_of_running_sum(terms), top.n - 1)
    number = count_of(top.positive)
    by_rank = np.where(top.positive, top.higher_above / others, 0.0) + of_zeros
    first = share_of(2 * last_of_running_sum(by_rank), top.n - 1) - 1
    higher = top.higher_above + _count_lower(hits.grades, top.positive, np.greater)
    not_best = top.positive & (higher > 0)
    by_grade = np.where(not_best, share_of(top.higher_above, higher), 0.0)
    zeros_below = last_of_running_sum(top.zeros_below)
    below_best = count_of(not_best) + np.where(number > 0, top.zeros, 0.0)
    second_sum = last_of_running_sum(by_grade) + share_of(zeros_below, number)
    second = share_of(2 * second_sum, below_best) - 1
    return np.where(below_best > 0, (first + second) / 2, 0.0)


class _PairCounts:
    """The pairs of documents in each top k, from the positive hits and the number of zeros."""

    def __init__(self, hits: JudgedHits, cutoff: int | None) -> None:
        self.n = depth_of(hits, cutoff)
        """``[Q]`` the number of documents in the top k."""
        self.positive = in_top(hits, cutoff) & (hits.grades > 0)
        """``[Q, J]`` which hits are in the top k and have a positive grade."""
        self.zeros = self.n - count_of(self.positive)
        """``[Q]`` the number of documents in the top k without a positive grade."""
        self.higher_above = _count_higher(hits.grades, self.positive, np.greater)
        """``[Q, J]`` how many positive hits above a positive hit have a higher grade."""
        self.lower_above = _count_higher(hits.grades, self.positive, np.less)
        self.equal_above = _count_higher(hits.grades, self.positive, np.equal)
        places = np.cumsum(self.positive, axis=1)
        self.zeros_above = np.where(self.positive, hits.ranks - places, 0.0)
        """``[Q, J]`` how many documents without a positive grade are above a positive hit."""
        zeros_below = self.zeros[:, np.newaxis] - self.zeros_above
        self.zeros_below = np.where(self.positive, zeros_below, 0.0)

    @property
    def pairs(self) -> FloatArray:
        """The number of pairs of documents, ``[Q]``."""
        return self.n * (self.n - 1) / 2

    @property
    def concordant(self) -> FloatArray:
        """The number of pairs in the order of their grades, ``[Q]``."""
        return last_of_running_sum(self.higher_above + self.zeros_below)

    @property
    def discordant(self) -> FloatArray:
        """The number of pairs in the opposite order, ``[Q]``."""
        return last_of_running_sum(self.lower_above + self.zeros_above)


def _count_higher(grades: FloatArray, positive: BoolArray, compare: np.ufunc) -> FloatArray:
    """Return for each positive hit how many positive hits above it satisfy the comparison."""
    counts = np.zeros_like(grades)
    positive_grades = np.where(positive, grades, np.nan)
    for place in range(1, grades.shape[1]):
        counts[:, place] = compare(
            positive_grades[:, :place], positive_grades[:, place : place + 1]
        ).sum(axis=1)
    return counts


def _count_lower(grades: FloatArray, positive: BoolArray, compare: np.ufunc) -> FloatArray:
    """Return for each positive hit how many positive hits below it satisfy the comparison."""
    from_last = _count_higher(grades[:, ::-1], positive[:, ::-1], compare)
    return from_last[:, ::-1]


def _next_rank(ranks: FloatArray, top: _PairCounts) -> FloatArray:
    """Return the rank of the next positive hit, or n + 1 after the last, ``[Q, J]``."""
    end = np.broadcast_to((top.n + 1)[:, np.newaxis], (len(ranks), 1))
    candidates = np.concatenate((np.where(top.positive, ranks, np.inf), end), axis=1)
    nearest = np.minimum.accumulate(candidates[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(nearest[:, 1:], dtype=np.float64)
