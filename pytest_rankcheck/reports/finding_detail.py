"""The details of gates and measurements that reports show, made from what was measured."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.unjudged_documents import unjudged_between
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.verdict import Decision, Verdict
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.findings import (
    DecisionDetail,
    GapDetail,
    GateDetail,
    TieDetail,
    UnjudgedDetail,
)
from pytest_rankcheck.reports.measurement_findings import (
    GoldenSetDetail,
    MeasurementFinding,
    MetricDetail,
    QueryDetail,
    RunDetail,
)
from pytest_rankcheck.reports.text.bound_text import Bound, Bounded
from pytest_rankcheck.statistics.array_types import FloatArray
from pytest_rankcheck.statistics.mean_differences import Differences

__all__ = [
    "bound_detail",
    "measurement_finding",
    "new_detail",
    "rankings_key",
    "rounded",
    "verdict_detail",
]

_TOP = 10
"""How many documents of each ranking a report shows."""


def verdict_detail(
    verdict: Verdict,
    comparison: Comparison,
    *,
    approvals: Sequence[Approval] = (),
    suspicions: Sequence[str] = (),
) -> GateDetail:
    """Return what a report shows of a verdict.

    Args:
        verdict: what the gate decided.
        comparison: what it decided from.
        approvals: why the baseline was allowed to fall, so far.
        suspicions: what makes an improvement look like a leak.
    """
    ties = verdict.ties
    return GateDetail(
        higher_is_better=verdict.metric.higher_is_better,
        gate=verdict.gate,
        outcome=str(verdict.outcome),
        overall=_decision(verdict.overall, verdict),
        slices=tuple(_decision(decision, verdict) for decision in verdict.slices),
        margin=verdict.margin,
        noise=rounded(verdict.overall.pairs.noise),
        gaps=tuple(
            GapDetail(
                gap.lowest.label,
                gap.highest.label,
                rounded(gap.before),
                rounded(gap.now),
                gap in verdict.wide_gaps,
            )
            for gap in verdict.gaps
        ),
        query_drops=tuple(drop.query_id for drop in verdict.query_drops),
        ties=TieDetail(ties.queries, ties.lowest, ties.highest, ties.decides) if ties else None,
        unjudged=_unjudged(verdict, comparison),
        suspicions=tuple(suspicions),
        approvals=tuple(approvals),
    )


def _unjudged(verdict: Verdict, comparison: Comparison) -> UnjudgedDetail:
    unjudged = unjudged_between(comparison.evaluation, comparison.other, verdict.overall.pairs)
    foreign = bool(verdict.metric.definition.ir_measures)
    return UnjudgedDetail(
        unjudged.k,
        unjudged.documents,
        unjudged.judged_before,
        unjudged.judged_after,
        None if foreign else rounded(unjudged.if_irrelevant),
        None if foreign else rounded(unjudged.if_relevant),
    )


def bound_detail(metric: Metric, bound: Bound, parts: Sequence[Bounded]) -> GateDetail:
    """Return what a report shows of a metric with a fixed bound: all queries first, then slices."""
    return GateDetail(
        higher_is_better=metric.higher_is_better,
        gate=bound.words,
        limit=bound.limit,
        outcome="passed" if all(part.holds or not part.gated for part in parts) else "failed",
        overall=_bounded(parts[0]),
        slices=tuple(_bounded(part) for part in parts[1:]),
    )


def new_detail(metric: Metric, evaluation: Evaluation) -> GateDetail:
    """Return what a report shows of a metric that cannot be compared with a baseline."""
    mean = rounded(evaluation.mean(metric))
    return GateDetail(
        higher_is_better=metric.higher_is_better,
        gate="",
        outcome="",
        overall=DecisionDetail(label="", queries=len(evaluation.query_ids), now=mean),
    )


def measurement_finding(
    evaluation: Evaluation, other: Measured | None, metrics: Iterable[MetricLike]
) -> MeasurementFinding:
    """Return the queries of an evaluation, with what they were before if that is known.

    Two measurements with the same ``key`` are of the same rankings.
    """
    golden = evaluation.golden
    now = {query_id: _top(evaluation, query_id) for query_id in evaluation.query_ids}
    before = {
        query_id: _top(other, query_id)
        for query_id in now
        if other is not None and query_id in other.query_fingerprints
    }
    chosen = list(dict.fromkeys(map(Metric.parse, metrics)))
    lines = _Lines(evaluation, other, chosen)
    shown = {doc for tops in (now, before) for top in tops.values() for doc in top}
    rankings = rankings_key(evaluation)
    return MeasurementFinding(
        key=_key(rankings, before),
        rankings=rankings,
        unit="sessions" if evaluation.unit == "session" else "queries",
        golden_set=GoldenSetDetail(
            name=golden.name,
            queries=len(golden),
            judgments=golden.judgment_count,
            fingerprint=golden.fingerprint,
            max_grade=golden.max_grade,
            attributes=tuple(golden.attributes),
        ),
        run=RunDetail(evaluation.name, evaluation.depth),
        conventions=dict(evaluation.conventions.to_dict()),
        metrics={str(metric): _definition(metric) for metric in chosen},
        means={str(metric): lines.means(metric) for metric in chosen},
        missing=tuple(evaluation.missing),
        extra=tuple(evaluation.extra),
        queries=tuple(lines.of(query_id, now[query_id], before.get(query_id)) for query_id in now),
        titles={doc: title for doc in sorted(shown) if (title := golden.title(doc))},
    )


def rankings_key(evaluation: Evaluation) -> str:
    """Return a key that is the same for the same golden set and the same tops of rankings."""
    golden = evaluation.golden
    now = {query_id: _top(evaluation, query_id) for query_id in evaluation.query_ids}
    return _key(golden.name, golden.fingerprint, now)


class _Lines:
    """The queries of a measurement, one line each."""

    def __init__(
        self, evaluation: Evaluation, other: Measured | None, metrics: Sequence[Metric]
    ) -> None:
        self.golden = evaluation.golden
        self.evaluation, self.other = evaluation, other
        self.known = other.query_fingerprints if other else {}
        self.after = {str(metric): _by_query(evaluation, metric) for metric in metrics}
        self.before = {str(metric): _by_query(other, metric) if other else {} for metric in metrics}

    def means(self, metric: Metric) -> tuple[float | None, float | None]:
        """Return the mean before, of the unchanged queries, and the mean now, of all."""
        same = [
            query_id
            for query_id, fingerprint in self.golden.query_fingerprints.items()
            if self.known.get(query_id) == fingerprint
        ]
        now = self.evaluation.mean(metric)
        if self.evaluation.unit == "session":  # of another log: all of its sessions count
            before = metric.mean(_array(self.before[str(metric)].values()))
            return rounded(before), rounded(now)
        comparable = _array([self.before[str(metric)].get(query_id) for query_id in same])
        weights = self.evaluation.weights
        if weights is not None:
            place = {query_id: at for at, query_id in enumerate(self.evaluation.query_ids)}
            weights = weights[[place[query_id] for query_id in same]]
        return rounded(metric.mean(comparable, weights)), rounded(now)

    def of(
        self, query_id: str, now: tuple[str, ...], before: tuple[str, ...] | None
    ) -> QueryDetail:
        """Return a query, given the top of its ranking now and before."""
        query, grades = self.golden.query(query_id), self.golden.grades(query_id)
        fingerprint = self.golden.query_fingerprints[query_id]
        is_same = self.known.get(query_id) == fingerprint
        shown = {*now, *(before or ())}
        return QueryDetail(
            id=query_id,
            text=query.text or "",
            attributes={name: _plain(value) for name, value in query.attributes.items()},
            fingerprint=fingerprint,
            state="unchanged" if is_same else "changed" if query_id in self.known else "new",
            values={
                name: (self.before[name].get(query_id) if is_same else None, values[query_id])
                for name, values in self.after.items()
            },
            judged=round(sum(doc in grades for doc in now) / len(now), 6) if now else None,
            now=now,
            before=before,
            grades={doc: grade for doc, grade in grades.items() if grade > 0 or doc in shown},
        )


def _definition(metric: Metric) -> MetricDetail:
    definition = metric.definition
    low, high = (None if math.isinf(end) else end for end in definition.range)
    return MetricDetail(
        summary=definition.summary,
        reference=definition.reference,
        higher_is_better=definition.higher_is_better,
        range=(low, high),
        parameters={name: _plain(value) for name, value in metric.parameters},
        unjudged=definition.unjudged,
    )


def _decision(decision: Decision, verdict: Verdict) -> DecisionDetail:
    pairs = decision.pairs
    differences = pairs.differences
    return DecisionDetail(
        label=decision.label,
        queries=len(pairs.query_ids),
        paired=pairs.is_paired,
        before=rounded(pairs.mean_before),
        now=rounded(pairs.mean_after),
        difference=rounded(pairs.difference),
        interval=_interval(pairs, differences),
        p=rounded(decision.p),
        effect=rounded(differences.effect),
        detectable=rounded(differences.smallest_detectable(verdict.alpha)),
        wins=pairs.wins,
        ties=pairs.ties,
        losses=pairs.losses,
        allowed=rounded(decision.allowed),
        outcome=str(decision.outcome),
    )


def _interval(pairs: ComparedValues, differences: Differences) -> tuple[float, float] | None:
    """Return the 95% interval of the difference, after minus before; None if there is none."""
    if not pairs.metric.definition.is_mean_of_values:
        return None
    low, high = differences.interval()
    if math.isnan(low):
        return None
    return (low, high) if pairs.metric.higher_is_better else (-high, -low)


def _bounded(part: Bounded) -> DecisionDetail:
    return DecisionDetail(
        label=part.label,
        queries=len(part.places),
        now=rounded(part.mean),
        tested=rounded(part.tested),
        outcome="not gated" if not part.gated else "passed" if part.holds else "failed",
    )


def _array(values: Iterable[float | None]) -> FloatArray:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _by_query(side: Measured, metric: Metric) -> dict[str, float | None]:
    """Return the values of a metric by query; nothing if a record does not have the metric."""
    if side.recorded_metrics is not None and metric not in side.recorded_metrics:
        return {}
    return dict(zip(side.query_ids, map(rounded, side.values(metric).tolist()), strict=True))


def _top(side: Measured, query_id: str) -> tuple[str, ...]:
    return tuple(side.ranking(query_id)[:_TOP])


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:16]


def rounded(value: float | None) -> float | None:
    """Return a number with six decimals, as reports show it; None for NaN and infinity."""
    if value is None or math.isnan(value) or math.isinf(value):
        return None
    return round(float(value), 6) + 0.0


def _plain(value: object) -> object:
    """Return a value as JSON knows it."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    is_plain = value is None or isinstance(value, (str, bool, int))
    if is_plain:
        return value
    return rounded(value) if isinstance(value, float) else str(value)
