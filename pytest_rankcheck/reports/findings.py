"""Findings: what assertions and the test session found, as values. Reports turn them into words.

Every field is of a built-in type, an enum or another of these classes, so that ``finding_codec``
can carry any finding from a worker of pytest-xdist to the controller and write it as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.baseline_age import BaselineAge
from pytest_rankcheck.baselines.slice_changes import SliceChange
from pytest_rankcheck.baselines.update_actions import Action

__all__ = [
    "BaselineFinding",
    "DecisionDetail",
    "FindingOfTest",
    "FragilityDetail",
    "GapDetail",
    "GateDetail",
    "GateFinding",
    "MeanChange",
    "MetricFinding",
    "Note",
    "OtherRulingDetail",
    "RecordFinding",
    "ReportedFinding",
    "SlicesFinding",
    "SlideDetail",
    "TieDetail",
    "Topic",
    "UnjudgedDetail",
    "by_heading",
    "with_test",
]


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """What an assertion or the test session found."""

    @property
    def failed(self) -> bool:
        """Whether it fails the test."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingOfTest(ReportedFinding):
    """A finding that names its test."""

    test: str = ""
    """The id of the test, or the two files that were compared; filled in when it has ended."""


# --- notes -----------------------------------------------------------------------------------


class Topic(StrEnum):
    """What a note is about. The order of the topics is their order in every report."""

    EXPECTATIONS = "expectations"
    KNOWN_FAILURES = "known-failures"
    WARNED_EXPECTATIONS = "warned-expectations"
    DETERMINISM = "determinism"
    INVARIANCE = "invariance"
    DIRECTION = "direction"
    STABILITY = "stability"
    UNGATED_FALL = "ungated-fall"
    NO_SLICE_GATED = "no-slice-gated"
    UNMET_IDS = "unmet-ids"
    DECIDES_NOTHING = "decides-nothing"
    RARELY_DECIDES = "rarely-decides"
    UNGATED_SLICES = "ungated-slices"
    SLIDE = "slide"
    INCONCLUSIVE = "inconclusive"
    MOSTLY_INCONCLUSIVE = "mostly-inconclusive"
    UNSHOWN_FALL = "unshown-fall"
    SLICES = "slices"
    NOISE_FLOOR = "noise-floor"
    TIES = "ties"
    SUSPICIOUS = "suspicious"
    UNUSED_APPROVAL = "unused-approval"
    UNUSED_GATE = "unused-gate"
    PLAN = "plan"
    REPEATS = "repeats"
    MEASURED = "measured"
    TIMING = "timing"
    SLICE_MEANS = "slice-means"
    LINT = "lint"
    RESOLUTION = "resolution"
    SLIDE_OFF = "slide-off"
    SUGGESTED_GATE = "suggested-gate"
    # What to do comes last, because people read the end of the output first.
    GOLDEN_CHANGE = "golden-change"
    NO_LONGER_GATED = "no-longer-gated"
    LOOSER_GATE = "looser-gate"
    NOT_RUN = "not-run"
    RETIRED = "retired"
    RENAMED = "renamed"
    BASELINE_AGE = "baseline-age"
    KEPT = "kept"
    KEPT_WITHIN_NOISE = "kept-within-noise"
    CAN_BE_RAISED = "can-be-raised"
    WRITTEN = "written"
    IGNORED = "ignored"
    BRANCH = "branch"


