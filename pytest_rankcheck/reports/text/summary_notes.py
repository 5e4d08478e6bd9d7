"""Notes of the summary, below its table: on baselines, golden sets and runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.metric_check import Check, dropped_slices, slice_changes
from pytest_rankcheck.baselines.update_actions import Action
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import MIN_QUERIES
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import (
    BaselineFinding,
    MeanChange,
    MetricFinding,
    Note,
    ReportedFinding,
    Topic,
)
from pytest_rankcheck.reports.text.blocked_text import regression_text
from pytest_rankcheck.reports.text.evidence_text import evidence_lines, tie_lines
from pytest_rankcheck.reports.text.wording import duration, number_text

__all__ = [
    "baseline_findings",
    "evaluation_notes",
    "noise_notes",
    "timing_notes",
    "watched_findings",
]

_TINY = 0.1
"""An effective sample size below this share of the queries causes a warning."""
_FLOORS = 3
"""A sensible tolerance, in standard deviations from run to run."""
_SLOWEST = 3
_HOPELESS = ("no-judgment", "only-expectations", "no-relevant")
"""Lint findings without which a mean is misread; the others are for ``--rankcheck-lint``."""


def baseline_findings(baseline: Baseline, action: Action) -> Iterator[ReportedFinding]:
    """Yield what must be known of the verdicts on a baseline, and what became of it."""
    if baseline.mode.inconclusive == "warn":
        yield from _inconclusive_notes(baseline)
    yield from _slice_notes(baseline)
    yield from _noise_floor_notes(baseline)
    yield from _tie_notes(baseline)
    if baseline.mode.suspicious == "warn":
        yield from _suspicion_notes(baseline)
    yield _baseline_finding(baseline, action)


def _baseline_finding(baseline: Baseline, action: Action) -> BaselineFinding:
    checks, ranking_checks, record = baseline.checks, baseline.ranking_checks, baseline.record
    better = any(check.verdict and check.verdict.outcome is Outcome.BETTER for check in checks)
    gated = {str(check.metric) for check in checks}
    return BaselineFinding(
        test=baseline.test_id,
        file=baseline.shown_path,
        golden_set=baseline.golden_name,
        action=action,
        can_be_raised=better and not any(check.fell for check in checks),
        means=tuple(_mean_changes(baseline, baseline.evaluation)) if baseline.evaluation else (),
        changed_rankings=max((check.changed for check in ranking_checks), default=None),
        has_record=record is not None,
        reason=baseline.mode.approval,
        no_longer_gated=tuple(
            name for name in (record.gated if record else ()) if name not in gated
        ),
    )


def _mean_changes(baseline: Baseline, evaluation: Evaluation) -> Iterator[MeanChange]:
    """Yield the means of each gated metric; the first check of a metric counts."""
    checks: dict[Metric, Check] = {}
    for check in baseline.checks:
        checks.setdefault(check.metric, check)
    for metric, check in checks.items():
        if check.verdict is None:
            yield MeanChange(str(metric), None, evaluation.mean(metric))
        else:
            pairs = check.verdict.overall.pairs
            yield MeanChange(str(metric), pairs.mean_before, pairs.mean_after)


def _slice_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield which slices appeared or vanished, and which configured ones do not exist."""
    golden = baseline.evaluation.golden if baseline.evaluation else None
    if golden is not None:
        texts = [text for check in baseline.checks for text in slice_changes(check, golden)]
        for text in dict.fromkeys([*texts, *dropped_slices(baseline.checks)]):
            yield Note(Topic.SLICES, f"{quoted(baseline.test_id, 200)}: {text}")
    for attribute in baseline.absent_slices:
        yield Note(
            Topic.SLICES,
            f"golden set '{quoted(baseline.golden_name)}' has no attribute "
            f"'{quoted(attribute)}', which rankcheck_slices names",
        )


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


def _tie_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield the verdicts that depend on the order of tied scores."""
    for verdict in (check.verdict for check in baseline.checks if check.verdict):
        if verdict.ties and verdict.ties.decides:
            for line in tie_lines(verdict):
                note = f"{quoted(baseline.test_id, 200)}: {line.strip()}"
                yield Note(Topic.TIES, note)


def _suspicion_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield the improvements that look like a leak."""
    for check in baseline.checks:
        for text in check.suspicions:
            yield Note(Topic.SUSPICIOUS, f"{quoted(baseline.test_id, 200)}: {text}")


