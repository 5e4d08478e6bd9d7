"""The trials of a metric on all rankings of five judged documents, and the faults they find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_definition import wrong_form
from pytest_rankcheck.metrics.metric_names import Metric

DOCUMENTS = 5
"""How many documents each trial ranking has."""

PRECISION = 1e-9
"""Values are equal if they differ by at most this fraction of the largest value."""


class Trials:
    """A metric and the S rankings on which its laws are tried, each as the grade at each rank.

    No metric distinguishes two documents of the same grade, so their order is left out.

    Args:
        metric: the metric.
        scale: the grades that the documents can have.
    """

    def __init__(self, metric: Metric, scale: Sequence[float]) -> None:
        self.metric = metric
        self.scale = tuple(sorted(map(float, scale)))
        self.sequences = np.array(list(product(self.scale, repeat=DOCUMENTS)))
        """``[S, n]``"""

    @cached_property
    def ideal(self) -> FloatArray:
        """``[S, n]`` the same grades, best first."""
        return -np.sort(-self.sequences, axis=1)

    @cached_property
    def binary(self) -> BoolArray:
        """``[S]`` whether only the lowest and the highest grade of the scale occur."""
        outermost = np.isin(self.sequences, (self.scale[0], self.scale[-1]))
        return np.asarray(outermost.all(axis=1), dtype=np.bool_)

    def hits(self, sequences: FloatArray) -> JudgedHits:
        """Return other rankings of the same documents as one block; NaN pads the end of a row."""
        is_document = ~np.isnan(sequences)
        ranks = np.where(is_document, np.arange(1.0, sequences.shape[1] + 1), np.nan)
        retrieved = is_document.sum(axis=1).astype(np.float64)
        return JudgedHits(
            ranks, sequences.copy(), retrieved, self.ideal.copy(), max_grade=self.scale[-1]
        )

    def compute(self, sequences: FloatArray, cutoff: int | None = None) -> FloatArray:
        """Return the value of each ranking, at the metric's own cutoff or another one, ``[S]``."""
        metric = self.metric if cutoff is None else replace(self.metric, cutoff=cutoff)
        return metric.compute(self.hits(sequences))

    @cached_property
    def values(self) -> FloatArray:
        """``[S]`` the value of each ranking."""
        return self.compute(self.sequences)

    @cached_property
    def tolerance(self) -> float:
        """The largest difference at which two values count as equal."""
        finite = self.values[np.isfinite(self.values)]
        return PRECISION * float(np.abs(finite).max(initial=0.0))

    def same(self, values: FloatArray, others: FloatArray) -> BoolArray:
        """Return where two values are equal, or both NaN."""
        is_close = np.abs(values - others) <= self.tolerance
        return np.asarray(is_close | (np.isnan(values) & np.isnan(others)), dtype=np.bool_)

    @property
    def sign(self) -> int:
        """-1 if lower is better, else 1; a value times the sign is better if higher."""
        return 1 if self.metric.higher_is_better else -1

    def top(self, k: int) -> FloatArray:
        """Return the top k of each ranking, ``[S, n]``, padded with NaN."""
        top = self.sequences.copy()
        top[:, k:] = np.nan
        return top

    def swapped(self, place: int) -> FloatArray:
        """Return the rankings with the documents at ``place`` and ``place + 1`` swapped, from 0."""
        order = np.arange(self.sequences.shape[1])
        order[[place, place + 1]] = order[[place + 1, place]]
        return self.sequences[:, order]

    @cached_property
    def after_swaps(self) -> FloatArray:
        """``[n-1, S]`` the value of each ranking after a swap at rank 1, 2, ..."""
        places = range(self.sequences.shape[1] - 1)
        return np.stack([self.compute(self.swapped(place)) for place in places])

    @cached_property
    def changes(self) -> FloatArray:
        """``[n-1, S]`` how much a swap at each rank changes the value; 0 for NaN."""
        return np.nan_to_num(np.abs(self.after_swaps - self.values), nan=0.0)

    @cached_property
    def groups(self) -> IntArray:
        """``[S]`` the group of each ranking; a group has the rankings of the same documents."""
        return np.unique(self.ideal, axis=0, return_inverse=True)[1].reshape(-1)

    def best_of_group(self, values: FloatArray) -> FloatArray:
        """Return for each ranking the largest value of any ranking of the same documents."""
        best = np.full(int(self.groups.max()) + 1, -np.inf)
        np.maximum.at(best, self.groups, values)
        return best[self.groups]

    def shown(self, sequence: FloatArray, value: object) -> str:
        """Return a ranking and its value as a line of text."""
        grades = " ".join(f"{grade:g}" for grade in sequence if not np.isnan(grade))
        return f"\n  grades by rank {grades or '(no document)'}  scores {value:.6g}"

    def example(self, row: int, swap: int | None) -> str:
        """Return a ranking as text: after the ideal one, or before and after a swap from 0."""
        own = self.shown(self.sequences[row], self.values[row])
        if swap is None:
            best = self.shown(self.ideal[row], self.compute(self.ideal)[row])
            return f"the ideal ranking, and this one{best}{own}"
        after = self.shown(self.swapped(swap)[row], self.after_swaps[swap, row])
        return f"a swap at rank {swap + 1}{own}{after}"


