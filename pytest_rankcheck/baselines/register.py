"""The next record of a test: the approved lines, and what an update may rewrite of them.

A record is a register of approved lines. An update adds lines for queries that have none; which
metrics it may rewrite on the unchanged queries is decided in ``update_policy``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import PlaceArray
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.query_losses import set_changes
from pytest_rankcheck.baselines.record import (
    Record,
    best_as_recorded,
    counts_of,
)
from pytest_rankcheck.baselines.record_contents import (
    TOP,
    RecordedMetric,
    SinceApproval,
)
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries
from pytest_rankcheck.comparison.comparison import compare
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

__all__ = ["Revision", "next_record"]


@dataclass(frozen=True, slots=True)
class Revision:
    """What an update records."""

    gates: Mapping[Metric, str]
    """The gated metrics, and the text of the gate that each is approved under."""
    watched: tuple[Metric, ...] = ()
    """Further metrics to record."""
    attributes: tuple[str, ...] = ()
    """The attributes by whose slices the test gates."""
    rewritten: frozenset[Metric] = frozenset()
    """The metrics whose approved lines are rewritten."""
    approval: Approval | None = None
    """The reason of this update."""
    is_approved: bool = False
    """Whether the reason covers everything that is measured: all of it is rewritten."""
    kept_depth: int = TOP
    test: str = ""
    world: Mapping[str, str] = field(default_factory=dict)
    stability: tuple[StabilityLimits, ...] = ()
    """The limits under which the rankings are approved."""


def next_record(before: Record | None, evaluation: Evaluation, revision: Revision) -> Record:
    """Return the record that follows ``before``.

    Args:
        before: the approved record; None for a test without one.
        evaluation: what was measured.
        revision: what is recorded of it.
    """
    approvals = (*before.approvals,) if before else ()
    if revision.approval is not None:
        approvals = (*approvals, revision.approval)
    measured = Record.of(
        evaluation,
        revision.gates,
        _ungated(before, evaluation, revision),
        approvals,
        attributes=_attributes(before, evaluation, revision),
        kept_depth=revision.kept_depth,
        test=revision.test,
        world=revision.world,
        stability=revision.stability,
    )
    if before is None:
        return measured
    return _Successor(before, evaluation, measured, revision).record()


def _ungated(before: Record | None, evaluation: Evaluation, revision: Revision) -> Iterable[Metric]:
    """Return the metrics to record besides the gated ones: watched, or gated before."""
    gated_before = (
        Metric.parse(name)
        for name, kept in (before.kept.items() if before else ())
        if kept.gate is not None
    )
    return [
        metric
        for metric in dict.fromkeys((*revision.watched, *gated_before))
        if metric not in revision.gates and evaluation.fits(metric)
    ]


def _attributes(
    before: Record | None, evaluation: Evaluation, revision: Revision
) -> Collection[str]:
    """Return the attributes whose slices are recorded; dropping one needs a reason."""
    if before is None or revision.is_approved:
        return revision.attributes
    present = evaluation.golden.attributes
    return {*revision.attributes, *(name for name in before.slices if name in present)}


class _Successor:
    """A record being made from the approved one and what was measured."""

    def __init__(
        self, before: Record, evaluation: Evaluation, measured: Record, revision: Revision
    ) -> None:
        self.before = before
        self.measured = measured
        self.revision = revision
        self.comparison = compare(evaluation, before)
        self.is_comparable = before.manner == measured.manner

    def record(self) -> Record:
        """Return the record."""
        before, measured, revision = self.before, self.measured, self.revision
        if not self.comparison.is_paired and not self._rewrites_all():
            # Every log has its own sessions: what was approved stays as a whole.
            return replace(
                before,
                kept=self._marked(),
                is_merged=False,
                retired=None,
                stability=revision.stability,
            )
        after = replace(measured, queries=self._lines())
        dropped = {name: count for name, count in before.slices.items() if name not in after.slices}
        return replace(
            after,
            kept={name: self._kept(name, kept, after) for name, kept in measured.kept.items()},
            slices=after.slices if revision.is_approved else {**after.slices, **dropped},
            since_approval=self._since_approval(after),
            world=revision.world if self._is_of_this_world() else before.world,
        )

    def _rewrites_any(self) -> bool:
        return self.revision.is_approved or bool(self.revision.rewritten)

    def _is_of_this_world(self) -> bool:
        """Whether the approved lines are rewritten; or reproduced, and their world is unknown."""
        return self._rewrites_all() or (
            not self.before.world and self.comparison.is_paired and self._is_reproduced()
        )

    def _is_reproduced(self) -> bool:
        """Whether the unchanged queries have the approved values and rankings."""
        (now, then), measured, before = self._places, self.measured.lines, self.before.lines
        unknown = np.full(len(measured), np.nan)
        return all(
            np.array_equal(values[then], measured.values_of.get(name, unknown)[now], equal_nan=True)
            for name, values in before.values_of.items()
        ) and all(
            before.tops[place] == measured.tops[at]
            for at, place in zip(now.tolist(), then.tolist(), strict=True)
        )

    def _rewrites_all(self) -> bool:
        """Whether the lines of a log are replaced: as a whole, or not at all."""
        adds = any(str(metric) not in self.before.metrics for metric in self.revision.gates)
        return self._rewrites_any() or adds

    def _rewrites(self, name: str) -> bool:
        if name not in self.before.metrics or not self.is_comparable:
            return True
        if not self.comparison.is_paired:
            return True  # a log is replaced as a whole: see `record`
        if self.measured.kept[name].gated:
            return self.revision.is_approved or Metric.parse(name) in self.revision.rewritten
        if self.before.kept[name].gate is not None:
            return False  # no longer gated: it stays as it was approved
        # What was never gated follows the others, but no recorded mean is lowered in passing.
        gain = self.comparison.values(name).gain
        return self.revision.is_approved or (bool(self.revision.rewritten) and gain >= 0)

    @cached_property
    def _places(self) -> tuple[PlaceArray, PlaceArray]:
        """The indexes of the unchanged queries in what was measured, and in the record."""
        unchanged = self.comparison.query_ids
        return self.measured.lines.places(unchanged), self.before.lines.places(unchanged)

    def _lines(self) -> RecordedQueries:
        """Return the lines: what is approved stays, unless it is rewritten."""
        measured, before = self.measured.lines, self.before.lines
        if not self.comparison.is_paired:
            return measured
        now, then = self._places
        values = {}
        for name, column in measured.values_of.items():
            values[name] = column.copy()
            if not self._is_rewritten[name]:
                values[name][now] = before.values_of[name][then]
        tops = list(measured.tops)
        # Compared rankings change only with a reason, even if a metric is better.
        is_compared = self.before.stability and not self.revision.is_approved
        if is_compared or not self._rewrites_any():
            for at, place in zip(now.tolist(), then.tolist(), strict=True):
                approved = before.tops[place]
                if tops[at][: len(approved)] != approved:
                    tops[at] = approved
        return RecordedQueries(
            measured.ids,
            measured.fingerprints,
            values,
            tops,
            weights=measured.weights,
            slices=measured.slices,
            clusters=measured.clusters,
        )

    @cached_property
    def _is_rewritten(self) -> Mapping[str, bool]:
        """Whether the approved values of each metric are replaced by those measured now."""
        return {name: self._rewrites(name) for name in self.measured.metrics}

    def _marked(self) -> Mapping[str, RecordedMetric]:
        """Return the metrics of the record, marked with which of them are gated now."""
        gated = {str(metric) for metric in self.revision.gates}
        return {
            name: replace(kept, gated=name in gated) if kept.gate is not None else kept
            for name, kept in self.before.kept.items()
        }

    def _kept(self, name: str, measured: RecordedMetric, after: Record) -> RecordedMetric:
        """Return what is kept of a metric: above all its best mean, which no update forgets."""
        if name not in self.before.metrics:
            return replace(measured, best=best_as_recorded(after.mean(Metric.parse(name))))
        metric, kept = Metric.parse(name), self.before.kept[name]
        gate = measured.gate or kept.gate
        noise = self._noise(kept, measured, gate)
        below = self.before.below_best(metric)
        if not self.comparison.query_ids:
            below = 0.0  # of other queries, no better result is known
        elif self._is_rewritten[name]:
            gain = self.comparison.values(metric).gain
            below = max(0.0, below - (0.0 if np.isnan(gain) else gain))
        mean = after.mean(metric)
        best = mean + below if metric.higher_is_better else mean - below
        if not self._is_rewritten[name] and mean == self.before.mean(metric):
            best = kept.best
        return replace(measured, best=best_as_recorded(best), noise=noise, gate=gate)

    def _noise(
        self, kept: RecordedMetric, measured: RecordedMetric, gate: str | None
    ) -> float | None:
        """Return the noise to record: a gate that allows for it is not widened without a reason."""
        if measured.noise is None:
            return kept.noise
        is_wider = kept.noise is not None and measured.noise > kept.noise
        is_allowed_for = gate is not None and "noise=" in gate
        return (
            kept.noise
            if is_wider and is_allowed_for and not self.revision.is_approved
            else (measured.noise)
        )

    def _since_approval(self, after: Record) -> SinceApproval:
        """Return what has changed since the last approval, this update included."""
        before, names = self.before.since_approval, after.metrics
        if before is None or self.revision.is_approved:
            return SinceApproval(after.golden_queries, counts_of(after.lines, names))
        counted = {**counts_of(after.lines, names), **before.counted}
        if not self.comparison.is_paired:
            return replace(before, counted=counted)
        changes = set_changes(self.before, self.comparison)
        return SinceApproval(
            before.queries,
            counted,
            before.added + len(self.comparison.added),
            before.removed + len(self.comparison.removed),
            before.edited + len(self.comparison.changed),
            Counter(before.uncounted) + Counter(self._uncounted(after)),
            {
                name: before.mean_change.get(name, 0.0) + changes.get(name, 0.0)
                for name in {**before.mean_change, **changes}
            },
        )

    def _uncounted(self, after: Record) -> Mapping[str, int]:
        """Return how many unchanged queries lose their value in this update, by metric."""
        (now, then), before = self._places, self.before.lines.values_of
        return {
            name: int(
                np.count_nonzero(
                    ~np.isnan(before[name][then]) & np.isnan(after.lines.values_of[name][now])
                )
            )
            for name in after.metrics
            if name in self.before.metrics
        }
