"""The baseline of one test: what the ``baseline`` fixture gives."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.baseline_file import BaselineFile, Store
from pytest_rankcheck.baselines.blocks import Block
from pytest_rankcheck.baselines.metric_check import Check
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_checks import RecordChecks
from pytest_rankcheck.baselines.record_contents import TOP
from pytest_rankcheck.baselines.update_actions import Action, Mode
from pytest_rankcheck.baselines.update_policy import Settlement, approval_of, recorded_gates
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import attributes_of
from pytest_rankcheck.gates.configured_gates import ConfiguredGates
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.ranking_check import RankingCheck
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.baselines.world import World
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

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
        self.loosened_rankings: RankingCheck | None = None
        """The check of rankings that passes only because its limits are looser than approved."""
        self._evaluation: Evaluation | None = None

    def __repr__(self) -> str:
        return f"Baseline({self.test_id!r})"

    # --- what is tested ------------------------------------------------------------------------

    @property
    def evaluation(self) -> Evaluation | None:
        """What the test measured; None before the first check."""
        return self._evaluation

    @property
    def golden_name(self) -> str:
        """The name of the golden set that the test measured on; empty before the first check."""
        return self._evaluation.golden.name if self._evaluation else ""

    @property
    def absent_slices(self) -> Sequence[str]:
        """The configured attributes that the golden set does not have."""
        configured = self._defaults.slices
        present = self._evaluation.golden.attributes if self._evaluation else configured
        return [attribute for attribute in configured if attribute not in present]

    @cached_property
    def _world(self) -> World:
        """What the project declares to rank with.

        Raises:
            ConfigurationError: a declared file is missing, or a package is not installed.
        """
        return self._collect_world()

    # --- the record ----------------------------------------------------------------------------

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
        return next((check.record for check in self.checks if check.verdict), None)

    # --- checks --------------------------------------------------------------------------------

    def configured_gate(self, golden_name: str, metric: Metric) -> Gate | None:
        """Return the gate configured for a metric on a golden set; None without one."""
        return self._defaults.gates.gate(golden_name, metric)

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
        return self._made.check_metrics(evaluation, gates, self._attributes(evaluation, by))

    def check_rankings(
        self, evaluation: Evaluation, limits: StabilityLimits
    ) -> tuple[RankingCheck, Block | None]:
        """Compare rankings with the record. Return the check, and why it fails, if it does.

        Raises:
            BaselineError: the record cannot be read, or the test used it for another evaluation.
        """
        if not (self.ranking_checks and not self.checks and self._is_same(evaluation)):
            self._use(evaluation)
        return self._made.check_rankings(evaluation, limits)

    @property
    def checks(self) -> Sequence[Check]:
        """The checks of metrics that the test has made so far."""
        return tuple(self._made.metrics) if self._evaluation else ()

    @property
    def ranking_checks(self) -> Sequence[RankingCheck]:
        """The checks of rankings that the test has made so far."""
        return tuple(self._made.rankings) if self._evaluation else ()

    @property
    def was_blocked(self) -> bool:
        """Whether a check failed, even if the test caught that."""
        return self._evaluation is not None and self._made.was_blocked

    def watched(self) -> Iterator[ComparedValues]:
        """Yield the recorded metrics that are not gated, if the record can be compared."""
        comparable = [check.comparison for check in self.checks if check.verdict]
        gated = {check.metric for check in self.checks}
        if not comparable or comparable[0] is None or self.record is None:
            return
        for metric in self._recorded(self._evaluation):
            if metric not in gated and str(metric) in self.record.metrics:
                yield comparable[0].values(metric)

    @cached_property
    def _made(self) -> RecordChecks:
        """The checks that the test has made; by then its golden set is known."""
        return RecordChecks(self._file, self.mode, self._reference is not None, lambda: self._world)

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

    def _attributes(
        self, evaluation: Evaluation, by: str | Sequence[str] | None
    ) -> tuple[str, ...]:
        """Return the attributes that a test gates by: its own, or configured ones that exist."""
        if by is not None:
            return attributes_of(by)
        present = evaluation.golden.attributes
        return tuple(attribute for attribute in self._defaults.slices if attribute in present)

    def _recorded(self, evaluation: Evaluation | None) -> Sequence[Metric]:
        """Return the metrics to record, gated or not, that the evaluation has."""
        return [metric for metric in self._watched if evaluation and evaluation.fits(metric)]

    # --- what becomes of the record ------------------------------------------------------------

    def decide(self) -> Settlement | None:
        """Decide what becomes of the record, now that all assertions of the test have passed.

        Returns:
            What will happen to the file; None if the test made no check.

        Raises:
            ConfigurationError: the record is written, and the declared world cannot be read.
        """
        if not (self.checks or self.ranking_checks):
            return None
        settlement = self._made.settlement()
        dropped = self._made.dropped_gates()
        if dropped:
            settlement = Settlement(Action.REFUSE, why="; ".join(dropped))
        elif self._evaluation is not None:
            self.loosened_rankings = self._made.loosened_rankings(self._evaluation)
            if self.loosened_rankings is not None:
                settlement = Settlement(Action.REFUSE, why=str(Block.LOOSENED))
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
        if self._evaluation is None or not (self.checks or self.ranking_checks):
            return None
        if not self.mode.may_create:
            self._file.keep()
            return self._made.settlement()
        with self._file.locked():
            if self._file.was_changed_by_others():
                self._made.check_again(self._evaluation)
            settlement = self._made.settlement()
            if settlement.action in (Action.REFUSE, Action.LEAVE):
                self._file.keep()
                return settlement
            record = self._next_record(self._evaluation, settlement)
            if self._file.write(record):
                self.next_record = record
            elif settlement.action is not Action.KEEP:
                return Settlement(Action.LEAVE)
            return settlement

    def _next_record(self, evaluation: Evaluation, settlement: Settlement) -> Record:
        from pytest_rankcheck.baselines.approved_limits import recorded_limits
        from pytest_rankcheck.baselines.register import Revision, next_record

        is_approved = settlement.action is Action.APPROVE
        stability = recorded_limits(self._made.limits, self.record, is_approved=is_approved)
        revision = Revision(
            gates=recorded_gates(self.checks, self.record, settlement),
            watched=tuple(self._recorded(evaluation)),
            attributes=tuple(dict.fromkeys(a for check in self.checks for a in check.attributes)),
            rewritten=settlement.raised,
            approval=approval_of(settlement, self.checks, self.mode, self.path.parent.parent),
            is_approved=is_approved,
            kept_depth=max([TOP, *(limits.k for limits in stability)]),
            test=self._key,
            world=self._world,
            stability=stability,
        )
        return next_record(self.record, evaluation, revision)
