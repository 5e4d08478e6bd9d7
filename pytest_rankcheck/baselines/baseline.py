"""The baseline of one test: what the ``baseline`` fixture gives."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.metric_check import Check, check_of
from pytest_rankcheck.baselines.ranking_check import (
    RankingCheck,
    block_of_rankings,
    ranking_check,
    settle_rankings,
)
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import TOP
from pytest_rankcheck.baselines.record_writer import record_text
from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.baselines.syrupy_store import Proposal
from pytest_rankcheck.baselines.update_mode import Mode
from pytest_rankcheck.baselines.update_policy import (
    CAREFUL,
    Action,
    Block,
    Settlement,
    block_of,
    is_granted,
    settle,
)
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.gates.configured_gates import ConfiguredGates
from pytest_rankcheck.gates.gate import Gate, attributes_of
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike

__all__ = ["Baseline", "Defaults"]


class Store(Protocol):
    """Where a record is kept."""

    path: Path
    shown_path: str
    """The path as messages show it."""

    def submit(self, proposal: Proposal) -> None:
        """Compare with what is there and, in an update, write."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What is gated and recorded where a test does not say."""

    watched: tuple[str, ...] = ()
    """Metrics to record, gated or not."""
    gates: ConfiguredGates = field(default_factory=ConfiguredGates)
    slices: tuple[str, ...] = ()
    """Attributes to gate by."""


