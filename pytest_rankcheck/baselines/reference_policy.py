"""What a pull request may do to baselines that the target branch has approved. Decisions, no files.

The approved record of the reference commit decides. What this branch recorded counts only where it
breaks no promise of that record, or brings a new reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.approved_gates import approved_gate_of, is_loosened
from pytest_rankcheck.baselines.approved_limits import loosened_limits
from pytest_rankcheck.baselines.blocks import Block, block_of, exceeds_budget
from pytest_rankcheck.baselines.metric_check import Check, checks_of
from pytest_rankcheck.baselines.ranking_check import (
    RankingCheck,
    block_of_rankings,
    ranking_check,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.slide_guard import SlideGuard
from pytest_rankcheck.baselines.succession import broken_promises, new_approvals
from pytest_rankcheck.baselines.update_actions import Mode, says_budget_spent
from pytest_rankcheck.behaviour.stability_limits import StabilityLimits
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["BranchRecord", "checks_at_reference", "loosened_rankings", "rankings_at_reference"]

_ABOUT_THE_METRIC = (
    *(Block.REGRESSED, Block.SLIDE, Block.SLIDE_UNKNOWN),
    *(Block.INCONCLUSIVE, Block.SUSPICIOUS),
)
"""Blocks for which the reason must be about a fall of the metric, not about another change."""


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """What this branch has instead of an approved record."""

    record: Record | None
    """None: the branch has deleted it."""
    approvals: tuple[Approval, ...] = ()
    """The reasons that the branch adds."""
    problems: tuple[str, ...] = ()
    """The promises of the approved record that it breaks without a reason."""
    is_behind: bool = False
    """Whether the reference has changed the record since the branch left it; merging keeps that."""

    @classmethod
    def of(cls, approved: Record, record: Record | None) -> BranchRecord:
        """Compare the record of this branch with the approved one."""
        if record is None:
            return cls(None)
        problems = tuple(problem.text for problem in broken_promises(approved, record))
        if record.retired is not None:
            problems = ("this branch has retired it, but its test still runs", *problems)
        return cls(record, tuple(new_approvals(approved, record) or ()), problems)

    def explains(self, text: str) -> bool:
        """Return whether a new reason is about a change with these words."""
        return any(approval.explains(text) for approval in self.approvals)

    @property
    def known_problems(self) -> tuple[str, ...]:
        """What a failure says about the record of this branch."""
        behind = "older than that of the reference, which has changed since: merge that first"
        return (behind,) if self.is_behind else self.problems


def checks_at_reference(
    approved: Record,
    branch: BranchRecord | None,
    evaluation: Evaluation,
    gates: Mapping[Metric, Gate],
    *,
    attributes: tuple[str, ...],
    mode: Mode,
    guard: SlideGuard | None = None,
) -> Sequence[tuple[Check, Block | None]]:
    """Return the checks that count, and why each fails its test, if it does.

    Args:
        approved: the record of the reference; without one, a record that only this branch has.
        branch: this branch's version of the reference's record; None if the reference has none.
        evaluation: what was measured.
        gates: the gated metrics.
        attributes: the attributes that the test gates by.
        mode: what the test session may do.
        guard: the guard against the slide; None: it is off.
    """
    # What was gated by slices stays gated by them.
    present = evaluation.golden.attributes
    kept = tuple(name for name in approved.slices if name in present)
    attributes = tuple(dict.fromkeys((*attributes, *kept)))
    there = checks_of(approved, evaluation, gates, attributes, guard)
    strictly = _strict_checks(approved, evaluation, there, attributes, guard)
    if branch is None:  # added by this branch, or moved from another test
        return [_with_approved_gate(check, strictly.get(check.metric), mode) for check in there]
    own: Sequence[Check | None] = [None] * len(there)
    if branch.record is not None:
        own = checks_of(branch.record, evaluation, gates, attributes, guard)
    return [
        _block_at_reference(check, strictly.get(check.metric), here, branch, mode)
        for check, here in zip(there, own, strict=True)
    ]


def rankings_at_reference(
    there: RankingCheck, branch: BranchRecord, evaluation: Evaluation, mode: Mode
) -> tuple[RankingCheck, Block | None]:
    """Return the check of rankings that counts, and why it fails its test, if it does."""
    there = replace(there, problems=branch.known_problems)
    block = block_of_rankings(there, mode)
    if branch.record is None:
        return there, block or Block.DELETED
    if branch.problems:
        return there, block or Block.UNAPPROVED
    if block is None:
        return there, None
    here = ranking_check(branch.record, evaluation, there.limits)
    if block_of_rankings(here, mode) is not None:
        return there, block
    if block is Block.STALE:
        return here, None  # recorded on the branch, and no promise is broken
    if branch.approvals:
        return replace(there, approvals=branch.approvals), None
    return there, block


def loosened_rankings(
    approved: Record,
    branch: BranchRecord | None,
    evaluation: Evaluation,
    now: Sequence[StabilityLimits],
) -> RankingCheck | None:
    """Return the first check that fails with the approved limits that a test loosened, or None.

    Args:
        approved: the record of the reference; without one, a record that only this branch has.
        branch: this branch's version of the reference's record; None if the reference has none.
        evaluation: what was measured.
        now: the present limits of the test.
    """
    # If this branch's record breaks a promise without a reason, the test has failed already.
    record = approved if branch is None or branch.record is None else branch.record
    for limits in loosened_limits(now, record.stability):
        check = ranking_check(record, evaluation, limits)
        if check.is_broken:
            return check
    return None


def _strict_checks(
    approved: Record,
    evaluation: Evaluation,
    checks: Sequence[Check],
    attributes: tuple[str, ...],
    guard: SlideGuard | None,
) -> Mapping[Metric, Check]:
    """Return the checks of loosened gates with the gates that were approved.

    A gate that is not known here is left out of its check.
    """
    loosened = [check for check in checks if is_loosened(check, approved)]
    known = {
        check.metric: gate
        for check in loosened
        if (gate := approved_gate_of(approved, check.metric)) is not None
    }
    strict = checks_of(approved, evaluation, known, attributes, guard) if known else ()
    unknown = {check.metric: replace(check, gate=None) for check in loosened}
    return unknown | {check.metric: check for check in strict}


def _with_approved_gate(
    check: Check, strict: Check | None, mode: Mode
) -> tuple[Check, Block | None]:
    """Return the verdict on a record that only this branch has, also by the gate in the record."""
    block = block_of(check, mode)
    if block is None and strict is not None and _is_blocked_strictly(strict, mode):
        return strict, Block.LOOSENED
    return check, block


def _block_at_reference(
    there: Check, strict: Check | None, here: Check | None, branch: BranchRecord, mode: Mode
) -> tuple[Check, Block | None]:
    """Return the check that counts, and why it fails its test, if it does.

    Args:
        there: the check against the approved record.
        strict: the same with the gate that the record was approved under, if that may block more.
        here: the check against the record of this branch, if that has one.
        branch: what this branch has instead of the approved record.
        mode: what the test session may do.
    """
    there = replace(there, problems=branch.known_problems)
    block = block_of(there, mode)
    if block is None and strict is not None and _is_blocked_strictly(strict, mode):
        there, block = replace(strict, problems=there.problems), Block.LOOSENED
    if branch.record is None or here is None:
        return there, block or Block.DELETED
    if branch.problems:
        is_about_record = block in (None, Block.STALE, Block.METRIC_ADDED)
        return there, Block.UNAPPROVED if is_about_record else block
    if block is None:
        return there, None
    if block_of(here, mode) is not None:
        return there, block
    if block in (Block.STALE, Block.METRIC_ADDED):
        return replace(here, is_granted=True), None  # recorded here, and no promise is broken
    reasons = tuple(_reasons_for(there, block, branch))
    if not reasons:
        return there, block
    if exceeds_budget(there, mode) and not any(
        says_budget_spent(approval.reason) for approval in branch.approvals
    ):
        return there, Block.BUDGET
    # Reports show what was approved: the fall from the value at the reference.
    counts = here if there.verdict is None else there
    return replace(counts, is_granted=True, approvals=reasons), None


def _is_blocked_strictly(strict: Check, mode: Mode) -> bool:
    """Return whether a check fails with the gate that its record was approved under.

    A gate that is not known here, such as one of the project's own, may have blocked any fall.
    """
    return bool(strict.fell) if strict.gate is None else block_of(strict, mode) is not None


def _reasons_for(there: Check, block: Block, branch: BranchRecord) -> Iterator[Approval]:
    """Yield the branch's reasons that let pass what fails at the reference."""
    name = str(there.metric)
    for approval in branch.approvals:
        if block in _ABOUT_THE_METRIC:
            is_about_it = approval.covers(name)
        elif block is Block.LOOSENED:
            is_about_it = approval.explains(f"gate of {name} ") or approval.covers(name)
        else:
            is_about_it = approval.change is not None
        if is_about_it:
            yield approval
