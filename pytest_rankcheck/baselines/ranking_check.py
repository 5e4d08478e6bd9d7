"""A check of rankings: how they differ from those of the record, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.approved_limits import changed_rankings
from pytest_rankcheck.baselines.blocks import Block
from pytest_rankcheck.baselines.metric_check import State, incompatibilities
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.update_actions import Action, Mode
from pytest_rankcheck.baselines.update_policy import Settlement
from pytest_rankcheck.baselines.world import WorldComparison
from pytest_rankcheck.behaviour.ranking_stability import RankingStability, stability_of
from pytest_rankcheck.behaviour.stability_limits import StabilityLimits
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.evaluation.evaluation import Evaluation

__all__ = [
    "RankingCheck",
    "block_of_rankings",
    "ranking_check",
    "settlement_of_rankings",
]


@dataclass(frozen=True, slots=True)
class RankingCheck:
    """A test's check of rankings: the state of its record, and how much the rankings changed."""

    state: State
    record: Record | None
    limits: StabilityLimits
    comparison: Comparison | None = None
    stability: RankingStability | None = None
    differences: tuple[str, ...] = ()
    """Why the two are not comparable, as text."""
    approvals: tuple[Approval, ...] = ()
    """The reasons on this branch that let it pass, though it fails at the reference commit."""
    world: WorldComparison | None = None
    """What has changed of the declared world, if it fails and its record has one."""
    problems: tuple[str, ...] = ()
    """The promises of the approved record that the record of this branch breaks."""

    @property
    def is_broken(self) -> bool:
        """Whether a limit is broken."""
        return self.stability is not None and self.stability.is_broken

    @property
    def changed(self) -> int:
        """The number of queries with a different top k."""
        return len(self.stability.changed) if self.stability else 0


def ranking_check(
    record: Record | None, evaluation: Evaluation, limits: StabilityLimits
) -> RankingCheck:
    """Compare the rankings with those of the record, if they can be compared."""
    if record is None:
        return RankingCheck(State.NO_RECORD, None, limits)
    differences = (*incompatibilities(record, evaluation), *_unrecorded(record, limits))
    if differences:
        return RankingCheck(State.INCOMPARABLE, record, limits, differences=differences)
    comparison = compare(evaluation, record)
    if not comparison.query_ids:
        difference = (
            f"queries: all {len(record.queries):,} queries of '{record.golden_name}' in the "
            "baseline have changed"
        )
        return RankingCheck(State.FOREIGN, record, limits, comparison, differences=(difference,))
    stability = stability_of(comparison, limits)
    same = record.golden_fingerprint == evaluation.golden.fingerprint
    state = State.COMPARABLE if same else State.STALE
    return RankingCheck(state, record, limits, comparison, stability)


def _unrecorded(record: Record, limits: StabilityLimits) -> Sequence[str]:
    """Return that the record keeps less of the rankings than the limits look at, as text."""
    kept = record.kept_depth
    if limits.k <= kept or all(len(top) < kept for top in record.lines.tops):
        return ()
    return [f"rankings: the first {kept} documents in the baseline, the first {limits.k} now"]


def block_of_rankings(check: RankingCheck, mode: Mode) -> Block | None:
    """Return why this check fails its test, or None if it passes."""
    if check.state is State.NO_RECORD:
        return None if mode.may_create else Block.NO_RECORD
    if mode.update and mode.approval is not None:
        return None
    blocks = {State.INCOMPARABLE: Block.INCOMPARABLE, State.FOREIGN: Block.FOREIGN}
    if check.state in blocks:
        return blocks[check.state]
    if check.is_broken:
        return Block.REFUSED if mode.update else Block.REGRESSED
    return Block.STALE if check.state is State.STALE and not mode.update else None


def settlement_of_rankings(checks: Sequence[RankingCheck], mode: Mode) -> Settlement:
    """Decide what happens to the record of a test whose rankings were all stable enough.

    Changes within the limits are not recorded, so that they cannot add up.
    """
    if checks[0].record is None:
        return Settlement(Action.CREATE if mode.may_create else Action.LEAVE)
    if not mode.update:
        return Settlement(Action.LEAVE)
    changed = max(check.changed for check in checks)
    differences = dict.fromkeys(text for check in checks for text in check.differences)
    if mode.approval is not None and (changed or differences):
        changes = [*differences, *([changed_rankings(changed)] if changed else [])]
        return Settlement(Action.APPROVE, change="; ".join(changes))
    return Settlement(Action.KEEP if changed else Action.REWRITE)
