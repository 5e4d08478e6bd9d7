"""What a report shows of a gate and of a measurement, in built-in types.

It travels from the test to the report, with pytest-xdist from the worker to the controller, and is
what the JSON report has; ``report.schema.json`` beside this module describes it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.unjudged_documents import unjudged_between
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.verdict import Decision, Verdict
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.judging_list import to_judge
from pytest_rankcheck.reports.text.bound_text import Bound, Bounded
from pytest_rankcheck.statistics.array_types import FloatArray
from pytest_rankcheck.statistics.mean_differences import Differences

__all__ = [
    "Detail",
    "bound_detail",
    "measurement_detail",
    "new_detail",
    "plain_number",
    "rankings_key",
    "unjudged_detail",
    "verdict_detail",
]

Detail = dict[str, Any]

_TOP = 10
"""How many documents of each ranking a report shows."""


def verdict_detail(
    verdict: Verdict,
    comparison: Comparison,
    *,
    approvals: Sequence[Approval] = (),
    suspicions: Sequence[str] = (),
    best: float | None = None,
) -> Detail:
    """Return what a report shows of a verdict.

    Args:
        verdict: what the gate decided.
        comparison: what it decided from.
        approvals: why the baseline was allowed to fall, so far.
        suspicions: what makes an improvement look like a leak.
        best: the best mean that was ever approved.
    """
    overall = verdict.overall
    unjudged = unjudged_between(comparison.evaluation, comparison.other, overall.pairs)
    foreign = bool(verdict.metric.definition.foreign)
    return {
        **_metric(verdict.metric),
        "gate": verdict.gate,
        "outcome": str(verdict.outcome),
        "margin": verdict.margin,
        "best": plain_number(best),
        "noise": plain_number(overall.pairs.noise),
        "overall": _decision(overall, verdict),
        "slices": [_decision(decision, verdict) for decision in verdict.slices],
        "gaps": [
            {
                "lowest": gap.lowest.label,
                "highest": gap.highest.label,
                "before": plain_number(gap.before),
                "now": plain_number(gap.now),
                "is_too_wide": gap in verdict.wide_gaps,
            }
            for gap in verdict.gaps
        ],
        "query_drops": [drop.query_id for drop in verdict.query_drops],
        "ties": None
        if verdict.ties is None
        else {
            "queries": verdict.ties.queries,
            "least": verdict.ties.least,
            "greatest": verdict.ties.greatest,
            "decides": verdict.ties.decides,
        },
        "unjudged": {
            "k": unjudged.k,
            "documents": unjudged.documents,
            "judged_before": unjudged.judged_before,
            "judged_now": unjudged.judged_after,
            "if_irrelevant": None if foreign else plain_number(unjudged.if_irrelevant),
            "if_relevant": None if foreign else plain_number(unjudged.if_relevant),
        },
        "suspicions": list(suspicions),
        "approvals": [approval.to_dict() for approval in approvals],
    }


def bound_detail(metric: Metric, bound: Bound, found: Sequence[Bounded]) -> Detail:
    """Return what a report shows of a metric held to a fixed bound."""
    return {
        **_metric(metric),
        "gate": bound.words,
        "limit": bound.limit,
        "outcome": "passed" if all(one.holds or not one.gated for one in found) else "failed",
        "overall": _bounded(found[0]),
        "slices": [_bounded(one) for one in found[1:]],
    }


def new_detail(metric: Metric, evaluation: Evaluation) -> Detail:
    """Return what a report shows of a metric that cannot be compared with a baseline."""
    return {
        **_metric(metric),
        "gate": "",
        "outcome": "",
        "overall": {
            "label": "",
            "queries": len(evaluation.query_ids),
            "now": plain_number(evaluation.mean(metric)),
        },
        "slices": [],
    }


def measurement_detail(
    evaluation: Evaluation, other: Measured | None, metrics: Iterable[MetricLike]
) -> Detail:
    """Return the queries of an evaluation, with what they were before where that is known.

    Two measurements with the same ``key`` are of the same rankings.
    """
    golden = evaluation.golden
    now = {query_id: _top(evaluation, query_id) for query_id in evaluation.query_ids}
    known = other.query_fingerprints if other else {}
    before = {query_id: _top(other, query_id) for query_id in now if query_id in known and other}
    chosen = list(dict.fromkeys(map(Metric.parse, metrics)))
    lines = _Lines(evaluation, other, chosen)
    queries = [lines.of(query_id, now[query_id], before.get(query_id)) for query_id in now]
    shown = {doc for tops in (now, before) for top in tops.values() for doc in top}
    of_ranker = rankings_key(evaluation)
    return {
        "key": _key(of_ranker, before),
        "rankings": of_ranker,
        "unit": "sessions" if evaluation.unit == "session" else "queries",
        "golden_set": {
            "name": golden.name,
            "queries": len(golden),
            "judgments": golden.judgment_count,
            "fingerprint": golden.fingerprint,
            "max_grade": golden.max_grade,
            "attributes": list(golden.attributes),
        },
        "run": {"name": evaluation.name, "depth": evaluation.depth},
        "conventions": evaluation.conventions.to_dict(),
        "metrics": {str(metric): _definition(metric) for metric in chosen},
        "means": {str(metric): lines.means(metric) for metric in chosen},
        "missing": list(evaluation.missing),
        "extra": list(evaluation.extra),
        "queries": queries,
        "titles": {doc: title for doc in sorted(shown) if (title := golden.title(doc))},
    }


def rankings_key(evaluation: Evaluation) -> str:
    """Return a key that is the same for the same golden set and the same tops of rankings."""
    golden = evaluation.golden
    now = {query_id: _top(evaluation, query_id) for query_id in evaluation.query_ids}
    return _key(golden.name, golden.fingerprint, now)


class _Lines:
    """The lines of a measurement's queries."""

    def __init__(
        self, evaluation: Evaluation, other: Measured | None, metrics: Sequence[Metric]
    ) -> None:
        self.golden = evaluation.golden
        self.evaluation, self.other = evaluation, other
        self.known = other.query_fingerprints if other else {}
        self.after = {str(metric): _by_query(evaluation, metric) for metric in metrics}
        self.before = {str(metric): _by_query(other, metric) if other else {} for metric in metrics}

    def means(self, metric: Metric) -> list[float | None]:
        """Return the mean before, of the unchanged queries, and the mean now, of all."""
        same = [
            query_id
            for query_id, fingerprint in self.golden.query_fingerprints.items()
            if self.known.get(query_id) == fingerprint
        ]
        now = self.evaluation.mean(metric)
        if self.evaluation.unit == "session":  # of another log: all of its sessions count
            before = metric.mean(_array(self.before[str(metric)].values()))
            return [plain_number(before), plain_number(now)]
        comparable = _array([self.before[str(metric)].get(query_id) for query_id in same])
        weights = self.evaluation.weights
        if weights is not None:
            place = {query_id: at for at, query_id in enumerate(self.evaluation.query_ids)}
            weights = weights[[place[query_id] for query_id in same]]
        return [plain_number(metric.mean(comparable, weights)), plain_number(now)]

    def of(self, query_id: str, now: Sequence[str], before: Sequence[str] | None) -> Detail:
        """Return the line of a query, given the top of its ranking now and before."""
        query, grades = self.golden.query(query_id), self.golden.grades(query_id)
        fingerprint = self.golden.query_fingerprints[query_id]
        is_same = self.known.get(query_id) == fingerprint
        shown = {*now, *(before or ())}
        return {
            "id": query_id,
            "text": query.text or "",
            "attributes": {name: _plain(value) for name, value in query.attributes.items()},
            "fingerprint": fingerprint,
            "state": "unchanged" if is_same else "changed" if query_id in self.known else "new",
            "values": {
                name: [self.before[name].get(query_id) if is_same else None, values[query_id]]
                for name, values in self.after.items()
            },
            "judged": round(sum(doc in grades for doc in now) / len(now), 6) if now else None,
            "now": list(now),
            "before": None if before is None else list(before),
            "grades": {doc: grade for doc, grade in grades.items() if grade > 0 or doc in shown},
        }


