"""The checks that a test makes against its record, maybe that of a reference commit."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.baseline_file import BaselineFile
from pytest_rankcheck.baselines.change import Change, is_looser
from pytest_rankcheck.baselines.check import Block, Check, Mode, RankingCheck
from pytest_rankcheck.baselines.families import Family
from pytest_rankcheck.baselines.metric_check import Assertion, MetricAssertion, MetricCheck
from pytest_rankcheck.baselines.policy import BEHIND, BranchRecord, against_reference, judge
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.register import Defaults
from pytest_rankcheck.baselines.succession import looser_limits, unknown_metrics
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import BaselineError, RankcheckError
from pytest_rankcheck.evaluation.evaluation import Evaluation, attributes_of
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.remedies import Place

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.baselines.seal import Seal
    from pytest_rankcheck.baselines.syrupy_store import SnapshotStore
    from pytest_rankcheck.baselines.world import World
    from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits


@dataclass(eq=False, repr=False)
class CheckedTest:
    """A test and its approved record: what it measures, and how that differs from the record.

    The record belongs to the test and its golden set, so the file is known when the test has
    measured something.
    """

    store_for: Callable[[str], SnapshotStore]
    """Returns where the record for the golden set of this name is kept."""
    test_id: str
    """The test's node id, as pytest takes it."""
    mode: Mode
    """What the test session may do to baselines."""
    defaults: Defaults = field(default_factory=Defaults)
    """What is gated and recorded unless the test says otherwise."""
    reference: Reference | None = None
    """The commit whose baselines count; None: those of the working tree."""
    _: KW_ONLY
    key: str = ""
    """What identifies the test in its file, for any golden set that it measures on."""
    inputs: Sequence[str] = ()
    """The arguments of pytest that chose what is measured."""
    expected_golden: Callable[[], str | None] = lambda: None
    """Returns the name of the golden set that the test will measure on, or None if it is not known
    yet; called if the test reads the record before a check."""
    declared_world: Callable[[], World] = dict
    """Returns the declared world; called when a gate fails whose record has a world, and before a
    record is written."""
    loosened: Callable[[], Sequence[Change]] = tuple
    """Returns the loosening changes that the branch approves for all its records."""
    evaluation: Evaluation | None = field(default=None, init=False)
    """What the test measured; None before the first check."""
    assertions: list[Assertion] = field(default_factory=list, init=False)
    """The assertions that the test has made so far."""
    all_checks: list[Check] = field(default_factory=list, init=False)
    """The checks that the test has made so far, of metrics and of rankings."""
    was_blocked: bool = field(default=False, init=False)
    """Whether a check failed, even if the test caught that."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.test_id!r})"

    # --- what is tested ------------------------------------------------------------------------

    @property
    def golden_name(self) -> str:
        """The name of the golden set that the test measured on; empty before the first check."""
        return self.evaluation.golden.name if self.evaluation else ""

    # --- the record ----------------------------------------------------------------------------

    @cached_property
    def file(self) -> BaselineFile:
        """The file of this test and of the golden set that it measures on.

        Raises:
            BaselineError: the golden set is not known yet.
        """
        golden_name = self.golden_name or self.expected_golden()
        if golden_name is None:
            raise BaselineError(
                f"{self.test_id}: a baseline belongs to a test and a golden set, and this test has "
                "not measured anything yet; make an assertion first, or use one of the fixtures "
                "evaluation, golden_set, session_evaluation and session_log"
            )
        store, command = self.store_for(golden_name), shlex.join([self.test_id, *self.inputs])
        return BaselineFile(store, command, self.mode, self.reference, self._seal)

    @property
    def _seal(self) -> Seal | None:
        """The seal of the golden set that was measured on, if it is sealed."""
        if self.evaluation is None or self.golden_name not in self.defaults.sealed:
            return None
        from pytest_rankcheck.baselines.seal import Seal

        return Seal(self.evaluation)

    @property
    def path(self) -> Path:
        """The baseline file.

        Raises:
            BaselineError: the test has not measured anything, so its golden set is unknown.
        """
        return self.file.path

    @property
    def place(self) -> Place:
        """Where the record is, and the commands that are about it."""
        return self.file.place

    @property
    def record(self) -> Record | None:
        """The approved record; None before the first update. See `BaselineFile.record`.

        Raises:
            BaselineError: the file is not a record, or has another format version; or the test has
                not measured anything, so its golden set is unknown.
        """
        return self.file.record

    # --- checks --------------------------------------------------------------------------------

    @property
    def checks(self) -> Sequence[MetricCheck]:
        """The checks of metrics that the test has made so far."""
        return [check for check in self.all_checks if isinstance(check, MetricCheck)]

    @property
    def ranking_checks(self) -> Sequence[RankingCheck]:
        """The checks of rankings that the test has made so far."""
        return [check for check in self.all_checks if isinstance(check, RankingCheck)]

    def check_all(
        self,
        evaluation: Evaluation,
        gates: Mapping[Metric, Gate],
        by: str | Sequence[str] | None = None,
    ) -> Sequence[tuple[MetricCheck, Block | None]]:
        """Compare metrics with the record. Return the checks, and why each fails, if it does.

        Raises:
            BaselineError: the record cannot be read, or the test used it for another evaluation.
            MetricError: a metric does not fit the evaluation.
        """
        self._use(evaluation)
        usual, is_replay = self.defaults.inconclusive, evaluation.golden.replay is not None
        gates = {
            metric: replace(gate, inconclusive=gate.inconclusive or usual)
            if gate.rule.can_be_inconclusive or is_replay
            else gate
            for metric, gate in gates.items()
        }
        if by is None:
            by = [each for each in self.defaults.slices if each in evaluation.golden.attributes]
        attributes = tuple(dict.fromkeys(attributes_of(by)))
        checked = self._checked(MetricAssertion(gates, attributes))
        return [(check, block) for check, block in checked if isinstance(check, MetricCheck)]

    def check_rankings(
        self, evaluation: Evaluation, limits: StabilityLimits
    ) -> tuple[RankingCheck, Block | None]:
        """Compare rankings with the record. Return the check, and why it fails, if it does.

        Raises:
            BaselineError: the record cannot be read, or the test used it for another evaluation.
        """
        self._use(evaluation)
        [(check, block)] = self._checked(limits)
        assert isinstance(check, RankingCheck)
        return check, block

    def watched(self) -> Iterator[ComparedValues]:
        """Yield the recorded metrics that are not gated, if the record can be compared."""
        comparison = next((check.comparison for check in self.checks if check.is_decided), None)
        gated = {check.metric for check in self.checks}
        if self.was_blocked and self.record is not None:  # unreached gates have their own rows
            gated |= {*map(Metric.parse, self.record.gated)}
        if comparison is None:
            return
        for metric in self.defaults.recorded(comparison.evaluation):
            is_watched = metric not in gated and comparison.other.fits(metric)
            if is_watched and metric.kind.compares(comparison):
                yield comparison.values(metric)

    def less_strict(self) -> Iterator[Change]:
        """Yield what the test decides less strictly than the record, or no longer decides."""
        record = self.record
        if record is None:
            return
        gated = {check.subject for check in self.checks}
        attributes = {attribute for check in self.checks for attribute in check.attributes}
        gone = [name for name in record.gated if name not in gated]
        yield from (Change("metric-gone", name, record.metrics[name].gate) for name in gone)
        yield from unknown_metrics(record)
        yield from (Change("slice-gone", name) for name in record.slices if name not in attributes)
        for check in self.checks:
            before = record.gate(check.metric)
            if is_looser(before, check.gate.text):
                yield Change("gate-looser", check.subject, before, check.gate.text)
        yield from looser_limits(record, [check.limits for check in self.ranking_checks])

    @property
    def families(self) -> Sequence[Family]:
        """What the assertions that the test has made so far decide together."""
        return [each.family for each in self.assertions if isinstance(each, MetricAssertion)]

    def _checked(self, assertion: Assertion) -> Sequence[tuple[Check, Block | None]]:
        """Make the checks of an assertion."""
        self.assertions.append(assertion)
        results = []
        for check, block in self._judged(len(self.assertions)):
            explained = check
            if block is not None:
                self.was_blocked = True
                self.file.refuse(str(block))
                explained = replace(check, world=self._world_changes(check.record))
            self.all_checks.append(explained)
            results.append((explained, block))
        return results

    def _judged(self, count: int) -> Iterator[tuple[Check, Block | None]]:
        """Yield the checks of an assertion, the last of ``count``, and why each fails."""
        there = self._judge(self.file.record, count)
        if self._branch is None:
            yield from ((check, check.block(self.mode)) for check in there)
            return
        record = self._branch.record
        here = self._judge(record, count) if record else [None] * len(there)
        for check, own in zip(there, here, strict=True):
            yield against_reference(check, own, self._branch, self.mode)

    def _judge(self, record: Record | None, count: int) -> Sequence[Check]:
        assert self.evaluation is not None
        is_reference = record is not None and record is self.file.reference_record
        made, failures = self.assertions[:count], self.defaults.failures
        return judge(record, self.evaluation, made, failures, is_reference=is_reference)

    @cached_property
    def _branch(self) -> BranchRecord | None:
        """This branch's version of the approved record; None without a reference."""
        approved = self.file.record
        if not self.file.is_from_reference or approved is None:
            return None
        if self.file.is_behind:
            return BranchRecord(approved, is_behind=True)
        branch = BranchRecord.of(approved, self.file.working_record, self.loosened)
        if branch.problems and self.reference and self.reference.has_moved(self.path):
            return replace(branch, problems=(BEHIND, *branch.problems))
        return branch

    @cached_property
    def world(self) -> World:
        """The world that the project declares."""
        return self.declared_world()

    def _world_changes(self, record: Record | None) -> tuple[str, ...] | None:
        """Return how the declared world differs from a record's; None if that has no world."""
        if record is None or not record.world:
            return None
        from pytest_rankcheck.baselines.world import world_changes

        try:
            return tuple(world_changes(record.world, self.world))
        except RankcheckError as error:
            return (f"it cannot be compared with that of the baseline: {error}",)

    def _use(self, evaluation: Evaluation) -> None:
        """Remember the evaluation; another one of the same run, made in the same way, is fine too.

        Raises:
            BaselineError: the test has already compared another evaluation with the record.
        """
        before = evaluation if self.evaluation is None else self.evaluation
        is_same = before is evaluation or (
            evaluation.run is not None
            and before.run is evaluation.run
            and before.golden.fingerprint == evaluation.golden.fingerprint
            and not self.checks
        )
        if not is_same:
            raise BaselineError(
                f"{self.test_id} compares two evaluations with one baseline, which is the record "
                "of one evaluation. Write a test for each, or parametrise the test"
            )
        if self.evaluation is None:
            vars(self).pop("file", None)  # it may be of another golden set, or not be opened
        self.evaluation = before