_HEADINGS = {
    Topic.EXPECTATIONS: "expectations",
    Topic.KNOWN_FAILURES: "expectations with a known failure",
    Topic.WARNED_EXPECTATIONS: "expectations that only warn (severity warn)",
    Topic.DETERMINISM: "determinism",
    Topic.INVARIANCE: "invariance",
    Topic.DIRECTION: "direction",
    Topic.STABILITY: "rankings compared with their baseline",
    Topic.UNGATED_FALL: "slices that are not gated, but fell by more than chance",
    Topic.NO_SLICE_GATED: "warning: an assertion names slices, but gates none of them",
    Topic.UNMET_IDS: "warning: ranked documents are not those that the golden set judges",
    Topic.DECIDES_NOTHING: "warning: gates that could not have failed",
    Topic.RARELY_DECIDES: "warning: gates that need more queries to decide",
    Topic.UNGATED_SLICES: "slices that are not gated",
    Topic.SLIDE: "warning: small falls have added up to more than noise explains, though each "
    "passed its gate",
    Topic.INCONCLUSIVE: "inconclusive: not enough evidence to say whether it got worse",
    Topic.MOSTLY_INCONCLUSIVE: "warning: gates that would be inconclusive for most changes that "
    "lose nothing",
    Topic.UNSHOWN_FALL: "falls that passed because chance could explain them",
    Topic.SLICES: "slices",
    Topic.NOISE_FLOOR: "tolerances below the noise of the ranker",
    Topic.TIES: "verdicts that depend on the order of tied scores",
    Topic.SUSPICIOUS: "suspiciously good: judgments may have leaked into the model",
    Topic.UNUSED_APPROVAL: "--rankcheck-approve had no effect: nothing fell, so no reason was "
    "recorded",
    Topic.UNUSED_GATE: "rankcheck_gate has lines for golden sets that no test measured",
    Topic.PLAN: "queries needed to detect a fall, with 80% intervals (paired t-test, one-sided, "
    "alpha 5%; Cohen 1988, Sakai 2018)",
    Topic.REPEATS: "{about} runs of the same ranker",
    Topic.MEASURED: "measured",
    Topic.TIMING: "time to rank a query",
    Topic.SLICE_MEANS: "{about}",
    Topic.LINT: "lint of golden set '{about}'",
    Topic.RESOLUTION: "{about}",
    Topic.SLIDE_OFF: "warning: the guard against small falls that add up is off",
    Topic.SUGGESTED_GATE: "gates that know the noise, by the number of queries (docs/gates.md)",
    Topic.GOLDEN_CHANGE: "golden sets that changed since the baselines were recorded",
    Topic.NO_LONGER_GATED: "no longer gated; the approved values stay in the baselines",
    Topic.LOOSER_GATE: "gates that may pass what the gate of the baseline blocks",
    Topic.NOT_RUN: "baselines whose gates did not run (to give one up: python -m pytest_rankcheck "
    'retire FILE --reason "...")',
    Topic.RETIRED: "baselines retired by this branch",
    Topic.RENAMED: "baselines that take the place of those of tests that are gone",
    Topic.BASELINE_AGE: "age of the baselines of failed gates",
    Topic.KEPT: "baselines kept, because something is lower but within the tolerance",
    Topic.KEPT_WITHIN_NOISE: "baselines kept, because the gain is within noise (to raise them: "
    '--rankcheck-raise "reason")',
    Topic.CAN_BE_RAISED: "baselines that can be raised with pytest --snapshot-update",
    Topic.WRITTEN: "baselines written; commit them",
    Topic.IGNORED: "baselines written, but ignored by git, so that a commit leaves them out",
    Topic.BRANCH: "baselines changed by this branch, compared with {about}",
}


@dataclass(frozen=True, slots=True)
class Note(ReportedFinding):
    """A sentence about anything but one metric; or the result of a check that has no metric."""

    topic: Topic
    text: str
    about: str = ""
    """What the heading names, such as a golden set; foreign text in it is quoted."""
    failure: str | None = None
    """The whole failure text, if the check failed."""

    @property
    def failed(self) -> bool:
        """Whether it is the result of a check that failed."""
        return self.failure is not None

    @property
    def heading(self) -> str:
        """The heading under which reports show it."""
        return _HEADINGS[self.topic].format(about=self.about)


