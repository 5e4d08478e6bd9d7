"""The assertions on search sessions: thin wrappers that carry the name of their metric."""

from __future__ import annotations

from pytest_rankcheck.assertions.bound_assertions import By, assert_at_least, assert_at_most
from pytest_rankcheck.assertions.regression_assertion import assert_not_regressed
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = [
    "assert_abandonment_rate_at_most",
    "assert_abandonment_rate_not_regressed",
    "assert_mean_event_rank_at_most",
    "assert_mean_event_rank_not_regressed",
    "assert_session_duration_at_most",
    "assert_session_duration_not_regressed",
    "assert_session_mrr_at_least",
    "assert_session_mrr_not_regressed",
    "assert_success_rate_at_least",
    "assert_success_rate_not_regressed",
]


def assert_success_rate_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    n: int | None = None,
    by: By = None,
    confidence: float | None = None,
) -> None:
    """Fail if the share of sessions that end with a selection is below ``minimum``.

    See `assert_at_least`.

    With ``n``, a success is a final selection within the top n.
    """
    __tracebackhide__ = True
    metric = Metric.of("SuccessRate", n)
    assert_at_least(evaluation, metric, minimum, by=by, confidence=confidence)


def assert_success_rate_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    n: int | None = None,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
) -> None:
    """Fail if the share of sessions that end with a selection regressed against the baseline.

    See `assert_not_regressed`.

    With ``n``, a success is a final selection within the top n.
    """
    __tracebackhide__ = True
    metric = Metric.of("SuccessRate", n)
    assert_not_regressed(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by)


def assert_session_mrr_at_least(
    evaluation: Evaluation,
    minimum: float,
    *,
    abandoned: str,
    by: By = None,
    confidence: float | None = None,
) -> None:
    """Fail if the mean reciprocal rank of final selections is below ``minimum``.

    See `assert_at_least`.

    ``abandoned`` says what a session without a selection counts as: ``"zero"``, or
    ``"exclude"``.
    """
    __tracebackhide__ = True
    metric = Metric.of("SessionRR", abandoned=abandoned)
    assert_at_least(evaluation, metric, minimum, by=by, confidence=confidence)


def assert_session_mrr_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    abandoned: str,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
) -> None:
    """Fail if the mean reciprocal rank of final selections regressed against the baseline.

    See `assert_not_regressed`.

    ``abandoned`` says what a session without a selection counts as: ``"zero"``, or
    ``"exclude"``.
    """
    __tracebackhide__ = True
    metric = Metric.of("SessionRR", abandoned=abandoned)
    assert_not_regressed(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by)


def assert_mean_event_rank_at_most(
    evaluation: Evaluation,
    maximum: float,
    *,
    abandoned: str,
    by: By = None,
    confidence: float | None = None,
) -> None:
    """Fail if the mean place of the event with the final selection is above ``maximum``.

    See `assert_at_most`.

    ``abandoned`` says what a session without a selection counts as: ``"exclude"``, or
    ``"next"``: one event more than it has.
    """
    __tracebackhide__ = True
    metric = Metric.of("MeanEventRank", abandoned=abandoned)
    assert_at_most(evaluation, metric, maximum, by=by, confidence=confidence)


def assert_mean_event_rank_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    abandoned: str,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
) -> None:
    """Fail if the mean place of the event with the final selection regressed against the baseline.

    See `assert_not_regressed`.

    ``abandoned`` says what a session without a selection counts as: ``"exclude"``, or
    ``"next"``: one event more than it has.
    """
    __tracebackhide__ = True
    metric = Metric.of("MeanEventRank", abandoned=abandoned)
    assert_not_regressed(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by)


def assert_session_duration_at_most(
    evaluation: Evaluation,
    maximum: float,
    *,
    median: bool = False,
    by: By = None,
    confidence: float | None = None,
) -> None:
    """Fail if the duration of sessions is above ``maximum``.

    See `assert_at_most`.

    In seconds; with ``median``, the median over the sessions and not the mean.
    """
    __tracebackhide__ = True
    metric = Metric.of("MedianSessionDuration" if median else "SessionDuration")
    assert_at_most(evaluation, metric, maximum, by=by, confidence=confidence)


def assert_session_duration_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    median: bool = False,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
) -> None:
    """Fail if the duration of sessions regressed against the baseline.

    See `assert_not_regressed`.

    In seconds; with ``median``, the median over the sessions and not the mean.
    """
    __tracebackhide__ = True
    metric = Metric.of("MedianSessionDuration" if median else "SessionDuration")
    assert_not_regressed(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by)


def assert_abandonment_rate_at_most(
    evaluation: Evaluation,
    maximum: float,
    *,
    by: By = None,
    confidence: float | None = None,
) -> None:
    """Fail if the share of sessions without a selection is above ``maximum``.

    See `assert_at_most`.
    """
    __tracebackhide__ = True
    metric = Metric.of("AbandonmentRate")
    assert_at_most(evaluation, metric, maximum, by=by, confidence=confidence)


def assert_abandonment_rate_not_regressed(
    evaluation: Evaluation,
    baseline: Baseline | Evaluation | Record,
    *,
    abs: float | None = None,
    rel: float | None = None,
    gate: Gate | None = None,
    by: By = None,
) -> None:
    """Fail if the share of sessions without a selection regressed against the baseline.

    See `assert_not_regressed`.
    """
    __tracebackhide__ = True
    metric = Metric.of("AbandonmentRate")
    assert_not_regressed(evaluation, baseline, metric, abs=abs, rel=rel, gate=gate, by=by)