def faults(trials: Trials) -> Iterator[str]:
    """Yield why a function cannot be used as a metric.

    It must return one finite float64 or NaN per query, within its range, and not modify its
    arguments. A query must have the same value alone, in any order of queries, and in wider
    matrices, and a block may contain no ranked judged document at all.
    """
    hits, rows = trials.hits(trials.sequences), np.arange(len(trials.sequences))
    for block in (hits, replace(hits, ranks=hits.ranks[:, :0], grades=hits.grades[:, :0])):
        fault = _fault_of_block(trials.metric, block)
        if fault:
            yield fault
    low, high = trials.metric.definition.range
    for length in range(trials.sequences.shape[1] + 1):
        sequences = trials.top(length)
        values = trials.compute(sequences)
        outside = (values < low - trials.tolerance) | (values > high + trials.tolerance)
        for row in np.flatnonzero(outside)[:1]:
            yield (
                f"a value is outside the range {low:g} to {high:g}"
                + trials.shown(sequences[row], values[row])
            )
    others = [("in wider matrices, with more NaN at the end of each row", rows, _widened(hits))]
    for row in rows[:: max(1, len(rows) // 16)]:
        alone = rows[row : row + 1]
        others.append(("alone", alone, _rows(hits, alone)))
    for where, places, block in others:
        values, again = trials.values[places], trials.metric.compute(block)
        for place in np.flatnonzero(~trials.same(values, again))[:1]:
            sequence = trials.sequences[places[place]]
            yield (
                f"a query has a different value {where}; compute each row of the hits separately "
                "(axis=1), and treat NaN as padding"
                + trials.shown(sequence, values[place])
                + trials.shown(sequence, again[place])
            )


def _fault_of_block(metric: Metric, hits: JudgedHits) -> str:
    """Return what is wrong with the function's result for a block, or an empty text."""
    rows, width = hits.ranks.shape
    block = f"for a block of {rows:,} queries with {width} judged documents each"
    try:
        values = metric.compute(hits)
    except MetricError:
        raise
    except Exception as failure:
        return f"it raised {type(failure).__name__} {block}: {quoted(failure)}"
    problem = wrong_form(values, rows)
    if problem is not None:
        return f"{block}, it {problem}"
    if values.dtype != np.float64:
        return f"it returned {values.dtype} {block}; return float64"
    if np.isinf(values).any():
        return f"it returned infinity {block}; return a number, or NaN to leave a query out"
    return ""


def _rows(hits: JudgedHits, rows: IntArray) -> JudgedHits:
    return JudgedHits(
        hits.ranks[rows], hits.grades[rows], hits.retrieved[rows], hits.ideal[rows], hits.max_grade
    )


def _widened(hits: JudgedHits) -> JudgedHits:
    """Return the block as it looks when another of its queries has more judged documents."""
    matrices = (hits.ranks, hits.grades, hits.ideal)
    padding = ((0, 0), (0, 3))
    ranks, grades, ideal = (np.pad(each, padding, constant_values=np.nan) for each in matrices)
    return replace(hits, ranks=ranks, grades=grades, ideal=ideal)
