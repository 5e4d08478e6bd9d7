"""The evidence for a verdict: the interval, p, the effect size and the statistical power."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.verdict import Outcome, Verdict
from pytest_rankcheck.reports.text.wording import change
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.sign_flip import has_one_size, sign_flip_test
from pytest_rankcheck.statistics.two_samples import LARGE_SAMPLE
from pytest_rankcheck.statistics.weighted_clusters import effective_count

_MANY = 100
"""From this number of units on, the smallest detectable fall is detected as often as planned."""


def evidence_lines(verdict: Verdict, pairs: ComparedValues) -> Iterator[str]:
    """Yield the evidence in the differences per query.

    If no query changed, the only evidence is how large a fall is ruled out, or is not.
    A positive difference means that the metric rose, even for metrics where lower is better.
    """
    if not pairs.metric.definition.is_mean_of_values:
        return
    if pairs.is_same:
        yield from _ruled_out(verdict, pairs)
        return
    differences = pairs.differences
    low, high = pairs.interval()
    interval = f"95% interval of the difference [{change(low)}, {change(high)}], "
    yield f"  {'' if math.isnan(low) else interval}{_tested(pairs)}"
    yield from _units(pairs)
    yield from _decided(verdict, pairs)
    yield from _ruled_out(verdict, pairs)
    yield from tie_lines(verdict)
    yield from _noise(pairs, differences)
    power = power_text(verdict, pairs)
    if differences.smallest_detectable(verdict.alpha) <= differences.full_range:
        effect = f"effect {differences.effect:+.2f} standard deviations"
        power = f"{effect}; {power}{_needed(verdict, pairs)}"
    if power:
        yield f"  {power}"


def power_text(verdict: Verdict, pairs: ComparedValues) -> str:
    """Return how small a fall would be shown with a power of 80%; empty if that is unknown."""
    differences, units = pairs.differences, _counted_units(pairs)
    detectable = differences.smallest_detectable(verdict.alpha)
    if math.isnan(detectable):
        return ""
    if detectable > differences.full_range:
        return f"with {units}, no possible fall has a power of 80%"
    # The rates are those of docs/reference/calibration.md.
    is_coarse = math.isinf(differences.full_range) or (
        np.count_nonzero(pairs.gains) > 1 and has_one_size(pairs.gains)
    )
    power = "70% to 80%" if is_coarse and pairs.units < _MANY else "about 80%"
    return (
        f"with {units}, power is {power} for a fall of {detectable:.4f} (one-sided t-test, alpha "
        f"{verdict.alpha:g})"
    )


def _tested(pairs: ComparedValues) -> str:
    if isinstance(pairs, Unpaired):
        name = "permutation test" if pairs.units < LARGE_SAMPLE else "Welch's t-test"
        of = "two samples" if pairs.clusters is None else "two samples of clusters"
        return f"p {p_text(pairs.p_of_fall())} ({name} of {of})"
    assert isinstance(pairs, Paired)
    if pairs.noise is not None:
        return f"p {p_text(pairs.p_of_fall())} (Student's t over queries and replicates)"
    test = sign_flip_test(pairs.contributions, pairs.unseen_gain)
    return f"p {p_text(test.p)} (paired sign-flip test)"


def noise_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what the values and the documents are of, where several runs are averaged."""
    if comparison.evaluation.replicates:
        yield "  values are means of the replicates; documents are those of the first"
    is_recorded = isinstance(comparison.other, Record) and comparison.other.metrics
    if is_recorded and (comparison.added or comparison.removed or comparison.changed):
        yield "  the golden set changed: how the baseline's replicates vary is that of its own set"


def _noise(pairs: ComparedValues, differences: Differences) -> Iterator[str]:
    """Yield how much of the interval comes from the runs, such as from retraining."""
    noise = pairs.noise
    if noise is None:
        return
    share = (noise.error / differences.error) ** 2 if differences.error > 0 else 0.0
    before, now = (plural(count, "replicate") for count in (noise.before, noise.now))
    yield (
        f"  retraining, or what else differs between replicates, is {share:.0%} of the variance of "
        f"this interval: standard deviation {noise.deviation:.4f}, {before} in the baseline, {now} "
        "now"
    )


