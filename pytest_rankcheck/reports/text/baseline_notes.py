"""Findings about a baseline after its test: verdicts to look at, and what became of the file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from pytest_rankcheck.baselines.approved_gates import loosened_gates, no_longer_gated
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.metric_check import Check
from pytest_rankcheck.baselines.query_losses import set_changes
from pytest_rankcheck.baselines.slice_changes import SliceChange, slice_changes
from pytest_rankcheck.baselines.update_policy import Settlement
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.baseline_findings import BaselineFinding, MeanChange, SlicesFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.metric_findings import MetricFinding
from pytest_rankcheck.reports.notes import Note, Topic

__all__ = ["baseline_findings", "watched_findings"]

_FLOORS = 3
"""A sensible tolerance, in standard deviations from run to run."""


def baseline_findings(baseline: Baseline, settlement: Settlement) -> Iterator[ReportedFinding]:
    """Yield what must be known of the verdicts on a baseline, and what became of it."""
    if baseline.mode.inconclusive == "warn":
        yield from _inconclusive_notes(baseline)
    yield from _slide_notes(baseline)
    yield from _slices_findings(baseline)
    yield from _noise_floor_notes(baseline)
    yield from _tie_notes(baseline)
    if baseline.mode.suspicious == "warn":
        yield from _suspicion_notes(baseline)
    yield _baseline_finding(baseline, settlement)


def watched_findings(baseline: Baseline) -> Iterator[MetricFinding]:
    """Yield the metrics that a baseline records without gating them."""
    for pairs in baseline.watched():
        yield MetricFinding(
            golden_set=baseline.golden_name,
            metric=str(pairs.metric),
            baseline=pairs.mean_before,
            now=pairs.mean_after,
            best=baseline.record.best_for(pairs) if baseline.record else None,
        )


def _limit_changes(baseline: Baseline) -> tuple[Sequence[str], Sequence[str]]:
    """Return sentences on rankings that are no longer compared, and on loosened limits."""
    record, limits = baseline.record, [check.limits for check in baseline.ranking_checks]
    if record is None or not record.stability:
        return (), ()
    from pytest_rankcheck.baselines.approved_limits import loosened_texts, uncompared

    return uncompared(limits, record), loosened_texts(limits, record)


def _baseline_finding(baseline: Baseline, settlement: Settlement) -> BaselineFinding:
    checks, ranking_checks, record = baseline.checks, baseline.ranking_checks, baseline.record
    comparison = next((check.comparison for check in checks if check.comparison), None)
    overlap = comparison if comparison is not None and comparison.is_paired else None
    gone, looser = _limit_changes(baseline)
    return BaselineFinding(
        test=baseline.test_id,
        file=baseline.shown_path,
        golden_set=baseline.golden_name,
        action=settlement.action,
        can_be_raised=any(check.is_better for check in checks)
        and not any(check.fell for check in checks),
        means=tuple(_mean_changes(baseline, baseline.evaluation)) if baseline.evaluation else (),
        changed_rankings=max((check.changed for check in ranking_checks), default=None),
        has_record=record is not None,
        reason=baseline.mode.approval,
        is_written=baseline.next_record is not None,
        is_within_noise=bool(settlement.within_noise) and not settlement.fell,
        no_longer_gated=(*no_longer_gated(checks, record), *gone) if record else (),
        looser_gates=(*loosened_gates(checks, record), *looser) if record else (),
        added=len(overlap.added) if overlap else 0,
        removed=len(overlap.removed) if overlap else 0,
        edited=len(overlap.changed) if overlap else 0,
    )


def _mean_changes(baseline: Baseline, evaluation: Evaluation) -> Iterator[MeanChange]:
    """Yield the means of each gated metric: as recorded, if the baseline was written."""
    checks: dict[Metric, Check] = {}
    for check in baseline.checks:
        checks.setdefault(check.metric, check)
    before, after = baseline.record, baseline.next_record
    for metric, check in checks.items():
        if check.verdict is None or before is None or check.comparison is None:
            now = after.mean(metric) if after else evaluation.mean(metric)
            yield MeanChange(str(metric), None, now)
        elif after is None:
            pairs = check.verdict.overall.pairs
            yield MeanChange(str(metric), pairs.mean_before, pairs.mean_after)
        else:
            moved = set_changes(before, check.comparison).get(str(metric))
            yield MeanChange(str(metric), before.mean(metric), after.mean(metric), moved)


def _inconclusive_notes(baseline: Baseline) -> Iterator[Note]:
    for check in baseline.checks:
        if check.verdict is None or not check.verdict.inconclusive or check.comparison is None:
            continue
        from pytest_rankcheck.reports.text.blocked_text import regression_text
        from pytest_rankcheck.reports.text.evidence_text import evidence_lines
        from pytest_rankcheck.reports.text.explanation_text import explanation_lines

        headline = regression_text(check.verdict, check.comparison).partition("\n")[0]
        evidence = evidence_lines(check.verdict, check.verdict.overall.pairs)
        text = "; ".join((headline, *(line.strip() for line in evidence)))
        start = quoted(baseline.test_id, 200)
        yield Note(Topic.INCONCLUSIVE, f"{start}: {text}")
        for line in explanation_lines(check.verdict):
            yield Note(Topic.INCONCLUSIVE, f"{start}: {check.metric} is {line.strip()}")


def _slices_findings(baseline: Baseline) -> Iterator[SlicesFinding]:
    """Yield which slices appeared or vanished, and which configured ones do not exist."""
    golden = baseline.evaluation.golden if baseline.evaluation else None
    checks = baseline.checks
    changes: list[SliceChange] = []
    if golden is not None:
        changes += [change for check in checks for change in slice_changes(check, golden)]
    absent = tuple(baseline.absent_slices)
    if changes or absent:
        unique = tuple(dict.fromkeys(changes))
        yield SlicesFinding(baseline.test_id, baseline.golden_name, unique, absent)


def _noise_floor_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield the fixed tolerances that are smaller than the noise of the metric."""
    for verdict in (check.verdict for check in baseline.checks if check.verdict):
        overall = verdict.overall
        noise = overall.pairs.noise
        if math.isnan(overall.p) and noise > overall.allowed:
            yield Note(
                Topic.NOISE_FLOOR,
                f"{quoted(baseline.test_id, 200)}: {verdict.metric} may fall by "
                f"{overall.allowed:.4f}, but varies by {noise:.4f} (standard deviation) from run "
                f"to run; use abs={_rounded_up(_FLOORS * noise)} or Gate.tolerance(noise="
                f"{_FLOORS})",
            )


