"""Agreement of the ranking's order with the order of the grades, in the top k.

Unjudged documents and those without a positive grade all count as grade 0. They are tied, so only
their number is needed. An undefined agreement (fewer than two documents, or all grades equal)
is 0.

In every function, n is the number of documents in the top k, Z are those of grade 0, and the other
documents are called positive hits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.laws.declared_laws import Laws, LawStatus, at_one, having, whole
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import count_of, depth_of, in_top, share_of


def _whole_or_one(parameters: Mapping[str, Value]) -> LawStatus:
    """The law holds without a cutoff, and at 1, where all rankings have the same value.

    Other cutoffs compare the order inside the top k, whichever documents are there: a better
    document that enters from below is always in the wrong order.
    """
    return parameters["cutoff"] in (None, 1)


def _agreement_is_robust(parameters: Mapping[str, Value]) -> LawStatus:
    """The law holds if one pair is less than half of all pairs."""
    if _whole_or_one(parameters):
        return True
    return False if parameters["cutoff"] == 2 else "binary"


def _stable(parameters: Mapping[str, Value]) -> LawStatus | None:
    """The law holds for ``ties=a``; for ``b`` it depends on the number of documents."""
    short = parameters["cutoff"] in (1, 2, 3)
    return True if short or parameters["ties"] == "a" else None


_ORDER: Laws = {
    "monotone": _whole_or_one,
    "optimal": _whole_or_one,
    "identity": whole,
    "normalised": False,
    "sensitive": False,
    "empty_worst": at_one,
    "none_worst": at_one,
    "all_best": False,
    "cutoff_local": True,
    "cutoff_beyond": True,
}
"""The laws of correlations: an undefined order is 0, which is better than the worst value."""


@metric(
    "KendallTau",
    aliases=("Kendall",),
    reference=(
        "Kendall, A new measure of rank correlation, Biometrika 30, 1938; b: Kendall, The "
        "treatment of ties in ranking problems, Biometrika 33, 1945; c: Stuart, The estimation and "
        "comparison of strengths of association in contingency tables, Biometrika 40, 1953"
    ),
    formula=(
        "(concordant pairs - discordant pairs) / sqrt(all pairs * pairs with different grades)"
    ),
    use=(
        "to compare a whole order with graded judgments, all pairs weighted equally; use it "
        "without a cutoff, because with one a worse ranking can have a higher value"
    ),
    parameters=(
        Parameter(
            "ties",
            default="b",
            check=choice("a", "b", "c"),
            allowed="a, b or c",
            description=(
                "the denominator; a: all n(n-1)/2 pairs; b: corrected for equal grades; c: "
                "n^2 (m-1) / 2m, with m distinct grades"
            ),
        ),
    ),
    range=(-1.0, 1.0),
    unjudged="of grade 0",
    **having(_ORDER, robust_1=_agreement_is_robust, stable=True),
)
def graded_kendall_tau(hits: JudgedHits, cutoff: int | None, *, ties: Value) -> FloatArray:
    """Kendall's tau: the rank correlation of the ranking with the grades."""
    top = _PairCounts.of(hits, cutoff)
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
    reference=(
        "Kendall, A new measure of rank correlation, Biometrika 30, 1938; Fagin, Kumar and "
        "Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17(1), 2003, section 2"
    ),
    formula="number of discordant pairs: the document with the lower grade is above the other",
    use=(
        "to count misordered pairs in a whole order, such as a list that is always shown to "
        "its end; use it without a cutoff"
    ),
    parameters=(
        Parameter(
            "normalised",
            default="none",
            check=choice("none", "pairs", "graded"),
            allowed="none, pairs or graded",
            description=(
                "the denominator: 1 (none), all n(n-1)/2 pairs (pairs), or the pairs with "
                "different grades (graded)"
            ),
        ),
    ),
    higher_is_better=False,
    range=(0.0, np.inf),
    unjudged="of grade 0",
    **having(
        _ORDER, optimal=True, normalised=True, all_best=True, robust_1=_whole_or_one, stable=True
    ),
)
def graded_kendall_distance(
    hits: JudgedHits, cutoff: int | None, *, normalised: Value
) -> FloatArray:
    """Kendall's distance: the number of document pairs in the wrong order by their grades."""
    top = _PairCounts.of(hits, cutoff)
    match normalised:
        case "pairs":
            return share_of(top.discordant, top.pairs)
        case "graded":
            return share_of(top.discordant, top.concordant + top.discordant)
    return top.discordant


