"""Findings: what assertions and the test session found, as values. Reports turn them into words.

A note is a finding that already is text: a sentence under the heading of its topic. The queries of
a measurement are kept in the form of the JSON report, which ``report.schema.json`` describes. A
worker of pytest-xdist pickles findings; nothing else reads that pickle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, Self

from pytest_rankcheck.errors import quoted

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.change import Approval
    from pytest_rankcheck.baselines.check import Block
    from pytest_rankcheck.explanation.documents_to_judge import DocumentToJudge
    from pytest_rankcheck.explanation.explanation import Bound, Bounded, Explanation
    from pytest_rankcheck.explanation.gate_numbers import GateNumbers
    from pytest_rankcheck.gates.verdict import Outcome
    from pytest_rankcheck.remedies import Remedy


class Said(StrEnum):
    """What the row of a gate can say, besides why a record or a mean fails its test."""

    PASSED = "passed"
    BETTER = "passed, better"
    """An update would raise the record."""
    LOWER = "passed, lower"
    HIGHER = "passed, higher"
    INCONCLUSIVE = "inconclusive"
    APPROVED = "approved"
    GRANTED = "passed, as recorded on this branch"
    NEW = "new"
    ANEW = "recorded anew"
    LOST_ANSWERS = "lost answers"
    """Queries lost their answers, which fails the test, but this mean did not regress."""
    NOT_REACHED = "not reached"
    """The test stopped before the assertion."""
    WITHIN = "within its bound"
    BEYOND = "beyond its bound"
    """Like the previous one, shown as the bound; it fails the test."""


class Remark(StrEnum):
    """What else the row of a gate can say."""

    CAUGHT = "caught by the test"
    """The test continued after its gate had failed."""
    UNWRITTEN = "not written, because the test failed"


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """What an assertion or the test session found."""

    @property
    def failed(self) -> bool:
        """Whether it fails the test."""
        return False

    def with_test(self, test: str) -> Self:
        """Return it with the test that made it, if findings of its kind name their test."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFinding(ReportedFinding):
    """The mean of a metric on a golden set; this alone is shown and decides nothing."""

    golden_set: str
    ranker: str = ""
    """The name of the run that was measured."""
    metric: str
    slice: str = ""
    """The slice as ``attribute=value``; empty for all queries."""
    now: float
    baseline: float | None = None
    test: str = ""
    """The id of the test, or the two files that were compared."""

    @property
    def subject(self) -> str:
        """What was measured, such as ``RR[locale=de]``."""
        return f"{self.metric}[{self.slice}]" if self.slice else self.metric

    @property
    def is_plain(self) -> bool:
        """Whether it simply passed, or decides nothing."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFinding(MetricFinding):
    """A metric that an assertion compared with a baseline, or with a fixed bound."""

    said: Said | Block | Outcome
    """What the assertion decided."""
    remarks: tuple[Remark, ...] = ()
    bound: tuple[Bound, Bounded] | None = None
    """The values and their bound; None for a comparison."""
    failed_queries: int = 0
    """The number of queries on which the ranker failed."""
    failed: bool = False
    reached: bool = True
    """Whether the test reached the assertion before it stopped."""
    approved: tuple[Approval, ...] = ()
    """The reasons on this branch that let it pass although it fails at the reference commit."""
    baseline_file: str | None = None
    """The baseline file as messages show it."""
    failure: Explanation | None = None
    """Why its assertion failed, if no other row has it."""
    remedy: Remedy | None = None
    """The command that its failure text prints."""
    numbers: GateNumbers | None = None
    """Further numbers for reports; None if no report is written."""

    @property
    def is_open(self) -> bool:
        """Whether the gate left undecided if the metric regressed."""
        return self.numbers is not None and self.numbers.outcome == "inconclusive"

    @property
    def is_plain(self) -> bool:
        """Whether it passed and nobody needs to look at it."""
        is_open = self.said in (Said.INCONCLUSIVE, Said.APPROVED)
        return not (self.failed or self.approved or is_open)

    def with_test(self, test: str) -> Self:
        """Return it with the test that made it, unless it has one."""
        return self if self.test else replace(self, test=test)


def rows_of(findings: Iterable[ReportedFinding]) -> list[MetricFinding]:
    """Return what has a row in reports: each gate, and each metric that no gate decided on."""
    metrics = [finding for finding in findings if isinstance(finding, MetricFinding)]
    gates = [finding for finding in metrics if isinstance(finding, GateFinding)]
    covered = set(map(_measured, gates))
    rows: list[MetricFinding] = [*gates]
    others = dict.fromkeys(each for each in metrics if not isinstance(each, GateFinding))
    for finding in sorted(others, key=lambda other: other.baseline is None):
        if finding.baseline is not None or _measured(finding) not in covered:
            rows.append(finding)
            covered.add(_measured(finding))
    return rows


def _measured(finding: MetricFinding) -> tuple[str, str, str]:
    return finding.golden_set, finding.ranker, finding.metric


@dataclass(frozen=True, slots=True)
class MeasurementFinding(ReportedFinding):
    """The queries of a golden set, as ranked now and, if known, before."""

    data: dict[str, Any]
    """A measurement of the JSON report, whose queries have no values yet.

    Measurements with the same rankings on both sides have the same ``key``."""
    values: dict[str, list[list[float | None]]]
    """By metric, the value of each query before and now."""


@dataclass(frozen=True, slots=True)
class JudgingFinding(ReportedFinding):
    """The unjudged documents at the top of the rankings, most influential first."""

    documents: tuple[DocumentToJudge, ...]


@dataclass(frozen=True, slots=True)
class RecordFinding(ReportedFinding):
    """Whether the gate of a baseline ran in a test session."""

    file: str
    """The baseline file, relative to the top of the repository or else to pytest's root."""
    golden_set: str
    gated: tuple[str, ...]
    """The metrics that it gates."""
    why_not: str | None = None
    """Why the gate did not run; None if it ran."""
    is_expected: bool = True
    """False if the reference commit has added it since, so that no job can run it."""
    test: str = ""
    """The id of the test whose gate ran."""

    def with_test(self, test: str) -> Self:
        """Return it with the test that made it."""
        return replace(self, test=test)


