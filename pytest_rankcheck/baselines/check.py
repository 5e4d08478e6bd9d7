"""A check: what a test compares with its record, and what keeps it from passing.

`Block` is the table of states in ``docs/baselines.md``, in code; ``policy`` decides by it. Metrics
are checked in ``metric_check``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from pytest_rankcheck.baselines.change import Approval, Change
from pytest_rankcheck.baselines.golden_changes import lost_labels, lost_queries
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.succession import looser_limits, manner_changes
from pytest_rankcheck.behaviour.ranking_stability import (
    RankingStability,
    StabilityLimits,
    stability_of,
)
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.rankers.allowed_failures import most_failures


@dataclass(frozen=True, slots=True)
class Mode:
    """What this test session may do to baselines."""

    update: bool = False
    approval: str | None = None
    """The reason why baselines may be lowered; it implies an update."""


class Verb(StrEnum):
    """What fixes a record."""

    UPDATE = "update"
    APPROVE = "approve"
    RESTORE = "restore"
    MERGE = "merge"


class Block(StrEnum):
    """Why an assertion fails, what fixes that, and for what purpose, as messages name them.

    What an update fixes blocks only a plain run; a reason lets all others pass.
    """

    purpose: str
    verb: Verb

    def __new__(cls, why: str, purpose: str = "to approve", verb: Verb = Verb.APPROVE) -> Block:
        """Return a row of the table; its value is why an assertion fails."""
        block = str.__new__(cls, why)
        block._value_, block.purpose, block.verb = why, purpose, verb
        return block

    NO_RECORD = "no baseline", "to create it", Verb.UPDATE
    FOREIGN = "baseline of another golden set", "to record anew"
    INCOMPARABLE = "not comparable", "to record anew"
    REGRESSED = "regressed"
    REFUSED = "update refused"
    REPLACED = "too many queries removed or edited", "if the golden set had to change this much"
    UNCOUNTED = "too many queries without a value"
    FAILED = "the ranker failed on too many queries", "if it may fail on this many"
    INCONCLUSIVE = "inconclusive"
    LOOSENED = "passes only with a looser gate"
    AS_RECORDED = "regressed, decided as in the baseline"
    RELABELLED = "too many labels moved", "if this many labels had to move"
    METRIC_ADDED = "metric not in the baseline", "to add it", Verb.UPDATE
    STALE = "stale baseline", "to record the new golden set", Verb.UPDATE
    DELETED = "baseline deleted", "", Verb.RESTORE
    BEHIND = "the reference has changed since", "", Verb.MERGE
    RETIRED = "baseline retired, but its test runs", "to gate it again", Verb.UPDATE
    UNAPPROVED = "baseline changed without a reason", "to approve", Verb.RESTORE


OF_GATES = (
    *(Block.REGRESSED, Block.REFUSED, Block.INCONCLUSIVE),
    *(Block.LOOSENED, Block.AS_RECORDED),
)
"""The blocks that a gate causes, on all queries or on slices; others concern the record."""


class State(NamedTuple):
    """A state of a record that blocks its test."""

    block: Block
    changes: tuple[Change, ...] = ()
    """Any of these, if approved, lets it pass; empty for what only an update fixes."""

    def blocks(self, mode: Mode) -> bool:
        """Return whether it blocks a test in a test session."""
        if self.block.verb is not Verb.UPDATE:
            return True
        return not mode.update


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a test compares with its record: a metric, or the rankings."""

    subject: str
    """What is compared, as messages name it."""
    record: Record | None
    comparison: Comparison | None = None
    """None without a record, or if it was measured in another way."""
    states: tuple[State, ...] = ()
    """What keeps it from passing."""
    is_decided: bool = False
    """Whether it could be compared with the record, so that a gate or limits decided."""
    fell: tuple[Change, ...] = ()
    """What is lower than in the record, even slightly, or changed."""
    undecided: tuple[Change, ...] = ()
    """What the gate leaves undecided."""
    is_better: bool = False
    """Whether it is better by the gate's rule."""
    wanted_runs: int = 0
    """How many runs an update needs to raise a record that averages that many; 0: enough."""
    rose: tuple[Change, ...] = ()
    """The means that are higher than in the record, of all queries and of gated slices."""
    rise: Change | None = None
    """For information: a mean that is higher, but not by enough for the gate's rule."""
    problems: tuple[Change, ...] = ()
    """The promises of the approved record that the record of this branch breaks."""
    is_granted: bool = False
    """Whether it fails at the reference commit, but passes by what this branch recorded."""
    is_of_branch: bool = False
    """Whether it fails against the record of this branch, not against that of the reference."""
    approvals: tuple[Approval, ...] = ()
    """The reasons on this branch that let it pass, if it needs one."""
    world: tuple[str, ...] | None = None
    """In words, the changes of the declared world, if it fails and its record has one."""

    @property
    def is_new(self) -> bool:
        """Whether the record does not have it, or there is none."""
        return any(each.block in (Block.NO_RECORD, Block.METRIC_ADDED) for each in self.states)

    def changes(self, block: Block) -> Sequence[Change]:
        """Return the changes that a block is about."""
        return [change for each in self.states if each.block is block for change in each.changes]

    def blocking_states(self, mode: Mode) -> Sequence[State]:
        """Return why it fails its test, in the order of the table."""
        if mode.approval is not None:
            return ()
        blocking = [state for state in self.states if state.blocks(mode)]
        if mode.update:  # a regression is refused
            blocking = [
                state._replace(block=Block.REFUSED) if state.block is Block.REGRESSED else state
                for state in blocking
            ]
        return sorted(blocking, key=lambda state: [*Block].index(state.block))

    def block(self, mode: Mode) -> Block | None:
        """Return why it fails its test against this record, or None if it passes."""
        return next((state.block for state in self.blocking_states(mode)), None)


