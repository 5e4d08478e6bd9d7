"""How assertions enter what they found into the ledger, and fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import GateFinding, Note, Topic
from pytest_rankcheck.reports.ledger import enter, wants_detail
from pytest_rankcheck.reports.text.wording import shortened


def conclude(topic: Topic, note: str, failure: str | None) -> None:
    """Enter the note of an assertion, and fail if there is a failure text.

    Raises:
        AssertionError: with that text.
    """
    __tracebackhide__ = True
    enter(Note(topic, note, failure=failure))
    fail(failure)


def fail(text: str | None) -> None:
    """Fail with a text, if there is one; what is too long for a terminal is left out.

    Raises:
        AssertionError: with that text.
    """
    __tracebackhide__ = True
    if text is not None:
        raise AssertionError(shortened(text))


def enter_gate(
    evaluation: Evaluation,
    metric: Metric,
    detail: Callable[[], Mapping[str, Any]],
    *,
    other: Measured | None = None,
    text: str | None,
    **more: Any,
) -> None:
    """Enter the finding of a metric's gate; if a report is written, also what was measured.

    Args:
        evaluation: what was measured.
        metric: the metric.
        detail: returns what a report shows.
        other: what it was compared with.
        text: why it failed; None if it passed.
        more: further fields of the finding: the mean, the verdict in a word or two, and others.
    """
    shown: dict[str, Any] = {}
    if wants_detail():
        from pytest_rankcheck.reports.measurement_findings import measurement_finding

        measurement = measurement_finding(evaluation, other, [metric])
        enter(measurement)
        shown = {**detail(), "text": text, "measurement": measurement.data["key"]}
    enter(
        GateFinding(
            golden_set=evaluation.golden.name,
            metric=str(metric),
            failed=text is not None,
            detail=shown,
            **more,
        )
    )
