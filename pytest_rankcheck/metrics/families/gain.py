"""Metrics of graded gain: the gain of each document, discounted by its rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.metric_parameters import (
    Call,
    Parameter,
    Value,
    call,
    choice,
    mapping,
    number,
    one_of,
)
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import in_top, share_of

GAIN = Parameter(
    "gain",
    default="linear",
    check=one_of(choice("linear", "exponential"), mapping),
    allowed="linear, exponential, or a mapping of grades to gains such as {1:3,2:9}",
    description="the gain of a document of grade g: g, 2^g - 1, or its entry in the mapping",
)

DISCOUNT = Parameter(
    "discount",
    default="log2",
    check=one_of(
        choice("log2", "linear"),
        call("log", number(above=1)),
        call("power", number(at_least=0)),
        call("zipf", number(above=-1), number(at_least=0)),
    ),
    allowed="log2, log(base), linear, power(s) or zipf(p,s)",
    description="the divisor of the gain at rank i: log2(i+1), log_base(i+1), i, i^s or (i+p)^s",
)

IDEAL = Parameter(
    "ideal", default="judged", check=choice("judged", "retrieved"), allowed="judged or retrieved"
)


_LARGEST_EXPONENT = 1000
"""The highest grade for which the sum of 2^g - 1 over millions of documents is finite."""

_SYNONYMS = {"dcg": {"log2": {"gain": "linear"}, "exp-log2": {"gain": "exponential"}}}


@metric("CG", range=(0.0, np.inf))
def cg(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """Cumulated gain: the sum of the positive grades in the top k.

    Formula: sum over i <= k of g_i

    Use: when the quality of the top k matters but not its order, such as a grid of products

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS
    20(4), 2002, section 2.1
    """
    counted = in_top(hits, cutoff) & (hits.grades > 0)
    return last_of_running_sum(np.where(counted, hits.grades, 0.0))


@metric(
    "DCG",
    parameters=(GAIN, DISCOUNT),
    synonyms=_SYNONYMS,
    renamed={"gains": "gain"},
    spellings={"dcg_burges": {"gain": "exponential"}},
    range=(0.0, np.inf),
)
def dcg(hits: JudgedHits, cutoff: int | None, *, gain: Value, discount: Value) -> FloatArray:
    """Discounted cumulative gain: the sum of the gains, each divided by its rank's discount.

    DCG@k = sum over i <= k of gain(g_i) / discount(i). Unjudged documents and grades of 0 or less
    have no gain, unless a mapping gives them one.

    Formula: sum over i <= k of gain(g_i) / log2(i+1)

    Use: when queries with more relevant documents should weigh more; otherwise use nDCG

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS
    20(4), 2002, section 2.2, with log2(i+1) instead of max(1, log2 i)
    """
    top = hits.top(cutoff)
    return _dcg(_gains(top.grades, gain), top.ranks, cutoff, discount)


@metric(
    "nDCG",
    parameters=(GAIN, DISCOUNT, IDEAL),
    synonyms=_SYNONYMS,
    renamed={"gains": "gain"},
    spellings={"ndcg_burges": {"gain": "exponential"}},
    trec_eval=("ndcg_cut",),
)
def ndcg(
    hits: JudgedHits, cutoff: int | None, *, gain: Value, discount: Value, ideal: Value
) -> FloatArray:
    """Normalised discounted cumulative gain: DCG divided by that of the ideal ranking.

    nDCG@k = DCG@k / iDCG@k, with DCG@k = sum over i <= k of gain(g_i) / discount(i). The ideal
    ranking has all judged documents, best first, and is also cut at k. Unjudged documents and
    grades of 0 or less have no gain, unless a mapping gives them one. The value is 0 if the ideal
    ranking has no gain. With ``ideal=retrieved``, the ideal ranking has only the documents that
    were returned, above or below rank k, so that missing a relevant document costs nothing.

    ideal: the documents of the ideal ranking: all judged ones, or only those that the ranker
    returned, as in scikit-learn and torchmetrics. Retrieved rewards short lists: a ranker that
    returns one relevant document and misses all others scores 1

    Formula: DCG@k / DCG@k of the ideal ranking, DCG@k = sum over i <= k of gain(g_i) / log2(i+1)

    Use: the first choice for graded judgments: every swap of different grades changes it, most of
    all at the top

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, ACM TOIS
    20(4), 2002, section 3.1; the discount log2(i+1) and the exponential gain after Burges et al.,
    Learning to rank using gradient descent, ICML 2005, section 5
    """
    top = hits.top(cutoff)
    reached = _dcg(_gains(top.grades, gain), top.ranks, cutoff, discount)
    if ideal == "judged" and not isinstance(gain, tuple):
        best_gains = _gains(hits.ideal[:, :cutoff], gain)
    else:  # with a mapping, a higher grade may have a lower gain
        gains = _gains(hits.grades if ideal == "retrieved" else hits.ideal, gain)
        best_gains = -np.sort(-gains, axis=1)[:, :cutoff]
    ideal_ranks = np.arange(1.0, best_gains.shape[1] + 1)[np.newaxis]
    possible = _dcg(best_gains, ideal_ranks, cutoff, discount)
    return share_of(reached, possible)


def _dcg(gains: FloatArray, ranks: FloatArray, cutoff: int | None, discount: Value) -> FloatArray:
    """Return the discounted cumulative gain of each row, ``[Q]``; ``ranks`` may be one row."""
    counted = (gains > 0) & (ranks <= (np.inf if cutoff is None else cutoff))
    terms = np.divide(gains, _discounts(ranks, discount), out=np.zeros_like(gains), where=counted)
    return last_of_running_sum(terms)


def _discounts(ranks: FloatArray, discount: Value) -> FloatArray:
    """Return the divisor of the gain at each rank, in the shape of ``ranks``."""
    result: Any = np.log2(ranks + 1)
    with np.errstate(over="ignore"):  # a gain divided by infinity is 0
        match discount:
            case "linear":
                result = ranks
            case Call("log", (base,)):
                result = np.log(ranks + 1) / np.log(base)
            case Call("power", (exponent,)):
                result = ranks**exponent
            case Call("zipf", (shift, exponent)):
                result = (ranks + shift) ** exponent
    return np.asarray(result, dtype=np.float64)


def _gains(grades: FloatArray, gain: Value) -> FloatArray:
    """Return the gain of each grade, in the shape of ``grades``; 0 for the padding."""
    if isinstance(gain, tuple):
        return _mapped_gains(grades, dict(gain))
    worth = np.where(grades > 0, grades, 0.0)
    if gain == "linear":
        return worth
    if worth.size and worth.max() > _LARGEST_EXPONENT:
        raise MetricError(
            f"gain=exponential: 2^grade overflows for the grade {worth.max():g}; "
            "use gain=linear, or a mapping of grades to gains"
        )
    return np.asarray(np.exp2(worth) - 1, dtype=np.float64)


def _mapped_gains(grades: FloatArray, mapping: dict[float, float]) -> FloatArray:
    gains = np.zeros_like(grades)
    for grade in np.unique(grades[~np.isnan(grades)]):
        if grade in mapping:
            gains[grades == grade] = mapping[grade]
        elif grade > 0:
            raise MetricError(
                f"the gain mapping has no entry for the grade {grade:g}, which occurs; "
                f"add {grade:g} to {{{', '.join(f'{key:g}' for key in mapping)}}}"
            )
    return gains
