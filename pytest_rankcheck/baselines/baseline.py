"""The baseline of one test: what the ``baseline`` fixture gives."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.baseline_file import BaselineFile, Store
from pytest_rankcheck.baselines.metric_check import Check, check_of
from pytest_rankcheck.baselines.ranking_check import (
    RankingCheck,
    block_of_rankings,
    ranking_check,
    settlement_of_rankings,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import TOP
from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.baselines.update_actions import CAREFUL, Action, Mode
from pytest_rankcheck.baselines.update_policy import (
    Block,
    Settlement,
    block_of,
    is_granted,
    settlement_of,
)
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import BaselineError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import attributes_of
from pytest_rankcheck.gates.configured_gates import ConfiguredGates
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike

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

    `check` is called by each assertion, `write_or_keep` once, when the test has passed: a test that
    fails writes nothing. The record belongs to the test and its golden set, so the file is known
    when the test has measured something.

    Args:
        store_for: returns where the record on the golden set of a name is kept.
        test_id: the test's node id, as pytest takes it.
        mode: what the test session may do to baselines.
        defaults: what is gated and recorded unless the test says otherwise.
        reference: the commit whose baselines count; None: those of the working tree.
        inputs: the arguments of pytest that chose what is measured.
        expected_golden: returns the name of the golden set that the test will measure on, or None
            if that is not known yet; it is asked if the test reads the record before a check.
    """

    def __init__(
        self,
        store_for: Callable[[str], Store],
        test_id: str,
        mode: Mode,
        defaults: Defaults | None = None,
        reference: Reference | None = None,
        *,
        inputs: Sequence[str] = (),
        expected_golden: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.test_id = test_id
        """The test's node id, as pytest takes it."""
        self.command = shlex.join([test_id, *inputs])
        """The arguments of pytest that run the test again on what it measures now."""
        self.mode = mode
        self._store_for = store_for
        self._reference = reference
        self._expected_golden = expected_golden
        self._files: dict[str, BaselineFile] = {}
        self._defaults = defaults or Defaults()
        self._watched = [Metric.parse(metric) for metric in self._defaults.watched]
        self._checks: list[Check] = []
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
        """The approved record; None if there is none yet. See `BaselineFile.record`.

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

    def check(
        self,
        evaluation: Evaluation,
        metric: MetricLike,
        gate: Gate,
        by: str | Sequence[str] | None = None,
    ) -> tuple[Check, Block | None]:
        """Compare a metric with the record. Return the check, and why it fails, if it does.

        Raises:
            BaselineError: the record cannot be read, or the test used it for another evaluation.
            MetricError: no such metric.
        """
        self._use(evaluation)
        attributes = self._attributes(evaluation, by)
        parsed = Metric.parse(metric)
        check = check_of(self.record, evaluation, parsed, gate, attributes)
        block = block_of(check, self.mode)
        branch_record = self._file.branch_record if block else None
        if block is not None and branch_record is not None:
            own = check_of(branch_record, evaluation, parsed, gate, attributes)
            if is_granted(check, block, own, self.mode):
                check, block = replace(own, is_granted=True), None
        self._checks.append(check)
        if block is not None:
            self._file.refuse(str(block))
        return check, block

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
        branch_record = self._file.branch_record if block else None
        if block is not None and branch_record is not None:
            own = ranking_check(branch_record, evaluation, limits)
            approved = self.record.approvals if self.record else ()
            has_reason = len(branch_record.approvals) > len(approved)
            if has_reason and block_of_rankings(own, self.mode) is None:
                check, block = own, None
        self._ranking_checks.append(check)
        if block is not None:
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

    def write_or_keep(self) -> Settlement | None:
        """Write the record, or keep it, now that the test has passed.

        Returns:
            What happened to the file; None if the test made no check.

        Raises:
            BaselineError: the file cannot be written.
        """
        if self._evaluation is None or not (self._checks or self._ranking_checks):
            return None
        settlement = self._settlement()
        if settlement.action is Action.REFUSE:
            self._file.refuse(settlement.why)
        elif not settlement.action.writes:
            self._file.keep()
        elif not self._file.write(self._new_record(self._evaluation, settlement)):
            settlement = Settlement(Action.LEAVE)
        return settlement

    def _settlement(self) -> Settlement:
        """Return what happens to the file: the more careful of the two kinds of checks decides."""
        settlements = [settlement_of(self._checks, self.mode)] if self._checks else []
        if self._ranking_checks:
            settlements.append(settlement_of_rankings(self._ranking_checks, self.mode))
        return min(settlements, key=lambda settlement: CAREFUL.index(settlement.action))

    def __repr__(self) -> str:
        return f"Baseline({self.test_id!r})"

    def _new_record(self, evaluation: Evaluation, settlement: Settlement) -> Record:
        approvals = self.record.approvals if self.record else ()
        if settlement.action is Action.APPROVE and self.mode.approval is not None:
            fall = {
                f"{metric}, {decision.label}" if decision.label else str(metric): {
                    "from": round(decision.pairs.mean_before, 6),
                    "to": round(decision.pairs.mean_after, 6),
                }
                for metric, decision in settlement.fell
            }
            approval = Approval.now(
                self.mode.approval, self.path.parent.parent, fall, settlement.change
            )
            approvals = (*approvals, approval)
        gated = [check.metric for check in self._checks]
        attributes = [name for check in self._checks for name in check.attributes]
        return Record.of(
            evaluation,
            gated,
            self._recorded(evaluation),
            approvals,
            attributes=attributes,
            before=self.record,
            kept_depth=max([TOP, *(check.limits.k for check in self._ranking_checks)]),
        )