def compared(
    record: Record, evaluation: Evaluation, differences: Iterable[Change], failures: str | None
) -> tuple[Comparison | None, tuple[State, ...]]:
    """Return the comparison of an evaluation with a record, and the states of all metrics.

    Args:
        record: the approved record.
        evaluation: what was measured.
        differences: how its measurement differs from that of the record.
        failures: on how many queries the ranker may fail now.
    """
    states = [State(Block.INCOMPARABLE, (each,)) for each in differences]
    failed, then = len(evaluation.failed), record.failures or "0"
    if record.assertions and failed > most_failures(then, len(evaluation.query_ids)):
        allowed = Change("option-looser", "failures", then, failures or "0")
        states.append(State(Block.FAILED, (allowed,)))
    comparison = None if differences else compare(evaluation, record)
    if comparison is None or not comparison.is_paired:
        return comparison, tuple(states)  # the next log has other sessions
    then_set, now = record.golden_set, evaluation.golden
    if not comparison.query_ids:
        is_one_weighted = (record.weights is None) != (evaluation.weights is None)
        why = ": only one of the two is weighted" if is_one_weighted else ""
        words = (
            f"golden set: '{quoted(then_set.name)}' ({quoted(then_set.fingerprint)}) in the "
            f"baseline, '{quoted(now.name)}' ({now.fingerprint}) now, without an unchanged query "
            f"in common{why}"
        )
        sides = then_set.fingerprint, now.fingerprint
        return comparison, (State(Block.FOREIGN, (Change("golden-set", "", *sides, words=words),)),)
    lost = lost_queries(record, evaluation.query_fingerprints)
    states += [State(Block.REPLACED, (change,)) for change in lost]
    labels = lost_labels(comparison, record.slices)
    states += [State(Block.RELABELLED, (change,)) for change in labels]
    if then_set.fingerprint != now.fingerprint:
        states.append(State(Block.STALE))
    return comparison, tuple(states)


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
