"""Metrics of a user who stops at the first good document, or goes on with a fixed probability."""

from __future__ import annotations

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
    flag,
    number,
    one_of,
)
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import (
    MAX_GRADE,
    REL,
    highest_grades,
    in_top,
    relevant_hits,
    share_of,
)

STOP = Parameter(
    "stop",
    default="exponential",
    check=one_of(
        choice("exponential", "identity"),
        call("sigmoid", number(above=0), number()),
    ),
    allowed="exponential, identity (grades are probabilities) or sigmoid(alpha,beta)",
    description=(
        "the probability that a document of grade g > 0 satisfies the user: (2^g - 1) / "
        "2^max_grade, g, or 1 / (1 + exp(-alpha (g - beta))); it is 0 for other grades"
    ),
)


@metric("ERR", parameters=(MAX_GRADE, STOP))
def expected_reciprocal_rank(
    hits: JudgedHits, cutoff: int | None, *, max_grade: Value, stop: Value
) -> FloatArray:
    """Expected reciprocal rank: of the rank at which the user is satisfied.

    ERR@k = sum over i <= k of 1/i * p_i * prod over j < i of (1 - p_j), where p_i is the
    probability that the document at rank i satisfies the user.

    Formula: sum over i <= k of 1/i * p_i * prod over j < i of (1 - p_j), p = (2^g - 1) / 2^max

    Use: graded judgments and users who stop at the first good answer, as in web search

    Source: Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded relevance,
    CIKM 2009, equations 4 and 5, algorithm 2
    """
    satisfied = _satisfaction(hits.grades, hits, max_grade, stop)
    return _expected_reciprocal(satisfied, hits.ranks, cutoff)


@metric("nERR", parameters=(MAX_GRADE, STOP))
def normalised_expected_reciprocal_rank(
    hits: JudgedHits, cutoff: int | None, *, max_grade: Value, stop: Value
) -> FloatArray:
    """Normalised ERR: ERR divided by that of the ideal ranking.

    The ideal ranking has all judged documents, best first, and is also cut at k. The value is 0 if
    nothing is relevant.

    Formula: ERR@k / ERR@k of the ideal ranking

    Use: like ERR, if queries with only low grades should count as much as others

    Source: Clarke, Craswell, Soboroff and Ashkan, A comparative analysis of cascade measures for
    novelty and diversity, WSDM 2011, section 2.3: normalised by the ideal ranking
    """
    ideal_ranks = np.broadcast_to(np.arange(1.0, hits.ideal.shape[1] + 1), hits.ideal.shape)
    satisfied = _satisfaction(hits.ideal, hits, max_grade, stop)
    possible = _expected_reciprocal(satisfied, ideal_ranks, cutoff)
    reached = expected_reciprocal_rank(hits, cutoff, max_grade=max_grade, stop=stop)
    return share_of(reached, possible)


def _expected_reciprocal(
    satisfied: FloatArray, ranks: FloatArray, cutoff: int | None
) -> FloatArray:
    """Return the sum of 1/i * p_i * prod over j < i of (1 - p_j) of each row, ``[Q]``."""
    if cutoff is not None:
        satisfied = np.where(ranks <= cutoff, satisfied, 0.0)
    still_reading = np.ones_like(satisfied)
    still_reading[:, 1:] = np.cumprod(1.0 - satisfied[:, :-1], axis=1)
    terms = np.divide(
        satisfied * still_reading, ranks, out=np.zeros_like(satisfied), where=satisfied > 0
    )
    return last_of_running_sum(terms)


