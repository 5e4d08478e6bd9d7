"""The baseline of one test: what the ``baseline`` fixture gives, and the fate of its file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from itertools import chain

from pytest_rankcheck.baselines import policy
from pytest_rankcheck.baselines.change import Approval, Change
from pytest_rankcheck.baselines.checked_test import CheckedTest
from pytest_rankcheck.baselines.policy import Action, Settlement
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.register import next_record
from pytest_rankcheck.errors import BaselineError


class Baseline(CheckedTest):
    """The approved record of one test, and the checks that the test made against it.

    Each assertion calls `check_all`. `unapproved_drops` is called once all of them have passed, and
    `write_or_keep` when the outcome of the test is known: a test that fails writes nothing.
    """

    next_record: Record | None = None
    """What this test has recorded; None if it has written nothing."""

    def unapproved_drops(self) -> str | None:
        """Return the gates that the test dropped without a reason, now that its checks passed.

        Raises:
            ConfigurationError: the record is written, and the declared world cannot be read.
            BaselineError: the record would need a line for a query on which the ranker failed.
        """
        if self._branch is not None and self.all_checks:
            dropped = [
                change
                for change in self.less_strict()
                # Its own family still decides on the slices of the record.
                if change.is_drop
                and change.kind != "slice-gone"
                and not change.is_covered(self._branch.keys)
            ]
            if dropped:
                why = "; ".join(change.text for change in dropped)
                self.file.refuse(why)
                return why
        if self.all_checks and self.mode.update:
            _ = self.world  # asked for now: fixtures are gone when the record is written
            if self.evaluation is not None and self.evaluation.failed:
                self._settlement()  # refused now, not when the test has passed
        return None

    def write_or_keep(self) -> Settlement | None:
        """Write the record, or keep it, now that the test has passed in all its phases.

        Returns:
            What happened to the file; None if the test made no check.

        Raises:
            BaselineError: the file cannot be written, or another test session has written a
                record that this test falls below.
        """
        if not self.all_checks:
            return None
        if not self.mode.update:
            self.file.keep()
            return Settlement(Action.LEAVE, raised=self.raised_record)
        with self.file.store.locked():
            if self.file.read_again():
                self._check_again()
            settlement = self._settlement()
            if settlement.record is None:
                self.file.keep()
            elif self.file.write(settlement.record):
                self.next_record = settlement.record
            elif settlement.action.writes:
                return Settlement(Action.LEAVE)
            return settlement

    @cached_property
    def raised_record(self) -> Record | None:
        """The record that an update would write, if it would raise the present one."""
        before = self.file.working_record
        if before is None or self.evaluation is None or self.evaluation.failed:
            return None
        return policy.raised(self.all_checks, before, partial(self._next, before))

    def _settlement(self) -> Settlement:
        """Return what happens to the file of a test whose checks have passed."""
        before = self.file.record
        if self.mode.approval is not None:
            return self._approved(before, self.mode.approval)
        if before is None:
            return Settlement(Action.CREATE, self._next(None, world=self.world))
        if not self.mode.update:
            return Settlement(Action.LEAVE)
        return policy.updated(
            self.all_checks, before, partial(self._next, before, world=self.world)
        )

    def _approved(self, before: Record | None, reason: str) -> Settlement:
        """Return what happens to a record if everything that is measured is approved."""
        keys: list[Change] = []
        there = self.file.reference_record
        before = before or there
        after = self._next(before, is_approved=True, world=self.world)
        merged = self.file.merged_approvals
        given = [key for approval in after.approvals[merged:] for key in approval.keys]
        if self.file.is_unreadable:
            keys += [key for key in [Change("unreadable")] if not key.is_covered(given)]
        elif before is None:
            return Settlement(Action.CREATE, after)
        if before is not None:
            keys += policy.approved_keys(self.all_checks, before, after)
        if there is not None:
            counts = range(1, len(self.assertions) + 1)
            against = [check for count in counts for check in self._judge(there, count)]
            keys += policy.approved_keys(against, there, after, [*given, *keys])
        folder = self.path.parent.parent
        return policy.approved(before, after, keys, merged, partial(Approval.now, reason, folder))

    @property
    def _next(self) -> Callable[..., Record]:
        """The function that returns the record that follows another one."""
        assert self.evaluation is not None
        asserted = self.evaluation, self.assertions, self.defaults
        return partial(next_record, *asserted, test=self.key)

    def _check_again(self) -> None:
        """Compare with the record that another test session has written in the meantime.

        Raises:
            BaselineError: this test falls below it.
        """
        self.all_checks = []
        counts = range(1, len(self.assertions) + 1)
        for check, block in chain.from_iterable(map(self._judged, counts)):
            self.all_checks.append(check)
            if block is not None:
                self.file.refuse(str(block))
                raise BaselineError(
                    f"{self.place}: another test session wrote this baseline while this test ran, "
                    f"and {check.subject} fails against it: {block}. That record is kept\n  "
                    f"{self.place.update('to try again')}"
                )
