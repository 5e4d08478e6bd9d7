"""The checks that a test makes against its record, and what becomes of the record after them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from pytest_rankcheck.baselines.approved_gates import no_longer_gated
from pytest_rankcheck.baselines.baseline_file import BaselineFile
from pytest_rankcheck.baselines.blocks import Block, block_of
from pytest_rankcheck.baselines.metric_check import Check, checks_of
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.slide_guard import SlideGuard
from pytest_rankcheck.baselines.update_actions import Action, Mode
from pytest_rankcheck.baselines.update_policy import Settlement, joint_settlement, settlement_of
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.ranking_check import RankingCheck
    from pytest_rankcheck.baselines.reference_policy import BranchRecord
    from pytest_rankcheck.baselines.world import World, WorldComparison
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

__all__ = ["RecordChecks"]


class RecordChecks:
    """The checks of one test against one baseline file.

    Args:
        file: the baseline file.
        mode: what the test session may do to it.
        has_reference: whether the baselines of a reference commit count.
        world: returns what the project declares to rank with.
    """

    def __init__(
        self, file: BaselineFile, mode: Mode, has_reference: bool, world: Callable[[], World]
    ) -> None:
        self._file = file
        self._mode = mode
        self._has_reference = has_reference
        self._world = world
        self._calls: list[tuple[Mapping[Metric, Gate], tuple[str, ...]]] = []
        self.metrics: list[Check] = []
        """The checks of metrics so far."""
        self.rankings: list[RankingCheck] = []
        """The checks of rankings so far."""
        self.was_blocked = False
        """Whether a check failed, even if the test caught that."""

    # --- checks ------------------------------------------------------------------------------

    def check_metrics(
        self, evaluation: Evaluation, gates: Mapping[Metric, Gate], attributes: tuple[str, ...]
    ) -> Sequence[tuple[Check, Block | None]]:
        """Compare metrics with the record. Return the checks, and why each fails, if it does."""
        results = [
            (check if block is None else replace(check, world=self._changes(check.record)), block)
            for check, block in self._decided(evaluation, gates, attributes)
        ]
        self._calls.append((gates, attributes))
        self.metrics += [check for check, _ in results]
        for _, block in results:
            self._refuse(block)
        return results

    def check_rankings(
        self, evaluation: Evaluation, limits: StabilityLimits
    ) -> tuple[RankingCheck, Block | None]:
        """Compare rankings with the record. Return the check, and why it fails, if it does."""
        from pytest_rankcheck.baselines.ranking_check import block_of_rankings, ranking_check
        from pytest_rankcheck.baselines.reference_policy import rankings_at_reference

        check = ranking_check(self._file.record, evaluation, limits)
        block = block_of_rankings(check, self._mode)
        if self._branch is not None:
            check, block = rankings_at_reference(check, self._branch, evaluation, self._mode)
        if block is not None:
            check = replace(check, world=self._changes(check.record))
        self.rankings.append(check)
        self._refuse(block)
        return check, block

    def _refuse(self, block: Block | None) -> None:
        if block is not None:
            self.was_blocked = True
            self._file.refuse(str(block))

    def _changes(self, record: Record | None) -> WorldComparison | None:
        """Return how the declared world differs from a record's; None if that has no world."""
        if record is None or not record.world:
            return None
        from pytest_rankcheck.baselines.world import compared_worlds

        return compared_worlds(record.world, self._world)

    def _decided(
        self, evaluation: Evaluation, gates: Mapping[Metric, Gate], attributes: tuple[str, ...]
    ) -> Sequence[tuple[Check, Block | None]]:
        """Return the checks against the record that counts, and why each fails."""
        approved = self._file.record
        if approved is None or not self._has_reference:
            checks = checks_of(approved, evaluation, gates, attributes, self._guard)
            return [(check, block_of(check, self._mode)) for check in checks]
        from pytest_rankcheck.baselines.reference_policy import checks_at_reference

        return checks_at_reference(
            approved,
            self._branch,
            evaluation,
            gates,
            attributes=attributes,
            mode=self._mode,
            guard=self._guard,
        )

    @cached_property
    def _guard(self) -> SlideGuard | None:
        """The guard against the slide; None if it is off."""
        mode = self._mode
        if mode.slide == "off":
            return None
        return SlideGuard(lambda: self._file.best_history, mode.slide_level, mode.slide_steps)

    @cached_property
    def _branch(self) -> BranchRecord | None:
        """What this branch has instead of the approved record; None without a reference."""
        approved = self._file.record
        if not self._file.is_from_reference or approved is None:
            return None
        from pytest_rankcheck.baselines.reference_policy import BranchRecord

        if self._file.is_behind:
            return BranchRecord(approved, is_behind=True)
        return BranchRecord.of(approved, self._file.working_record)

    # --- the fate of the record --------------------------------------------------------------

    def settlement(self) -> Settlement:
        """Return what happens to the file: the more careful of the two kinds of checks decides."""
        settlements = [settlement_of(self.metrics, self._mode)] if self.metrics else []
        if self.rankings:
            from pytest_rankcheck.baselines.ranking_check import settlement_of_rankings

            settlements.append(settlement_of_rankings(self.rankings, self._mode))
        return joint_settlement(settlements, self._approved_changes())

    @property
    def limits(self) -> Sequence[StabilityLimits]:
        """The limits of the rankings that the test has checked so far."""
        return [check.limits for check in self.rankings]

    def _approved_changes(self) -> Sequence[str]:
        """Describe the changes that an update's reason covers besides the findings of checks."""
        record = self._file.record
        if record is None or not self._mode.update or self._mode.approval is None:
            return []
        gone = () if self.metrics else no_longer_gated((), record)
        if not record.stability:
            return gone
        from pytest_rankcheck.baselines.approved_limits import loosened_texts

        return [*gone, *self._uncompared(record), *loosened_texts(self.limits, record)]

    def _uncompared(self, record: Record) -> Sequence[str]:
        """Return a text if the rankings are no longer compared, otherwise nothing."""
        if not record.stability:
            return []
        from pytest_rankcheck.baselines.approved_limits import uncompared

        return uncompared(self.limits, record)

    def dropped_gates(self) -> Sequence[str]:
        """Describe the reference's gates that this test has dropped without a new reason."""
        approved = self._file.record
        if not self._has_reference or approved is None:
            return []
        reasons = self._branch.approvals if self._branch else approved.approvals
        return [
            text
            for text in (*no_longer_gated(self.metrics, approved), *self._uncompared(approved))
            if not any(reason.explains(text) for reason in reasons)
        ]

    def loosened_rankings(self, evaluation: Evaluation) -> RankingCheck | None:
        """Return a check that fails with the reference's limits, which this test loosened.

        Returns None if every check passes with them, or a new reason approves the looser limits.
        """
        approved = self._file.record
        if not self._has_reference or approved is None or not self.rankings:
            return None
        from pytest_rankcheck.baselines.reference_policy import loosened_rankings

        check = loosened_rankings(approved, self._branch, evaluation, self.limits)
        return None if check is None else replace(check, world=self._changes(check.record))

    def check_again(self, evaluation: Evaluation) -> None:
        """Compare with the record that another test session has written in the meantime.

        Raises:
            BaselineError: this test falls below it.
        """
        self._file.read_again()
        self.metrics = []
        for gates, attributes in self._calls:
            for check, block in self._decided(evaluation, gates, attributes):
                self.metrics.append(check)
                if block is not None:
                    self._refuse_overtaken(str(check.metric), str(block))
        if self.rankings:
            self._check_rankings_again(evaluation)
        settlement = self.settlement()
        if settlement.action is Action.REFUSE:
            self._refuse_overtaken("the update", settlement.why)

    def _check_rankings_again(self, evaluation: Evaluation) -> None:
        from pytest_rankcheck.baselines.ranking_check import block_of_rankings, ranking_check

        limits = [check.limits for check in self.rankings]
        self.rankings = [ranking_check(self._file.record, evaluation, each) for each in limits]
        for ranking in self.rankings:
            block = block_of_rankings(ranking, self._mode)
            if block is not None:
                self._refuse_overtaken("the rankings", str(block))

    def _refuse_overtaken(self, what: str, why: str) -> NoReturn:
        self._file.refuse(why)
        raise BaselineError(
            f"{self._file.shown_path}: another test session has written this baseline while this "
            f"test ran, and against it {what} fails: {why}. Its record stays; run the update again"
        )
