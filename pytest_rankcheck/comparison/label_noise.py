"""Label noise: how often a verdict would be the same if some judgments were wrong.

Judges disagree, but the order of systems usually survives that (Voorhees, Variations in relevance
judgments, IP&M 2000). To see whether *this* verdict survives, a share of the judgments gets another
grade, many times.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.rejudged_values import can_rejudge
from pytest_rankcheck.errors import ConfigurationError, MetricError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK, as_recorded
from pytest_rankcheck.golden.sampled_queries import SampledQueries
from pytest_rankcheck.metrics.judged_hits import JudgedHits, padded
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import first_ranks

__all__ = ["LabelSensitivity", "Ruling", "label_sensitivity"]


class Ruling(Protocol):
    """What gives a verdict, such as a gate."""

    def ruling(self, pairs: ComparedValues) -> str:
        """Return the verdict on these queries, in one word."""


@dataclass(frozen=True, slots=True)
class LabelSensitivity:
    """How a verdict changed when a share of the judgments was wrong."""

    flip: float
    """The share of judgments that got another grade."""
    ruling: str
    """The actual verdict: passed, regressed or inconclusive; without a gate, better, worse or
    equal."""
    survived: float
    """The share of draws with the same verdict."""
    rulings: Mapping[str, int]
    """The number of draws with each verdict."""
    differences: FloatArray
    """The difference of the means, after minus before, in each draw, sorted."""

    @checked_arguments
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of differences that contains this share of the draws."""
        outside = (1 - level) / 2
        low, high = np.quantile(self.differences, (outside, 1 - outside))
        return float(low), float(high)

    def __str__(self) -> str:
        low, high = self.interval()
        return (
            f"'{self.ruling}' survives in {self.survived:.1%} of {len(self.differences):,} draws "
            f"with {self.flip:.0%} of the judgments wrong; 95% of the differences are between "
            f"{low:+.4f} and {high:+.4f}"
        )


class _Direction:
    """The verdict without a gate: the direction in which the mean moved."""

    def ruling(self, pairs: ComparedValues) -> str:
        if abs(pairs.gain) <= SLACK:
            return "equal"
        return "better" if pairs.gain > 0 else "worse"


def label_sensitivity(
    evaluation: Evaluation,
    other: Measured,
    pairs: Paired,
    flip: float,
    *,
    gate: Ruling | None,
    draws: int,
) -> LabelSensitivity:
    """Return how often a verdict survives. See ``Comparison.label_sensitivity``."""
    if not 0 <= flip <= 1 or draws < 1:
        raise ConfigurationError(
            f"flip={quoted(flip)}, draws={quoted(draws)} is invalid; give flip from 0 to 1, and "
            "draws as a whole number from 1 on"
        )
    metric = pairs.metric
    for side in (evaluation, other):
        if not can_rejudge(side, metric):
            raise MetricError(
                f"{metric} under other judgments needs whole rankings, but one side has only the "
                f"first {side.known_depth or 0} documents of each; use a metric with a smaller "
                "cutoff, or compare two evaluations of runs that were read into memory"
            )
    judge = gate or _Direction()
    labels = _Labels(evaluation.golden, pairs.query_ids, flip)
    exclude = evaluation.conventions.no_relevant == "exclude"
    then, now = (_Side(side, labels, metric, exclude) for side in (other, evaluation))
    ruling = judge.ruling(pairs)
    rulings: Counter[str] = Counter()
    differences = []
    for _ in range(draws):
        grades = labels.drawn()
        before, after = (as_recorded(side.values(grades)) for side in (then, now))
        drawn = replace(pairs, before=before, after=after).counted()
        rulings[judge.ruling(drawn)] += 1
        differences.append(drawn.difference)
    return LabelSensitivity(
        flip, ruling, rulings[ruling] / draws, dict(rulings), np.sort(np.array(differences))
    )


class _Labels:
    """The judgments of some queries in one array, and draws with some of them wrong."""

    def __init__(self, golden: SampledQueries, query_ids: Sequence[str], flip: float) -> None:
        judged = [golden.grades(query_id) for query_id in query_ids]
        places = itertools.count()
        self.query_ids = query_ids
        self.docs = [{doc_id: next(places) for doc_id in grades} for grades in judged]
        """The index in the array of each judgment, by document, for each query."""
        self.max_grade = golden.scale
        flat = [grade for grades in judged for grade in grades.values()]
        self.grades: FloatArray = np.array(flat, dtype=np.float64)
        self.levels = np.array(sorted({0.0, *flat}))
        self.wrong = round(flip * len(flat))
        self._raw = np.random.PCG64(_seed(golden, flip))

    def drawn(self) -> FloatArray:
        """Return the grades with some of them wrong: another grade of the set, or 0."""
        grades = self.grades.copy()
        if not self.wrong or len(self.levels) < 2:
            return grades
        chosen = np.argsort(self._raw.random_raw(len(grades)), kind="stable")[: self.wrong]
        own = np.searchsorted(self.levels, grades[chosen])
        steps = self._raw.random_raw(self.wrong) % np.uint64(len(self.levels) - 1) + np.uint64(1)
        other = (own + steps.astype(np.intp)) % len(self.levels)
        grades[chosen] = self.levels[other]
        return grades


class _Side:
    """The rankings of one side, as indexes into the array of judgments."""

    def __init__(self, side: Measured, labels: _Labels, metric: Metric, exclude: bool) -> None:
        self.metric, self.exclude, self.max_grade = metric, exclude, labels.max_grade
        ranks, places, retrieved = [], [], []
        for query_id, docs in zip(labels.query_ids, labels.docs, strict=True):
            ranking = side.ranking(query_id)
            hits = [(rank, docs[doc]) for doc, rank in first_ranks(ranking).items() if doc in docs]
            ranks.append([rank for rank, _ in hits])
            places.append([place for _, place in hits])
            retrieved.append(len(ranking))
        self.retrieved = np.array(retrieved, dtype=np.float64)
        self.ranks = padded(ranks)
        self.places = _whole(padded(places))
        self.ideal_places = _whole(padded([list(docs.values()) for docs in labels.docs]))

    def values(self, grades: FloatArray) -> FloatArray:
        """Return the value of each query, ``[Q]``, under these grades."""
        ideal = -np.sort(-_taken(grades, self.ideal_places), axis=1)
        hits = JudgedHits(
            ranks=self.ranks,
            grades=_taken(grades, self.places),
            retrieved=self.retrieved,
            ideal=ideal,
            max_grade=self.max_grade,
        )
        values = self.metric.compute(hits)
        return np.where((ideal > 0).any(axis=1), values, np.nan) if self.exclude else values


def _whole(places: FloatArray) -> NDArray[np.intp]:
    """Return padded indexes as integers, -1 for no document."""
    return np.where(np.isnan(places), -1, places).astype(np.intp)


def _taken(grades: FloatArray, places: NDArray[np.intp]) -> FloatArray:
    """Return the grades at some indexes, NaN for no document."""
    return np.where(places < 0, np.nan, grades[places]) if grades.size else places.astype(float)


def _seed(golden: SampledQueries, flip: float) -> int:
    """Return a seed that depends only on the golden set and the share."""
    import hashlib  # loads OpenSSL, so only when needed

    return int.from_bytes(hashlib.sha256(f"{golden.fingerprint} {flip!r}".encode()).digest(), "big")
