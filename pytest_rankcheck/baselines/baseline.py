"""The baseline of one test: what the ``baseline`` fixture gives."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from pytest_rankcheck.baselines.baseline_file import BaselineFile, Store
from pytest_rankcheck.baselines.metric_check import Check, checks_of
from pytest_rankcheck.baselines.ranking_check import (
    RankingCheck,
    block_of_rankings,
    ranking_check,
    settlement_of_rankings,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import TOP
from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.baselines.reference_policy import (
    BranchRecord,
    checks_at_reference,
    rankings_at_reference,
)
from pytest_rankcheck.baselines.register import Revision, next_record
from pytest_rankcheck.baselines.update_actions import CAREFUL, Action, Mode
from pytest_rankcheck.baselines.update_policy import (
    Block,
    Settlement,
    approval_of,
    block_of,
    no_longer_gated,
    recorded_gates,
    settlement_of,
)
from pytest_rankcheck.baselines.world import World, WorldComparison, compared_worlds
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import attributes_of
from pytest_rankcheck.gates.configured_gates import ConfiguredGates
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["Baseline", "Defaults"]


@dataclass(frozen=True, slots=True)
class Defaults:
    """What is gated and recorded unless a test says otherwise."""

    watched: tuple[str, ...] = ()
    """Metrics to record, gated or not."""
    gates: ConfiguredGates = field(default_factory=ConfiguredGates)
    slices: tuple[str, ...] = ()
    """Attributes to gate by."""


class Baseline:
    """The approved record of one test, and the checks that the test made against it.

    `check_all` is called by each assertion, `decide` once all of them have passed, and
    `write_or_keep` when the outcome of the test is known: a test that fails writes nothing. The
    record belongs to the test and its golden set, so the file is known when the test has measured
    something.

    Args:
        store_for: returns where the record on the golden set of a name is kept.
        test_id: the test's node id, as pytest takes it.
        mode: what the test session may do to baselines.
        defaults: what is gated and recorded unless the test says otherwise.
        reference: the commit whose baselines count; None: those of the working tree.
        key: what identifies the test in its file, whichever golden set it measures on.
        inputs: the arguments of pytest that chose what is measured.
        expected_golden: returns the name of the golden set that the test will measure on, or None
            if that is not known yet; it is asked if the test reads the record before a check.
        world: returns what the project declares to rank with; it is asked when a gate fails whose
            record has a world, and before a record is written.
    """

    def __init__(
        self,
        store_for: Callable[[str], Store],
        test_id: str,
        mode: Mode,
        defaults: Defaults | None = None,
        reference: Reference | None = None,
        *,
        key: str = "",
        inputs: Sequence[str] = (),
        expected_golden: Callable[[], str | None] = lambda: None,
        world: Callable[[], World] = dict,
    ) -> None:
        self.test_id = test_id
        """The test's node id, as pytest takes it."""
        self.command = shlex.join([test_id, *inputs])
        """The arguments of pytest that run the test again on what it measures now."""
        self.mode = mode
        self._key = key
        self._store_for = store_for
        self._reference = reference
        self._expected_golden = expected_golden
        self._collect_world = world
        self._files: dict[str, BaselineFile] = {}
        self._defaults = defaults or Defaults()
        self._watched = [Metric.parse(metric) for metric in self._defaults.watched]
        self.next_record: Record | None = None
        """What this test has recorded; None if it has written nothing."""
        self.was_blocked = False
        """Whether a check failed, even if the test caught that."""
        self._checks: list[Check] = []
        self._calls: list[tuple[Mapping[Metric, Gate], tuple[str, ...]]] = []
        self._ranking_checks: list[RankingCheck] = []
        self._evaluation: Evaluation | None = None

    @property
    def _file(self) -> BaselineFile:
        """The file of this test and of the golden set that it measures on.

        Raises:
            BaselineError: the golden set is not known yet.
        """
        golden_name = self.golden_name or self._expected_golden()
        if golden_name is None:
            raise BaselineError(
                f"{self.test_id}: a baseline belongs to a test and a golden set, and this test has "
                "not measured anything yet; make an assertion first, or use one of the fixtures "
                "evaluation, golden_set, session_evaluation and session_log"
            )
        if golden_name not in self._files:
            self._files[golden_name] = BaselineFile(self._store_for(golden_name), self._reference)
        return self._files[golden_name]

    @property
    def path(self) -> Path:
        """The baseline file.

        Raises:
            BaselineError: the test has not measured anything, so its golden set is unknown.
        """
        return self._file.path

    @property
    def shown_path(self) -> str:
        """The baseline file as messages show it."""
        return self._file.shown_path

    @property
    def record(self) -> Record | None:
        """The approved record; None before the first update. See `BaselineFile.record`.

        Raises:
            BaselineError: the file is not a record, or has a newer format version; or the test has
                not measured anything, so its golden set is unknown.
        """
        return self._file.record

    @property
    def comparable_record(self) -> Record | None:
        """The record that the test was compared with; None if they could not be compared."""
        return next((check.record for check in self._checks if check.verdict), None)

    @property
    def checks(self) -> Sequence[Check]:
        """The checks of metrics that the test has made so far."""
        return tuple(self._checks)

    @property
    def ranking_checks(self) -> Sequence[RankingCheck]:
        """The checks of rankings that the test has made so far."""
        return tuple(self._ranking_checks)

    def configured_gate(self, golden_name: str, metric: Metric) -> Gate | None:
        """Return the gate configured for a metric on a golden set; None without one."""
        return self._defaults.gates.gate(golden_name, metric)

    def _attributes(
        self, evaluation: Evaluation, by: str | Sequence[str] | None
    ) -> tuple[str, ...]:
        """Return the attributes that a test gates by: its own, or configured ones that exist."""
        if by is not None:
            return attributes_of(by)
        present = evaluation.golden.attributes
        return tuple(attribute for attribute in self._defaults.slices if attribute in present)

    def check_all(
        self,
        evaluation: Evaluation,
        gates: Mapping[Metric, Gate],
        by: str | Sequence[str] | None = None,
    ) -> Sequence[tuple[Check, Block | None]]:
        """Compare metrics with the record. Return the checks, and why each fails, if it does.

        Raises:
            BaselineError: the record cannot be read, or the test used it for another evaluation.
            MetricError: a metric does not fit the evaluation.
        """
        self._use(evaluation)
        attributes = self._attributes(evaluation, by)
        results = [
            (
                check if block is None else replace(check, world=self._world_since(check.record)),
                block,
            )
            for check, block in self._decided(evaluation, gates, attributes)
        ]
        self._calls.append((gates, attributes))
        self._checks += [check for check, _ in results]
        for _, block in results:
            if block is not None:
                self.was_blocked = True
                self._file.refuse(str(block))
        return results

    @cached_property
    def _world(self) -> World:
        """What the project declares to rank with.

        Raises:
            ConfigurationError: a declared file is missing, or a package is not installed.
        """
        return self._collect_world()

    def _world_since(self, record: Record | None) -> WorldComparison | None:
        """Return what has changed of the declared world since a record; None if it has none."""
        if record is None or not record.world:
            return None
        return compared_worlds(record.world, lambda: self._world)

    def _decided(
        self, evaluation: Evaluation, gates: Mapping[Metric, Gate], attributes: tuple[str, ...]
    ) -> Sequence[tuple[Check, Block | None]]:
        """Return the checks against the record that counts, and why each fails."""
        approved, branch = self.record, self._branch
        if approved is None or self._reference is None:
            checks = checks_of(approved, evaluation, gates, attributes)
            return [(check, block_of(check, self.mode)) for check in checks]
        return checks_at_reference(
            approved, branch, evaluation, gates, attributes=attributes, mode=self.mode
        )

    @cached_property
    def _branch(self) -> BranchRecord | None:
        """What this branch has instead of the approved record; None without a reference."""
        if not self._file.is_from_reference or self.record is None:
            return None
        if self._file.is_behind:
            return BranchRecord(self.record, is_behind=True)
        return BranchRecord.of(self.record, self._file.working_record)

    def check_rankings(
        self, evaluation: Evaluation, limits: StabilityLimits
    ) -> tuple[RankingCheck, Block | None]:
        """Compare rankings with the record. Return the check, and why it fails, if it does.

        Raises:
            BaselineError: the record cannot be read, or the test used it for another evaluation.
        """
        if not (self._ranking_checks and not self._checks and self._is_same(evaluation)):
            self._use(evaluation)
        check = ranking_check(self.record, evaluation, limits)
        block = block_of_rankings(check, self.mode)
        if self._branch is not None:
            check, block = rankings_at_reference(check, self._branch, evaluation, self.mode)
        if block is not None:
            check = replace(check, world=self._world_since(check.record))
        self._ranking_checks.append(check)
        if block is not None:
            self.was_blocked = True
            self._file.refuse(str(block))
        return check, block

    def _use(self, evaluation: Evaluation) -> None:
        """Remember the evaluation.

        Raises:
            BaselineError: the test compared another evaluation with the record before.
        """
        if self._evaluation is not None and self._evaluation is not evaluation:
            raise BaselineError(
                f"{self.test_id} compares two evaluations with one baseline, which is the record "
                "of one evaluation. Write a test for each, or parametrise the test"
            )
        self._evaluation = evaluation

    def _is_same(self, evaluation: Evaluation) -> bool:
        """Whether the evaluation is of the same run; each check of rankings makes its own."""
        before = self._evaluation
        return (
            before is not None
            and evaluation.run is not None
            and before.run is evaluation.run
            and before.golden.fingerprint == evaluation.golden.fingerprint
        )

    @property
    def evaluation(self) -> Evaluation | None:
        """What the test measured; None before the first check."""
        return self._evaluation

    @property
    def absent_slices(self) -> Sequence[str]:
        """The configured attributes that the golden set does not have."""
        configured = self._defaults.slices
        present = self._evaluation.golden.attributes if self._evaluation else configured
        return [attribute for attribute in configured if attribute not in present]

    @property
    def golden_name(self) -> str:
        """The name of the golden set that the test measured on; empty before the first check."""
        return self._evaluation.golden.name if self._evaluation else ""

    def watched(self) -> Iterator[ComparedValues]:
        """Yield the recorded metrics that are not gated, if the record can be compared."""
        comparable = [check.comparison for check in self._checks if check.verdict]
        gated = {check.metric for check in self._checks}
        if not comparable or comparable[0] is None or self.record is None:
            return
        for metric in self._recorded(self._evaluation):
            if metric not in gated and str(metric) in self.record.metrics:
                yield comparable[0].values(metric)

    def _recorded(self, evaluation: Evaluation | None) -> Sequence[Metric]:
        """Return the metrics to record, gated or not, that the evaluation has."""
        return [metric for metric in self._watched if evaluation and evaluation.fits(metric)]

    def decide(self) -> Settlement | None:
        """Decide what becomes of the record, now that all assertions of the test have passed.

        Returns:
            What will happen to the file; None if the test made no check.

        Raises:
            ConfigurationError: the record is written, and the declared world cannot be read.
        """
        if self._evaluation is None or not (self._checks or self._ranking_checks):
            return None
        settlement = self._settlement()
        if self._reference is not None and self.record is not None:
            # A new reason on this branch may give up what the reference gates.
            reasons = self._branch.approvals if self._branch else self.record.approvals
            gone = [
                text
                for text in no_longer_gated(self._checks, self.record)
                if not any(reason.explains(text) for reason in reasons)
            ]
            if gone:
                settlement = Settlement(Action.REFUSE, why="; ".join(gone))
        if settlement.action is Action.REFUSE:
            self._file.refuse(settlement.why)
        elif self.mode.may_create:
            _ = self._world  # asked for now: fixtures are gone when the record is written
        return settlement

    def write_or_keep(self) -> Settlement | None:
        """Write the record, or keep it, now that the test has passed in all its phases.

        Returns:
            What happened to the file; None if the test made no check.

        Raises:
            BaselineError: the file cannot be written, or another test session has written a
                record that this test falls below.
        """
        if self._evaluation is None or not (self._checks or self._ranking_checks):
            return None
        if not self.mode.may_create:
            self._file.keep()
            return self._settlement()
        with self._file.locked():
            if self._file.was_changed_by_others():
                self._check_again(self._evaluation)
            settlement = self._settlement()
            if settlement.action in (Action.REFUSE, Action.LEAVE):
                self._file.keep()
                return settlement
            record = self._next_record(self._evaluation, settlement)
            if self._file.write(record):
                self.next_record = record
            elif settlement.action is not Action.KEEP:
                return Settlement(Action.LEAVE)
            return settlement

    def _check_again(self, evaluation: Evaluation) -> None:
        """Compare with the record that another test session has written in the meantime.

        Raises:
            BaselineError: this test falls below it.
        """
        self._file.read_again()
        self._checks = []
        for gates, attributes in self._calls:
            for check, block in self._decided(evaluation, gates, attributes):
                self._checks.append(check)
                if block is not None:
                    self._refuse_overtaken(str(check.metric), str(block))
        limits = [check.limits for check in self._ranking_checks]
        self._ranking_checks = [ranking_check(self.record, evaluation, each) for each in limits]
        for ranking in self._ranking_checks:
            block = block_of_rankings(ranking, self.mode)
            if block is not None:
                self._refuse_overtaken("the rankings", str(block))
        settlement = self._settlement()
        if settlement.action is Action.REFUSE:
            self._refuse_overtaken("the update", settlement.why)

    def _refuse_overtaken(self, what: str, why: str) -> NoReturn:
        self._file.refuse(why)
        raise BaselineError(
            f"{self.shown_path}: another test session has written this baseline while this test "
            f"ran, and against it {what} fails: {why}. Its record stays; run the update again"
        )

    def _settlement(self) -> Settlement:
        """Return what happens to the file: the more careful of the two kinds of checks decides."""
        settlements = [settlement_of(self._checks, self.mode)] if self._checks else []
        if self._ranking_checks:
            settlements.append(settlement_of_rankings(self._ranking_checks, self.mode))
        return min(settlements, key=lambda settlement: CAREFUL.index(settlement.action))

    def __repr__(self) -> str:
        return f"Baseline({self.test_id!r})"

    def _next_record(self, evaluation: Evaluation, settlement: Settlement) -> Record:
        revision = Revision(
            gates=recorded_gates(self._checks, self.record, settlement),
            watched=tuple(self._recorded(evaluation)),
            attributes=tuple(dict.fromkeys(a for check in self._checks for a in check.attributes)),
            rewritten=settlement.raised,
            approval=approval_of(settlement, self._checks, self.mode, self.path.parent.parent),
            is_approved=settlement.action is Action.APPROVE,
            kept_depth=max([TOP, *(check.limits.k for check in self._ranking_checks)]),
            test=self._key,
            world=self._world,
        )
        return next_record(self.record, evaluation, revision)