def by_heading(notes: Iterable[Note]) -> dict[str, list[Note]]:
    """Return notes by heading, in the order of their topics."""
    topics = list(Topic)
    groups: dict[str, list[Note]] = {}
    for note in sorted(notes, key=lambda note: topics.index(note.topic)):
        groups.setdefault(note.heading, []).append(note)
    return groups


# --- baselines -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineFinding(ReportedFinding):
    """What became of the baseline of a test that passed, or what could become of it."""

    test: str
    file: str
    """The baseline file as messages show it."""
    golden_set: str
    action: Action
    can_be_raised: bool = False
    """Whether an update would raise it."""
    means: tuple[MeanChange, ...] = ()
    """Of the gated metrics."""
    changed_rankings: int | None = None
    """How many rankings differ from the baseline; None if the test does not check rankings."""
    has_record: bool = True
    """Whether there was a baseline before."""
    reason: str | None = None
    """The reason given with ``--rankcheck-approve``, even if nothing fell."""
    is_written: bool = False
    is_within_noise: bool = False
    """Whether the baseline is kept because the gain is too small for the gate's rule."""
    no_longer_gated: tuple[str, ...] = ()
    """What the baseline gates and the test does not, in words."""
    looser_gates: tuple[str, ...] = ()
    """The gates that may pass what the baseline's gates block, in words."""
    added: int = 0
    """How many queries the golden set has gained since the baseline was recorded."""
    removed: int = 0
    edited: int = 0
    age: BaselineAge | None = None
    """How old the approved lines were before; filled in when the test session ends."""


@dataclass(frozen=True, slots=True)
class RecordFinding(ReportedFinding):
    """Whether the gate of a baseline ran in a test session."""

    file: str
    """The baseline file, relative to the root of the project."""
    golden_set: str
    gated: tuple[str, ...]
    """The metrics that it gates."""
    why_not: str | None = None
    """Why the gate did not run; None if it ran."""
    is_expected: bool = True
    """False if the project has chosen that the gate does not run."""


@dataclass(frozen=True, slots=True)
class MeanChange:
    """The mean of a gated metric in a baseline, and now."""

    metric: str
    before: float | None
    """None if the baseline does not have the metric, or cannot be compared."""
    now: float
    """As recorded, if the baseline was written; otherwise as measured."""
    by_golden_set: float | None = None
    """The part of the change that comes from added, removed and edited queries."""


@dataclass(frozen=True, slots=True)
class SlicesFinding(ReportedFinding):
    """How the slices that a test gates differ from those of its baseline."""

    test: str
    golden_set: str
    changes: tuple[SliceChange, ...]
    absent_attributes: tuple[str, ...]
    """The attributes in ``rankcheck_slices`` that the golden set does not have."""


