"""What makes an assertion fail: the verdict, a missing or a stale record, or the update policy.

It implements the columns of the table in ``docs/baselines.md`` that say when a test passes.
"""

from __future__ import annotations

from enum import StrEnum

from pytest_rankcheck.baselines.metric_check import Check, State
from pytest_rankcheck.baselines.update_actions import Mode
from pytest_rankcheck.evaluation.recorded_precision import SLACK

__all__ = [
    "Block",
    "block_of",
    "exceeds_budget",
]


class Block(StrEnum):
    """Why an assertion fails."""

    NO_RECORD = "no baseline"
    METRIC_ADDED = "metric not in the baseline"
    INCOMPARABLE = "not comparable"
    FOREIGN = "baseline of another golden set"
    STALE = "stale baseline"
    REGRESSED = "regressed"
    INCONCLUSIVE = "inconclusive"
    REFUSED = "update refused"
    REPLACED = "too many queries removed or edited"
    UNCOUNTED = "too many queries without a value"
    UNAPPLIED_APPROVAL = "approval without update"
    BUDGET = "leak budget exceeded"
    SLIDE = "slide"
    SLIDE_UNKNOWN = "slide unknown"
    SUSPICIOUS = "suspicious"
    DELETED = "baseline deleted"
    UNAPPROVED = "baseline changed without a reason"
    LOOSENED = "passes only with a looser gate"


def block_of(check: Check, mode: Mode) -> Block | None:
    """Return why this check fails its test, or None if it passes."""
    if check.state is State.NO_RECORD:
        return None if mode.may_create else Block.NO_RECORD
    if mode.update:
        if mode.approval is not None:
            exceeds = exceeds_budget(check, mode) and not mode.spends_budget
            return Block.BUDGET if exceeds else None
        return _block_of_update(check, mode)
    match check.state:
        case State.METRIC_ADDED:
            return Block.METRIC_ADDED
        case State.INCOMPARABLE:
            return Block.INCOMPARABLE
        case State.FOREIGN:
            return Block.FOREIGN
        case State.STALE:
            return Block.REGRESSED if check.blocked_by_gate else Block.STALE
        case _:
            block = _block_of_verdict(check, mode)
            if block is None and mode.approval is not None and check.fell:
                return Block.UNAPPLIED_APPROVAL
            return block


def _block_of_update(check: Check, mode: Mode) -> Block | None:
    """Return why an update without an approval is refused, or None if it is not."""
    if check.state is State.INCOMPARABLE:
        return Block.INCOMPARABLE
    if check.state is State.FOREIGN:
        return Block.FOREIGN
    if check.blocked_by_gate:
        return Block.REFUSED
    if check.replaced is not None and check.replaced.needs_reason:
        return Block.REPLACED
    return _block_of_verdict(check, mode)


def _block_of_verdict(check: Check, mode: Mode) -> Block | None:
    """Return why what was measured fails, if the record can be compared."""
    if check.blocked_by_gate:
        return Block.REGRESSED
    if check.uncounted is not None and check.uncounted.needs_reason:
        return Block.UNCOUNTED
    if mode.slide == "fail" and check.slides:
        return Block.SLIDE
    if mode.slide == "fail" and check.slide is not None and check.slide.slide is None:
        return Block.SLIDE_UNKNOWN
    if check.verdict is not None and check.verdict.inconclusive and mode.inconclusive == "fail":
        return Block.INCONCLUSIVE
    return Block.SUSPICIOUS if check.suspicions and mode.suspicious == "fail" else None


def exceeds_budget(check: Check, mode: Mode) -> bool:
    """Return whether an approval would let falls add up to more than the budget."""
    if mode.leak_budget is None or not check.fell:
        return False
    return check.below_best > mode.leak_budget + SLACK
