"""What happens to the baseline of a test that passed: written, raised, kept or refused.

Decisions, no files. With ``blocks`` this module implements the table of ``docs/baselines.md``: a
baseline never falls without a written reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.approved_gates import is_loosened, loosened_gates, no_longer_gated
from pytest_rankcheck.baselines.metric_check import Check, State
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import as_decimal
from pytest_rankcheck.baselines.update_actions import CAREFUL, Action, Mode
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.evaluation.recorded_precision import EXACT
from pytest_rankcheck.gates.verdict import Decision
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = [
    "Settlement",
    "approval_of",
    "joint_settlement",
    "recorded_gates",
    "settlement_of",
]


@dataclass(frozen=True, slots=True)
class Settlement:
    """What happens to a baseline file, and why."""

    action: Action
    why: str = ""
    fell: tuple[tuple[Metric, Decision], ...] = ()
    change: str | None = None
    """What is approved other than a fall."""
    raised: frozenset[Metric] = frozenset()
    """The metrics whose approved lines are rewritten because they are better."""
    within_noise: tuple[Metric, ...] = ()
    """The metrics that are higher, but not by enough for the gate's rule."""


def joint_settlement(settlements: Sequence[Settlement], changes: Sequence[str]) -> Settlement:
    """Return what happens to a file when several kinds of checks decide about it.

    The most careful decision wins, but a reason covers everything that the test measures.

    Args:
        settlements: one for each kind, at least one.
        changes: descriptions of what else the reason of this update covers.
    """
    careful = min(settlements, key=lambda settlement: CAREFUL.index(settlement.action))
    approved = [each for each in settlements if each.action is Action.APPROVE]
    if careful.action is Action.REFUSE or not (approved or changes):
        return careful
    texts = [each.change for each in approved if each.change is not None]
    return Settlement(
        Action.APPROVE,
        fell=tuple(fell for each in approved for fell in each.fell),
        change="; ".join((*texts, *changes)) or None,
    )


def settlement_of(checks: Sequence[Check], mode: Mode) -> Settlement:
    """Decide what happens to the record of a test whose assertions all passed.

    Args:
        checks: the checks of the test, at least one, all of which passed.
        mode: what the test session may do.
    """
    record = checks[0].record
    if record is None:
        return Settlement(Action.CREATE if mode.may_create else Action.LEAVE)
    if not mode.update:
        return Settlement(Action.LEAVE)
    fell = tuple((check.metric, decision) for check in checks for decision in check.fell)
    replaced_metrics = _replaced_metrics(checks, record)
    if mode.approval is not None:
        change = _approved_change(checks, record, replaced_metrics, mode)
        if fell or change:
            return Settlement(Action.APPROVE, fell=fell, change=change)
    if replaced_metrics:
        return Settlement(Action.REFUSE, why="; ".join(replaced_metrics))
    added = [str(check.metric) for check in checks if check.state is State.METRIC_ADDED]
    if fell and added:
        why = f"{', '.join(added)} cannot be added while {_names(fell)} is below its baseline"
        return Settlement(Action.REFUSE, why=why, fell=fell)
    if fell or _falls_beside(checks, record):
        return Settlement(Action.KEEP, fell=fell)
    return _raised(checks, mode)


def _raised(checks: Sequence[Check], mode: Mode) -> Settlement:
    """Return what becomes of a record that nothing fell below."""
    within_noise = tuple(check.metric for check in checks if check.is_better_within_noise)
    raised = frozenset(
        check.metric for check in checks if check.is_better and check.metric not in within_noise
    )
    if mode.raising is not None:
        raised, within_noise = raised | frozenset(within_noise), ()
    if raised:
        return Settlement(Action.RAISE, raised=raised, within_noise=within_noise)
    return Settlement(Action.KEEP if within_noise else Action.REWRITE, within_noise=within_noise)


def _falls_beside(checks: Sequence[Check], record: Record) -> bool:
    """Whether raising the record would lower a mean that the test does not gate.

    Slices that are too small to gate must not have fallen significantly. The lines of a session
    log are replaced as a whole, so no other recorded mean may be lower either.
    """
    if any(check.verdict is not None and check.verdict.ungated_falls for check in checks):
        return True
    comparison = next((check.comparison for check in checks if check.comparison), None)
    if comparison is None or comparison.is_paired:
        return False
    return any(
        comparison.values(metric).gain < -EXACT
        for metric in record.recorded_metrics
        if comparison.evaluation.fits(metric)
    )


