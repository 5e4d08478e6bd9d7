"""Notes: sentences under a heading for each topic, and the order of the topics in every report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = ["Note", "Topic", "by_heading"]


class Topic(StrEnum):
    """What a note is about. The order of the topics is their order in every report."""

    EXPECTATIONS = "expectations"
    KNOWN_FAILURES = "known-failures"
    WORSE_KNOWN_FAILURES = "worse-known-failures"
    WARNED_EXPECTATIONS = "warned-expectations"
    DETERMINISM = "determinism"
    DEPTH = "depth"
    INVARIANCE = "invariance"
    DIRECTION = "direction"
    STABILITY = "stability"
    UNGATED_FALL = "ungated-fall"
    NO_SLICE_GATED = "no-slice-gated"
    OTHER_DEPTH = "other-depth"
    UNMET_IDS = "unmet-ids"
    DECIDES_NOTHING = "decides-nothing"
    RARELY_DECIDES = "rarely-decides"
    UNGATED_SLICES = "ungated-slices"
    SLIDE = "slide"
    INCONCLUSIVE = "inconclusive"
    REPLAYS = "replays"
    MIX = "mix"
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
    LOOSER_EXPECTATIONS = "looser-expectations"
    UNCHECKED_EXPECTATIONS = "unchecked-expectations"
    NOT_RUN = "not-run"
    RETIRED = "retired"
    RENAMED = "renamed"
    BASELINE_AGE = "baseline-age"
    KEPT = "kept"
    KEPT_WITHIN_NOISE = "kept-within-noise"
    CAN_BE_RAISED = "can-be-raised"
    WRITTEN = "written"
    IGNORED = "ignored"
    NEW_LINES = "new-lines"
    BRANCH = "branch"


_HEADINGS = {
    Topic.EXPECTATIONS: "expectations",
    Topic.KNOWN_FAILURES: "expectations with a known failure",
    Topic.WORSE_KNOWN_FAILURES: "warning: known failures that got worse since they were marked",
    Topic.WARNED_EXPECTATIONS: "expectations that only warn (severity warn)",
    Topic.DETERMINISM: "determinism",
    Topic.DEPTH: "the top of the rankings at several depths",
    Topic.INVARIANCE: "invariance",
    Topic.DIRECTION: "direction",
    Topic.STABILITY: "rankings compared with their baseline",
    Topic.UNGATED_FALL: "slices that are not gated, but fell by more than chance",
    Topic.NO_SLICE_GATED: "warning: an assertion names slices, but gates none of them",
    Topic.OTHER_DEPTH: "warning: metrics of a ranker whose top depends on how many documents it is "
    "asked for",
    Topic.UNMET_IDS: "warning: ranked documents are not those that the golden set judges",
    Topic.DECIDES_NOTHING: "warning: gates that could not have failed",
    Topic.RARELY_DECIDES: "warning: gates that need more queries to decide",
    Topic.UNGATED_SLICES: "slices that are not gated",
    Topic.SLIDE: "warning: small falls have added up to more than noise explains, though each "
    "passed its gate",
    Topic.INCONCLUSIVE: "inconclusive: not enough evidence to say whether it got worse",
    Topic.REPLAYS: "replayed logs: other propensities, and documents that were never shown",
    Topic.MIX: "differences at the baseline's mix, and what comes from slices that grew or shrank",
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
    Topic.LINT: "lint of {about}",
    Topic.RESOLUTION: "{about}",
    Topic.SLIDE_OFF: "warning: the guard against small falls that add up is off",
    Topic.SUGGESTED_GATE: "a gate that knows the noise (docs/which-gate.md)",
    Topic.GOLDEN_CHANGE: "golden sets that changed since the baselines were recorded",
    Topic.NO_LONGER_GATED: "no longer gated; the approved values stay in the baselines",
    Topic.LOOSER_GATE: "gates that may pass what the gate of the baseline blocks",
    Topic.LOOSER_EXPECTATIONS: "expectations that this branch removed or loosened, compared with "
    "{about}",
    Topic.UNCHECKED_EXPECTATIONS: "golden sets with expectations that no test checked",
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
    Topic.NEW_LINES: "new data files of baselines, which git commit -a leaves out",
    Topic.BRANCH: "baselines changed by this branch, compared with {about}",
}


@dataclass(frozen=True, slots=True)
class Note(ReportedFinding):
    """A sentence about anything but one metric; or the result of a check that has no metric."""

    topic: Topic
    text: str
    about: str = ""
    """What it is about, such as a golden set; headings may name it. Foreign text is quoted."""
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
