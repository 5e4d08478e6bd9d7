"""Findings: what assertions and the test session found, as values. Reports turn them into words.

Every field is of a built-in type, an enum or another of these classes, so that ``finding_codec``
can carry any finding from a worker of pytest-xdist to the controller and write it as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from pytest_rankcheck.baselines.approval import Approval

__all__ = [
    "DecisionDetail",
    "DocumentToJudge",
    "GapDetail",
    "GateDetail",
    "GateFinding",
    "GoldenSetDetail",
    "JudgingFinding",
    "MeasurementFinding",
    "MetricDetail",
    "MetricFinding",
    "MetricResolutionDetail",
    "Note",
    "QueryDetail",
    "ReportedFinding",
    "ResolutionFinding",
    "RunDetail",
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
    INCONCLUSIVE = "inconclusive"
    SLICES = "slices"
    NOISE_FLOOR = "noise-floor"
    TIES = "ties"
    SUSPICIOUS = "suspicious"
    UNUSED_APPROVAL = "unused-approval"
    PLAN = "plan"
    REPEATS = "repeats"
    MEASURED = "measured"
    TIMING = "timing"
    SLICE_MEANS = "slice-means"
    LINT = "lint"
    RESOLUTION = "resolution"
    # What is to be done comes last, where it is read first.
    KEPT = "kept"
    CAN_BE_RAISED = "can-be-raised"
    WRITTEN = "written"
    BRANCH = "branch"


_HEADINGS = {
    Topic.EXPECTATIONS: "expectations",
    Topic.KNOWN_FAILURES: "expectations with a known failure",
    Topic.WARNED_EXPECTATIONS: "expectations that only warn (severity warn)",
    Topic.DETERMINISM: "determinism",
    Topic.INVARIANCE: "invariance",
    Topic.DIRECTION: "direction",
    Topic.STABILITY: "rankings compared with their baseline",
    Topic.INCONCLUSIVE: "inconclusive: not enough evidence to say whether it got worse",
    Topic.SLICES: "slices",
    Topic.NOISE_FLOOR: "tolerances below the noise of the ranker",
    Topic.TIES: "verdicts that depend on the order of tied scores",
    Topic.SUSPICIOUS: "suspiciously good: judgments may have leaked into the model",
    Topic.UNUSED_APPROVAL: "--rankcheck-approve had no effect: nothing fell, so no reason was "
    "recorded",
    Topic.PLAN: "queries needed to detect a fall (paired t-test, one-sided, alpha 5%; Cohen 1988, "
    "Sakai 2018)",
    Topic.REPEATS: "{about} runs of the same ranker",
    Topic.MEASURED: "measured",
    Topic.TIMING: "time to rank a query",
    Topic.SLICE_MEANS: "{about}",
    Topic.LINT: "lint of golden set '{about}'",
    Topic.RESOLUTION: "{about}",
    Topic.KEPT: "baselines kept, because something is lower but within the tolerance",
    Topic.CAN_BE_RAISED: "baselines that can be raised with pytest --snapshot-update",
    Topic.WRITTEN: "baselines written; commit them",
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
    test: str = ""
    """The id of the test, or the two files that were compared."""
    detail: GateDetail | None = None
    """Only if a report is written."""


def with_test(finding: ReportedFinding, test: str) -> ReportedFinding:
    """Return a finding with the test that made it, unless it has one."""
    if isinstance(finding, GateFinding) and not finding.test:
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
    baseline_file: str | None = None
    limit: float | None = None
    """The fixed bound."""
    margin: float | None = None
    noise: float | None = None
    gaps: tuple[GapDetail, ...] = ()
    query_drops: tuple[str, ...] = ()
    ties: TieDetail | None = None
    unjudged: UnjudgedDetail | None = None
    suspicions: tuple[str, ...] = ()
    approvals: tuple[Approval, ...] = ()


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
    judged_before: float
    judged_now: float
    if_irrelevant: float | None
    if_relevant: float | None


# --- what was measured -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementFinding(ReportedFinding):
    """The queries of a golden set, as ranked now and, if known, before."""

    key: str
    """The same for measurements of the same rankings, now and before."""
    rankings: str
    """The same for the same rankings now."""
    unit: Literal["queries", "sessions"]
    golden_set: GoldenSetDetail
    run: RunDetail
    conventions: dict[str, str]
    metrics: dict[str, MetricDetail]
    means: dict[str, tuple[float | None, float | None]]
    """By metric: before, of the unchanged queries, and now, of all."""
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    queries: tuple[QueryDetail, ...]
    titles: dict[str, str]

    @property
    def has_baseline(self) -> bool:
        """Whether rankings before are known."""
        return any(query.before is not None for query in self.queries)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSetDetail:
    """What a report shows of a golden set, or of a session log."""

    name: str
    queries: int
    judgments: int
    fingerprint: str
    max_grade: float
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunDetail:
    """What a report shows of a run."""

    name: str
    depth: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDetail:
    """The definition of a metric."""

    summary: str
    reference: str
    higher_is_better: bool
    range: tuple[float | None, float | None]
    """None is infinite."""
    parameters: dict[str, Any]
    unjudged: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDetail:
    """A query, its values and the top of its rankings."""

    id: str
    text: str
    attributes: dict[str, Any]
    fingerprint: str
    state: Literal["unchanged", "changed", "new"]
    values: dict[str, tuple[float | None, float | None]]
    """By metric: before and now."""
    judged: float | None
    """The share of the first ten documents that is judged."""
    now: tuple[str, ...]
    before: tuple[str, ...] | None
    grades: dict[str, float]
    """Of the relevant documents and of those shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolutionFinding(ReportedFinding):
    """What metrics can see of a run on a golden set. A swap exchanges two neighbours."""

    golden_set: str
    rankings: str
    """The same as that of the measurement of the same rankings."""
    run: str | None
    """None: the ideal rankings, without a run."""
    queries: int
    swaps: int
    telling: int
    """The swaps of documents with different grades."""
    metrics: dict[str, MetricResolutionDetail]
    agreement: dict[str, dict[str, float | None]]
    """Kendall's tau-b of each two metrics over the queries."""
    recommendation: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResolutionDetail:
    """What one metric can see: shares from 0 to 1, and steps in the unit of the metric."""

    seen: float | None
    seen_of_telling: float | None
    step: float | None
    step_of_mean: float | None
    at_ceiling: float | None
    at_floor: float | None
    fixed: float | None
    queries: int
    nearest: str | None
    """The other metric with the highest tau."""
    tau: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentToJudge:
    """An unjudged document at the top of a query's ranking."""

    golden_set: str
    query_id: str
    query: str
    doc_id: str
    title: str
    rank: int
    metric: str
    influence: float
    """How far the metric's mean would move if the document had the highest grade."""


@dataclass(frozen=True, slots=True)
class JudgingFinding(ReportedFinding):
    """The unjudged documents at the top of the rankings, most influential first."""

    documents: tuple[DocumentToJudge, ...]
