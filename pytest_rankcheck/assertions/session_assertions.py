"""The named assertions on search sessions: thin wrappers around the general ones.

Only metrics with an argument of their own have one. For the others, ``assert_at_most(evaluation,
"SessionDuration", 30)`` reads as well.
"""

from __future__ import annotations

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.bound_assertions import By, assert_at_least
from pytest_rankcheck.assertions.regression_assertion import assert_not_regressed
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import MIN_QUERIES
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = [
    "assert_session_mrr_at_least",
    "assert_session_mrr_not_regressed",
    "assert_success_rate_at_least",
    "assert_success_rate_not_regressed",
]


@checked_arguments
def assert_success_rate_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    k: int | None = None,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the share of sessions that end with a selection is below ``minimum``.

    See `assert_at_least`. With ``k``, only a final selection in the top k is a success.
    """
    __tracebackhide__ = True
    metric = Metric.of("SuccessRate", k)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_success_rate_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    k: int | None = None,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if the share of sessions that end with a selection regressed against the baseline.

    See `assert_not_regressed`. With ``k``, only a final selection in the top k is a success.
    """
    __tracebackhide__ = True
    metric = Metric.of("SuccessRate", k)
    assert_not_regressed(
        evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries
    )


@checked_arguments
def assert_session_mrr_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    abandoned: str,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean reciprocal rank of final selections is below ``minimum``.

    See `assert_at_least`. A session without a selection counts as 0 with ``abandoned="zero"`` and
    is left out with ``abandoned="exclude"``.
    """
    __tracebackhide__ = True
    metric = Metric.of("SessionRR", abandoned=abandoned)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_session_mrr_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    abandoned: str,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if the mean reciprocal rank of final selections regressed against the baseline.

    See `assert_not_regressed`. A session without a selection counts as 0 with ``abandoned="zero"``
    and is left out with ``abandoned="exclude"``.
    """
    __tracebackhide__ = True
    metric = Metric.of("SessionRR", abandoned=abandoned)
    assert_not_regressed(
        evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries
    )