@metric(
    "Spearman",
    reference=(
        "Spearman, The proof and measurement of association between two things, American Journal "
        "of Psychology 15(1), 1904; equal grades share the mean of their ranks"
    ),
    formula="correlation of rank i with the mean rank of grade g_i",
    use=(
        "to compare a whole order with graded judgments, with more weight on large misplacements; "
        "use it without a cutoff"
    ),
    range=(-1.0, 1.0),
    unjudged="of grade 0",
    **having(
        _ORDER,
        robust_1=_agreement_is_robust,
        stable=lambda parameters: True if parameters["cutoff"] in (1, 2, 3) else "binary",
    ),
)
def graded_spearman(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Spearman's rho: the correlation of the documents' ranks with the ranks of their grades."""
    top = _PairCounts.of(hits, cutoff)
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


@metric(
    "TauAP",
    reference=(
        "Yilmaz, Aslam and Robertson, A new rank correlation coefficient for information "
        "retrieval, SIGIR 2008, section 3; ties: Urbano and Marrero, The treatment of ties in AP "
        "correlation, ICTIR 2017, sections 3 and 4"
    ),
    formula=(
        "mean over i = 2..n of (documents above i with a higher grade - with a lower grade) / (i-1)"
    ),
    use=(
        "to compare a whole order with graded judgments when mistakes at the top matter most; "
        "use it without a cutoff"
    ),
    parameters=(
        Parameter(
            "ties",
            default="a",
            check=choice("a", "b"),
            allowed="a or b",
            description=(
                "how equal grades count; a: the mean over all their possible orders; b: the mean "
                "of both directions, over the documents below the first group"
            ),
        ),
    ),
    range=(-1.0, 1.0),
    unjudged="of grade 0",
    **having(_ORDER, sensitive=True, robust_1=_whole_or_one, stable=_stable),
)
def graded_tau_ap(hits: JudgedHits, cutoff: int | None, *, ties: Value) -> FloatArray:
    """AP correlation: Kendall's tau with more weight on the top of the ranking.

    The mean over the documents i below the first of (c_i - d_i) / (i - 1), where c_i documents
    above i have a higher grade and d_i a lower one.
    """
    top = _PairCounts.of(hits, cutoff)
    harmonic = _harmonic(int(top.n.max(initial=0)))
    ranks = np.where(top.positive, hits.ranks, 1.0).astype(np.intp)
    # Between the j-th positive hit and the next (or n), each document has j positive hits above.
    last = np.where(top.positive, _next_rank(hits.ranks, top), 2.0).astype(np.intp) - 1
    places = np.cumsum(top.positive, axis=1, dtype=np.float64)
    of_zeros = np.where(top.positive, places * (harmonic[last - 1] - harmonic[ranks - 1]), 0.0)
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
    zeros_below = last_of_running_sum(np.where(top.positive, top.zeros_below, 0.0))
    below_best = count_of(not_best) + np.where(number > 0, top.zeros, 0.0)
    second_sum = last_of_running_sum(by_grade) + share_of(zeros_below, number)
    second = share_of(2 * second_sum, below_best) - 1
    return np.where(below_best > 0, (first + second) / 2, 0.0)


@dataclass(frozen=True, slots=True)
class _PairCounts:
    """The pairs of documents in each top k, from the positive hits and the number of zeros."""

    n: FloatArray
    """``[Q]`` the number of documents in the top k."""
    zeros: FloatArray
    """``[Q]`` the number of them without a positive grade."""
    positive: BoolArray
    """``[Q, J]`` which hits are in the top k and have a positive grade."""
    higher_above: FloatArray
    """``[Q, J]`` how many positive hits above a positive hit have a higher grade."""
    lower_above: FloatArray
    equal_above: FloatArray
    zeros_above: FloatArray
    """``[Q, J]`` how many documents without a positive grade are above a positive hit."""
    zeros_below: FloatArray

    @classmethod
    def of(cls, hits: JudgedHits, cutoff: int | None) -> _PairCounts:
        n = depth_of(hits, cutoff)
        positive = in_top(hits, cutoff) & (hits.grades > 0)
        number = count_of(positive)
        zeros = n - number
        zeros_above = np.where(positive, hits.ranks - np.cumsum(positive, axis=1), 0.0)
        return cls(
            n=n,
            zeros=zeros,
            positive=positive,
            higher_above=_count_higher(hits.grades, positive, np.greater),
            lower_above=_count_higher(hits.grades, positive, np.less),
            equal_above=_count_higher(hits.grades, positive, np.equal),
            zeros_above=zeros_above,
            zeros_below=np.where(positive, zeros[:, np.newaxis] - zeros_above, 0.0),
        )

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
    return _count_higher(grades[:, ::-1], positive[:, ::-1], compare)[:, ::-1]


def _next_rank(ranks: FloatArray, top: _PairCounts) -> FloatArray:
    """Return the rank of the next positive hit, or n + 1 after the last, ``[Q, J]``."""
    end = np.broadcast_to((top.n + 1)[:, np.newaxis], (len(ranks), 1))
    candidates = np.concatenate((np.where(top.positive, ranks, np.inf), end), axis=1)
    nearest = np.minimum.accumulate(candidates[:, ::-1], axis=1)[:, ::-1]
    following: FloatArray = nearest[:, 1:]
    return following


def _harmonic(n: int) -> FloatArray:
    """Return 1 + 1/2 + ... + 1/i for i from 0 to n."""
    sums: FloatArray = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, n + 1))))
    return sums