def _satisfaction(
    grades: FloatArray, hits: JudgedHits, max_grade: Value, stop: Value
) -> FloatArray:
    """Return the probability that each grade satisfies, in the same shape; 0 in the padding."""
    counted = grades > 0
    match stop:
        case "identity":
            if hits.max_grade > 1:
                raise MetricError(
                    "ERR(stop=identity): grades must be probabilities, but the golden set's scale "
                    f"goes up to {hits.max_grade:g}; use stop=exponential, or grades from 0 to 1"
                )
            return np.where(counted, grades, 0.0)
        case Call("sigmoid", (alpha, beta)):
            with np.errstate(over="ignore"):
                odds_against = np.exp(-alpha * (grades - beta))
            return np.where(counted, 1.0 / (1.0 + odds_against), 0.0)
    grades = np.where(counted, grades, 0.0)
    highest = highest_grades("ERR", hits, max_grade)
    # (2^g - 1) / 2^max, written so that large grades do not overflow
    satisfied = np.exp2(grades - highest) - np.exp2(-highest)
    return np.where(counted, satisfied, 0.0)


P = Parameter(
    "p",
    default=0.8,
    check=number(above=0, below=1),
    allowed="a number between 0 and 1",
    description="the probability that the user goes on to the next document",
)

TREC_EVAL_P = 0.9
"""The default of trec_eval's rbp and rbp_resid."""


@metric(
    "RBP",
    spellings={"rbp": {"p": TREC_EVAL_P}},
    parameters=(
        P,
        REL,
        Parameter("graded", default=False, check=flag, allowed="true or false"),
        MAX_GRADE,
    ),
)
def rank_biased_precision(
    hits: JudgedHits, cutoff: int | None, *, p: Value, rel: Value, graded: Value, max_grade: Value
) -> FloatArray:
    """Rank-biased precision: the expected gain per document that the user reads.

    RBP@k = (1 - p) * sum over i <= k of b_i * p^(i-1), where b_i is 1 if the document at rank i is
    relevant, else 0; with ``graded``, g_i / max replaces b_i.

    graded: true: the gain is the grade divided by the highest grade, max_grade

    Formula: (1-p) * sum over i <= k of b_i * p^(i-1)

    Use: when it is known how far users read (p), and judgments are incomplete: the residual bounds
    the error

    Source: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, ACM
    TOIS 27(1), 2008, equation 4; for graded relevance section 3.4
    """
    found = relevant_hits(hits, cutoff, rel)
    if graded and rel is not None:
        raise MetricError(
            "RBP: graded=true cannot be combined with rel, since it uses all grades; remove one"
        )
    if max_grade is not None and not graded:
        raise MetricError(f"RBP: max_grade={max_grade} has no effect without graded=true; add it")
    gains = np.ones_like(hits.grades)
    if graded:
        highest = np.broadcast_to(highest_grades("RBP", hits, max_grade), hits.grades.shape)
        gains = np.divide(hits.grades, highest, out=gains, where=highest > 0)
    return _discounted_gain(hits, np.where(found, gains, 0.0), float(p))  # type: ignore[arg-type]


@metric(
    "RBPResidual",
    spellings={"rbp_resid": {"p": TREC_EVAL_P}},
    parameters=(P,),
    higher_is_better=False,
    unjudged="possibly relevant",
)
def rank_biased_residual(hits: JudgedHits, cutoff: int | None, *, p: Value) -> FloatArray:
    """The residual of RBP: how much higher it would be if all unjudged documents were relevant.

    1 - (1 - p) * sum of p^(i-1) over the ranks i <= k of judged documents; ranks below the end of
    the ranking count as unjudged, and so do negative grades.

    Formula: 1 - (1-p) * sum over judged i <= k of p^(i-1)

    Use: next to RBP, to see how much of its value is unknown

    Source: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, ACM
    TOIS 27(1), 2008, section 3.3
    """
    judged = in_top(hits, cutoff) & (hits.grades >= 0)
    return 1.0 - _discounted_gain(hits, judged.astype(np.float64), float(p))  # type: ignore[arg-type]


def _discounted_gain(hits: JudgedHits, gains: FloatArray, p: float) -> FloatArray:
    """Return (1 - p) * sum of gain_i * p^(i-1), ``[Q]``."""
    weights = np.where(gains > 0, p ** (hits.ranks - 1), 0.0)
    return (1.0 - p) * last_of_running_sum(gains * weights)