def _rounded_up(value: float) -> str:
    """Return ``value`` rounded up to one significant digit."""
    unit = 10.0 ** math.floor(math.log10(value))
    return f"{math.ceil(value / unit - 1e-9) * unit:.10g}"


def _inconclusive_notes(baseline: Baseline) -> Iterator[Note]:
    for check in baseline.checks:
        if check.verdict is None or not check.verdict.inconclusive or check.comparison is None:
            continue
        headline = regression_text(check.verdict, check.comparison).partition("\n")[0]
        evidence = evidence_lines(check.verdict, check.verdict.overall.pairs)
        text = "; ".join((headline, *(line.strip() for line in evidence)))
        yield Note(Topic.INCONCLUSIVE, f"{quoted(baseline.test_id, 200)}: {text}")


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


def evaluation_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield what a reader of the means must know about the golden set and the run."""
    name = quoted(evaluation.golden.name)
    if evaluation.unit == "session":
        for text in evaluation.notes:
            yield Note(Topic.MEASURED, f"session log '{name}': {text}")
        return
    yield from _weight_notes(evaluation)
    for finding in evaluation.golden.lint(rules=_HOPELESS):
        yield Note(Topic.MEASURED, f"golden set '{name}': {finding.message}")
    if evaluation.missing:
        count = plural(len(evaluation.missing), "judged query is", "judged queries are")
        yield Note(
            Topic.MEASURED,
            f"golden set '{name}': {count} not in the run and counted as empty rankings: "
            f"{listed(evaluation.missing)}",
        )
    if evaluation.extra:
        count = plural(len(evaluation.extra), "query", "queries")
        verbs = ("has", "was") if len(evaluation.extra) == 1 else ("have", "were")
        yield Note(
            Topic.MEASURED,
            f"golden set '{name}': {count} of the run {verbs[0]} no judgments and {verbs[1]} "
            f"not measured: {listed(evaluation.extra)}",
        )


def _weight_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield the effective sample size, if queries have different weights."""
    golden = evaluation.golden
    if golden.weights is None:
        return
    size = golden.effective_size
    queries = plural(len(golden), "weighted query", "weighted queries")
    warning = ""
    if size < MIN_QUERIES or size < _TINY * len(golden):
        warning = (
            ", too small for a reliable mean: few selections carry most of the weight; replay a "
            "longer log, or clip more"
        )
    text = f"the effective sample size of {queries} is {size:,.1f}{warning}"
    yield Note(Topic.MEASURED, f"golden set '{quoted(golden.name)}': {text}")


def timing_notes(evaluation: Evaluation) -> Iterator[Note]:
    """Yield how long the ranker took for a query, if it ran in this test session."""
    seconds = evaluation.run.seconds if evaluation.run else {}
    times = sorted(value for value in seconds.values() if not math.isnan(value))
    if not times:
        return
    slowest = sorted(seconds, key=lambda query_id: -seconds[query_id])[:_SLOWEST]
    slowest_text = ", ".join(
        f"{quoted(query_id, 40)} {duration(seconds[query_id])}" for query_id in slowest
    )
    middle, late = (duration(_quantile(times, share)) for share in (0.5, 0.95))
    yield Note(
        Topic.TIMING,
        f"golden set '{quoted(evaluation.golden.name)}': p50 {middle}, p95 {late}; "
        f"slowest {slowest_text}",
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest time that this share of the queries does not exceed."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def noise_notes(evaluation: Evaluation, metrics: Iterable[str]) -> Iterator[Note]:
    """Yield how much metrics vary from run to run, and which rankings changed."""
    if not evaluation.repeats:
        return
    runs = 1 + len(evaluation.repeats)
    name = quoted(evaluation.golden.name)
    changed = evaluation.unstable
    if not changed:
        yield Note(Topic.REPEATS, f"golden set '{name}': all rankings are the same", str(runs))
        return
    of = plural(len(evaluation.query_ids), "query", "queries")
    yield Note(
        Topic.REPEATS,
        f"golden set '{name}': the ranker is not deterministic: {len(changed):,} of {of} "
        f"{'is' if len(changed) == 1 else 'are'} ranked differently ({listed(changed)})",
        str(runs),
    )
    for metric in metrics:
        means = [repeat.mean(metric) for repeat in (evaluation, *evaluation.repeats)]
        yield Note(
            Topic.REPEATS,
            f"golden set '{name}': {metric} has a standard deviation of "
            f"{number_text(evaluation.noise(metric), 6)}, from {number_text(min(means))} to "
            f"{number_text(max(means))}",
            str(runs),
        )
