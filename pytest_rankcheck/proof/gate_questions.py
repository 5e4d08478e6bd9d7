"""What a proof asks: whether the gates, floors and expectations of tests would block a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rankcheck.behaviour.expectation_check import ExpectationResult, check_expectations
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.family_decisions import decide_family
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric


@dataclass(frozen=True)
class Question:
    """Whether an assertion would block a change."""

    evaluation: Evaluation
    """What the assertion measured."""
    blocked_by: Callable[[Comparison], str]
    """Returns what blocks a change, such as ``RR[locale=de]``; empty if it passes."""
    metrics: Sequence[Metric] = ()
    """The metrics that it gates."""
    gates: Mapping[Metric, Gate] = field(default_factory=dict)
    """If it compares, the gate of each metric."""
    by: str | Sequence[str] | None = None
    """The attributes whose slices these gate too."""
    name: str = ""
    """The name of the test that asserts it; for a gate that is only advised, the gate in words."""
    asks_innocents: bool = True
    """Whether innocent changes are asked about, too."""


def gate_question(
    evaluation: Evaluation,
    gates: Mapping[Metric, Gate],
    by: str | Sequence[str] | None = None,
    name: str = "",
    *,
    is_strict: bool = False,
) -> Question:
    """Return a question: does a family of gates block a change?

    Args:
        evaluation: what was measured.
        gates: the gate of each metric.
        by: an attribute of the queries, or several, whose slices they gate too.
        name: the name of the question.
        is_strict: whether an inconclusive verdict blocks, unless the gate says otherwise.
    """

    def blocked_by(change: Comparison) -> str:
        verdicts = decide_family(change, gates, by, is_explained=False)
        for metric, verdict in verdicts.items():
            if verdict.loses_answers and verdict.overall.outcome is not Outcome.REGRESSED:
                return "lost answers"
            how = gates[metric].inconclusive or ("fail" if is_strict else "warn")
            if verdict.regressed or (verdict.inconclusive and how == "fail"):
                return _subject(metric, verdict.leading.label)
        return ""

    return Question(evaluation, blocked_by, tuple(gates), gates, by, name)


def bound_question(
    evaluation: Evaluation,
    metric: Metric,
    bounded: Callable[[Any], Iterable[Any]],
    limit: float,
    *,
    is_floor: bool,
) -> Question:
    """Return a question: does a bound that holds now block a change?

    The change is added to the measured value, so an innocent one can cross a bound that is close.

    Args:
        evaluation: what was measured.
        metric: the metric.
        bounded: returns the values of an evaluation that the bound applies to: all queries, slices.
        limit: the bound.
        is_floor: whether the bound is the lowest allowed value, not the highest.
    """

    def blocked_by(change: Comparison) -> str:
        sides = map(bounded, (evaluation, change.other, change.evaluation))
        for own, before, now in zip(*sides, strict=True):
            distance = own.tested + now.tested - before.tested - limit
            is_beyond = not (distance if is_floor else -distance) >= -SLACK
            if own.gated and own.holds and is_beyond:
                return _subject(metric, own.label)
        return ""

    return Question(evaluation, blocked_by, (metric,))


def expectation_question(
    evaluation: Evaluation, golden: GoldenSet, before: Sequence[ExpectationResult]
) -> Question:
    """Return a question: do expectations that hold now block a change?

    It is not asked about innocent changes: a swapped copy contains half of a harm, and an
    expectation is meant to notice harm in any query.

    Args:
        evaluation: what was measured.
        golden: the golden set.
        before: the results of the expectations there.
    """
    expectations = [each.expectation for each in before]

    def blocked_by(change: Comparison) -> str:
        assert change.evaluation.run is not None
        now = check_expectations(change.evaluation.run, golden, expectations)
        fails = any(each.fails and not old.fails for each, old in zip(now, before, strict=True))
        return "expectations" if fails else ""

    return Question(evaluation, blocked_by, asks_innocents=False)


def _subject(metric: Metric, label: str) -> str:
    return f"{metric}[{quoted(label, 60)}]" if label else str(metric)


def usual_questions(
    evaluation: Evaluation,
    probes: Sequence[Metric],
    attributes: Sequence[str],
    asserted: Sequence[Question],
) -> Iterator[Question]:
    """Yield gates that could be added, in the order in which they are advised.

    Args:
        evaluation: what was measured.
        probes: the metrics that they gate.
        attributes: the attributes whose slices they could gate.
        asserted: what tests assert; their gates with half the allowance are among those yielded.
    """
    gate = Gate.significant()
    top = [metric for metric in probes if (metric.cutoff or 0) <= 10]
    deep = [(metric, None) for metric in probes if metric not in top]
    sliced = [(top[0], attribute) for attribute in attributes]
    for metric, by in (*deep, *sliced, *((metric, None) for metric in top)):
        name = f"{metric} by {by}, significant()" if by else f"{metric}, significant()"
        yield gate_question(evaluation, {metric: gate}, by, name)
    for question in asserted:
        for metric, own in question.gates.items():
            rule: Any = own.rule
            halves = {name: getattr(rule, name, 0) / 2 for name in ("abs", "rel", "margin")}
            given = {name: half for name, half in halves.items() if half}
            if given:
                half = replace(own, rule=replace(rule, **given))
                name = f"{metric}, {half.text}"
                yield gate_question(evaluation, {metric: half}, question.by, name)
