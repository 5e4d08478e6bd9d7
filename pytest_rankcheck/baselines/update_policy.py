"""When a test passes or fails, and when its baseline is written or kept. Decisions, no files.

This module implements the table of ``docs/baselines.md``: a baseline never falls without a written
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_rankcheck.baselines.metric_check import Check, State
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.update_actions import Action, Mode
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.verdict import Decision, Outcome
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = [
    "Block",
    "Settlement",
    "block_of",
    "is_granted",
    "settlement_of",
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
    UNAPPLIED_APPROVAL = "approval without update"
    BUDGET = "leak budget exceeded"
    SUSPICIOUS = "suspicious"


def block_of(check: Check, mode: Mode) -> Block | None:
    """Return why this check fails its test, or None if it passes."""
    if check.state is State.NO_RECORD:
        return None if mode.may_create else Block.NO_RECORD
    if mode.update:
        if mode.approval is not None:
            return Block.BUDGET if _exceeds_budget(check, mode) else None
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
            if check.blocked_by_gate:
                return Block.REGRESSED
            if _fails_inconclusive(check, mode):
                return Block.INCONCLUSIVE
            if _fails_suspicious(check, mode):
                return Block.SUSPICIOUS
            return Block.UNAPPLIED_APPROVAL if mode.approval is not None and check.fell else None


def _exceeds_budget(check: Check, mode: Mode) -> bool:
    """Whether an approval would let falls add up to more than the budget without saying so."""
    budget = mode.leak_budget
    if budget is None or mode.spends_budget or not check.fell:
        return False
    return check.below_best > budget + SLACK


def _fails_inconclusive(check: Check, mode: Mode) -> bool:
    is_inconclusive = check.verdict is not None and check.verdict.inconclusive
    return is_inconclusive and mode.inconclusive == "fail"


def is_granted(there: Check, block: Block, here: Check, mode: Mode) -> bool:
    """Return whether this branch's own record permits what fails at the reference commit.

    A branch cannot lower an approved baseline by recording it again. Its record counts if it fits
    what is measured now, keeps all approvals and, unless nothing fell, has a new approval for this
    metric: the reason that its reviewers read.

    Args:
        there: the check against the record of the reference commit.
        block: why that check fails.
        here: the same check against the record of this branch.
        mode: what the test session may do.
    """
    if there.record is None or here.record is None or block_of(here, mode) is not None:
        return False
    approved = there.record.approvals
    if here.record.approvals[: len(approved)] != approved:
        return False
    if block in (Block.STALE, Block.METRIC_ADDED) and not there.fell:
        return True
    name = str(there.metric)
    return any(
        approval.change is not None
        or any(fallen == name or fallen.startswith(f"{name}, ") for fallen in approval.fall)
        for approval in here.record.approvals[len(approved) :]
    )


def _fails_suspicious(check: Check, mode: Mode) -> bool:
    return bool(check.suspicions) and mode.suspicious == "fail"


def _block_of_update(check: Check, mode: Mode) -> Block | None:
    """Return why an update without an approval is refused, or None if it is not."""
    if check.state is State.INCOMPARABLE:
        return Block.INCOMPARABLE
    if check.state is State.FOREIGN:
        return Block.FOREIGN
    if check.blocked_by_gate or (check.state is State.STALE and check.fell):
        return Block.REFUSED
    if _fails_suspicious(check, mode):
        return Block.SUSPICIOUS
    return Block.INCONCLUSIVE if _fails_inconclusive(check, mode) else None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What happens to a baseline file, and why."""

    action: Action
    why: str = ""
    fell: tuple[tuple[Metric, Decision], ...] = ()
    change: str | None = None


def settlement_of(checks: Sequence[Check], mode: Mode) -> Settlement:
    """Decide what happens to the record of a test whose assertions all passed.

    Args:
        checks: the checks of the test, at least one; none of them failed.
        mode: what the test session may do.
    """
    record = checks[0].record
    if record is None:
        return Settlement(Action.CREATE if mode.may_create else Action.LEAVE)
    if not mode.update:
        return Settlement(Action.LEAVE)
    fell = tuple((check.metric, decision) for check in checks for decision in check.fell)
    change = _change(checks, record) or _approved_suspicion(checks, mode)
    if mode.approval is not None and (fell or change):
        return Settlement(Action.APPROVE, fell=fell, change=change)
    if change:
        return Settlement(Action.REFUSE, why=change)
    if fell:
        added = [str(check.metric) for check in checks if check.state is State.METRIC_ADDED]
        if added:
            why = f"{', '.join(added)} cannot be added while {_names(fell)} is below its baseline"
            return Settlement(Action.REFUSE, why=why, fell=fell)
        return Settlement(Action.KEEP, fell=fell)
    better = any(check.verdict and check.verdict.outcome is Outcome.BETTER for check in checks)
    return Settlement(Action.RAISE if better else Action.REWRITE)


def _approved_suspicion(checks: Sequence[Check], mode: Mode) -> str | None:
    """Return the suspicions that an approval covers, if the test would fail without it."""
    if mode.approval is None or mode.suspicious != "fail":
        return None
    suspicions = dict.fromkeys(text for check in checks for text in check.suspicions)
    return f"suspicious: {'; '.join(suspicions)}" if suspicions else None


def _change(checks: Sequence[Check], record: Record) -> str | None:
    """Return what makes the record incomparable, as text, or None."""
    differences = dict.fromkeys(text for check in checks for text in check.differences)
    gated = {str(check.metric) for check in checks}
    for name in record.gated:
        then = Metric.parse(name)
        for check in checks:
            now = check.metric
            same_kind = (then.name, then.cutoff) == (now.name, now.cutoff)
            if check.state is State.METRIC_ADDED and same_kind and name not in gated:
                differences[f"metric: {name} in the baseline, {now} now"] = None
    return "; ".join(differences) or None


def _names(fell: Sequence[tuple[Metric, Decision]]) -> str:
    return ", ".join(
        dict.fromkeys(f"{metric} ({d.label})" if d.label else str(metric) for metric, d in fell)
    )
