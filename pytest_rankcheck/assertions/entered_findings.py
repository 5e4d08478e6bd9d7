"""What assertions enter into the ledger: the rows of a gate, and the notes of checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.errors import plural
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import GateFinding, Note, Topic
from pytest_rankcheck.reports.ledger import enter, wants_detail, wants_evidence, wants_queries
from pytest_rankcheck.reports.text.wording import shortened

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.approval import Approval
    from pytest_rankcheck.explanation.explanation import Explanation
    from pytest_rankcheck.proof.gate_questions import Question
    from pytest_rankcheck.remedies import Remedy


class GateRow(NamedTuple):
    """What was decided on all queries, or on a slice: a row of the reports."""

    label: str
    """The slice as ``attribute=value``; empty for all queries."""
    now: float
    baseline: float | None
    word: str
    """The verdict in a word or two."""
    failed: bool
    approved: tuple[Approval, ...] = ()
    """The reasons on this branch that let it pass."""


def conclude(topic: Topic, note: str, failure: str | None, remedy: Remedy | None = None) -> None:
    """Enter the note of a check, and fail if there is a failure text.

    Raises:
        AssertionError: with that text.
    """
    enter(Note(topic, note, failure=failure, remedy=remedy, is_check=True))
    fail(failure)


def fail_with(explanation: Explanation | None) -> None:
    """Fail with an explanation, if there is one.

    Raises:
        AssertionError: with its text.
    """
    if explanation is not None:
        from pytest_rankcheck.reports.text.failure_text import failure_lines

        lines = failure_lines(explanation, in_full=wants_evidence())
        raise AssertionError("\n".join(lines))


def fail(text: str | None) -> None:
    """Fail with a text, if there is one; what is too long for a terminal is left out.

    Raises:
        AssertionError: with that text.
    """
    if text is not None:
        raise AssertionError(shortened(text))


def enter_question(question: Question) -> None:
    """Enter what can be asked in the end about harmed copies of what was measured.

    Nothing is entered without whole rankings, or without a relevant document.
    """
    from pytest_rankcheck.reports.proof_findings import QuestionFinding

    measured = question.evaluation
    if measured.run is not None and measured.golden.columns.has_relevant.any():
        enter(QuestionFinding(question))


def enter_gate(
    evaluation: Evaluation,
    metric: Metric,
    rows: Iterable[GateRow],
    detail: Callable[..., Mapping[str, Any]],
    *,
    other: Measured | None = None,
    explanation: Explanation | None,
    is_told: bool = False,
    remedy: Remedy | None = None,
    **more: Any,
) -> None:
    """Enter the findings of a metric's gate; if a report is written, also what was measured.

    Args:
        evaluation: what was measured.
        metric: the metric.
        rows: what was decided, on all queries first.
        detail: returns what a report shows of a row, by its label; ``in_full``, or only what
            Markdown shows of a gate that passed.
        other: what it was compared with.
        explanation: why its assertion failed; None if the metric passed.
        is_told: whether another metric's row has it; otherwise the first row that failed has it.
        remedy: what mends it if it failed.
        more: further fields of each finding.
    """
    shown: dict[str, Any] = {}
    in_full = wants_queries() or explanation is not None
    if wants_detail():
        from pytest_rankcheck.reports.measurement_findings import measurement_finding

        worst = [each.id for each in explanation.worst] if explanation else ()
        chosen = None if wants_queries() else worst
        measurement = measurement_finding(evaluation, other, [metric], chosen)
        enter(measurement)
        shown = {"measurement": measurement.data["key"]}
    whole = detail("", in_full=in_full) if shown else {}
    failed = evaluation.failed if other is None else {**other.failed, **evaluation.failed}
    remark = f"; {plural(len(failed), 'query', 'queries')} failed" if failed else ""
    for row in rows:
        known = {**(detail(row.label, in_full=in_full) if row.label and shown else whole), **shown}
        given = explanation if row.failed and shown and not is_told else None
        is_told = is_told or row.failed
        finding = GateFinding(
            golden_set=evaluation.golden.name,
            ranker=evaluation.name,
            metric=str(metric),
            slice=row.label,
            now=row.now,
            baseline=row.baseline,
            verdict=row.word + ("" if row.label else remark),
            failed=row.failed,
            approved=row.approved,
            failure=given,
            remedy=remedy if row.failed else None,
            detail=known,
            **more,
        )
        enter(finding)
