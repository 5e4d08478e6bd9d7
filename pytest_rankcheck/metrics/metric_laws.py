"""Laws of metrics, tried by brute force on all rankings of five judged documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import isfinite
from typing import Literal

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_definition import wrong_form
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.metrics.metric_registry import judged_definitions

DOCUMENTS = 5
"""How many documents each trial ranking has."""

PRECISION = 1e-9
"""Values are equal if they differ by at most this fraction of the largest value."""

_SCALE = (0.0, 1.0, 2.0, 3.0, 4.0)

Holds = bool | Literal["binary"]
"""Whether a law holds: always, not always, or whenever the judgments are binary."""


@dataclass(frozen=True, slots=True)
class LawResult:
    """One law, and whether a metric keeps it."""

    law: str
    definition: str
    """The law as one sentence."""
    holds: Holds | None
    """None: the law does not apply to this metric or this cutoff."""
    counter_example: str = ""
    """Rankings that contradict the law, as lines of text; empty if it always holds."""


@dataclass(frozen=True, slots=True)
class LawReport:
    """The laws of a metric, tried on all rankings of five documents."""

    metric: str
    """The metric that was asked for."""
    checked: str
    """The metric that was tried: its cutoff is at most 4, so that one document lies below it."""
    scale: tuple[float, ...]
    """The grades that were tried."""
    fault: str
    """Why the function cannot be used as a metric, such as a value outside its range, or empty."""
    results: tuple[LawResult, ...]
    """The laws; none if the function cannot be used."""
    seen_binary: float
    """The share of swaps of neighbours with different grades that change the value, from 0 to 1,
    on binary judgments."""
    seen_graded: float
    """The same share on all judgments."""
    changes: tuple[float, ...]
    """The largest change by a swap at rank 1, 2, 3 and 4."""

    def __getitem__(self, law: str) -> LawResult:
        """Return the result for a law."""
        return {result.law: result for result in self.results}[law]

    @property
    def ok(self) -> bool:
        """Whether the function can be used as a metric."""
        return not self.fault

    def raise_if_broken(self) -> LawReport:
        """Return the report if the function can be used as a metric.

        Raises:
            AssertionError: it cannot; the message says why, and shows rankings.
        """
        if self.fault:
            raise AssertionError(f"{self._heading}: {self.fault}")
        return self

    @property
    def _heading(self) -> str:
        at = f", tried as {self.checked}" if self.checked != self.metric else ""
        grades = ", ".join(f"{grade:g}" for grade in self.scale)
        return f"{self.metric} on all rankings of five documents with the grades {grades}{at}"

    def __str__(self) -> str:
        words = {True: "yes", False: "no", "binary": "on binary judgments", None: "-"}
        lines = [f"{self._heading}: {self.fault}"] if self.fault else [self._heading]
        for result in self.results:
            lines.append(f"  {result.law}: {words[result.holds]}")
            lines += [f"    {line}" for line in result.counter_example.splitlines()]
        return "\n".join(lines)


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
        return PRECISION * float(np.abs(self.values[np.isfinite(self.values)]).max(initial=0.0))

    @property
    def sign(self) -> int:
        """-1 if lower is better: a value times the sign is a merit, of which more is better."""
        return 1 if self.metric.higher_is_better else -1

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
        """``[S]`` the number of the group of each ranking: those of the same documents."""
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


Broken = BoolArray | None
"""``[S]`` which trials contradict the law, or ``[n-1, S]`` after a swap at each rank; None if the
law does not apply."""


def monotone(trials: Trials) -> Broken:
    """Moving a document up past one with a lower grade never makes the value worse."""
    improved = np.diff(trials.sequences, axis=1).T > 0
    rise = trials.sign * (trials.after_swaps - trials.values)
    return np.asarray(improved & (rise < -trials.tolerance), dtype=np.bool_)


def identity(trials: Trials) -> Broken:
    """Only the ideal ranking, higher grades first, has the best value of these documents."""
    merits = np.where(np.isnan(trials.values), -np.inf, trials.sign * trials.values)
    of_group = trials.best_of_group(merits)
    k = trials.metric.cutoff
    is_ideal = (trials.sequences[:, :k] == trials.ideal[:, :k]).all(axis=1)
    is_best = np.isfinite(of_group) & (merits >= of_group - trials.tolerance)
    return np.asarray((is_best != is_ideal) & np.isfinite(of_group), dtype=np.bool_)


def normalised(trials: Trials) -> Broken:
    """The ideal ranking has the best value of the range if any document is relevant."""
    best = trials.metric.definition.range[1 if trials.sign > 0 else 0]
    rel = dict(trials.metric.parameters).get("rel")
    lowest = rel if isinstance(rel, (int, float)) else np.nextafter(0, 1)
    values = trials.compute(trials.ideal)
    misses = ~(np.abs(values - best) <= trials.tolerance)
    return np.asarray(misses & (trials.ideal[:, 0] >= lowest), dtype=np.bool_)


def sensitive(trials: Trials) -> Broken:
    """Swaps near the top change the value most: the largest change falls from rank to rank.

    With a cutoff k, only swaps inside the top k count; the law does not apply for k below 3.
    """
    n = trials.sequences.shape[1]
    k = min(trials.metric.cutoff or n, n)
    if k < 3:
        return None
    weights = np.stack([trials.best_of_group(change) for change in trials.changes[: k - 1]])
    sees = weights.max(axis=0) > trials.tolerance
    falls = (np.diff(weights, axis=0) <= trials.tolerance).all(axis=0)
    falls &= weights[0] > weights[-1] + trials.tolerance
    broken = (sees & ~falls) if sees.any() else np.ones_like(sees)
    return np.asarray(broken, dtype=np.bool_)


def robust(trials: Trials) -> Broken:
    """One swap changes the value by less than half of what the best ranking has.

    The best of all rankings of these documents, above the worst end of the range or, if that is
    infinite, above the worst of these rankings.
    """
    merits = trials.sign * trials.values
    best, of_worst = (
        trials.best_of_group(np.where(np.isnan(merits), -np.inf, side))
        for side in (merits, -merits)
    )
    worst = trials.sign * trials.metric.definition.range[0 if trials.sign > 0 else 1]
    span = best + (of_worst if np.isinf(worst) else -worst)
    is_large = trials.changes >= span / 2 - trials.tolerance
    return np.asarray((trials.changes > trials.tolerance) & is_large, dtype=np.bool_)


def cutoff_local(trials: Trials) -> Broken:
    """Documents below the cutoff do not change the value."""
    if trials.metric.definition.at != "cutoff":
        return None
    cutoffs = range(1, trials.sequences.shape[1])
    whole = np.stack([trials.compute(trials.sequences, k) for k in cutoffs])
    cut = np.stack([trials.compute(_cut_at(trials.sequences, k), k) for k in cutoffs])
    same = (np.abs(whole - cut) <= trials.tolerance) | (np.isnan(whole) & np.isnan(cut))
    return np.asarray(~same.all(axis=0), dtype=np.bool_)


LAWS: tuple[Callable[[Trials], Broken], ...] = (
    monotone,
    identity,
    normalised,
    sensitive,
    robust,
    cutoff_local,
)
"""The laws in the order of the manual."""


@checked_arguments
def check_metric(metric: MetricLike, *, scale: Sequence[float] | None = None) -> LawReport:
    """Try a metric on all rankings of five judged documents: can it be used, and what does it see?

    Every sequence of five grades from the scale is tried: all grades different, ties, binary
    judgments, all documents relevant, none relevant. A metric with a cutoff above 4 is tried at 4,
    so that one document lies below the cutoff.

    Args:
        metric: a name such as ``"nDCG@10"``, a ``Metric``, or the name of your own metric.
        scale: the grades to try, from two to six; by default 0 to 4, or the grades that a
            parameter names.

    Returns:
        Whether the function can be used as a metric, which laws it keeps, and which swaps it sees.

    Raises:
        MetricError: the metric is unknown, is not computed from judged hits, or does not accept
            the grades of the scale.
    """
    parsed = Metric.parse(metric)
    if parsed.definition.ir_measures or parsed.name not in judged_definitions():
        raise MetricError(
            f"check_metric cannot check {parsed}: the laws apply only to metrics that are computed "
            "from the ranks and grades of one query"
        )
    tried = parsed
    if parsed.cutoff is not None:
        tried = replace(parsed, cutoff=min(parsed.cutoff, DOCUMENTS - 1))
    grades = usual_scale(parsed) if scale is None else _checked_scale(scale)
    trials = Trials(tried, grades)
    try:
        fault = next(faults(trials), "")
        results = () if fault else tuple(_result(law, trials) for law in LAWS)
    except MetricError as refusal:
        listed = ", ".join(f"{grade:g}" for grade in grades)
        raise MetricError(
            f"{tried} cannot be tried on the grades {listed}: {refusal}; give check_metric a scale "
            "of valid grades, such as scale=(0, 0.5, 1)"
        ) from None
    binary = graded = np.nan
    changes: Sequence[float] = [np.nan] * (DOCUMENTS - 1)
    if not fault:
        differ = np.diff(trials.sequences, axis=1).T != 0
        is_seen = trials.changes > trials.tolerance
        binary, graded = is_seen[differ & trials.binary].mean(), is_seen[differ].mean()
        changes = trials.changes.max(axis=1, initial=0.0).tolist()
    return LawReport(
        str(parsed),
        str(tried),
        trials.scale,
        fault,
        results,
        float(binary),
        float(graded),
        tuple(changes),
    )


def usual_scale(metric: Metric) -> tuple[float, ...]:
    """Return the grades to try a metric on: 0 to 4, or those that its parameters name."""
    parameters = dict(metric.parameters)
    for value in parameters.values():
        if isinstance(value, tuple):
            named = sorted({float(grade) for grade, _ in value if grade > 0})
            places = np.linspace(0, len(named) - 1, min(len(named), len(_SCALE) - 1)).round()
            return (0.0, *(named[int(place)] for place in places))
    rel = parameters.get("rel")
    if isinstance(rel, (int, float)) and not 0 < rel <= _SCALE[-1]:
        return (0, 1, 2, rel, rel + 1) if rel > 0 else (rel - 1, rel, rel + 1, rel + 2, rel + 3)
    return _SCALE


def _checked_scale(scale: Sequence[float]) -> tuple[float, ...]:
    grades = sorted({float(grade) for grade in scale})
    if len(grades) < 2 or not all(map(isfinite, grades)):
        raise MetricError(
            f"scale={quoted(tuple(scale))} is invalid; give at least two different finite grades"
        )
    if len(grades) > len(_SCALE) + 1:
        raise MetricError(
            f"scale has {len(grades)} grades; give at most {len(_SCALE) + 1}, so that all rankings "
            f"of {DOCUMENTS} documents can be tried"
        )
    return tuple(grades)


def _result(law: Callable[[Trials], Broken], trials: Trials) -> LawResult:
    definition = (law.__doc__ or "").partition("\n")[0]
    broken = law(trials)
    if broken is None or not broken.any():
        return LawResult(law.__name__, definition, None if broken is None else True)
    of_binary = broken & trials.binary
    shown = of_binary if of_binary.any() else broken
    *swaps, row = map(int, np.unravel_index(int(np.argmax(shown)), shown.shape))
    holds: Holds = False if of_binary.any() or not trials.binary.any() else "binary"
    example = trials.example(row, swaps[0] if swaps else None)
    return LawResult(law.__name__, definition, holds, example)


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
        sequences = _cut_at(trials.sequences, length)
        values = trials.compute(sequences)
        outside = (values < low - trials.tolerance) | (values > high + trials.tolerance)
        for row in np.flatnonzero(outside)[:1]:
            yield (
                f"a value is outside the range {low:g} to {high:g}"
                + trials.shown(sequences[row], values[row])
            )
    alone = (rows[row : row + 1] for row in rows[:: max(1, len(rows) // 16)])
    others = [
        *(("alone", row, _rows(hits, row)) for row in alone),
        ("in a block with the queries in another order", rows[::-1], _rows(hits, rows[::-1])),
        ("in wider matrices, with more NaN at the end of each row", rows, _widened(hits)),
    ]
    for where, places, block in others:
        values, again = trials.values[places], trials.metric.compute(block)
        same = (np.abs(again - values) <= trials.tolerance) | (np.isnan(again) & np.isnan(values))
        for place in np.flatnonzero(~same)[:1]:
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
        hint = ""
        if isinstance(failure, ValueError) and "read-only" in str(failure):
            hint = "; it modifies its arguments, which other metrics use too: copy them first"
        return f"it raised {type(failure).__name__} {block}: {quoted(failure)}{hint}"
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

    def padded(matrix: FloatArray) -> FloatArray:
        return np.pad(matrix, ((0, 0), (0, 3)), constant_values=np.nan)

    return replace(
        hits, ranks=padded(hits.ranks), grades=padded(hits.grades), ideal=padded(hits.ideal)
    )


def _cut_at(sequences: FloatArray, k: int) -> FloatArray:
    """Return the top k of each ranking, padded with NaN."""
    top = sequences.copy()
    top[:, k:] = np.nan
    return top