# --- metrics ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFinding(ReportedFinding):
    """The mean of a metric on a golden set; as such it is shown and decides nothing."""

    golden_set: str
    metric: str
    now: float
    baseline: float | None = None
    best: float | None = None
    """The best mean that was ever approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFinding(MetricFinding):
    """A metric that an assertion compared with a baseline, or with a fixed bound."""

    verdict: str
    """What the assertion decided, in a word or two."""
    failed: bool = False
    reached: bool = True
    """Whether the test reached the assertion before it stopped."""
    test: str = ""
    """The id of the test, or the two files that were compared."""
    approved: tuple[Approval, ...] = ()
    """The reasons on this branch that let it pass, though it fails at the reference commit."""
    baseline_file: str | None = None
    """The baseline file as messages show it."""
    age: BaselineAge | None = None
    """How old the approved lines of the baseline are; filled in when the test session ends."""
    detail: GateDetail | None = None
    """Only if a report is written."""


def with_test(finding: ReportedFinding, test: str) -> ReportedFinding:
    """Return a finding with the test that made it, unless it has one."""
    if isinstance(finding, (GateFinding, FindingOfTest)) and not finding.test:
        return replace(finding, test=test)
    return finding


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDetail:
    """What a report shows of a gate. Numbers are rounded to six decimals; None is unknown."""

    higher_is_better: bool
    gate: str
    """The rule that decided, as the configuration writes it, or the bound."""
    outcome: str
    overall: DecisionDetail
    slices: tuple[DecisionDetail, ...] = ()
    measurement: str = ""
    """The key of the measurement that it is about."""
    text: str | None = None
    """The failure text; None if it passed."""
    limit: float | None = None
    """The fixed bound."""
    margin: float | None = None
    noise: float | None = None
    gaps: tuple[GapDetail, ...] = ()
    query_drops: tuple[str, ...] = ()
    ties: TieDetail | None = None
    unjudged: UnjudgedDetail | None = None
    fragility: FragilityDetail | None = None
    """The few queries that a failing or inconclusive verdict depends on; None if it does not."""
    other_rulings: tuple[OtherRulingDetail, ...] = ()
    """If a fall failed under a gate that allows none: what other gates would have decided."""
    suspicions: tuple[str, ...] = ()
    slide: SlideDetail | None = None
    """Only if the mean is lower than in the baseline, and the number of changes is known."""
    approvals: tuple[Approval, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlideDetail:
    """How far a mean is below the best that was approved, and what noise explains of it."""

    distance: float | None
    approved: float | None
    """The part of the distance that was approved with a reason."""
    budget: float | None
    """How far noise lets the mean fall over as many changes."""
    steps: int
    """The number of changes since the best was approved."""
    level: float
    exceeds: bool
    since: str | None
    """The commit that approved the best, abbreviated; None if it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionDetail:
    """What a gate decided on all queries (an empty label) or on a slice."""

    label: str
    queries: int
    now: float | None
    outcome: str = ""
    paired: bool = True
    """Whether the values before are of the same queries."""
    before: float | None = None
    difference: float | None = None
    interval: tuple[float, float] | None = None
    """The 95% confidence interval of the difference."""
    guaranteed: float | None = None
    """The bound of the difference that holds for any values; None without test="guaranteed"."""
    p: float | None = None
    effect: float | None = None
    detectable: float | None = None
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    allowed: float | None = None
    tested: float | None = None
    """What was compared with a fixed bound: the mean, or its confidence bound."""


@dataclass(frozen=True, slots=True)
class GapDetail:
    """The distance between two slices."""

    lowest: str
    highest: str
    before: float | None
    now: float | None
    is_too_wide: bool


@dataclass(frozen=True, slots=True)
class FragilityDetail:
    """The fewest queries, or clusters of queries, without which a verdict is another one."""

    units: tuple[str, ...]
    """The ids of the queries, or the names of the clusters."""
    queries: tuple[tuple[str, ...], ...]
    """The ids of the queries of each unit."""
    are_clusters: bool
    ruling: str
    """What the verdict would be without them."""


@dataclass(frozen=True, slots=True)
class OtherRulingDetail:
    """What another gate would have decided on the same values."""

    gate: str
    ruling: str


@dataclass(frozen=True, slots=True)
class TieDetail:
    """How much the order of tied scores can change a mean."""

    queries: int
    lowest: float
    highest: float
    decides: bool


@dataclass(frozen=True, slots=True)
class UnjudgedDetail:
    """How much of a difference unjudged documents could explain."""

    k: int
    documents: int
    """How many are new in the top k."""
    left: int
    """How many left the top k."""
    judged_before: float
    judged_now: float
    if_irrelevant: float | None
    if_relevant: float | None
    """The difference if the new ones had the highest grade."""
    if_left_relevant: float | None
    """The difference if those that left had the highest grade."""
    relevant_share: float | None
    """The share of the judged documents at the top that are relevant."""
    needed: int | None
    """How many of the new ones would have to be relevant for the fall to vanish."""
    could_explain_fall: bool
    """Whether that is no larger a share than among the judged documents."""
