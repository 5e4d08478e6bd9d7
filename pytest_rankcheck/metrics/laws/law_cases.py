"""What a law is tried on, and what its trial finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.declared_laws import Holds
from pytest_rankcheck.metrics.laws.trial_rankings import Rankings
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.array_types import BoolArray, FloatArray

__all__ = ["Cases", "CounterExample", "Shown", "Subject", "joined", "ranked"]


PRECISION = 1e-9
"""Values that differ by less than this share of the largest are the same."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One ranking of a counter-example, in words, and what it scores."""

    ranking: str
    value: float

    def __str__(self) -> str:
        return f"{self.ranking}  scores {self.value:.6g}"


@dataclass(frozen=True, slots=True)
class CounterExample:
    """Rankings that contradict a law."""

    why: str
    """What they show, as a sentence."""
    shown: tuple[Shown, ...] = ()
    judged: tuple[float, ...] = ()
    """The grades of all judged documents, best first."""

    def __str__(self) -> str:
        return "\n".join((self.why, *(f"  {one}" for one in self.shown)))


def ranked(grades: Sequence[float] | FloatArray, note: str = "") -> str:
    """Return a ranking in words: ``grades by rank 2 0 1``."""
    told = " ".join(f"{grade:g}" for grade in grades if not np.isnan(grade)) or "(no document)"
    return f"grades by rank {told}{note}"


@dataclass(frozen=True, slots=True)
class Cases:
    """The trials of a law: which of them contradict it, and how each is told."""

    broken: BoolArray
    binary: BoolArray
    """Which of them have binary judgments."""
    told: Callable[[int], CounterExample]

    @property
    def holds(self) -> Holds:
        """Whether no trial contradicts the law, or none with binary judgments."""
        if not self.broken.any():
            return True
        return False if not self.binary.any() or (self.broken & self.binary).any() else "binary"

    def counter_example(self) -> CounterExample | None:
        """Return the first trial that contradicts the law, a binary one if there is one."""
        for chosen in (self.broken & self.binary, self.broken):
            if chosen.any():
                return self.told(int(np.argmax(chosen)))
        return None


def joined(trials: Sequence[Cases]) -> Cases:
    """Return several rounds of trials of one law as one."""
    if len(trials) == 1:
        return trials[0]
    starts = np.cumsum([0, *(len(one.broken) for one in trials)])

    def told(case: int) -> CounterExample:
        turn = int(np.searchsorted(starts, case, side="right")) - 1
        return trials[turn].told(case - int(starts[turn]))

    return Cases(
        np.concatenate([one.broken for one in trials]),
        np.concatenate([one.binary for one in trials]),
        told,
    )


@dataclass(frozen=True, eq=False)
class Subject:
    """A metric, and the rankings that its laws are tried on."""

    metric: Metric
    rankings: Rankings
    _swapped: dict[int, FloatArray] = field(default_factory=dict)

    def compute(self, hits: JudgedHits, cutoff: int | None = None) -> FloatArray:
        """Return the value of each row of ``hits``, at the metric's cutoff or at another."""
        k = self.metric.cutoff if cutoff is None else cutoff
        return self.metric.definition(hits, k, dict(self.metric.parameters))

    def of(self, sequences: FloatArray) -> FloatArray:
        """Return the values of other rankings of the same documents, ``[S]``."""
        return self.compute(self.rankings.hits(sequences))

    @cached_property
    def values(self) -> FloatArray:
        """The value of each ranking, ``[S]``."""
        return self.compute(self.rankings.hits())

    @cached_property
    def merits(self) -> FloatArray:
        """The values, turned so that more is better."""
        return self.turned(self.values)

    def turned(self, values: FloatArray) -> FloatArray:
        """Return values turned so that more is better."""
        return values if self.metric.higher_is_better else -values

    def swapped(self, place: int) -> FloatArray:
        """Return the values with the documents at ``place`` and below it exchanged, ``[S]``."""
        if place not in self._swapped:
            self._swapped[place] = self.of(self.rankings.swapped(place))
        return self._swapped[place]

    @cached_property
    def tolerance(self) -> float:
        """The difference up to which two values are the same."""
        finite = self.values[np.isfinite(self.values)]
        return PRECISION * float(np.abs(finite).max(initial=0.0))

    def grouped(self, best: bool) -> FloatArray:
        """Return the best, or the worst, merit of each row's group, ``[S]``; NaN if all are."""
        groups = self.rankings.groups
        start = -np.inf if best else np.inf
        found = np.full(int(groups.max(initial=-1)) + 1, start)
        known = ~np.isnan(self.merits)
        pick = np.maximum if best else np.minimum
        pick.at(found, groups[known], self.merits[known])
        return np.where(np.isinf(found), np.nan, found)[groups]

    def ends(self) -> tuple[float, float]:
        """Return the worst and the best merit of the declared range."""
        low, high = self.metric.definition.range
        return (low, high) if self.metric.higher_is_better else (-high, -low)

    def is_relevant(self, grades: FloatArray) -> BoolArray:
        """Return which grades are relevant to the metric: above 0, or at least its ``rel``."""
        rel = dict(self.metric.parameters).get("rel")
        found: BoolArray = grades >= rel if isinstance(rel, (int, float)) else grades > 0
        return found
