"""Rank-biased precision: users go on to the next document with a fixed probability."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.metrics.judged_hits import JudgedHits, last_of_running_sum
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, flag, number
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import MAX_GRADE, REL, highest_grades, in_top, relevant_hits

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
    graded=lambda parameters: bool(parameters["graded"]),
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
