"""Notes on a baseline after its test: verdicts to look at, and what happened to the file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.families import larger_families
from pytest_rankcheck.baselines.golden_changes import lost_text, set_changes, slice_changes
from pytest_rankcheck.baselines.metric_check import MetricCheck
from pytest_rankcheck.baselines.policy import Action, Settlement
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.recorded_metric import as_decimal
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.findings import (
    MetricFinding,
    Note,
    ReportedFinding,
    Topic,
    WrittenFinding,
)
from pytest_rankcheck.reports.text.wording import change, number_text

_POWER = 0.8
_TRIVIAL_TIES = 0.001
"""Ties that move a mean by less are not noted, though they decide if a gate allows no fall."""


def baseline_notes(baseline: Baseline, settlement: Settlement) -> Iterator[ReportedFinding]:
    """Yield what must be known about the verdicts on a baseline and the fate of its file."""
    evaluation = baseline.evaluation
    assert evaluation is not None  # of a test that made a check
    notes = *_of_verdicts(baseline, evaluation), *_outcome(baseline, evaluation, settlement)
    for topic, text in notes:
        yield Note(topic, f"{quoted(baseline.test_id, 200)}: {text}")
    for attribute in baseline.defaults.slices:
        if attribute not in evaluation.golden.attributes:
            yield Note(
                Topic.SLICES,
                f"golden set '{quoted(baseline.golden_name)}' has no attribute "
                f"'{quoted(attribute)}', which rankcheck_slices names",
            )
    if settlement.action.writes:
        yield WrittenFinding(baseline.place.file)


def watched_findings(baseline: Baseline) -> Iterator[MetricFinding]:
    """Yield the metrics that a baseline records without gating them."""
    for pairs in baseline.watched():
        yield MetricFinding(
            golden_set=baseline.golden_name,
            ranker=baseline.evaluation.name if baseline.evaluation else "",
            metric=str(pairs.metric),
            baseline=pairs.mean_before,
            now=pairs.mean_after,
            test=baseline.test_id,
        )


def _of_verdicts(baseline: Baseline, evaluation: Evaluation) -> Iterator[tuple[Topic, str]]:
    """Yield the inconclusive verdicts, and the slices, noise and ties that verdicts depend on."""
    # The metrics of an assertion are about the same queries.
    assertions = {(id(each.comparison), each.attributes): each for each in baseline.checks}
    texts = (
        text
        for check in assertions.values()
        for text in slice_changes(check.record, check.attributes, check.comparison)
    )
    yield from ((Topic.SLICES, text) for text in dict.fromkeys(texts))
    for check in baseline.checks:
        verdict = check.verdict
        if verdict is None:
            continue
        overall, noise, ties = verdict.overall, verdict.overall.pairs.noise, verdict.ties
        if check.gate.inconclusive == "warn" and verdict.inconclusive:
            from pytest_rankcheck.reports.text.verdict_notes import inconclusive_text

            yield Topic.INCONCLUSIVE, inconclusive_text(verdict, evaluation)
        if math.isnan(overall.p) and noise is not None and noise.error > overall.allowed:
            allowed = f"may get worse by {overall.allowed:.4f}, but its difference {noise.spread}"
            yield Topic.NOISE_FLOOR, f"{verdict.metric} {allowed}; use Gate.tolerance(noise=3)"
        if ties and ties.decides and ties.highest - ties.lowest >= _TRIVIAL_TIES:
            from pytest_rankcheck.reports.text.evidence_text import ties_text

            yield Topic.TIES, ties_text(verdict.metric, ties, has_slices=bool(verdict.slices))


def _outcome(
    baseline: Baseline, evaluation: Evaluation, settlement: Settlement
) -> Iterator[tuple[Topic, str]]:
    """Yield what happened to the file of a test that passed, or what could happen."""
    action, reason = settlement.action, baseline.mode.approval
    changes = list(_mean_changes(baseline, evaluation))
    texts = [each.text for each in changes if each.is_change]
    if changes and not texts:
        texts = ["values unchanged"]
    if baseline.ranking_checks:
        changed = max(check.changed for check in baseline.ranking_checks)
        is_new = baseline.record is None
        texts.append("rankings new" if is_new else f"{plural(changed, 'ranking')} changed")
    means = "; ".join(texts)
    if reason is not None and action is Action.LEAVE:
        yield Topic.UNUSED_APPROVAL, f"the baseline equals what is measured; {means}"
    golden_change = golden_change_text(baseline, changes)
    if golden_change:
        yield Topic.GOLDEN_CHANGE, golden_change
    yield from _less_strict(baseline)
    checks = baseline.all_checks
    is_uncertain_gain = any(c.rise for c in checks) and not any(c.fell for c in checks)
    if settlement.raised is not None:
        yield Topic.CAN_BE_RAISED, "; ".join(_raised(baseline, settlement.raised))
    elif action is Action.KEEP:
        measured = "; ".join(each.text for each in _measured(baseline) if each.is_change)
        yield Topic.KEPT, f"{measured or means}; {_why_kept(baseline)}"
    elif action is Action.LEAVE and reason is None and is_uncertain_gain:
        yield Topic.UNCERTAIN_GAINS, f"{means}; {_why_kept(baseline)}"
    if baseline.next_record is not None:
        why = f' "{quoted(reason)}"' if action is Action.APPROVE and reason is not None else ""
        is_same = action is Action.RAISE and not any(each.is_change for each in changes)
        what = Action.REWRITE if is_same or not action.writes else action
        yield Topic.WRITTEN, f"{what}{why}: {means}"


def _why_kept(baseline: Baseline) -> str:
    """Return why an update keeps a baseline, and how to record what is measured."""
    checks, place = baseline.all_checks, baseline.place
    runs = max(check.wanted_runs for check in checks)
    approve = str(place.approve("to record what is measured"))
    if any(check.fell for check in checks):
        return f"lower or changed, within what is allowed; {approve}"
    if runs:
        return f"the baseline averages {runs} replicates; {place.update('to raise it', runs)}"
    alphas = {getattr(check.gate.rule, "raise_alpha", None) for check in baseline.checks}
    levels = " or ".join(f"{alpha:.1%}" for alpha in alphas if alpha is not None)
    rule = f"an update raises only gains that are significant at {levels}; " if levels else ""
    return f"{rule}{approve}"


def _less_strict(baseline: Baseline) -> Iterator[tuple[Topic, str]]:
    """Yield what the test decides less strictly than its baseline."""
    for loosened in baseline.less_strict():
        yield Topic.NO_LONGER_GATED if loosened.is_drop else Topic.LOOSER_GATE, loosened.text
    if baseline.record is not None:
        for text in larger_families(baseline.record.assertions, baseline.families):
            yield Topic.FAMILIES, text


def golden_change_text(baseline: Baseline, changes: Sequence[MeanChange]) -> str:
    """Return how many queries changed, and how this alone moved each mean."""
    comparison = next((check.comparison for check in baseline.checks if check.comparison), None)
    if comparison is None or not comparison.is_paired:
        return ""
    added, removed, edited = comparison.added, comparison.removed, comparison.changed
    if not (added or removed or edited):
        return ""
    queries = f"{len(added):,} added, {len(removed):,} removed, {len(edited):,} edited queries"
    moves = [
        f"{each.metric} {change(each.by_golden_set)}"
        for each in changes
        if each.by_golden_set is not None
    ]
    text = f"{queries} alone move the mean: {', '.join(moves)}" if moves else queries
    lost = lost_text(baseline.record, comparison) if baseline.record else ""
    return f"{text}; {lost}" if lost else text


class MeanChange(NamedTuple):
    """The mean of a gated metric in a baseline, and now."""

    metric: str
    before: float | None
    """None if the baseline does not have the metric, or cannot be compared."""
    now: float
    by_golden_set: float | None = None
    """The part of the change that comes from added, removed and edited queries."""

    @property
    def text(self) -> str:
        """``RR 0.5000 -> 0.6000``."""
        if self.before is None:
            return f"{self.metric} new"
        before, now = number_text(self.before), number_text(self.now)
        if before == now and self.is_change:
            before, now = f"{self.before:.6f}", f"{self.now:.6f}"
        return f"{self.metric} {before} -> {now}"

    @property
    def is_change(self) -> bool:
        """Whether the two differ as recorded, or there is no earlier one."""
        return self.before is None or as_decimal(self.before) != as_decimal(self.now)


def _mean_changes(baseline: Baseline, evaluation: Evaluation) -> Iterator[MeanChange]:
    """Yield the means of each gated metric: as recorded, if the baseline was written."""
    before, after = baseline.record, baseline.next_record
    for metric, check in _by_metric(baseline).items():
        now = after.mean(metric) if after else evaluation.mean(metric)
        if before is None or not before.fits(metric):
            yield MeanChange(str(metric), None, now)
        elif check.comparison is None:  # measured in another way
            yield MeanChange(str(metric), before.mean(metric), now)
        elif after is not None:
            moved = set_changes(before, check.comparison).get(str(metric))
            yield MeanChange(str(metric), before.mean(metric), now, moved)
    if after is None:
        yield from _measured(baseline)


def _measured(baseline: Baseline) -> Iterator[MeanChange]:
    """Yield the means of each gated metric that was compared, as they were measured."""
    for metric, check in _by_metric(baseline).items():
        if check.verdict is not None:
            pairs = check.verdict.overall.pairs
            yield MeanChange(str(metric), pairs.mean_before, pairs.mean_after)


def _raised(baseline: Baseline, after: Record) -> Iterator[str]:
    """Yield the means that an update would raise, as recorded on this branch."""
    before = baseline.file.working_record
    for metric in map(Metric.parse, after.gated):
        if before is not None and before.fits(metric):
            raised = MeanChange(str(metric), before.mean(metric), after.mean(metric))
            if raised.is_change:
                yield raised.text


def _by_metric(baseline: Baseline) -> dict[Metric, MetricCheck]:
    """Return the first check of each metric."""
    checks: dict[Metric, MetricCheck] = {}
    for check in baseline.checks:
        checks.setdefault(check.metric, check)
    return checks


def plan_notes(baseline: Baseline) -> Iterator[Note]:
    """Yield how many queries the margin of each gate needs, on all queries and in each slice."""
    from pytest_rankcheck.comparison.query_planning import spread_of

    for check in baseline.checks:
        verdict, name = check.verdict, f"{quoted(baseline.test_id, 200)}: {check.metric}"
        if verdict is None or verdict.margin is None or baseline.evaluation is None:
            text = "no margin to rule out; --rankcheck-prove shows what its gate would block"
            yield Note(Topic.PLAN, f"{name}: {text}")
            continue
        for part in (verdict.overall, *verdict.slices):
            spread = spread_of(baseline.evaluation, check.metric, part.pairs)
            where = f"{name}[{quoted(part.label, 60)}]" if part.label else name
            needed = "any number, since its values do not vary"
            if spread.deviation > 0:
                best, *ends = spread.needed(verdict.margin, _POWER)
                needed = f"{best:,} ({ends[0]:,} to {ends[1]:,})" if ends else f"{best:,}"
            text = f"margin {verdict.margin:g} needs {needed}, has {part.pairs.size:,}"
            if not part.label:
                text += f"; standard deviation {spread.deviation:.4f}, {spread.source}"
            if part.pairs.noise is not None:
                text += f"; {part.pairs.noise.planned}"
            yield Note(Topic.PLAN, f"{where}: {text}")
