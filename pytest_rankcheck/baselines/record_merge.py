"""Merging the records of two branches: the target's lines, the approvals and best means of both."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["RecordMerge"]


@dataclass(frozen=True, slots=True)
class RecordMerge:
    """The record that two branches have together, and what it has from the side that lost.

    What both approved is measured by nobody yet. So the lines of the target stay, no reason and no
    best mean is forgotten, and the next update decides what the merged ranker is worth.
    """

    record: Record
    added_approvals: tuple[Approval, ...]
    """Those that only the other side has."""
    higher_best: tuple[str, ...]
    """The metrics whose best mean comes from the other side."""
    differences: tuple[str, ...]
    """How the other side was measured differently; its best means do not count then."""
    left_out: tuple[str, ...]
    """What only the other side has, and the next update records again, in words."""

    @classmethod
    def of(cls, target: Record, other: Record) -> RecordMerge:
        """Return the merge of two records.

        Args:
            target: the record of the branch that is merged into.
            other: the record of the other branch.

        Raises:
            BaselineError: they belong to different tests or golden sets.
        """
        for what, mine, theirs in (
            ("tests", target.test, other.test),
            ("golden sets", target.golden_name, other.golden_name),
        ):
            if mine != theirs:
                raise BaselineError(
                    f"the two sides are records of different {what}, '{quoted(mine)}' and "
                    f"'{quoted(theirs)}'; keep one side, with git checkout --ours or --theirs"
                )
        added = tuple(approval for approval in other.approvals if approval not in target.approvals)
        differences = tuple(_differences(target, other))
        higher = {} if differences else dict(_higher_best(target, other))
        kept = {
            name: replace(metric, best=higher.get(name, metric.best))
            for name, metric in target.kept.items()
        }
        record = replace(target, approvals=(*target.approvals, *added), kept=kept, is_merged=True)
        left_out = tuple(_left_out(target, other))
        return cls(record, added, tuple(higher), differences, left_out)


def _differences(target: Record, other: Record) -> Iterator[str]:
    if target.golden_fingerprint != other.golden_fingerprint:
        yield "golden set"
    if target.conventions != other.conventions:
        yield "conventions"
    if target.depth != other.depth:
        yield "depth"
    if target.manner[2:] != other.manner[2:]:
        yield "clusters"


def _higher_best(target: Record, other: Record) -> Iterator[tuple[str, float]]:
    """Yield the metrics whose best mean is better on the other side, with that mean."""
    for name, theirs in other.kept.items():
        mine = target.kept.get(name)
        if mine is None:
            continue
        metric = Metric.parse(name)
        gain = theirs.best - mine.best if metric.higher_is_better else mine.best - theirs.best
        if gain > 0 or (math.isnan(mine.best) and not math.isnan(theirs.best)):
            yield name, theirs.best


def _left_out(target: Record, other: Record) -> Iterator[str]:
    for name in other.gated:
        if name not in target.gated:
            yield f"the gate on {quoted(name)}"
    for attribute in other.slices:
        if attribute not in target.slices:
            yield f"the slices of {quoted(attribute)}"
    for limits in other.stability:
        if limits not in target.stability:
            yield f"the limits on rankings {limits}"
    if other.retired is not None and target.retired is None:
        yield f'the retirement ("{quoted(other.retired.reason)}")'
