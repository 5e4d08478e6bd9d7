"""The policy of baselines: how a test is judged by its record, and what happens to the record.

It decides but touches no files. With the table of states in ``check`` it implements
``docs/baselines.md``: a baseline never falls without a written reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import compress

from pytest_rankcheck.baselines.change import Approval, Change, united
from pytest_rankcheck.baselines.check import OF_GATES, Block, Check, Mode, State, ranking_check
from pytest_rankcheck.baselines.metric_check import (
    Assertion,
    MetricAssertion,
    MetricCheck,
    metric_checks,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.succession import allowed, broken_promises, changes, new_approvals
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import EXACT
from pytest_rankcheck.metrics.metric_names import Metric

_RETIRED = Change("retired", words="the baseline is retired, but its test runs")
BEHIND = Change("behind", words="older than that of the reference, which has changed since")


def judge(
    record: Record | None,
    evaluation: Evaluation,
    assertions: Sequence[Assertion],
    failures: str | None = None,
    *,
    is_reference: bool = False,
) -> Sequence[Check]:
    """Return the checks of the last of a test's assertions against a record.

    It has no side effects. The records of the branch and of the reference are judged alike.

    Args:
        record: the approved record; None without one.
        evaluation: what was measured.
        assertions: those that the test has made so far, in their order.
        failures: on how many queries, or which share of them, the ranker may fail.
        is_reference: whether the record is that of the reference commit.
    """
    last = assertions[-1]
    if isinstance(last, StabilityLimits):
        return [ranking_check(record, evaluation, last, failures)]
    of_metrics = [each for each in assertions if isinstance(each, MetricAssertion)]
    return metric_checks(record, evaluation, of_metrics, failures, is_reference=is_reference)


class Action(StrEnum):
    """What happens to a baseline file when its test has passed."""

    LEAVE = "unchanged"
    CREATE = "created"
    RAISE = "raised"
    REWRITE = "updated"
    """The approved lines stay; queries or metrics are added, or queries removed."""
    APPROVE = "approved"
    KEEP = "kept"
    """The approved lines stay: something is lower inside the tolerance, or the gain is not certain
    enough, or averages fewer replicates."""

    @property
    def writes(self) -> bool:
        """Whether the file is written."""
        return self in {Action.CREATE, Action.RAISE, Action.REWRITE, Action.APPROVE}


@dataclass(frozen=True, slots=True)
class Settlement:
    """What happens to a baseline file."""

    action: Action
    record: Record | None = None
    """The record to write; None: the file stays as it is."""
    raised: Record | None = None
    """The record that an update would write, if the present one is kept but could be raised."""


def raised(checks: Sequence[Check], before: Record, follow: Callable[..., Record]) -> Record | None:
    """Return the record that an update without a reason raises; None if it raises nothing.

    Args:
        checks: of the test, against the record; all have passed.
        before: the record.
        follow: returns the next record, given the metrics whose lines are ``rewritten``.
    """
    better = raisable(checks)
    after = follow(rewritten=better) if better else None
    return after if after is not None and is_raise(before, after) else None


def updated(checks: Sequence[Check], before: Record, follow: Callable[..., Record]) -> Settlement:
    """Return what happens to a record in an update without a reason.

    The arguments are those of `raised`.
    """
    better = raised(checks, before, follow)
    if better is not None:
        return Settlement(Action.RAISE, better)
    after = follow()
    if not is_raise(before, after):  # a log to which a metric is added would be replaced
        return Settlement(Action.KEEP)
    differ = any(c.fell or c.rise or c.is_better or c.wanted_runs for c in checks)
    return Settlement(Action.KEEP if differ else Action.REWRITE, after)


def approved(
    before: Record | None,
    after: Record,
    keys: Sequence[Change],
    merged: int,
    approval: Callable[[Sequence[Change]], Approval],
) -> Settlement:
    """Return what happens to a record if everything that is measured is approved.

    Args:
        before: the record; None if there is no readable one.
        after: the record of what is measured.
        keys: the changes that the reason allows.
        merged: how many of the first approvals are merged, and never change.
        approval: returns an approval that allows the given keys.
    """
    if before is not None and replace(after, ranker=before.ranker) == before:
        after = before  # the name of the ranker is for information
    unmerged = after.approvals[merged:]
    if keys:
        approvals = (*after.approvals, approval(keys))
    elif unmerged and after == before:
        approvals = (*after.approvals[:-1], approval(unmerged[-1].keys))
    else:
        is_same_set = before is None or before.golden_set == after.golden_set
        changed = Action.RAISE if is_same_set else Action.REWRITE
        return Settlement(Action.LEAVE if after == before else changed, after)
    return Settlement(Action.APPROVE, replace(after, approvals=approvals))


def raisable(checks: Sequence[Check]) -> frozenset[Metric]:
    """Return the metrics that an update would raise: better ones, if nothing is lower."""
    of_metrics = [check for check in checks if isinstance(check, MetricCheck)]
    is_ungated = any(check.verdict and check.verdict.ungated_falls for check in of_metrics)
    is_lower = is_ungated or any(check.fell for check in checks)
    return frozenset(check.metric for check in of_metrics if check.is_better and not is_lower)


def is_raise(before: Record, after: Record) -> bool:
    """Return whether a record may raise another: no approved mean is lower.

    The lines of a session log are replaced as a whole, so no recorded mean may be lower.
    """
    if any(key.kind == "fall" for key in changes(before, after)):
        return False
    if before.kind.recur:
        return True
    gains = (
        metric.gain(before.mean(metric), after.mean(metric))
        for metric in before.recorded_metrics
        if after.fits(metric)
    )
    return not any(gain < -EXACT for gain in gains)


def approved_keys(
    checks: Sequence[Check], before: Record, after: Record, given: Sequence[Change] = ()
) -> tuple[Change, ...]:
    """Return the keys that a reason gives to a record.

    Args:
        checks: of the test, against ``before``.
        before: the approved record.
        after: the record that follows.
        given: the keys that are approved already.
    """
    needed = [*changes(before, after)]
    for check in checks:
        # A check that passes only by looser gates needs both keys; changes() gives the gate's.
        needed += [state.changes[-1] for state in check.states if state.changes]
        needed += check.undecided[-1:]
    missing = [key for key in needed if not key.is_covered(given)]
    missing += [check.rise for check in checks if check.rise]
    if any(key.kind == "fall" for key in missing):  # they are undone together
        missing += [rise for check in checks for rise in check.rose]
    return united(replace(key, words="") for key in missing)


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """This branch's version of a record at the reference commit."""

    record: Record | None
    """None: the branch has deleted it."""
    approvals: tuple[Approval, ...] = ()
    """The reasons that the branch adds."""
    keys: tuple[Change, ...] = ()
    """The changes allowed on the branch, by these and by undoing earlier ones."""
    problems: tuple[Change, ...] = ()
    """The promises of the approved record that it breaks without a reason."""
    is_behind: bool = False
    """Whether the reference has changed the record since the branch diverged; a merge keeps
    that."""
    loosened: Callable[[], Sequence[Change]] = tuple
    """Returns the loosening changes that the branch approves for all its records."""

    @classmethod
    def of(
        cls, approved: Record, record: Record | None, loosened: Callable[[], Sequence[Change]]
    ) -> BranchRecord:
        """Compare the record of this branch with the approved one."""
        if record is None:
            return cls(None)
        problems = tuple(broken_promises(approved, record))
        if record.retired is not None:
            problems = (_RETIRED, *problems)
        new = tuple(new_approvals(approved, record) or ())
        keys = tuple(allowed(approved, record, new))
        return cls(record, new, keys, problems, loosened=loosened)

    def first_left(self, states: Iterable[State], given: Sequence[Change]) -> Block | None:
        """Return the first state that no reason lets pass, of this record or of all records.

        Args:
            states: of a check.
            given: the changes that the reasons of the record allow.
        """

        def passes(change: Change) -> bool:
            by_any_record = change.is_loosening and change.is_covered(self.loosened())
            return by_any_record or change.is_covered(given)

        return next((s.block for s in states if not any(map(passes, s.changes))), None)


