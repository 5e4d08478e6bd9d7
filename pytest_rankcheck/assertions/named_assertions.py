"""The assertions that carry the name of their metric: thin wrappers with the same keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.bound_assertions import By, assert_at_least
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import MIN_QUERIES
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.record import Record
    from pytest_rankcheck.gates.gate import Gate

__all__ = [
    "assert_err_at_least",
    "assert_err_not_regressed",
    "assert_hit_rate_at_least",
    "assert_hit_rate_not_regressed",
    "assert_map_at_least",
    "assert_map_not_regressed",
    "assert_mrr_at_least",
    "assert_mrr_not_regressed",
    "assert_ndcg_at_least",
    "assert_ndcg_not_regressed",
    "assert_precision_at_least",
    "assert_precision_not_regressed",
    "assert_recall_at_least",
    "assert_recall_not_regressed",
]

Gain = str | Mapping[float, float] | None


@checked_arguments
def assert_ndcg_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    k: int | None = None,
    gain: Gain = None,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean nDCG@k is below ``minimum``. See `assert_at_least`.

    ``gain`` is ``"linear"``, ``"exponential"`` or a mapping of grades to gains.
    """
    __tracebackhide__ = True
    metric = Metric.of("nDCG", k, gain=gain)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_ndcg_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    k: int | None = None,
    gain: Gain = None,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if nDCG@k regressed against the baseline. See `assert_not_regressed`.

    ``gain`` is ``"linear"``, ``"exponential"`` or a mapping of grades to gains.
    """
    __tracebackhide__ = True
    metric = Metric.of("nDCG", k, gain=gain)
    _hold(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries)


@checked_arguments
def assert_mrr_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean reciprocal rank@k is below ``minimum``. See `assert_at_least`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("RR", k, rel=rel_level)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_mrr_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if reciprocal rank@k regressed against the baseline. See `assert_not_regressed`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("RR", k, rel=rel_level)
    _hold(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries)


@checked_arguments
def assert_map_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean average precision@k is below ``minimum``. See `assert_at_least`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("AP", k, rel=rel_level)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_map_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if average precision@k regressed against the baseline. See `assert_not_regressed`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("AP", k, rel=rel_level)
    _hold(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries)


@checked_arguments
def assert_precision_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean precision@k is below ``minimum``. See `assert_at_least`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("P", k, rel=rel_level)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_precision_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if precision@k regressed against the baseline. See `assert_not_regressed`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("P", k, rel=rel_level)
    _hold(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries)


@checked_arguments
def assert_recall_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean recall@k is below ``minimum``. See `assert_at_least`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("R", k, rel=rel_level)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_recall_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if recall@k regressed against the baseline. See `assert_not_regressed`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("R", k, rel=rel_level)
    _hold(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries)


@checked_arguments
def assert_hit_rate_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean hit rate@k is below ``minimum``. See `assert_at_least`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("Success", k, rel=rel_level)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_hit_rate_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    k: int | None = None,
    rel_level: float | None = None,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
    min_queries: int | None = None,
) -> None:
    """Fail if hit rate@k regressed against the baseline. See `assert_not_regressed`.

    ``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant.
    """
    __tracebackhide__ = True
    metric = Metric.of("Success", k, rel=rel_level)
    _hold(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries)


@checked_arguments
def assert_err_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    k: int | None = None,
    by: By = None,
    confidence: float | None = None,
    min_queries: int = MIN_QUERIES,
) -> None:
    """Fail if the mean ERR@k is below ``minimum``. See `assert_at_least`."""
    __tracebackhide__ = True
    metric = Metric.of("ERR", k)
    assert_at_least(
        evaluation, metric, minimum, by=by, confidence=confidence, min_queries=min_queries
    )


@checked_arguments
def assert_err_not_regressed(
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
    """Fail if ERR@k regressed against the baseline. See `assert_not_regressed`."""
    __tracebackhide__ = True
    metric = Metric.of("ERR", k)
    _hold(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries)


def _hold(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    metric: Metric,
    *,
    abs: float | None,
    rel: float | None,
    gate: Gate | None,
    by: By,
    min_queries: int | None,
) -> None:
    """Call `assert_not_regressed`; import it here, so that a bound needs no baselines."""
    __tracebackhide__ = True
    from pytest_rankcheck.assertions.regression_assertion import assert_not_regressed

    assert_not_regressed(
        evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by, min_queries=min_queries
    )
