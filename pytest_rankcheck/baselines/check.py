"""A check: what a test compares with its record, and what stands in the way of it passing.

Those of rankings are here, those of metrics in ``metric_check``. Decisions, no files: with
``update_policy`` they implement the table of states in ``docs/baselines.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.change import Change
from pytest_rankcheck.baselines.golden_changes import lost_queries
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
    new_only: bool = False
    """Only baselines that do not exist yet may be written."""
    approval: str | None = None
    """The reason for which a baseline may be lowered; it implies the update."""

    @property
    def may_create(self) -> bool:
        """Whether a baseline that does not exist may be written."""
        return self.update or self.new_only


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
    FAILED = "the ranker failed on too many queries"
    DELETED = "baseline deleted"
    UNAPPROVED = "baseline changed without a reason"
    LOOSENED = "passes only with a looser gate"
    AS_RECORDED = "regressed, decided as in the baseline"
    RELABELLED = "too many labels moved"


Obstacle = tuple[Block, tuple[Change, ...]]
"""Why a check fails, and the keys any of which lets it pass; none for what only an update mends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a test compares with its record: a metric, or the rankings."""

    subject: str
    """What is compared, as messages name it."""
    record: Record | None
    comparison: Comparison | None = None
    """None without a record, or with one that was measured in another way."""
    differences: tuple[Change, ...] = ()
    """Why the two are not comparable."""
    is_decided: bool = False
    """Whether the record could be compared, so that a gate or limits decided."""
    broken: tuple[Change, ...] = ()
    """What the gate blocks, or the limits."""
    fell: tuple[Change, ...] = ()
    """What is lower than in the record, even slightly, or changed."""
    loosened: tuple[tuple[Change, ...], ...] = ()
    """What only the record's own family blocks, or its limits: the changes that let it pass."""
    relabelled: tuple[Change, ...] = ()
    """The labels of slices and clusters that moved, if they are many."""
    undecided: tuple[Change, ...] = ()
    """What the gate leaves open; one of these changes lets it pass where that is a failure."""
    undecided_fails: bool = False
    """Whether what is left open is a failure, for the gate of the code or of the record."""
    failures: Change | None = None
    """The option that lets the ranker fail on more queries than the record does, if it has."""
    is_better: bool = False
    """Whether it is better by the gate's rule."""
    rise: Change | None = None
    """The key, for information, of a mean that is higher, but not by enough for the gate's rule."""
    unvalued: Change | None = None
    """The queries that lost their value, if they are many."""
    problems: tuple[Change, ...] = ()
    """The promises of the approved record that the record of this branch breaks."""
    is_granted: bool = False
    """Whether it fails at the reference commit, but what this branch recorded lets it pass."""
    approvals: tuple[Approval, ...] = ()
    """The reasons on this branch that let it pass, if it needs one."""
    world: tuple[str, ...] = ()
    """In words, what has changed of the declared world, if it fails and its record has one."""

    @property
    def is_new(self) -> bool:
        """Whether the record does not have it, or there is none."""
        return not self.is_decided and not self.differences

    @property
    def lost(self) -> Change | None:
        """The queries that left the golden set or were edited, if they are many."""
        if self.record is None or self.comparison is None or not self.comparison.is_paired:
            return None  # the next log has other sessions, measured in the same way
        return lost_queries(self.record, self.comparison.evaluation.query_fingerprints)

    @property
    def _is_stale(self) -> bool:
        """Whether the golden set has changed; every log has its own sessions."""
        if self.record is None or self.comparison is None or not self.comparison.is_paired:
            return False
        now = self.comparison.evaluation.golden
        return self.record.golden_set.fingerprint != now.fingerprint

    def obstacles(self, mode: Mode) -> Iterator[Obstacle]:
        """Yield why it fails its test, in the order in which messages name it."""
        if self.record is None:
            if not mode.may_create:
                yield Block.NO_RECORD, ()
            return
        for key in self.differences:
            yield Block.FOREIGN if key.kind == "golden-set" else Block.INCOMPARABLE, (key,)
        for key in self.broken:
            yield Block.REFUSED if mode.update else Block.REGRESSED, (key,)
        if self.lost is not None and not self.differences:
            yield Block.REPLACED, (self.lost,)
        if self.unvalued is not None:
            yield Block.UNCOUNTED, (self.unvalued,)
        if self.failures is not None:
            yield Block.FAILED, (self.failures,)
        if self.undecided_fails:
            yield Block.INCONCLUSIVE, self.undecided
        for keys in self.loosened:
            is_looser = keys[0].kind in ("gate-looser", "limits")
            yield Block.LOOSENED if is_looser else Block.AS_RECORDED, keys
        for key in self.relabelled:
            yield Block.RELABELLED, (key,)
        if not mode.update and self.is_new:
            yield Block.METRIC_ADDED, ()
        elif not mode.update and self._is_stale and not self.differences:
            yield Block.STALE, ()

    def block(self, mode: Mode) -> Block | None:
        """Return why it fails its test against this record, or None if it passes."""
        if mode.approval is not None:
            return None
        return next((block for block, _ in self.obstacles(mode)), None)