class Baseline:
    """The approved record of one test, and what the test asked of it.

    `check` is called by each assertion, `settle` once, when the test has passed: a test that
    fails writes nothing.
    """

    def __init__(
        self,
        store: Store,
        test_id: str,
        mode: Mode,
        defaults: Defaults | None = None,
        reference: Reference | None = None,
        *,
        inputs: Sequence[str] = (),
    ) -> None:
        self.test_id = test_id
        """The test, as it can be given to pytest."""
        self.command = shlex.join([test_id, *inputs])
        """What runs the test again on what it measures now, after the word pytest."""
        self.mode = mode
        self._store = store
        self._reference = reference
        self._defaults = defaults or Defaults()
        self._watched = [Metric.parse(metric) for metric in self._defaults.watched]
        self._checks: list[Check] = []
        self._ranking_checks: list[RankingCheck] = []
        self._evaluation: Evaluation | None = None

    @property
    def path(self) -> Path:
        """The baseline file."""
        return self._store.path

    @property
    def shown_path(self) -> str:
        """The baseline file as messages show it."""
        if self._reference is None or self._text_there is None:
            return self._store.shown_path
        return f"{self._store.shown_path} at {quoted(self._reference.name)}"

    @cached_property
    def record(self) -> Record | None:
        """The approved record; None if there is none yet.

        That of the reference commit, where there is one: a record that only this branch has is
        compared with all the same, and listed as one that it adds.

        Raises:
            BaselineError: the file is not a record, or one of a newer version.
        """
        if self._text_there is not None:
            return Record.from_text(self._text_there, self.shown_path)
        return self._own_record

    @cached_property
    def _own_record(self) -> Record | None:
        """The record in the file, whatever is approved elsewhere; None if there is no file."""
        if not self.path.exists():
            return None
        return Record.from_text(text_of(self.path, BaselineError), self._store.shown_path)

    @cached_property
    def _text_there(self) -> str | None:
        """The file at the reference commit; None without one, or if it does not have the file."""
        return self._reference.text(self.path) if self._reference else None

    @property
    def comparable_record(self) -> Record | None:
        """The record that the test was compared with; None where that was not possible."""
        return next((check.record for check in self._checks if check.verdict), None)

    @property
    def checks(self) -> Sequence[Check]:
        """What the test has asked so far."""
        return tuple(self._checks)

    @property
    def ranking_checks(self) -> Sequence[RankingCheck]:
        """What the test has asked of the rankings so far."""
        return tuple(self._ranking_checks)

    def configured_gate(self, golden_name: str, metric: Metric) -> Gate | None:
        """Return the gate that is configured for a metric on a golden set; None if none is."""
        return self._defaults.gates.gate(golden_name, metric)

    def _attributes(
        self, evaluation: Evaluation, by: str | Sequence[str] | None
    ) -> tuple[str, ...]:
        """Return the attributes that a test gates by: its own, or those configured that exist."""
        if by is not None:
            return attributes_of(by)
        known = evaluation.golden.attributes
        return tuple(attribute for attribute in self._defaults.slices if attribute in known)

    def check(
        self,
        evaluation: Evaluation,
        metric: MetricLike,
        gate: Gate,
        by: str | Sequence[str] | None = None,
    ) -> tuple[Check, Block | None]:
        """Hold a metric against the record, and say why that blocks the test, if it does.

        Raises:
            BaselineError: the record cannot be read, or the test used it for another evaluation.
            MetricError: no such metric.
        """
        self._use(evaluation)
        attributes = self._attributes(evaluation, by)
        parsed = Metric.parse(metric)
        check = check_of(self.record, evaluation, parsed, gate, attributes)
        block = block_of(check, self.mode)
        if block is not None and self._text_there is not None and self._own_record is not None:
            own = check_of(self._own_record, evaluation, parsed, gate, attributes)
            if is_granted(check, block, own, self.mode):
                check, block = replace(own, is_granted=True), None
        self._checks.append(check)
        if block is not None:
            refusal = Proposal(self._text_now or "", refusal=str(block))
            self._store.submit(refusal)
        return check, block

    def check_rankings(
        self, evaluation: Evaluation, limits: StabilityLimits
    ) -> tuple[RankingCheck, Block | None]:
        """Hold rankings against the record, and say why that blocks the test, if it does.

        Raises:
            BaselineError: the record cannot be read, or the test used it for another evaluation.
        """
        if not (self._ranking_checks and not self._checks and self._is_same(evaluation)):
            self._use(evaluation)
        check = ranking_check(self.record, evaluation, limits)
        block = block_of_rankings(check, self.mode)
        if block is not None and self._text_there is not None and self._own_record is not None:
            own = ranking_check(self._own_record, evaluation, limits)
            known = self.record.approvals if self.record else ()
            has_reason = len(self._own_record.approvals) > len(known)
            if has_reason and block_of_rankings(own, self.mode) is None:
                check, block = own, None
        self._ranking_checks.append(check)
        if block is not None:
            self._store.submit(Proposal(self._text_now or "", refusal=str(block)))
        return check, block

    def _use(self, evaluation: Evaluation) -> None:
        """Note what is measured.

        Raises:
            BaselineError: the test held another evaluation against the record before.
        """
        if self._evaluation is not None and self._evaluation is not evaluation:
            raise BaselineError(
                f"{self.test_id} holds two evaluations against one baseline; a baseline is the "
                "record of one. Write a test for each, or parametrise the test"
            )
        self._evaluation = evaluation

    def _is_same(self, evaluation: Evaluation) -> bool:
        """Whether another evaluation is of the same run: one is made for each check of rankings."""
        before = self._evaluation
        return (
            before is not None
            and evaluation.run is not None
            and before.run is evaluation.run
            and before.golden.fingerprint == evaluation.golden.fingerprint
        )

    @property
    def evaluation(self) -> Evaluation | None:
        """What the test measured; None before it did."""
        return self._evaluation

    @property
    def absent_slices(self) -> Sequence[str]:
        """The configured attributes that the golden set does not have."""
        configured = self._defaults.slices
        known = self._evaluation.golden.attributes if self._evaluation else configured
        return [attribute for attribute in configured if attribute not in known]

    @property
    def golden_name(self) -> str:
        """The name of the golden set that the test measured on; empty before it did."""
        return self._evaluation.golden.name if self._evaluation else ""

    def watched(self) -> Iterator[ComparedValues]:
        """Yield the recorded metrics that are not gated, where the record can be compared."""
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

    def settle(self) -> Settlement | None:
        """Write the record, or keep it, now that the test has passed.

        Returns:
            What became of the file; None if the test gated nothing.

        Raises:
            BaselineError: the file cannot be written.
        """
        if self._evaluation is None or not (self._checks or self._ranking_checks):
            return None
        settlement = self._settlement()
        if settlement.action is Action.REFUSE:
            self._store.submit(Proposal(self._text_now or "", refusal=settlement.why))
        elif settlement.writes:
            text = record_text(self._new_record(self._evaluation, settlement))
            if text == self._text_now:
                settlement = Settlement(Action.LEAVE)
            self._store.submit(Proposal(text))
        elif self._text_now is not None:
            self._store.submit(Proposal(self._text_now))
        return settlement

    def _settlement(self) -> Settlement:
        """Return what becomes of the file: what the most careful of both kinds of checks says."""
        found = [settle(self._checks, self.mode)] if self._checks else []
        if self._ranking_checks:
            found.append(settle_rankings(self._ranking_checks, self.mode))
        return min(found, key=lambda settlement: CAREFUL.index(settlement.action))

    def __repr__(self) -> str:
        return f"Baseline({self.shown_path!r})"

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
            top=max([TOP, *(check.limits.k for check in self._ranking_checks)]),
        )

    @cached_property
    def _text_now(self) -> str | None:
        """The file as it stands."""
        return self.path.read_text("utf-8") if self.path.exists() else None
