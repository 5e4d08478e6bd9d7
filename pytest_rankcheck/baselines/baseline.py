"""The baseline of one test: what the ``baseline`` fixture gives."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.baseline_file import BaselineFile, Store
from pytest_rankcheck.baselines.change import Change, is_looser
from pytest_rankcheck.baselines.check import Block, Check, Mode
from pytest_rankcheck.baselines.families import Family
from pytest_rankcheck.baselines.metric_check import MetricAssertion, MetricCheck
from pytest_rankcheck.baselines.policy import (
    BEHIND,
    Action,
    Assertion,
    BranchRecord,
    Settlement,
    against_reference,
    approved,
    approved_keys,
    judge,
    raisable,
    updated,
)
from pytest_rankcheck.baselines.ranking_check import RankingCheck
from pytest_rankcheck.baselines.record import TOP, Record
from pytest_rankcheck.baselines.register import next_record
from pytest_rankcheck.baselines.succession import looser_limits, unknown_metrics
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import BaselineError, RankcheckError
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import attributes_of
from pytest_rankcheck.gates.configured_gates import ConfiguredGates
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.remedies import Place

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.reference_commit import Reference
    from pytest_rankcheck.baselines.seal import Seal
    from pytest_rankcheck.baselines.world import World
    from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits


@dataclass(frozen=True, slots=True)
class Defaults:
    """What is gated and recorded unless a test says otherwise."""

    watched: tuple[str, ...] = ()
    """Metrics to record, gated or not."""
    gates: ConfiguredGates = field(default_factory=ConfiguredGates)
    slices: tuple[str, ...] = ()
    """Attributes to gate by."""
    kept_depth: int = TOP
    """How many documents of each ranking to record."""
    inconclusive: str = "warn"
    """How an inconclusive verdict counts: ``"pass"``, ``"warn"`` or ``"fail"``."""
    failures: str | None = None
    """On how many queries, or which share of them, the ranker may fail; None: on none."""
    sealed: tuple[str, ...] = ()
    """The golden sets whose queries and documents no record names."""


class Baseline:
    """The approved record of one test, and the checks that the test made against it.

    `check_all` is called by each assertion, `unapproved_drops` once all of them have passed, and
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
        loosened: returns what approvals of the branch let decide less, in all its records.
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
        loosened: Callable[[], Sequence[Change]] = tuple,
    ) -> None:
        self.test_id = test_id
        """The test's node id, as pytest takes it."""
        self.mode = mode
        self._command = shlex.join([test_id, *inputs])
        self._key = key
        self._store_for = store_for
        self._reference = reference
        self._expected_golden = expected_golden
        self._world = cache(world)  # what the project declares to rank with
        self._loosened = loosened
        self._files: dict[str, BaselineFile] = {}
        self.defaults = defaults or Defaults()
        """What is gated and recorded unless the test says otherwise."""
        self._assertions: list[Assertion] = []
        """Those that the test has made so far."""
        self.all_checks: list[Check] = []
        """The checks that the test has made so far, of metrics and of rankings."""
        self.was_blocked = False
        """Whether a check failed, even if the test caught that."""
        self.next_record: Record | None = None
        """What this test has recorded; None if it has written nothing."""
        self.evaluation: Evaluation | None = None
        """What the test measured; None before the first check."""

    def __repr__(self) -> str:
        return f"Baseline({self.test_id!r})"

    # --- what is tested ------------------------------------------------------------------------

    @property
    def golden_name(self) -> str:
        """The name of the golden set that the test measured on; empty before the first check."""
        return self.evaluation.golden.name if self.evaluation else ""

    # --- the record ----------------------------------------------------------------------------

    @property
    def file(self) -> BaselineFile:
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
            store = self._store_for(golden_name)
            made = BaselineFile(store, self._command, self.mode, self._reference, self._seal)
            self._files[golden_name] = made
        return self._files[golden_name]

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
        asserted = MetricAssertion(gates, self._attributes(evaluation, by))
        checked = self._checked(asserted)
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
        if self.was_blocked and self.record is not None:  # what was not reached has its own row
            gated |= {*map(Metric.parse, self.record.gated)}
        if comparison is None:
            return
        for metric in self._recorded():
            is_watched = metric not in gated and comparison.other.fits(metric)
            if is_watched and metric.kind.compares(comparison):
                yield comparison.values(metric)

    def less_strict(self) -> Iterator[Change]:
        """Yield what the test decides less strictly than the record, or not at all."""
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
        return [each.family for each in self._assertions if isinstance(each, MetricAssertion)]

    def _checked(self, assertion: Assertion) -> Sequence[tuple[Check, Block | None]]:
        """Make the checks of an assertion."""
        self._assertions.append(assertion)
        results = []
        for check, block in self._judged(len(self._assertions)):
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
        made, failures = self._assertions[:count], self.defaults.failures
        return judge(record, self.evaluation, made, failures, is_reference=is_reference)

    @cached_property
    def _branch(self) -> BranchRecord | None:
        """What this branch has instead of the approved record; None without a reference."""
        approved = self.file.record
        if not self.file.is_from_reference or approved is None:
            return None
        if self.file.is_behind:
            return BranchRecord(approved, is_behind=True)
        branch = BranchRecord.of(approved, self.file.working_record, self._loosened)
        if branch.problems and self.file.has_moved:
            return replace(branch, problems=(BEHIND, *branch.problems))
        return branch

    def _world_changes(self, record: Record | None) -> tuple[str, ...] | None:
        """Return how the declared world differs from a record's; None if that has no world."""
        if record is None or not record.world:
            return None
        from pytest_rankcheck.baselines.world import world_changes

        try:
            return tuple(world_changes(record.world, self._world()))
        except RankcheckError as error:
            return (f"it cannot be compared with that of the baseline: {error}",)

    def _use(self, evaluation: Evaluation) -> None:
        """Remember the evaluation, or another one of the same run in the same way.

        Raises:
            BaselineError: the test compared another one with the record before.
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
            self._files.clear()  # a file that the test has read before is not opened
        self.evaluation = before

    def _attributes(
        self, evaluation: Evaluation, by: str | Sequence[str] | None
    ) -> tuple[str, ...]:
        """Return the attributes that an assertion gates by: its own, or configured ones."""
        present = evaluation.golden.attributes
        chosen = attributes_of(by if by is not None else self.defaults.slices)
        if by is None:
            chosen = tuple(attribute for attribute in chosen if attribute in present)
        return tuple(dict.fromkeys(chosen))

    def _recorded(self) -> Sequence[Metric]:
        """Return the metrics to record, gated or not, that the evaluation has."""
        evaluation = self.evaluation
        watched = map(Metric.parse, self.defaults.watched)
        fit = (metric for metric in watched if evaluation and evaluation.fits(metric))
        return [metric for metric in fit if metric.kind.is_recorded]

    # --- what becomes of the record ------------------------------------------------------------

    def unapproved_drops(self) -> str | None:
        """Return which gates the test has dropped without a reason, now that its checks passed.

        Raises:
            ConfigurationError: the record is written, and the declared world cannot be read.
            BaselineError: a line would have to be written of a query on which the ranker failed.
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
        if self.all_checks and self.mode.may_create:
            self._world()  # asked for now: fixtures are gone when the record is written
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
        if not self.mode.may_create:
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
        """What an update would record of what the test has measured, if it would raise it."""
        before = self.file.working_record
        has_failed = self.evaluation is not None and self.evaluation.failed
        if before is None or has_failed or not raisable(self.all_checks):
            return None
        settled = updated(self.all_checks, before, partial(self._next, before, world={}))
        return settled.record if settled.action is Action.RAISE else None

    def _settlement(self) -> Settlement:
        """Return what becomes of the file of a test whose checks have passed."""
        before = self.file.record
        if self.mode.approval is not None:
            return self._approved(before, self.mode.approval)
        if before is None:
            return Settlement(Action.CREATE, self._next(None))
        if not self.mode.update:
            return Settlement(Action.LEAVE)
        return updated(self.all_checks, before, partial(self._next, before))

    def _approved(self, before: Record | None, reason: str) -> Settlement:
        """Return what becomes of a record if everything that is measured is approved."""
        keys: list[Change] = []
        there = self.file.reference_record
        before = before or there
        after, merged = self._next(before, is_approved=True), self.file.merged_approvals
        given = [key for approval in after.approvals[merged:] for key in approval.keys]
        if self.file.is_unreadable:
            keys += [key for key in [Change("unreadable")] if not key.is_covered(given)]
        elif before is None:
            return Settlement(Action.CREATE, after)
        if before is not None:
            keys += approved_keys(self.all_checks, before, after)
        if there is not None:
            counts = range(1, len(self._assertions) + 1)
            against = [check for count in counts for check in self._judge(there, count)]
            keys += approved_keys(against, there, after, [*given, *keys])
        folder = self.path.parent.parent
        return approved(before, after, keys, merged, partial(Approval.now, reason, folder))

    def _next(
        self,
        before: Record | None,
        rewritten: Set[Metric] = frozenset(),
        *,
        is_approved: bool = False,
        world: World | None = None,
    ) -> Record:
        assert self.evaluation is not None
        limits = {str(check.limits): check.limits for check in self.ranking_checks}
        return next_record(
            before,
            self.evaluation,
            {check.metric: check.gate.text for check in self.checks},
            self._recorded(),
            attributes=[name for check in self.checks for name in check.attributes],
            assertions=self.families,
            limits=tuple(limits[text] for text in sorted(limits)),
            failures=self.defaults.failures,
            rewritten=rewritten,
            is_approved=is_approved,
            kept_depth=self.defaults.kept_depth,
            test=self._key,
            world=self._world() if world is None else world,
        )

    def _check_again(self) -> None:
        """Compare with the record that another test session has written in the meantime.

        Raises:
            BaselineError: this test falls below it.
        """
        self.all_checks = []
        counts = range(1, len(self._assertions) + 1)
        for check, block in chain.from_iterable(map(self._judged, counts)):
            self.all_checks.append(check)
            if block is not None:
                self.file.refuse(str(block))
                raise BaselineError(
                    f"{self.place}: another test session has written this baseline while this test "
                    f"ran, and against it {check.subject} fails: {block}. Its record stays\n  "
                    f"{self.place.update('to try again')}"
                )
