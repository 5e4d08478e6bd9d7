"""What a pull request may do to baselines that the target branch has approved. Decisions, no files.

The approved record of the reference commit decides. What this branch recorded counts only where it
breaks no promise of that record, or brings a new reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.metric_check import Check
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.succession import broken_promises, new_approvals
from pytest_rankcheck.baselines.update_actions import Mode
from pytest_rankcheck.baselines.update_policy import Block, block_of

__all__ = ["BranchRecord", "block_at_reference"]

_ABOUT_THE_METRIC = (Block.REGRESSED, Block.INCONCLUSIVE, Block.SUSPICIOUS)
"""Blocks for which the reason must be about a fall of the metric, not about another change."""


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """What this branch has in the place of an approved record."""

    record: Record | None
    """None: the branch has deleted it."""
    approvals: tuple[Approval, ...] = ()
    """The reasons that the branch adds."""
    problems: tuple[str, ...] = ()
    """The promises of the approved record that it breaks without a reason."""

    @classmethod
    def of(cls, approved: Record, record: Record | None) -> BranchRecord:
        """Compare the record of this branch with the approved one."""
        if record is None:
            return cls(None)
        problems = tuple(problem.text for problem in broken_promises(approved, record))
        return cls(record, tuple(new_approvals(approved, record) or ()), problems)

    def explains(self, text: str) -> bool:
        """Return whether a new reason is about a change with these words."""
        return any(text in (approval.change or "") for approval in self.approvals)


def block_at_reference(
    there: Check, strict: Check | None, here: Check | None, branch: BranchRecord, mode: Mode
) -> tuple[Check, Block | None]:
    """Return the check that counts, and why it fails its test, if it does.

    Args:
        there: the check against the approved record.
        strict: the same with the gate that the record was approved under, if that may block more.
        here: the check against the record of this branch, if that has one.
        branch: what this branch has in the place of the approved record.
        mode: what the test session may do.
    """
    block = block_of(there, mode)
    if block is None and strict is not None and block_of(strict, mode) is not None:
        there, block = strict, Block.LOOSENED
    if branch.record is None or here is None:
        return there, block or Block.DELETED
    if branch.problems:
        is_about_record = block in (None, Block.STALE, Block.METRIC_ADDED)
        problem = Block.UNAPPROVED if is_about_record else block
        return replace(there, problems=branch.problems), problem
    if block is None:
        return there, None
    if block_of(here, mode) is None and _is_granted(there, block, branch):
        return replace(here, is_granted=True), None
    return there, block


def _is_granted(there: Check, block: Block, branch: BranchRecord) -> bool:
    """Return whether the branch's record may let pass what fails at the reference."""
    if block in (Block.STALE, Block.METRIC_ADDED):
        return True  # recorded on this branch, and no promise is broken
    name = str(there.metric)
    if block in _ABOUT_THE_METRIC:
        return _covered(branch.approvals, name)
    if block is Block.LOOSENED:
        return branch.explains(f"gate of {name} ") or _covered(branch.approvals, name)
    return any(approval.change is not None for approval in branch.approvals)


def _covered(approvals: Sequence[Approval], metric: str) -> bool:
    return any(approval.covers(metric) for approval in approvals)
