"""What a proof asks: whether the gates, floors and expectations of tests would block a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_rankcheck.behaviour.expectation_check import check_expectations
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.family_decisions import decide_family
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.golden.expectation import Expectation
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
    """The attributes by whose slices these decide."""
    name: str = ""
    """The name of the test that asserts it; of a gate that is only advised, the gate in words."""
    asks_innocents: bool = True
    """Whether an innocent change must pass, too."""


def gate_question(
    evaluation: Evaluation,
    gates: Mapping[Metric, Gate],
    by: str | Sequence[str] | None = None,
    name: str = "",
    *,
    is_strict: bool = False,
) -> Question:
    """Return whether a family of gates blocks, which compares rankings with those before.

    Args:
        evaluation: what was measured.
        gates: the gate of each metric.
        by: an attribute of the queries, or several, by whose slices they decide.
        name: of the question.
        is_strict: whether an inconclusive verdict blocks where a gate says nothing else.
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
    """Return whether a floor or a ceiling of a metric blocks, where it holds now.

    What counts is how far a change moves the value from the one that was measured: an innocent
    change crosses a bound that is too close to it.

    Args:
        evaluation: what was measured.
        metric: the metric.
        bounded: returns what an evaluation has to hold to the bound: all queries, and slices.
        limit: the bound.
        is_floor: whether it is the lowest value, or the highest.
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
    evaluation: Evaluation, golden: GoldenSet, expectations: Sequence[Expectation]
) -> Question:
    """Return whether expectations on single queries block that hold now.

    A swapped copy has half of a harm, which an expectation is meant to see in any query; so it is
    not asked about innocent changes.
    """

    def blocked_by(change: Comparison) -> str:
        sides = (change.evaluation.run, evaluation.run)
        runs = (run for run in sides if run is not None)
        now, then = (check_expectations(run, golden, expectations) for run in runs)
        fails = any(each.fails and not old.fails for each, old in zip(now, then, strict=True))
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
        attributes: those by whose slices they could decide.
        asserted: what tests assert; gates with half of their allowance are among those yielded.
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
