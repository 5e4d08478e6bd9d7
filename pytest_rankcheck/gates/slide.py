"""The slide: many small falls that each pass the gate, and the bound on what noise explains of it.

A gate decides on one change. It allows for the noise of this golden set, and the changes that it
lets pass are those that were lucky on it, so true falls add up that no gate has seen. `slide_of`
looks at their sum: how far the mean now is below the best that was ever approved, and how far noise
alone would lead over as many changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate_rule import GateRule
from pytest_rankcheck.statistics.slide_boundary import samples_bound, walk_bound
from pytest_rankcheck.statistics.two_samples import TwoSamples

__all__ = ["SLIDE_LEVEL", "Slide", "slide_of"]

SLIDE_LEVEL = 0.1
"""The usual share of innocent sequences of changes that the guard stops."""

_SEQUENCES = (50, 100, 200)
"""The lengths for which the level holds, in changes: the shortest that has the steps counts.

From 100 to 200 changes the budget grows by 2 to 5%, so longer sequences are treated as 200.
"""
_EARLY = 1.3
"""Early in a sequence few queries have moved, so the largest change is this much larger in errors
than after many changes. With it, the level holds in benchmarks/slide.py."""
_LEAST_SHARE = 0.01
"""The least share of the variance that a sample counts with."""


@dataclass(frozen=True, slots=True)
class Slide:
    """How far a mean has fallen since the best was approved, and what noise explains of it."""

    distance: float
    """How far the mean is below the best that was ever approved, at least 0."""
    approved: float
    """The part of it that was approved with a reason, at least 0."""
    budget: float
    """How far noise lets the mean fall over as many changes; infinite if that is not known."""
    steps: int
    """The number of changes since the best was approved, at least 1."""
    level: float
    """The share of innocent sequences of changes that ever fall below their budget."""

    @property
    def fall(self) -> float:
        """The part of the distance that nobody has approved, at least 0."""
        return max(0.0, self.distance - self.approved)

    @property
    def exceeds(self) -> bool:
        """Whether the mean has fallen by more than noise explains."""
        return self.fall > self.budget + SLACK


def slide_of(
    values: ComparedValues,
    steps: int,
    *,
    approved: float = 0.0,
    level: float = SLIDE_LEVEL,
    rule: GateRule | None = None,
    shares: int = 1,
) -> Slide:
    """Return how far values have slid, and whether noise explains it.

    The budget is ``c * sqrt(1 + 1 / steps)`` standard errors of the difference, which has the noise
    of all changes in it. c is so large that at most ``level`` of innocent sequences of 50 changes
    (of 100 or 200 if there were more) ever exceed it: see `statistics.slide_boundary`. The changes
    that the gate blocks are not merged, so the rest of an innocent sequence strays less far, and c
    is smaller. Of two samples, each look has noise of its own, and the steps hardly count.

    Args:
        values: the values when the lines were approved, and now.
        steps: how many changes there were since the best was approved, at least 1.
        approved: how far the approved lines are below the best, at least 0.
        level: a share above 0 and below 1.
        rule: the gate that every one of the changes had to pass; None: all were merged.
        shares: how many decisions share the level of the gate.
    """
    distance = max(0.0, approved - values.gain)
    budget = math.inf
    if values.gain < -SLACK and values.metric.definition.is_mean_of_values:
        budget = _budget(values, steps, level, rule, shares)
    return Slide(distance, approved, budget, steps, level)


def _budget(
    values: ComparedValues, steps: int, level: float, rule: GateRule | None, shares: int
) -> float:
    """Return how far noise lets the mean fall; infinite for fewer than two queries."""
    differences = values.differences
    error = differences.error
    if math.isnan(error):
        return math.inf
    if error == 0:
        return 0.0
    passing_fall = rule.passing_fall if rule else lambda error, shares, unseen: math.inf
    length = next((each for each in _SEQUENCES if steps <= each), _SEQUENCES[-1])
    if not values.is_paired:
        passing = passing_fall(error, shares, 0.0) / error
        share_before = differences.share_before if isinstance(differences, TwoSamples) else 0.5
        shared = min(max(share_before, _LEAST_SHARE), 1 - _LEAST_SHARE)
        bound = samples_bound(length, level, shared, passing)
    else:
        # Errors, and the changes of single queries, grow with the square root of the steps.
        change = error / math.sqrt(steps)
        unseen = _EARLY * differences.unseen_gain / math.sqrt(steps)
        roots = map(math.sqrt, range(1, length + 1))
        falls = (passing_fall(change * root, shares, unseen * root) for root in roots)
        passing_falls = tuple(round(fall / change, 6) for fall in falls)
        bound = walk_bound(length, level, passing_falls) * math.sqrt(1 + 1 / steps)
    return differences.quantile_of(bound) * error
