"""A check of rankings: the state of their record, and how much they changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_rankcheck.baselines.change import Change
from pytest_rankcheck.baselines.check import Block, Check, State, compared
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.succession import looser_limits, manner_changes
from pytest_rankcheck.behaviour.ranking_stability import (
    RankingStability,
    StabilityLimits,
    stability_of,
)
from pytest_rankcheck.evaluation.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingCheck(Check):
    """A test's check of rankings: the state of its record, and how much the rankings changed."""

    limits: StabilityLimits
    stability: RankingStability | None = None
    """By the limits of the code."""
    strict: tuple[RankingStability, ...] = ()
    """By broken limits of the record that are stricter than those of the code."""

    @property
    def changed(self) -> int:
        """The number of queries with a different top k."""
        return len(self.stability.changed) if self.stability else 0


def ranking_check(
    record: Record | None, evaluation: Evaluation, limits: StabilityLimits, failures: str | None
) -> RankingCheck:
    """Compare the rankings with those of the record, if they can be compared."""
    check = RankingCheck(subject="the rankings", record=record, limits=limits)
    if record is None:
        return replace(check, states=(State(Block.NO_RECORD),))
    differences = [*manner_changes(record, evaluation), *_unrecorded(record, limits)]
    comparison, states = compared(record, evaluation, differences, failures)
    check = replace(check, comparison=comparison, states=states)
    if comparison is None or not comparison.query_ids:
        return check
    stability = stability_of(comparison, limits)
    fell = (_changed(stability),) if stability.changed else ()
    looser = {change.before: change for change in looser_limits(record, (limits,))}
    strict = [stability_of(comparison, each) for each in record.limits if str(each) in looser]
    broken = tuple(each for each in strict if each.is_broken)
    found = [State(Block.REGRESSED, fell)] if stability.is_broken else []
    found += [State(Block.LOOSENED, (looser[str(each.limits)], _changed(each))) for each in broken]
    return replace(
        check,
        is_decided=True,
        stability=stability,
        strict=broken,
        fell=fell,
        states=(*states, *found),
    )


def _changed(stability: RankingStability) -> Change:
    return Change("rankings", after=len(stability.changed))


def _unrecorded(record: Record, limits: StabilityLimits) -> Sequence[Change]:
    """Return the change if the record keeps less of the rankings than the limits need."""
    kept = record.kept_depth
    if limits.k <= kept or all(len(top) < kept for top in record.queries.tops):
        return ()
    words = f"rankings: the first {kept} documents in the baseline, the first {limits.k} now"
    return [Change("limits", "", f"top {kept}", f"top {limits.k}", words=words)]
