"""What a law is tried on, rankings and a metric, and the results of its trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.declared_laws import LawStatus
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = [
    "PRECISION",
    "CounterExample",
    "LawTrials",
    "ScoredRanking",
    "TrialRankings",
    "TrialSubject",
    "all_rankings",
    "grades_by_rank",
    "hits_from_grades",
    "joined_trials",
]

PRECISION = 1e-9
"""Values are equal if they differ by at most this fraction of the largest value."""


@dataclass(frozen=True, slots=True)
class ScoredRanking:
    """One ranking of a counter-example, and its value."""

    ranking: str
    value: float

    def __str__(self) -> str:
        return f"{self.ranking}  scores {self.value:.6g}"


@dataclass(frozen=True, slots=True)
class CounterExample:
    """Rankings that contradict a law."""

    why: str
    """What they show, as one line of text."""
    rankings: tuple[ScoredRanking, ...] = ()
    judged_grades: tuple[float, ...] = ()
    """The grades of all judged documents, best first."""

    def __str__(self) -> str:
        return "\n".join((self.why, *(f"  {scored}" for scored in self.rankings)))


def grades_by_rank(grades: Sequence[float] | FloatArray, note: str = "") -> str:
    """Return a ranking as text: ``grades by rank 2 0 1``."""
    listed = " ".join(f"{grade:g}" for grade in grades if not np.isnan(grade))
    return f"grades by rank {listed or '(no document)'}{note}"


@dataclass(frozen=True, slots=True)
class LawTrials:
    """The trials of a law: which of them contradict it, and how to describe each."""

    broken: BoolArray
    """Which trials contradict the law."""
    binary: BoolArray
    """Which trials have binary judgments."""
    describe: Callable[[int], CounterExample]
    """Returns the counter-example that a trial is."""

    @property
    def holds(self) -> LawStatus:
        """True if no trial contradicts the law, "binary" if no trial with binary judgments does."""
        if not self.broken.any():
            return True
        return False if not self.binary.any() or (self.broken & self.binary).any() else "binary"

    def counter_example(self) -> CounterExample | None:
        """Return the first trial that contradicts the law, with binary judgments if possible."""
        for broken in (self.broken & self.binary, self.broken):
            if broken.any():
                return self.describe(int(np.argmax(broken)))
        return None


def joined_trials(rounds: Sequence[LawTrials]) -> LawTrials:
    """Return several rounds of trials of one law as one round."""
    if len(rounds) == 1:
        return rounds[0]
    starts = np.cumsum([0, *(len(trials.broken) for trials in rounds)])

    def describe(trial: int) -> CounterExample:
        number = int(np.searchsorted(starts, trial, side="right")) - 1
        return rounds[number].describe(trial - int(starts[number]))

    return LawTrials(
        np.concatenate([trials.broken for trials in rounds]),
        np.concatenate([trials.binary for trials in rounds]),
        describe,
    )


def hits_from_grades(sequences: FloatArray, ideal: FloatArray, max_grade: float) -> JudgedHits:
    """Return rankings as one block of judged hits.

    The arrays are read-only: a metric that writes into them would change the values of the metrics
    that are computed after it.

    Args:
        sequences: the grade at each rank of each ranking, ``[S, n]``; NaN at the end of a row is
            padding.
        ideal: the grades of all judged documents of each query, ranked or not, best first,
            ``[S, m]``.
        max_grade: the highest grade of the golden set.
    """
    is_document = ~np.isnan(sequences)
    ranks = np.where(is_document, np.arange(1.0, sequences.shape[1] + 1), np.nan)
    arrays = (ranks, sequences.copy(), is_document.sum(axis=1).astype(np.float64), ideal.copy())
    for array in arrays:
        array.flags.writeable = False
    return JudgedHits(*arrays, max_grade=max_grade)


class TrialRankings:
    """Rankings of n judged documents, each given as the grade at each rank.

    No metric distinguishes two documents of the same grade, so their order is left out. Rows with
    the same grades in a different order are rankings of the same documents and form a group.
    """

    def __init__(self, sequences: FloatArray, scale: Sequence[float]) -> None:
        self.sequences = sequences
        self.scale = tuple(scale)

    @property
    def n(self) -> int:
        """How many documents each ranking has."""
        return int(self.sequences.shape[1])

    @property
    def max_grade(self) -> float:
        """The highest grade of the scale, which stands in for the golden set's."""
        return self.scale[-1]

    @cached_property
    def ideal(self) -> FloatArray:
        """``[S, n]`` the same grades, best first: the ideal ranking of each row."""
        return -np.sort(-self.sequences, axis=1)

    @cached_property
    def groups(self) -> IntArray:
        """``[S]`` the number of each row's group."""
        _, inverse = np.unique(self.ideal, axis=0, return_inverse=True)
        numbers: IntArray = inverse.reshape(-1).astype(np.intp)
        return numbers

    @cached_property
    def binary(self) -> BoolArray:
        """``[S]`` whether only the lowest and the highest grade of the scale occur."""
        is_end = (self.sequences == self.scale[0]) | (self.sequences == self.max_grade)
        binary: BoolArray = is_end.all(axis=1)
        return binary

    def is_ideal(self, cutoff: int | None) -> BoolArray:
        """Return which rows have the ideal ranking's grades down to the cutoff, ``[S]``."""
        k = self.n if cutoff is None else min(cutoff, self.n)
        same: BoolArray = (self.sequences[:, :k] == self.ideal[:, :k]).all(axis=1)
        return same

    def swapped(self, place: int) -> FloatArray:
        """Return the rankings with positions ``place`` and ``place + 1`` swapped, ``[S, n]``.

        Positions are counted from 0.
        """
        order = np.arange(self.n)
        order[[place, place + 1]] = order[[place + 1, place]]
        exchanged: FloatArray = self.sequences[:, order]
        return exchanged

    def hits(self, sequences: FloatArray | None = None) -> JudgedHits:
        """Return the judged hits of these rankings, or of others of the same documents."""
        sequences = self.sequences if sequences is None else sequences
        return hits_from_grades(sequences, self.ideal, self.max_grade)


