"""A check: one metric that a test gates, the state of its record, and the gate's verdict."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.comparison.leak_signs import suspicions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Decision, Verdict
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["Check", "State", "check_of", "incompatibilities"]


class State(StrEnum):
    """How a record relates to what is measured now."""

    NO_RECORD = "no record"
    METRIC_ADDED = "metric added"
    INCOMPARABLE = "not comparable"
    """Measured with another convention or depth."""
    FOREIGN = "another golden set"
    """No query is unchanged since it was recorded."""
    STALE = "golden set changed"
    """Some queries are unchanged."""
    COMPARABLE = "comparable"


@dataclass(frozen=True, slots=True)
class Check:
    """One metric that a test gates: the state of its record and the gate's verdict."""

    metric: Metric
    state: State
    record: Record | None
    comparison: Comparison | None = None
    verdict: Verdict | None = None
    differences: tuple[str, ...] = ()
    """Why the two are not comparable, as text."""
    attributes: tuple[str, ...] = ()
    """The attributes whose slices the test gates."""
    is_granted: bool = False
    """Whether it fails at the reference commit, but a reason on this branch lets it pass."""
    suspicions: tuple[str, ...] = ()
    """Why an improvement looks like a leak of judgments, as sentences."""

    @property
    def fell(self) -> tuple[Decision, ...]:
        """The decisions whose mean is lower than in the record: all queries, or gated slices."""
        return self.verdict.fell if self.verdict else ()

    @property
    def below_best(self) -> float:
        """How far the mean now is below the best that was ever approved, at least 0."""
        if self.verdict is None or self.best is None:
            return 0.0
        below = self.best - self.verdict.overall.pairs.mean_after
        return max(0.0, below if self.metric.higher_is_better else -below)

    @property
    def best(self) -> float | None:
        """The best mean that was ever approved, on the queries that are compared."""
        if self.verdict is None or self.record is None:
            return None
        return self.record.best_for(self.verdict.overall.pairs)

    @property
    def blocked_by_gate(self) -> bool:
        """Whether the gate found a regression."""
        return self.verdict is not None and self.verdict.regressed


def check_of(
    record: Record | None,
    evaluation: Evaluation,
    metric: Metric,
    gate: Gate,
    attributes: tuple[str, ...],
) -> Check:
    """Compare the record with the evaluation, and let the gate decide if it can."""
    gate.refuse_misfit(metric)
    if record is None:
        evaluation.values(metric)  # a metric that does not fit fails now, not when it is written
        for attribute in attributes:
            evaluation.slices(attribute)
        return Check(metric, State.NO_RECORD, None, attributes=attributes)
    differences = incompatibilities(record, evaluation)
    if differences:
        return Check(
            metric, State.INCOMPARABLE, record, differences=differences, attributes=attributes
        )
    comparison = compare(evaluation, record)
    if not comparison.query_ids:
        difference = (
            f"golden set: '{record.golden_name}' ({record.golden_fingerprint}) in the baseline, "
            f"'{evaluation.golden.name}' ({evaluation.golden.fingerprint}) now, without an "
            "unchanged query in common"
        )
        return Check(metric, State.FOREIGN, record, comparison, None, (difference,), attributes)
    if str(metric) not in record.metrics:
        evaluation.values(metric)
        return Check(metric, State.METRIC_ADDED, record, comparison, attributes=attributes)
    # The next log has other sessions; that does not change what is measured on.
    same = not comparison.is_paired or (record.golden_fingerprint == evaluation.golden.fingerprint)
    verdict = gate.decide(comparison, metric, attributes)
    return Check(
        metric,
        State.COMPARABLE if same else State.STALE,
        record,
        comparison,
        verdict,
        attributes=attributes,
        suspicions=suspicions(comparison, verdict.overall.pairs),
    )


def incompatibilities(record: Record, evaluation: Evaluation) -> tuple[str, ...]:
    """Return which conventions differ, and the depth if it does, as text."""
    then, now = record.conventions.to_dict(), evaluation.conventions.to_dict()
    differences = [
        f"{name}: '{then[name]}' in the baseline, '{now[name]}' now"
        for name in now
        if then[name] != now[name]
    ]
    if record.depth != evaluation.depth:
        differences.append(f"depth: {record.depth} in the baseline, {evaluation.depth} now")
    return tuple(differences)