@dataclass(frozen=True, slots=True)
class WrittenFinding(ReportedFinding):
    """A baseline file that was written."""

    file: str
    """As messages show it."""


class Topic(Enum):
    """The topics of notes and their headings, in which ``{about}`` is the subject of the note.

    Every report shows them in this order.
    """

    # Nobody has to act on these; the terminal shows them with -v.
    EXPECTATIONS = "expectations"
    KNOWN_FAILURES = "expectations with a known failure"
    DETERMINISM = "determinism"
    DEPTH = "the top of the rankings at several depths"
    INVARIANCE = "invariance"
    STABILITY = "rankings compared with their baseline"
    UNGATED_SLICES = "slices that are not gated"
    UNTESTED_SLICES = "untested slices: too few queries or too little weight changed to show a fall"
    NO_LOST_ANSWERS = "lost answers are not checked"
    REPLAYS = "replayed logs: documents that were never shown"
    TIES = "verdicts that depend on the order of tied scores"
    MEASURED = "measured"
    UNCERTAIN_GAINS = "gains that are not certain enough for an update to raise the baseline"
    RUN_NOISE = "{about} replicates of the ranker"
    SLICE_MEANS = "{about}"
    # Somebody must act on these, most urgently on the last; the terminal shows a few without -v.
    CAN_BE_RAISED = "baselines that can be raised (pytest --snapshot-update)"
    LINT = "lint of {about}"
    SLICES = "slices"
    UNUSED_GATE = "the configuration has lines for golden sets that no test measured"
    WARNED_EXPECTATIONS = "expectations that only warn (severity warn)"
    NO_SLICE_GATED = "warning: an assertion names slices, but gates none of them"
    NOISE_FLOOR = "tolerances below the noise of replicates"
    SHARED = "baselines that two tests share"
    WORSE_KNOWN_FAILURES = "warning: known failures that got worse since they were marked"
    NOT_RUN = "baselines whose gates did not run"
    LOOSER_GATE = "gates that may pass what the gate of the baseline blocks"
    FAMILIES = "decided together with more than in the baseline, so fewer falls are significant"
    NO_LONGER_GATED = "no longer gated; an update keeps the approved values, an approval drops them"
    PASSED_FALLS = "falls that passed, and the queries that fell most"
    INCONCLUSIVE = "inconclusive: not enough evidence to say whether it got worse"
    UNGATED_FALL = "slices that are not gated, but fell by more than chance"
    DECIDES_NOTHING = "warning: gates that could not have failed"
    MISLEADING = "warning: means that may mislead"
    UNMET_IDS = "warning: hardly any ranked document is judged"
    # What was requested, what an update did, what a branch changes; always shown.
    PLAN = (
        "queries needed to detect a fall with a power of 80% (paired t-test, one-sided, alpha 5%; "
        "Cohen 1988, Sakai 2018)"
    )
    PROOF = "what the gates would block: {about}"
    GOLDEN_CHANGE = "golden sets that differ from those of the approved baselines"
    LOST_QUERIES = "queries that this branch removed or edited, compared with {about}"
    RETIRED = "baselines retired by this branch"
    RENAMED = "baselines that replace those of tests that are gone"
    KEPT = "baselines kept as they are; the tests passed"
    UNUSED_APPROVAL = "nothing to approve, so no reason was written"
    LEADERBOARD = "leaderboard"
    WRITTEN = "baselines written; commit them"
    IGNORED = "baselines written, but ignored by git, so that a commit leaves them out"
    BRANCH = "baselines changed by this branch, compared with {about}"

    @property
    def needs_action(self) -> bool:
        """Whether somebody must act on its notes."""
        return _place(Topic.CAN_BE_RAISED) <= _place(self) <= _place(Topic.UNMET_IDS)

    @property
    def is_always_shown(self) -> bool:
        """Whether its notes were requested, or say what happened to baselines."""
        return _place(self) > _place(Topic.UNMET_IDS)

    @property
    def key(self) -> str:
        """Its name in the JSON report, such as ``unmet-ids``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class Note(ReportedFinding):
    """A sentence about anything but a single metric, or the result of a check without a metric."""

    topic: Topic
    text: str
    about: str = ""
    """Its subject, such as a golden set, which headings may name. Foreign text is quoted."""
    failure: Explanation | None = None
    """Why the check failed."""
    is_check: bool = False
    """Whether it is the result of a check, which could have failed."""
    of_test: bool = False
    """Whether the name of its test, which is known once the test has ended, must be added to the
    text."""

    @property
    def failed(self) -> bool:
        """Whether it is the result of a check that failed."""
        return self.failure is not None

    def with_test(self, test: str) -> Self:
        """Return it with the name of its test before the text, if that must be added."""
        if not self.of_test:
            return self
        return replace(self, text=f"{quoted(test, 200)}: {self.text}", of_test=False)

    @property
    def remedy(self) -> Remedy | None:
        """The command that its failure text prints."""
        return next(iter(self.failure.remedies), None) if self.failure else None

    @property
    def heading(self) -> str:
        """The heading under which reports show it."""
        return self.topic.value.format(about=self.about)


def by_heading(notes: Iterable[Note]) -> dict[str, list[Note]]:
    """Return notes by heading, in the order of their topics."""
    groups = dict[str, list[Note]]()
    for note in sorted(notes, key=lambda note: _place(note.topic)):
        groups.setdefault(note.heading, []).append(note)
    return groups


def _place(topic: Topic) -> int:
    return list(Topic).index(topic)