def all_rankings(scale: Sequence[float], n: int) -> TrialRankings:
    """Return all rankings of ``n`` documents, for every choice of grades from ``scale``."""
    grades = sorted(map(float, scale))
    return TrialRankings(np.array(list(product(grades, repeat=n))).reshape(-1, n), grades)


@dataclass(frozen=True, eq=False)
class TrialSubject:
    """A metric and the rankings on which its laws are tried."""

    metric: Metric
    rankings: TrialRankings
    _swapped: dict[int, FloatArray] = field(default_factory=dict)

    def compute(self, hits: JudgedHits, cutoff: int | None = None) -> FloatArray:
        """Return the value of each row of ``hits``, at the metric's own cutoff or another one."""
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
        """The values, negated if lower is better, so that a higher merit is always better."""
        return self.turned(self.values)

    def turned(self, values: FloatArray) -> FloatArray:
        """Return values as merits: negated if lower is better."""
        return values if self.metric.higher_is_better else -values

    def swapped(self, place: int) -> FloatArray:
        """Return the values after positions ``place`` and ``place + 1`` are swapped, ``[S]``."""
        if place not in self._swapped:
            self._swapped[place] = self.of(self.rankings.swapped(place))
        return self._swapped[place]

    @cached_property
    def tolerance(self) -> float:
        """The largest difference at which two values count as equal."""
        finite = self.values[np.isfinite(self.values)]
        return PRECISION * float(np.abs(finite).max(initial=0.0))

    def grouped(self, best: bool) -> FloatArray:
        """Return the best or the worst merit in each row's group, ``[S]``; NaN if all are NaN."""
        groups = self.rankings.groups
        start = -np.inf if best else np.inf
        extremes = np.full(int(groups.max(initial=-1)) + 1, start)
        is_number = ~np.isnan(self.merits)
        pick = np.maximum if best else np.minimum
        pick.at(extremes, groups[is_number], self.merits[is_number])
        return np.where(np.isinf(extremes), np.nan, extremes)[groups]

    def ends(self) -> tuple[float, float]:
        """Return the worst and the best merit of the declared range."""
        low, high = self.metric.definition.range
        return (low, high) if self.metric.higher_is_better else (-high, -low)

    def is_relevant(self, grades: FloatArray) -> BoolArray:
        """Return which grades the metric counts as relevant: above 0, or at least its ``rel``."""
        rel = dict(self.metric.parameters).get("rel")
        relevant: BoolArray = grades >= rel if isinstance(rel, (int, float)) else grades > 0
        return relevant
