"""Averages over the relevant documents: of the precision or the recall at each of them."""

from __future__ import annotations

import math

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.metric_parameters import (
    Parameter,
    Value,
    choice,
    mapping,
    one_of,
    spelled,
)
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import (
    REL,
    count_of,
    in_top,
    relevant_count,
    relevant_hits,
    share_of,
)

DIVIDE = Parameter(
    "divide",
    default="relevant",
    check=choice("relevant", "retrieved", "min"),
    allowed="relevant, retrieved or min",
)

THRESHOLDS = Parameter(
    "thresholds",
    default="equal",
    check=one_of(choice("equal"), mapping),
    allowed="equal, or a mapping of grades to probabilities that sum to 1, such as {1:0.3,2:0.7}",
)

SMALLEST_AP = 1e-5
"""The lowest AP that GMAP uses for a query, as in trec_eval: a single 0 would make the mean 0."""


@metric(
    "AP",
    aliases=("MAP",),
    spellings={
        "ContextPrecision": {"divide": "retrieved"},
        "context_precision": {"divide": "retrieved"},
    },
    parameters=(REL, DIVIDE),
    trec_eval=("map_cut",),
)
def average_precision(
    hits: JudgedHits, cutoff: int | None, *, rel: Value, divide: Value
) -> FloatArray:
    """Average precision: the mean of the precision at each relevant document.

    AP@k = (sum over relevant i <= k of P@i) / m, where m is the number of all relevant documents:
    those outside the top k count as 0, so a short ranking has no advantage. ``divide`` selects
    another denominator.

    divide: the denominator: all relevant documents (relevant), those in the top k (retrieved), or
    the smaller of k and all relevant documents (min)

    Formula: (sum over relevant i <= k of P@i) / (number of relevant documents)

    Use: binary judgments with several relevant documents, all of which should be near the top

    Source: Harman, Evaluation issues in information retrieval, IP&M 28(4), 1992; Buckley and
    Voorhees, Evaluating evaluation measure stability, SIGIR 2000, section 2
    """
    top = hits.top(cutoff)
    found = relevant_hits(top, cutoff, rel)
    total = relevant_count(hits, rel)
    if divide == "retrieved":
        total = count_of(found)
    elif divide == "min" and cutoff is not None:
        total = np.minimum(total, cutoff)
    so_far = np.cumsum(found, axis=1)
    precisions = np.divide(so_far, top.ranks, out=np.zeros_like(top.ranks), where=found)
    return share_of(last_of_running_sum(precisions), total)


@metric(
    "GMAP", aliases=("gm_map",), parameters=(REL,), aggregate="geometric", range=(SMALLEST_AP, 1.0)
)
def geometric_mean_average_precision(
    hits: JudgedHits, cutoff: int | None, *, rel: Value
) -> FloatArray:
    """Geometric mean average precision, which is dominated by the hard queries.

    The value of a query is max(AP, 1e-5).

    Formula: geometric mean over queries of max(AP, 1e-5)

    Use: when the worst queries matter most, such as a service that should fail nobody

    Source: Robertson, On GMAP: and other transformations, CIKM 2006, section 2; the floor 1e-5
    after Voorhees, Overview of the TREC 2004 robust retrieval track, section 3
    """
    return np.maximum(average_precision(hits, cutoff, rel=rel, divide="relevant"), SMALLEST_AP)


@metric("AR", aliases=("MAR",), parameters=(REL,))
def average_recall(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """Average recall: the mean of the recall at each relevant document of the top k.

    AR@k = (sum over relevant i <= k of R@i) / (the number of relevant documents in the top k), and
    0 without any.

    Formula: (sum over relevant i <= k of R@i) / (relevant documents in the top k)

    Use: only to reproduce published numbers; it ignores the order of the documents, unlike AP

    Source: the counterpart of AP with recall instead of precision, as in the catalogue of metrics
    of Tamm, Damdinov and Vasilev, Quality metrics in recommender systems, RecSys 2021
    """
    found = relevant_hits(hits, cutoff, rel)
    count = count_of(found)
    recalls = count * (count + 1) / 2  # the j-th of them adds j / m
    return share_of(recalls, count * relevant_count(hits, rel))


@metric("GAP", parameters=(THRESHOLDS,))
def graded_average_precision(
    hits: JudgedHits, cutoff: int | None, *, thresholds: Value
) -> FloatArray:
    """Graded average precision: AP in expectation over the grades that users find relevant.

    GAP@k = (sum over i <= k of 1/i * sum over j <= i of min(G(g_i), G(g_j))) / (sum of G over all
    judged documents), where G(g) is the probability that a user finds grade g relevant.

    thresholds: the probability that this is the lowest grade that a user finds relevant; with
    equal, a document of grade g is relevant with probability g / (highest grade)

    Formula: AP with the expected precision and denominator, over the lowest grade that a user finds
    relevant

    Use: AP for graded judgments, if no single grade separates relevant from not relevant

    Source: Robertson, Kanoulas and Yilmaz, Extending average precision to graded relevance
    judgments, SIGIR 2010, equations 7 and 8
    """
    reached = np.where(in_top(hits, cutoff), _probabilities(hits.grades, thresholds), 0.0)
    sums = np.zeros_like(reached)
    for place in range(reached.shape[1]):
        agreed = np.minimum(reached[:, : place + 1], reached[:, place : place + 1])
        sums[:, place] = last_of_running_sum(agreed)
    terms = np.divide(sums, hits.ranks, out=np.zeros_like(sums), where=reached > 0)
    possible = last_of_running_sum(_probabilities(hits.ideal, thresholds))
    return share_of(last_of_running_sum(terms), possible)


def _probabilities(grades: FloatArray, thresholds: Value) -> FloatArray:
    """Return the probability that each grade is relevant, up to a factor that cancels out."""
    positive = np.where(grades > 0, grades, 0.0)
    if not isinstance(thresholds, tuple):
        return positive
    steps = np.array(thresholds, dtype=np.float64)
    if not math.isclose(steps[:, 1].sum(), 1.0, abs_tol=1e-9):
        raise MetricError(
            f"GAP(thresholds={spelled(thresholds)}): the probabilities sum to "
            f"{steps[:, 1].sum():g}; they must sum to 1"
        )
    reached = np.concatenate(([0.0], np.cumsum(steps[:, 1])))
    probabilities: FloatArray = reached[np.searchsorted(steps[:, 0], positive, side="right")]
    return np.where(positive > 0, probabilities, 0.0)