def against_reference(
    there: Check, here: Check | None, branch: BranchRecord, mode: Mode
) -> tuple[Check, Block | None]:
    """Return the check that counts against a reference commit, and why it fails, if it does.

    What was measured must pass the record of the branch, which must break no promise. It must also
    pass the approved record, except for what new reasons of the branch allow.

    Args:
        there: the check against the approved record.
        here: the check against the record of this branch, if that has one.
        branch: this branch's version of the approved record.
        mode: what the test session may do.
    """
    there = replace(there, problems=(BEHIND,) if branch.is_behind else branch.problems)
    # The record of the branch decides on states that only an update fixes.
    states = [each for each in there.blocking_states(mode) if each.changes or here is None]
    block = branch.first_left(states, branch.keys)
    if here is None:
        return there, block or Block.DELETED
    # An update raises the record of the branch.
    there = replace(there, is_better=here.is_better and not branch.is_behind, fell=here.fell)
    own = branch.first_left(here.blocking_states(mode), ())
    # If a fall is larger than approved, the record of the branch shows the rest.
    given = {key.name for approval in branch.approvals for key in approval.keys}
    falls = there.changes(Block.REGRESSED)
    goes_further = own in OF_GATES and any(fall.name in given for fall in falls)
    if (block is not None and not goes_further) or branch.is_behind:
        return there, block
    if block is None and branch.problems:
        return there, _broken(branch.problems, there.record)
    if own is not None:
        return replace(here, is_of_branch=True, problems=branch.problems), own
    if states:  # reports show the approved fall, which is from the value at the reference
        names = {change.name for state in states for change in state.changes}
        gives = (any(key.name in names for key in each.keys) for each in branch.approvals)
        reasons = tuple(compress(branch.approvals, gives))
        counts = there if there.is_decided else here
        return replace(counts, is_granted=True, approvals=reasons), None
    return (there if there.is_decided else replace(here, is_granted=True)), None


def _broken(problems: Sequence[Change], approved: Record | None) -> Block:
    """Return what blocks because a branch's record breaks promises of the approved one."""
    if BEHIND in problems:
        return Block.BEHIND
    was_retired = approved is not None and approved.retired is not None
    return Block.RETIRED if was_retired and problems == (_RETIRED,) else Block.UNAPPROVED
