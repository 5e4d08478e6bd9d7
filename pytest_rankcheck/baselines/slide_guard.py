"""The guard against the slide: small falls that all passed their gates, added up since the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Verdict

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.best_history import BestApproval, BestHistory
    from pytest_rankcheck.gates.slide import Slide

__all__ = ["GuardedSlide", "SlideGuard"]


@dataclass(frozen=True, slots=True)
class GuardedSlide:
    """What the guard says of a mean that is lower than in its record."""

    slide: Slide | None
    """None: it is not known how many changes there were since the best was approved."""
    since: BestApproval | None = None
    """When the best was approved; None: the number of changes is configured, or not known."""
    why_unknown: str = ""
    """Why the number of changes is not known."""

    @property
    def exceeds(self) -> bool:
        """Whether the mean has fallen by more than noise explains."""
        return self.slide is not None and self.slide.exceeds


@dataclass(frozen=True, slots=True)
class SlideGuard:
    """The guard of one baseline file."""

    history: Callable[[], BestHistory]
    """Returns the versions of the file."""
    level: float | None = None
    """The share of innocent sequences of changes that are stopped; None: the usual one."""
    steps: int | None = None
    """The number of changes where there is no history; None: it is not configured."""

    def judged(self, record: Record, verdict: Verdict, gate: Gate) -> GuardedSlide | None:
        """Return what the guard says of a verdict; None if the mean is not lower."""
        pairs = verdict.overall.pairs
        if not pairs.gain < -SLACK:
            return None
        from pytest_rankcheck.baselines.best_history import UnknownHistoryError
        from pytest_rankcheck.gates.slide import SLIDE_LEVEL, slide_of

        since, steps = None, self.steps
        try:
            since = self.history().since(record, verdict.metric)
            steps = since.changes
        except UnknownHistoryError as error:
            if steps is None:
                return GuardedSlide(None, why_unknown=str(error))
        slide = slide_of(
            pairs,
            steps or 1,
            approved=record.below_best(verdict.metric),
            level=self.level or SLIDE_LEVEL,
            rule=gate.rule,
            shares=verdict.decisions,
        )
        return GuardedSlide(slide, since)