def _units(pairs: ComparedValues) -> Iterator[str]:
    """Yield the number of independent units if it differs from the number of queries."""
    if not isinstance(pairs, Unpaired):
        if pairs.clusters is not None:
            clusters = plural(len(set(pairs.clusters.tolist())), "cluster")
            yield f"  in {clusters} (such as sessions or users), each one independent unit"
        if pairs.weights is not None:
            size = effective_count(pairs.weights)
            queries = pairs.metric.kind.counted(len(pairs.query_ids))
            yield f"  weighted: the effective sample size of {queries} is {size:,.1f}"
        return
    if pairs.clusters is None and pairs.before_clusters is None:
        return
    before, now = pairs.unit_counts
    effect = pairs.design_effect
    times = "" if math.isnan(effect) else f"; the variance is {effect:.1f} times that of sessions"
    then, side = quoted(pairs.sides.before), quoted(pairs.sides.now)
    yield (
        f"  {plural(before, 'cluster')} {then}, {now:,} {side} (such as users), each one "
        f"independent unit{times}"
    )


def tie_lines(verdict: Verdict) -> Iterator[str]:
    """Yield how much the order of tied scores changes the mean, if it does."""
    ties = verdict.ties
    if ties is None:
        return
    scope = f"their top {verdict.metric.cutoff}" if verdict.metric.cutoff else "their rankings"
    queries = plural(ties.queries, "query has", "queries have")
    means = f"{ties.lowest:.4f} to {ties.highest:.4f}"
    if ties.decides:
        means += "; the verdict depends on the order, so break the ties in the ranker"
    yield (
        f"  {queries} tied scores in {scope}: depending on how ties are ordered, "
        f"{verdict.metric}{' of all queries' if verdict.slices else ''} ranges from {means}"
    )


def _decided(verdict: Verdict, pairs: ComparedValues) -> Iterator[str]:
    """Yield the gate and the p value it used, if it is a statistical test.

    Where the test may block more often than stated, the next line says by how much
    (docs/reference/calibration.md).
    """
    decisions = [
        decision
        for decision in (verdict.overall, *verdict.slices)
        if not math.isnan(decision.p) and decision.outcome is not Outcome.NOT_GATED
    ]
    if not decisions:
        return
    least = min(decisions, key=lambda decision: decision.p)
    where = f" in {quoted(least.label)}" if least.label else ""
    corrected = f" (Holm, {verdict.decisions} decisions)" if verdict.decisions > 1 else ""
    yield f"  decided by {verdict.gate}: p {p_text(least.p)} for the fall{where}{corrected}"
    if math.isinf(pairs.differences.full_range):
        yield (
            "  without a known range, such as that of durations, this test blocks up to twice as "
            "many innocent changes as alpha says"
        )


def _ruled_out(verdict: Verdict, pairs: ComparedValues) -> Iterator[str]:
    """Yield how far the mean may have fallen if the margin is not ruled out, or not for all."""
    margin, bound = verdict.margin, pairs.differences.lower_bound(verdict.alpha)
    if margin is None or math.isnan(bound):
        return
    units = _counted_units(pairs)
    if bound > -margin:
        return
    if math.isinf(bound):
        yield (
            f"  {units} without a change rule out no fall: it is unknown how far {verdict.metric} "
            "can fall"
        )
    elif pairs.is_same:
        yield f"  {units} without a change cannot rule out a fall below {-bound:.4f}"
    else:
        level = f"{100 * (1 - verdict.alpha):g}%"
        yield (
            f"  a fall of {-bound:.4f} is not ruled out (one-sided {level} bound, which allows for "
            "a large fall that was not sampled)"
        )


def _counted_units(pairs: ComparedValues) -> str:
    count = pairs.differences.count
    if pairs.clusters is not None:
        return plural(count, "cluster")
    return pairs.metric.kind.counted(count)


def p_text(p: float) -> str:
    """Return ``= 0.0312``, or that p is below what four decimals show."""
    return f"= {p:.4f}" if p >= 0.0001 else "< 0.0001"


def _needed(verdict: Verdict, pairs: ComparedValues) -> str:
    """Return how many units a fall of the margin needs, if these are too few."""
    margin, differences = verdict.margin, pairs.differences
    needed = math.nan if margin is None else differences.needed(margin, verdict.alpha)
    if margin is None or not needed > differences.count or pairs.noise is not None:
        return ""
    low, high = differences.needed_interval(margin, verdict.alpha)
    units = "clusters" if pairs.clusters is not None else pairs.metric.kind.plural
    numbers = needed_text(needed, None if math.isnan(low) else (low, high), f" {units}")
    return f"; a fall of {margin:g} needs {numbers}"


def needed_text(best: float, interval: tuple[float, float] | None, units: str = "") -> str:
    """Return ``265 to 755 queries (best guess 514)``; without an interval, ``about 514 queries``.

    Args:
        best: the estimate.
        interval: its interval; None if unknown.
        units: what is counted, with a space before it.
    """
    if interval is None:
        return f"about {best:,.0f}{units}"
    low, high = interval
    return f"{low:,.0f} to {high:,.0f}{units} (best guess {best:,.0f})"
