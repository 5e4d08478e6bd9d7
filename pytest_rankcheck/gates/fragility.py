"""Fragility: which few queries a verdict depends on.

A verdict is fragile if it would be another one without one, two or three of its queries (or of its
clusters, which are then the independent units). The queries are found greedily: those whose absence
raises (or lowers) most the mean, or its distance from the margin in standard errors. The gate's own
rule decides again without them: usually fewer than 6 times, at most 15.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.gates.explanations import Fragility
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.golden.sampled_queries import SampledQueries

__all__ = ["MOST_UNITS", "Units", "found_fragile", "fragility_of"]

MOST_UNITS = 3
"""The largest number of queries, or clusters, that are left out together."""
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Units:
    """The independent units of paired values: the queries, or their clusters; U of them."""

    codes: Sequence[int]
    """The unit of each query, ``[n]``, from 0 to U - 1."""
    sums: FloatArray
    """The weighted sum of the gains of each unit, ``[U]``."""
    weights: FloatArray
    """The sum of the weights of each unit, ``[U]``."""

    @classmethod
    def of(cls, pairs: Paired) -> Units:
        """Return the units of some queries."""
        codes: IntArray = np.arange(pairs.size)
        if pairs.clusters is not None:
            codes = np.unique(pairs.clusters, return_inverse=True)[1]
        weights = np.ones(pairs.size) if pairs.weights is None else pairs.weights
        sums = np.asarray(np.bincount(codes, weights=weights * pairs.gains), dtype=np.float64)
        sizes = np.asarray(np.bincount(codes, weights=weights), dtype=np.float64)
        return cls(codes.tolist(), sums, sizes)

    def queries(self, places: Places) -> Sequence[Sequence[int]]:
        """Return the indexes of the queries of each of these units."""
        return [[n for n, code in enumerate(self.codes) if code == place] for place in places]


def found_fragile(
    units: Units,
    margin: float | None,
    drops: Places,
    is_changed: Callable[[Places], bool],
    *,
    also_lower: bool,
) -> Places | None:
    """Return the fewest units without which a verdict is another one; None if it is not fragile.

    Args:
        units: those of the decision that the verdict rests on.
        margin: the fall that must be ruled out; None if the gate has no such fall.
        drops: the units of the queries that fell by more than the gate allows.
        is_changed: whether the verdict is another one without these units.
        also_lower: whether units are left out, too, whose absence lowers the mean.
    """
    signs = (1, -1) if also_lower else (1,)
    by_size = [_candidates(units, margin, drops if sign > 0 else (), sign) for sign in signs]

    def first(size: int) -> Places | None:
        of_size = chain.from_iterable(candidates[size] for candidates in by_size)
        return next((places for places in of_size if is_changed(places)), None)

    one = first(1)
    if one is not None:
        return one
    largest = first(MOST_UNITS)  # most verdicts are not fragile, which this shows soonest
    return None if largest is None else first(2) or largest


def fragility_of(
    verdict: Verdict, golden: SampledQueries, ruling_without: Callable[[Collection[str]], str]
) -> Fragility | None:
    """Return the queries that a verdict depends on; None if it depends on more than a few.

    Args:
        verdict: a verdict other than "passed".
        golden: the golden set, for the names of its clusters.
        ruling_without: returns what the gate decides without the queries with these ids.
    """
    pairs = verdict.leading.pairs
    if not isinstance(pairs, Paired):
        return None
    units, ids = Units.of(pairs), pairs.query_ids

    def ids_of(places: Places) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(ids[query] for query in unit) for unit in units.queries(places))

    def ruling_at(places: Places) -> str:
        return ruling_without(set(chain(*ids_of(places))))

    dropped = {drop.query_id for drop in verdict.query_drops}
    drops = {code for code, each in zip(units.codes, ids, strict=True) if each in dropped}
    places = found_fragile(
        units,
        verdict.margin,
        tuple(sorted(drops)),
        lambda places: ruling_at(places) != verdict.ruling,
        also_lower=verdict.inconclusive,
    )
    if places is None:
        return None
    # The largest fall comes first.
    places = tuple(sorted(places, key=lambda place: units.sums[place]))
    queries, ruling = ids_of(places), ruling_at(places)
    if pairs.clusters is None:
        return Fragility(tuple(each[0] for each in queries), queries, False, ruling)
    names = dict(zip(golden.query_ids, golden.clusters or (), strict=True))
    return Fragility(tuple(names[each[0]] for each in queries), queries, True, ruling)


def _candidates(
    units: Units, margin: float | None, drops: Places, sign: int
) -> dict[int, list[Places]]:
    """Return, by size, the sets of units whose absence is most likely to change a verdict."""
    orders = list(_orders(units, margin, sign))
    by_size: dict[int, list[Places]] = {}
    for size in range(1, MOST_UNITS + 1):
        sets = [tuple(sorted(order[:size])) for order in orders if len(order) >= size]
        by_size[size] = list(dict.fromkeys(sets))
    if 0 < len(drops) <= MOST_UNITS:
        for size in {len(drops), MOST_UNITS}:
            by_size[size].insert(0, drops)
    return by_size


def _orders(units: Units, margin: float | None, sign: int) -> Iterator[list[int]]:
    """Yield the first units to leave out, by each criterion; at least one unit always stays."""
    count = min(MOST_UNITS, len(units.sums) - 1)
    moved = units.sums + (margin or 0.0) * units.weights
    for score in (_mean, _in_errors):
        values = moved if score is _in_errors else units.sums
        left = np.ones(len(values), dtype=bool)
        order: list[int] = []
        for _ in range(count):
            scores = sign * score(values, units.weights, left)
            order.append(int(np.argmax(np.where(left, scores, -np.inf))))
            left[order[-1]] = False
        yield order


def _mean(values: FloatArray, weights: FloatArray, left: np.ndarray) -> FloatArray:
    """Return, for each unit that is left, the mean of the others, ``[U]``."""
    rest = np.maximum(float(weights[left].sum()) - weights, 1e-300)
    return np.asarray((float(values[left].sum()) - values) / rest)


def _in_errors(values: FloatArray, weights: FloatArray, left: np.ndarray) -> FloatArray:
    """Return the sum of the others in their standard errors, ``[U]``."""
    others = float(values[left].sum()) - values
    squares = float((values[left] ** 2).sum()) - values**2
    centred = squares - others**2 / max(1, int(left.sum()) - 1)
    return np.asarray(others / np.sqrt(np.maximum(centred, 1e-300)))
