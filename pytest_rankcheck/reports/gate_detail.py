"""What reports show of a gate besides its finding: the fields of a gate in the JSON report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.succession import manner_changes
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.explanation.bounds import Bound, Bounded
from pytest_rankcheck.gates.verdict import Decision, Verdict
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import GateFinding, ReportedFinding
from pytest_rankcheck.reports.ledger import wants_detail, wants_queries
from pytest_rankcheck.reports.measurement_findings import as_json, measurement_finding
from pytest_rankcheck.reports.text.wording import bound_text

NOT_REACHED = "not reached"
"""The verdict of a gate whose assertion was not reached."""

Detail = dict[str, Any]


def verdict_detail(
    verdict: Verdict,
    comparison: Comparison,
    approvals: Sequence[Approval] = (),
    *,
    in_full: bool = True,
) -> Detail:
    """Return the detail of a verdict.

    Args:
        verdict: what the gate decided.
        comparison: what it decided from.
        approvals: why the baseline was allowed to fall, so far.
        in_full: whether with intervals and unjudged documents.
    """
    gaps = [
        {
            "lowest": gap.lowest.label,
            "highest": gap.highest.label,
            "before": gap.before,
            "now": gap.now,
            "is_too_wide": gap in verdict.wide_gaps,
        }
        for gap in verdict.gaps
    ]
    return _detail(
        verdict.metric,
        _decision(verdict.overall, verdict, in_full=in_full),
        gate=verdict.gate,
        outcome=verdict.outcome,
        slices=[_decision(decision, verdict, in_full=in_full) for decision in verdict.slices],
        margin=verdict.margin,
        noise=_noise(verdict.overall),
        gaps=gaps,
        query_drops=verdict.query_drops,
        ties=verdict.ties,
        unjudged=_unjudged(verdict, comparison) if in_full else None,
        mixes=verdict.mixes,
        groups=verdict.groups,
        replay=verdict.replay,
        approvals=[_approval(each) for each in approvals],
    )


def _approval(approval: Approval) -> Detail:
    """Return a reason with what it allows, each by its name in the record."""
    sides = ("before", "after", "weight")
    keys = [
        {"name": change.name, **{side: getattr(change, side) for side in sides}}
        for change in approval.keys
    ]
    names = ("reason", "date", "commit", "author")
    return {**{name: getattr(approval, name) for name in names}, "keys": keys}


def _noise(part: Decision) -> float | None:
    """Return the standard deviation of the mean between runs; None without several."""
    return None if part.pairs.noise is None else part.pairs.noise.deviation


def slice_detail(verdict: Verdict, label: str, *, in_full: bool) -> Detail:
    """Return the detail of a slice, which has a row of its own."""
    part = next(each for each in verdict.slices if each.label == label)
    known = {"outcome": part.outcome, "margin": verdict.margin, "noise": _noise(part)}
    decision = _decision(part, verdict, in_full=in_full)
    return _detail(verdict.metric, decision, gate=verdict.gate, **known)


def bound_detail(metric: Metric, bound: Bound, parts: Sequence[Bounded]) -> Detail:
    """Return the detail of a fixed bound on a slice; or on all queries, with the slices after."""
    overall, *slices = (
        _part(
            len(part.places),
            part.mean,
            label=part.label,
            tested=part.tested,
            outcome="not gated" if not part.gated else "passed" if part.holds else "failed",
        )
        for part in parts
    )
    known = {"limit": bound.limit, "outcome": overall["outcome"], "slices": slices}
    return _detail(metric, overall, gate=bound_text(bound), **known)


def new_detail(metric: Metric, evaluation: Evaluation) -> Detail:
    """Return the detail of a metric that cannot be compared with a baseline."""
    return _detail(metric, _part(len(evaluation.query_ids), evaluation.mean(metric)))


def _detail(metric: Metric, overall: Detail, **known: Any) -> Detail:
    """Return a detail; what is not known is empty, or None."""
    none = dict.fromkeys(("limit", "margin", "noise", "ties", "unjudged", "groups", "replay"))
    empty = dict.fromkeys(("slices", "gaps", "query_drops", "mixes", "approvals"), ())
    start = {"higher_is_better": metric.higher_is_better, "gate": "", "outcome": ""}
    detail: Detail = as_json({**start, "overall": overall, **none, **empty, **known})
    return detail


def _part(queries: int, now: float, **known: Any) -> Detail:
    """Return what is known of all queries or of a slice; the rest is None."""
    names = "before difference interval p effect detectable wins ties losses allowed tested"
    unknown = dict.fromkeys(names.split())
    start = {"label": "", "queries": queries, "now": now, "outcome": "", "paired": True}
    return {**start, **unknown, **known}


def _decision(decision: Decision, verdict: Verdict, *, in_full: bool) -> Detail:
    pairs = decision.pairs
    differences = pairs.differences
    interval = pairs.interval() if in_full else (math.nan, math.nan)
    has_interval = pairs.metric.definition.is_mean_of_values and not math.isnan(interval[0])
    counts = {"wins": pairs.wins, "ties": pairs.ties, "losses": pairs.losses}
    return _part(
        len(pairs.query_ids),
        pairs.mean_after,
        label=decision.label,
        outcome=decision.outcome,
        paired=pairs.is_paired,
        before=pairs.mean_before,
        difference=pairs.difference,
        interval=interval if has_interval else None,
        p=decision.p,
        effect=differences.effect,
        detectable=differences.smallest_detectable(verdict.alpha) if in_full else None,
        allowed=decision.allowed,
        **(pairs.metric.kind.for_each(counts) or {}),
    )


def _unjudged(verdict: Verdict, comparison: Comparison) -> Detail:
    """Return the unjudged documents, and what they could change."""
    detail: Detail = as_json(comparison.unjudged_in(verdict.overall.pairs))
    return detail


def unreached_findings(
    baseline: Baseline, evaluation: Evaluation | None
) -> Iterator[ReportedFinding]:
    """Yield the gated metrics of the record that a test has not checked, with recorded values.

    Args:
        baseline: the baseline of a test that stopped: it failed, or was skipped.
        evaluation: what the test would have measured, if it made no check.
    """
    measured = baseline.evaluation or evaluation
    if measured is None:
        return
    with suppress(RankcheckError):  # a baseline that cannot be read has failed the test
        record = baseline.record
        if record is None or record.golden_set.name != measured.golden.name:
            return
        reached = {str(check.metric) for check in baseline.checks}
        for name in record.gated:
            if name not in reached:
                yield from _unreached(baseline, record, measured, Metric.parse(name))


def _unreached(
    baseline: Baseline, record: Record, evaluation: Evaluation, metric: Metric
) -> Iterator[ReportedFinding]:
    """Yield the finding of one metric; if a report is written, also its measurement."""
    before, now = record.mean(metric), evaluation.mean(metric)
    if not [*manner_changes(record, evaluation)]:
        comparison = compare(evaluation, record)
        if comparison.query_ids:
            pairs = comparison.values(metric)
            before, now = pairs.mean_before, pairs.mean_after
    detail: Detail = {}
    if wants_detail():
        chosen = None if wants_queries() else ()
        measurement = measurement_finding(evaluation, record, [metric], chosen)
        yield measurement
        count, difference = len(evaluation.query_ids), now - before
        detail = _detail(
            metric,
            _part(count, now, before=before, difference=difference, outcome=NOT_REACHED),
            gate=record.gate(metric) or "",
            outcome=NOT_REACHED,
            measurement=measurement.data["key"],
        )
    yield GateFinding(
        golden_set=evaluation.golden.name,
        ranker=evaluation.name,
        metric=str(metric),
        now=now,
        baseline=before,
        verdict=NOT_REACHED,
        reached=False,
        baseline_file=str(baseline.place),
        test=baseline.test_id,
        detail=detail,
    )