_TRIVIAL_TIES = 0.001
"""Under a gate that allows no fall, ties that move a mean by less decide too, but say nothing."""


def _tie_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield the verdicts that depend on the order of tied scores."""
    for verdict in (check.verdict for check in baseline.checks if check.verdict):
        ties = verdict.ties
        if ties and ties.decides and ties.highest - ties.lowest >= _TRIVIAL_TIES:
            from pytest_rankcheck.reports.text.evidence_text import tie_lines

            for line in tie_lines(verdict):
                note = f"{quoted(baseline.test_id, 200)}: {line.strip()}"
                yield Note(Topic.TIES, note)


def _slide_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield the means that have slid, and why the guard is off if it is."""
    for check in baseline.checks:
        if check.slide is None:
            continue
        from pytest_rankcheck.reports.text.slide_text import (
            slide_headline,
            slide_lines,
            slide_off_text,
        )

        if check.slides:
            text = "; ".join((slide_headline(check), *slide_lines(check)))
            note = f"{quoted(baseline.test_id, 200)}: {check.metric}: {text}"
            yield Note(Topic.SLIDE, note)
        elif check.slide.slide is None:
            yield Note(Topic.SLIDE_OFF, slide_off_text(check.slide.why_unknown))


def _suspicion_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield the improvements that look like a leak."""
    for check in baseline.checks:
        for text in check.suspicions:
            yield Note(Topic.SUSPICIOUS, f"{quoted(baseline.test_id, 200)}: {text}")


def _rounded_up(value: float) -> str:
    """Return ``value`` rounded up to one significant digit."""
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit - 1e-9) * unit:.10g}"