SomeCheck = TypeVar("SomeCheck", bound=Check)


def too_many_failures(record: Record, evaluation: Evaluation, allowed: str | None) -> Change | None:
    """Return the change of how many queries may fail, if more did than the record lets."""
    failed, then = len(evaluation.failed), record.failures or "0"
    if not record.assertions or failed <= most_failures(then, len(evaluation.query_ids)):
        return None
    return Change("option-looser", "failures", then, allowed or "0")


def compared(
    record: Record, evaluation: Evaluation, differences: Sequence[Change]
) -> tuple[Comparison | None, tuple[Change, ...]]:
    """Return the comparison of an evaluation with a record, and why the two are not comparable."""
    if differences:
        return None, tuple(differences)
    comparison = compare(evaluation, record)
    if comparison.query_ids or not comparison.is_paired:
        return comparison, ()
    then, now = record.golden_set, evaluation.golden
    words = (
        f"golden set: '{quoted(then.name)}' ({quoted(then.fingerprint)}) in the baseline, "
        f"'{quoted(now.name)}' ({now.fingerprint}) now, without an unchanged query in common"
    )
    return comparison, (Change("golden-set", "", then.fingerprint, now.fingerprint, words=words),)


# --- rankings ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingCheck(Check):
    """A test's check of rankings: the state of its record, and how much the rankings changed."""

    limits: StabilityLimits
    stability: RankingStability | None = None
    """By the limits of the code."""
    strict: tuple[RankingStability, ...] = ()
    """By limits of the record that are broken, and that the code has none as strict as."""

    @property
    def changed(self) -> int:
        """The number of queries with a different top k."""
        return len(self.stability.changed) if self.stability else 0


def ranking_check(
    record: Record | None, evaluation: Evaluation, limits: StabilityLimits
) -> RankingCheck:
    """Compare the rankings with those of the record, if they can be compared."""
    check = RankingCheck(subject="the rankings", record=record, limits=limits)
    if record is None:
        return check
    differences = [*manner_changes(record, evaluation), *_unrecorded(record, limits)]
    comparison, keys = compared(record, evaluation, differences)
    check = replace(check, comparison=comparison, differences=keys)
    if keys or comparison is None:
        return check
    stability = stability_of(comparison, limits)
    fell = (_changed(stability),) if stability.changed else ()
    looser = {key.before: key for key in looser_limits(record, (limits,))}
    strict = [stability_of(comparison, each) for each in record.limits if str(each) in looser]
    broken = tuple(each for each in strict if each.is_broken)
    return replace(
        check,
        is_decided=True,
        stability=stability,
        strict=broken,
        fell=fell,
        broken=fell if stability.is_broken else (),
        loosened=tuple((looser[str(each.limits)], _changed(each)) for each in broken),
    )


def _changed(stability: RankingStability) -> Change:
    return Change("rankings", after=len(stability.changed))


def _unrecorded(record: Record, limits: StabilityLimits) -> Sequence[Change]:
    """Return that the record keeps less of the rankings than the limits look at."""
    kept = record.kept_depth
    if limits.k <= kept or all(len(top) < kept for top in record.queries.tops):
        return ()
    words = f"rankings: the first {kept} documents in the baseline, the first {limits.k} now"
    return [Change("limits", "", f"top {kept}", f"top {limits.k}", words=words)]