def unjudged_detail(evaluation: Evaluation, metrics: Iterable[MetricLike]) -> list[Detail]:
    """Return the unjudged documents at the top, most influential first."""
    chosen = list(dict.fromkeys(map(Metric.parse, metrics))) or [Metric.parse("nDCG@10")]
    return [
        {**asdict(one), "golden_set": evaluation.golden.name}
        for one in to_judge(evaluation, chosen)
    ]


def _metric(metric: Metric) -> Detail:
    return {"metric": str(metric), "higher_is_better": metric.higher_is_better}


def _definition(metric: Metric) -> Detail:
    found = metric.definition
    return {
        "summary": found.summary,
        "reference": found.reference,
        "higher_is_better": found.higher_is_better,
        "range": [None if math.isinf(end) else end for end in found.range],
        "parameters": {name: _plain(value) for name, value in metric.parameters},
        "unjudged": found.unjudged,
    }


def _decision(decision: Decision, verdict: Verdict) -> Detail:
    pairs = decision.pairs
    found = pairs.differences
    return {
        "label": decision.label,
        "queries": len(pairs.query_ids),
        "paired": pairs.is_paired,
        "before": plain_number(pairs.mean_before),
        "now": plain_number(pairs.mean_after),
        "difference": plain_number(pairs.difference),
        "interval": _interval(pairs, found),
        "p": plain_number(decision.p),
        "effect": plain_number(found.effect),
        "detectable": plain_number(found.smallest_detectable(verdict.alpha)),
        "wins": pairs.wins,
        "ties": pairs.ties,
        "losses": pairs.losses,
        "allowed": plain_number(decision.allowed),
        "outcome": str(decision.outcome),
    }


def _interval(pairs: ComparedValues, found: Differences) -> list[float] | None:
    """Return the 95% interval of the difference, after minus before; None where there is none."""
    if not pairs.metric.definition.is_mean_of_values:
        return None
    low, high = found.interval()
    if math.isnan(low):
        return None
    return [low, high] if pairs.metric.higher_is_better else [-high, -low]


def _bounded(bounded: Bounded) -> Detail:
    return {
        "label": bounded.label,
        "queries": len(bounded.places),
        "now": plain_number(bounded.mean),
        "tested": plain_number(bounded.tested),
        "outcome": "not gated" if not bounded.gated else "passed" if bounded.holds else "failed",
    }


def _array(values: Iterable[float | None]) -> FloatArray:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _by_query(side: Measured, metric: Metric) -> dict[str, float | None]:
    """Return the values of a metric by query; none of a record that does not have it."""
    names = getattr(side, "metrics", None)
    if names is not None and str(metric) not in names:
        return {}
    return dict(zip(side.query_ids, map(plain_number, side.values(metric).tolist()), strict=True))


def _top(side: Measured, query_id: str) -> tuple[str, ...]:
    return tuple(side.ranking(query_id)[:_TOP])


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:16]


def plain_number(value: float | None) -> float | None:
    """Return a number as a file has it: six decimals, None for NaN."""
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
    return plain_number(value) if isinstance(value, float) else str(value)