def _approved_change(
    checks: Sequence[Check], record: Record, replaced_metrics: Sequence[str], mode: Mode
) -> str | None:
    """Return what else than falls a reason covers, as text; None for nothing."""
    changes = dict.fromkeys(text for check in checks for text in check.differences)
    changes.update(dict.fromkeys(replaced_metrics))
    for loss in (*(check.replaced for check in checks), *(check.uncounted for check in checks)):
        if loss is not None and loss.needs_reason:
            changes[str(loss)] = None
    changes.update(dict.fromkeys(no_longer_gated(checks, record)))
    changes.update(dict.fromkeys(loosened_gates(checks, record)))
    changes.update(dict.fromkeys(_widened_noise(checks, record)))
    suspicion = _approved_suspicion(checks, mode)
    if suspicion:
        changes[suspicion] = None
    return "; ".join(changes) or None


def _widened_noise(checks: Sequence[Check], record: Record) -> Iterator[str]:
    """Yield the gates that would allow for more noise than was approved, as text."""
    for check in checks:
        now = check.comparison.evaluation.noise(check.metric) if check.comparison else math.nan
        then = record.noise(check.metric)
        if check.gate is not None and "noise=" in check.gate.text and now > then:
            yield (
                f"the gate of {check.metric} allows for the noise of the ranker, which was "
                f"{then:.6f} and is {now:.6f}"
            )


def approval_of(
    settlement: Settlement, checks: Sequence[Check], mode: Mode, folder: Path
) -> Approval | None:
    """Return the reason of an update with what it is for; None without one.

    Args:
        settlement: what becomes of the record.
        checks: the checks of the test.
        mode: what the test session may do.
        folder: where git is asked for the author and the commit.
    """
    if settlement.action is Action.APPROVE and mode.approval is not None:
        fall = {
            f"{metric}, {decision.label}" if decision.label else str(metric): _change_of(
                decision.pairs
            )
            for metric, decision in settlement.fell
        }
        return Approval.now(mode.approval, folder, fall, settlement.change)
    if settlement.action is Action.RAISE and mode.raising is not None:
        raised = {
            str(check.metric): _change_of(check.verdict.overall.pairs)
            for check in checks
            if check.verdict and check.is_better_within_noise
        }
        if raised:
            return Approval.now(mode.raising, folder, {}, raised=raised)
    return None


def _change_of(pairs: ComparedValues) -> Mapping[str, float | None]:
    return {"from": as_decimal(pairs.mean_before), "to": as_decimal(pairs.mean_after)}


def recorded_gates(
    checks: Sequence[Check], record: Record | None, settlement: Settlement
) -> Mapping[Metric, str]:
    """Return the gate to record for each metric: a looser one only with a reason."""
    gates = {}
    for check in checks:
        assert check.gate is not None
        keeps = record is not None and is_loosened(check, record)
        if keeps and record is not None and settlement.action is not Action.APPROVE:
            gates[check.metric] = str(record.kept[str(check.metric)].gate)
        else:
            gates[check.metric] = check.gate.text
    return gates


def _approved_suspicion(checks: Sequence[Check], mode: Mode) -> str | None:
    """Return the suspicions that an approval covers, if the test would fail without it."""
    if mode.approval is None or mode.suspicious != "fail":
        return None
    suspicions = dict.fromkeys(text for check in checks for text in check.suspicions)
    return f"suspicious: {'; '.join(suspicions)}" if suspicions else None


def _replaced_metrics(checks: Sequence[Check], record: Record) -> Sequence[str]:
    """Return the metrics that another parameter has taken the place of, as text."""
    gated = {str(check.metric) for check in checks}
    replaced: dict[str, None] = {}
    for name in record.gated:
        then = Metric.parse(name)
        for check in checks:
            now = check.metric
            same_kind = (then.name, then.cutoff) == (now.name, now.cutoff)
            if check.state is State.METRIC_ADDED and same_kind and name not in gated:
                replaced[f"metric: {name} in the baseline, {now} now"] = None
    return list(replaced)


def _names(fell: Sequence[tuple[Metric, Decision]]) -> str:
    return ", ".join(
        dict.fromkeys(f"{metric} ({d.label})" if d.label else str(metric) for metric, d in fell)
    )
