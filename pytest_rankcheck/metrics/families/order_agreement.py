"""Agreement of the ranking's order with that of the grades, over the documents of the top k.

Documents that are unjudged or whose grade is not above 0 all count as grade 0: they are tied, and
known by their number alone, so nothing is made for any of them. Where an agreement is not defined
(fewer than two documents, or all grades equal) it is 0.

In every function n is the number of documents in the top k, ``Z`` are those of grade 0, and the
others are the positive hits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.laws.declared_laws import Holds, Laws, at_one, having, whole
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import count_of, depth_of, in_top, share_of
from pytest_rankcheck.statistics.array_types import BoolArray, FloatArray


def _whole_or_one(parameters: Mapping[str, Value]) -> Holds:
    """Hold without a cutoff, and at 1, where everything scores the same.

    At another cutoff the order in the top k is compared, whichever documents stand there: a better
    one that enters it from below can only stand in the wrong order.
    """
    return parameters["cutoff"] in (None, 1)


def _robust(parameters: Mapping[str, Value]) -> Holds:
    """Hold where one pair is not the greater part of all."""
    if _whole_or_one(parameters):
        return True
    return False if parameters["cutoff"] == 2 else "binary"


def _stable(parameters: Mapping[str, Value]) -> Holds | None:
    """Hold for ``ties=a``; on binary judgments ``b`` holds for five documents, not for six."""
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
"""What correlations keep: an undefined order scores 0, so that nothing is better than the worst."""


@metric(
    "KendallTau",
    aliases=("Kendall",),
    reference=(
        "Kendall, A new measure of rank correlation, Biometrika 30, 1938; b: Kendall, The "
        "treatment of ties in ranking problems, Biometrika 33, 1945; c: Stuart, The estimation and "
        "comparison of strengths of association in contingency tables, Biometrika 40, 1953"
    ),
    formula=(
        "(pairs in the order of their grades - pairs against it) / sqrt(all pairs * pairs "
        "with different grades)"
    ),
    use=(
        "to compare a whole order with graded judgments, every pair alike; without a cutoff, "
        "since at one a worse ranking can score higher"
    ),
    parameters=(
        Parameter(
            "ties",
            default="b",
            check=choice("a", "b", "c"),
            allowed="a, b or c",
            description=(
                "what the difference of concordant and discordant pairs is divided by: a: all "
                "n(n-1)/2 pairs; b: corrected for equal grades; c: n^2 (m-1) / 2m, with m distinct "
                "grades"
            ),
        ),
    ),
    range=(-1.0, 1.0),
    unjudged="of grade 0",
    **having(_ORDER, robust_1=_robust, stable=True),
)
def kendall_tau(hits: JudgedHits, cutoff: int | None, *, ties: Value) -> FloatArray:
    """Kendall's tau: how many pairs of documents stand in the order of their grades, and not."""
    top = _Top.of(hits, cutoff)
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
    formula="pairs of documents that stand against the order of their grades",
    use=(
        "to count misplaced pairs in a whole order, such as a list that is always shown to "
        "its end; without a cutoff"
    ),
    parameters=(
        Parameter(
            "normalised",
            default="none",
            check=choice("none", "pairs", "graded"),
            allowed="none, pairs or graded",
            description=(
                "what the number of discordant pairs is divided by: 1, all n(n-1)/2 pairs, or the "
                "pairs with different grades"
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
def kendall_distance(hits: JudgedHits, cutoff: int | None, *, normalised: Value) -> FloatArray:
    """How many pairs of documents stand against the order of their grades."""
    top = _Top.of(hits, cutoff)
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
        "of Psychology 15(1), 1904; equal grades have the mean of their ranks"
    ),
    formula="correlation of rank i with the mean rank of grade g_i",
    use=(
        "to compare a whole order with graded judgments, far misplacements counting more; "
        "without a cutoff"
    ),
    range=(-1.0, 1.0),
    unjudged="of grade 0",
    **having(
        _ORDER,
        robust_1=_robust,
        stable=lambda parameters: True if parameters["cutoff"] in (1, 2, 3) else "binary",
    ),
)
def spearman(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Spearman's rho: the correlation of the documents' ranks with the ranks of their grades."""
    top = _Top.of(hits, cutoff)
    higher = top.higher_above + _below(hits.grades, top.positive, np.greater)
    equal = top.equal_above + _below(hits.grades, top.positive, np.equal)
    middle = ((top.n + 1) / 2)[:, np.newaxis]
    by_grade = higher + (equal + 2) / 2 - middle  # the mean rank of 1 + equal tied documents
    by_rank = hits.ranks - middle
    number = count_of(top.positive)
    zeros_by_grade = number + (top.zeros + 1) / 2 - middle[:, 0]
    positive = top.positive

    def total(terms: FloatArray) -> FloatArray:
        return last_of_running_sum(np.where(positive, terms, 0.0))

    # The deviations of all ranks add up to 0, so those of Z are what the positive hits leave.
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
        "mean over i = 2..n of (documents above i with a higher grade - with a lower one) / (i-1)"
    ),
    use=(
        "to compare a whole order with graded judgments where mistakes at the top matter "
        "most; without a cutoff"
    ),
    parameters=(
        Parameter(
            "ties",
            default="a",
            check=choice("a", "b"),
            allowed="a or b",
            description=(
                "equal grades: a: the mean over all orders that they may have; b: the mean of "
                "both directions, over the documents below the first group"
            ),
        ),
    ),
    range=(-1.0, 1.0),
    unjudged="of grade 0",
    **having(_ORDER, sensitive=True, robust_1=_whole_or_one, stable=_stable),
)
def tau_ap(hits: JudgedHits, cutoff: int | None, *, ties: Value) -> FloatArray:
    """AP correlation: Kendall's tau with more weight on the top of the ranking.

    The mean over the documents i below the first of (c_i - d_i) / (i - 1), where c_i of the
    documents above i have a higher grade and d_i a lower one.
    """
    top = _Top.of(hits, cutoff)
    harmonic = _harmonic(int(top.n.max(initial=0)))
    ranks = np.where(top.positive, hits.ranks, 1.0).astype(np.intp)
    # Below the j-th positive hit, up to the next or to n, stand zeros: j positive hits above each.
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
    higher = top.higher_above + _below(hits.grades, top.positive, np.greater)
    not_best = top.positive & (higher > 0)
    by_grade = np.where(not_best, share_of(top.higher_above, higher), 0.0)
    zeros_below = last_of_running_sum(np.where(top.positive, top.zeros_below, 0.0))
    below_best = count_of(not_best) + np.where(number > 0, top.zeros, 0.0)
    second_sum = last_of_running_sum(by_grade) + share_of(zeros_below, number)
    second = share_of(2 * second_sum, below_best) - 1
    return np.where(below_best > 0, (first + second) / 2, 0.0)


@dataclass(frozen=True, slots=True)
class _Top:
    """The pairs of documents of each top k, told from the positive hits and the number of zeros."""

    n: FloatArray
    """``[Q]`` the documents in the top k."""
    zeros: FloatArray
    """``[Q]`` those of them that have no positive grade."""
    positive: BoolArray
    """``[Q, J]`` which hits are in the top k and have a positive grade."""
    higher_above: FloatArray
    """``[Q, J]`` how many positive hits above a positive hit have a higher grade."""
    lower_above: FloatArray
    equal_above: FloatArray
    zeros_above: FloatArray
    """``[Q, J]`` how many documents without a positive grade stand above a positive hit."""
    zeros_below: FloatArray

    @classmethod
    def of(cls, hits: JudgedHits, cutoff: int | None) -> _Top:
        n = depth_of(hits, cutoff)
        positive = in_top(hits, cutoff) & (hits.grades > 0)
        number = count_of(positive)
        zeros = n - number
        zeros_above = np.where(positive, hits.ranks - np.cumsum(positive, axis=1), 0.0)
        return cls(
            n=n,
            zeros=zeros,
            positive=positive,
            higher_above=_above(hits.grades, positive, np.greater),
            lower_above=_above(hits.grades, positive, np.less),
            equal_above=_above(hits.grades, positive, np.equal),
            zeros_above=zeros_above,
            zeros_below=np.where(positive, zeros[:, np.newaxis] - zeros_above, 0.0),
        )

    @property
    def pairs(self) -> FloatArray:
        """All pairs of documents, ``[Q]``."""
        return self.n * (self.n - 1) / 2

    @property
    def concordant(self) -> FloatArray:
        """The pairs in the order of their grades, ``[Q]``."""
        return last_of_running_sum(self.higher_above + self.zeros_below)

    @property
    def discordant(self) -> FloatArray:
        """The pairs against the order of their grades, ``[Q]``."""
        return last_of_running_sum(self.lower_above + self.zeros_above)


def _above(grades: FloatArray, positive: BoolArray, compared: np.ufunc) -> FloatArray:
    """Return for each positive hit how many positive hits above it compare so with it."""
    counts = np.zeros_like(grades)
    known = np.where(positive, grades, np.nan)
    for place in range(1, grades.shape[1]):
        counts[:, place] = compared(known[:, :place], known[:, place : place + 1]).sum(axis=1)
    return counts


def _below(grades: FloatArray, positive: BoolArray, compared: np.ufunc) -> FloatArray:
    """Return for each positive hit how many positive hits below it compare so with it."""
    return _above(grades[:, ::-1], positive[:, ::-1], compared)[:, ::-1]


def _next_rank(ranks: FloatArray, top: _Top) -> FloatArray:
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
