"""The bets of ``test="guaranteed"``: on which values, on which range, and in which order.

The order is that of the ids' SHA-256. It depends neither on the values nor on the order in a file,
so nobody can choose it after seeing the values, except by renaming queries.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache
from numbers import Real

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.betting import BetsOnMean

__all__ = [
    "FEWEST",
    "bet_order",
    "bets_on_gains",
    "bets_on_values",
    "checked_range",
    "refuse_infinite",
    "refuse_outside",
]

FEWEST = 200
"""With fewer independent units a bound by betting rarely decides."""


def bet_order(ids: Sequence[str]) -> IntArray:
    """Return the places of ids in the order of the bets, ``[n]``."""
    return np.asarray(sorted(range(len(ids)), key=lambda place: _rank(ids[place])), dtype=np.intp)


@lru_cache(maxsize=1 << 16)
def _rank(query_id: str) -> bytes:
    return hashlib.sha256(query_id.encode("utf-8", "surrogatepass")).digest()


def bets_on_gains(
    ids: Sequence[str],
    gains: FloatArray,
    weights: FloatArray | None,
    clusters: IntArray | None,
    width: float,
) -> BetsOnMean:
    """Return the bets on the mean gain of queries, each from ``-width`` to ``width``.

    Args:
        ids: the queries, n of them.
        gains: ``[n]`` how much better each query is.
        weights: ``[n]`` how much each query counts; None: all count the same.
        clusters: ``[n]`` the number of each query's independent unit; None: each query is one.
            A cluster's turn is that of its first query.
        width: the width of the metric's range.
    """
    return BetsOnMean(*_in_turn(ids, gains, weights, clusters), -width, width)


def bets_on_values(
    ids: Sequence[str],
    values: FloatArray,
    limits: tuple[float, float],
    sign: int,
    *,
    clusters: IntArray | None = None,
    weights: FloatArray | None = None,
) -> BetsOnMean:
    """Return the bets on the mean of one sample, negated where lower is better.

    Args:
        ids: the queries or sessions, n of them.
        values: ``[n]`` their values.
        limits: the lowest and the highest possible value.
        sign: 1 if higher is better, else -1.
        clusters: ``[n]`` the number of each value's independent unit; None: each value is one.
        weights: ``[n]`` how much each value counts; None: all count the same.
    """
    low, high = sorted(sign * limit for limit in limits)
    return BetsOnMean(*_in_turn(ids, sign * values, weights, clusters), low, high)


def _in_turn(
    ids: Sequence[str],
    values: FloatArray,
    weights: FloatArray | None,
    clusters: IntArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Return the sum of each unit's values and of its weights, in the order of the bets."""
    order = bet_order(ids)
    shares = np.ones(len(order)) if weights is None else weights[order]
    sums = shares * values[order]
    if clusters is None:
        return sums, shares
    _, first, codes = np.unique(clusters[order], return_index=True, return_inverse=True)
    turns = np.argsort(first)
    added = (np.bincount(codes, weights=each)[turns] for each in (sums, shares))
    unit_sums, unit_shares = (np.asarray(each, dtype=np.float64) for each in added)
    return unit_sums, unit_shares


def checked_range(declared: object, test: str) -> tuple[float, float]:
    """Return the range of a metric that a user declared.

    Args:
        declared: the lowest and the highest possible value.
        test: the test that is to use it.

    Raises:
        ConfigurationError: the range is invalid, or the test does not use one.
    """
    if test != "guaranteed":
        raise ConfigurationError(
            f"range={quoted(declared)} is not used by test={quoted(test)}; only test=guaranteed "
            "relies on the range of the metric"
        )
    limits = tuple(declared) if isinstance(declared, (tuple, list)) else ()
    numbers = [float(n) for n in limits if isinstance(n, Real) and not isinstance(n, bool)]
    is_pair = len(numbers) == len(limits) == 2 and all(map(math.isfinite, numbers))
    if not is_pair or numbers[0] >= numbers[1]:
        raise ConfigurationError(
            f"range={quoted(declared)} is invalid; give the lowest and the highest possible value, "
            "two finite numbers such as range=(0, 100)"
        )
    return numbers[0], numbers[1]


def refuse_infinite(metric: Metric, limits: tuple[float, float]) -> None:
    """Refuse a metric without a finite range.

    Args:
        metric: the metric.
        limits: the lowest and the highest possible value.

    Raises:
        ConfigurationError: they are not both finite; the message says how to declare them.
    """
    low, high = limits
    if not math.isfinite(high - low):
        raise ConfigurationError(
            f"test=guaranteed needs a metric with a finite range, but {metric} ranges from {low:g} "
            f"to {high:g}; declare the lowest and the highest possible value, such as "
            "range=(0, 100)"
        )


def refuse_outside(
    metric: Metric,
    unit_ids: Sequence[str],
    values: FloatArray,
    limits: tuple[float, float],
    when: str,
) -> None:
    """Refuse values outside the range that the bets rely on.

    Args:
        metric: the metric.
        unit_ids: the queries or sessions, n of them.
        values: ``[n]`` their values.
        limits: the lowest and the highest possible value.
        when: ``before`` or ``now``.

    Raises:
        ConfigurationError: naming the first such query and its value.
    """
    outside = np.flatnonzero((values < limits[0] - SLACK) | (values > limits[1] + SLACK))
    if outside.size:
        place = int(outside[0])
        low, high = limits
        raise ConfigurationError(
            f"{metric}: {metric.unit} '{quoted(unit_ids[place])}' has the value "
            f"{values[place]:g} {when}, outside the range {low:g} to {high:g} that test=guaranteed "
            "relies on; declare a range that holds every possible value"
        )
