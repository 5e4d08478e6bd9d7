"""What assertions enter in the ledger: the rows of a gate, and the notes of checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import GateFinding, Note, Topic
from pytest_rankcheck.reports.ledger import enter, wanted

if TYPE_CHECKING:
    from pytest_rankcheck.explanation.explanation import Explanation
    from pytest_rankcheck.explanation.gate_numbers import GateNumbers
    from pytest_rankcheck.proof.gate_questions import Question
    from pytest_rankcheck.remedies import Remedy


class EnteredGate(NamedTuple):
    """A metric that an assertion decided on."""

    metric: Metric
    rows: Iterable[GateFinding]
    """What was decided, on all queries first."""
    numbers: Callable[..., GateNumbers]
    """Returns the numbers that a report shows for the row of a ``label``: all of them
    (``in_full``), or only those that Markdown shows for a gate that passed."""
    other: Measured | None = None
    """What it was compared with."""
    fails: bool = False
    remedy: Remedy | None = None
    """How to fix it if it failed."""


def gate_row(evaluation: Evaluation, metric: Metric, label: str = "", **more: Any) -> GateFinding:
    """Return the row of a metric, on all queries or on a slice, with what was decided on it."""
    name, ranker = evaluation.golden.name, evaluation.name
    return GateFinding(golden_set=name, ranker=ranker, metric=str(metric), slice=label, **more)


def conclude(topic: Topic, note: str, explanation: Explanation | None) -> None:
    """Enter the note of a check, and fail with the explanation if there is one.

    Raises:
        AssertionError: with its text.
    """
    enter(Note(topic, note, failure=explanation, is_check=True))
    fail_with(explanation)


def fail_with(explanation: Explanation | None) -> None:
    """Fail with an explanation, if there is one.

    Raises:
        AssertionError: with its text.
    """
    if explanation is not None:
        from pytest_rankcheck.reports.text.failure_text import failure_lines

        lines = failure_lines(explanation, in_full=wanted().evidence)
        raise AssertionError("\n".join(lines))


def enter_question(question: Question) -> None:
    """Enter what the proof asks at the end: what the gates do with harmed copies of the run.

    Nothing is entered without whole rankings, or without a relevant document.
    """
    from pytest_rankcheck.reports.proof_findings import QuestionFinding

    measured = question.evaluation
    if measured.run is not None and measured.golden.columns.has_relevant.any():
        enter(QuestionFinding(question))


def enter_gates(
    evaluation: Evaluation,
    gates: Iterable[EnteredGate],
    explanation: Explanation | None,
    **more: Any,
) -> None:
    """Enter the findings of an assertion; if a report is written, also what was measured.

    Args:
        evaluation: what was measured.
        gates: the metrics.
        explanation: why it failed, kept in the first row that failed; None if it passed.
        more: further fields of each finding.
    """
    told = None
    for gate in gates:
        key = ""
        in_full = wanted().queries or gate.fails
        if wanted().detail:
            from pytest_rankcheck.reports.measurement_findings import measurement_finding

            worst = [each.id for each in explanation.worst] if explanation and gate.fails else ()
            chosen = None if wanted().queries else worst
            measurement = measurement_finding(evaluation, gate.other, [gate.metric], chosen)
            enter(measurement)
            key = measurement.data["key"]
        failed = {**(gate.other.failed if gate.other else {}), **evaluation.failed}
        for row in gate.rows:
            numbers = gate.numbers(label=row.slice, in_full=in_full) if key else None
            given = explanation if row.failed and told is None else None
            told = told or given
            finding = replace(
                row,
                failed_queries=0 if row.slice else len(failed),
                failure=given,
                remedy=gate.remedy if row.failed else None,
                numbers=replace(numbers, measurement=key) if numbers else None,
                **more,
            )
            enter(finding)
