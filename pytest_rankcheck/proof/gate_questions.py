"""What a proof asks: whether the gates, floors and expectations of tests would block a change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pytest_rankcheck.behaviour.expectation_check import check_expectations
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate import Gate, decide_family
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric


@dataclass(frozen=True)
class Change:
    """Rankings that were measured before and after a change."""

    now: Evaluation
    before: Evaluation

    @cached_property
    def comparison(self) -> Comparison:
        """Both, paired by query."""
        return compare(self.now, self.before)


@dataclass(frozen=True, kw_only=True)
class Question:
    """Whether an assertion would block a change."""

    evaluation: Evaluation
    """What the assertion measured."""
    blocked_by: Callable[[Change], str]
    """Returns what blocks a change, such as ``RR[locale=de]``; empty if it passes."""
    metrics: Sequence[Metric] = ()
    """The metrics that it gates."""
    gates: Mapping[Metric, Gate] = field(default_factory=dict)
    """If it compares, the gate of each metric."""
    by: str | Sequence[str] | None = None
    """The attributes by whose slices these decide."""
    asks_innocents: bool = True
    """Whether an innocent change must pass, too."""
    name: str = ""
    """The id of the test that asserts it; of a gate that is only advised, the gate in words."""

    @property
    def test(self) -> str:
        """The name of the test that asserts it."""
        return self.name.rpartition("::")[2]


def gate_question(
    evaluation: Evaluation,
    gates: Mapping[Metric, Gate],
    by: str | Sequence[str] | None = None,
    is_strict: bool = False,
    name: str = "",
) -> Question:
    """Return whether a family of gates blocks, which compares rankings with those before.

    Args:
        evaluation: what was measured.
        gates: the gate of each metric.
        by: an attribute of the queries, or several, by whose slices they decide.
        is_strict: whether an inconclusive verdict blocks where a gate says nothing else.
        name: of the question.
    """

    def blocked_by(change: Change) -> str:
        verdicts = decide_family(change.comparison, gates, by, is_explained=False)
        for metric, verdict in verdicts.items():
            if verdict.loses_answers and verdict.overall.outcome is not Outcome.REGRESSED:
                return "lost answers"
            how = gates[metric].inconclusive or ("fail" if is_strict else "warn")
            if verdict.regressed or (verdict.inconclusive and how == "fail"):
                return _subject(metric, verdict.leading.label)
        return ""

    return Question(
        evaluation=evaluation,
        blocked_by=blocked_by,
        metrics=tuple(gates),
        gates=gates,
        by=by,
        name=name,
    )


def bound_question(
    evaluation: Evaluation,
    metric: Metric,
    tested: Callable[[Evaluation], Mapping[str, float]],
    limit: float,
    is_floor: bool,
) -> Question:
    """Return whether a floor or a ceiling of a metric blocks.

    What counts is how far a change moves the value from the one that was measured: an innocent
    change crosses a bound that is too close to it.

    Args:
        evaluation: what was measured.
        metric: the metric.
        tested: returns what is compared with the bound, by slice.
        limit: the bound.
        is_floor: whether it is the lowest value, or the highest.
    """

    def blocked_by(change: Change) -> str:
        own, before, now = map(tested, (evaluation, change.before, change.now))
        for label, value in own.items():
            distance = value + now[label] - before[label] - limit
            if not (distance if is_floor else -distance) >= -SLACK:
                return _subject(metric, label)
        return ""

    return Question(evaluation=evaluation, blocked_by=blocked_by, metrics=(metric,))


def expectation_question(
    evaluation: Evaluation, golden: GoldenSet, expectations: Sequence[Expectation]
) -> Question:
    """Return whether expectations on single queries block that hold now.

    A swapped copy has half of a harm, which an expectation is meant to see in any query; so it is
    not asked about innocent changes.
    """

    def blocked_by(change: Change) -> str:
        runs = [side.run for side in (change.now, change.before) if side.run is not None]
        now, then = (check_expectations(run, golden, expectations) for run in runs)
        fails = any(each.fails and not old.fails for each, old in zip(now, then, strict=True))
        return "expectations" if fails else ""

    return Question(evaluation=evaluation, blocked_by=blocked_by, asks_innocents=False)


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
    deep = [metric for metric in probes if (metric.cutoff or 0) > 10]
    top = [metric for metric in probes if metric not in deep]
    for metric in deep:
        yield gate_question(evaluation, {metric: gate}, name=f"{metric}, significant()")
    for attribute in attributes:
        name = f"{top[0]} by {attribute}, significant()"
        yield gate_question(evaluation, {top[0]: gate}, attribute, name=name)
    for metric in top:
        yield gate_question(evaluation, {metric: gate}, name=f"{metric}, significant()")
    for question in asserted:
        for metric, own in question.gates.items():
            rule: Any = own.rule
            halves = {name: getattr(rule, name, 0) / 2 for name in ("abs", "rel", "margin")}
            given = {name: half for name, half in halves.items() if half}
            if given:
                half = replace(own, rule=replace(rule, **given))
                name = f"{metric}, {half.text}"
                yield gate_question(evaluation, {metric: half}, question.by, name=name)
