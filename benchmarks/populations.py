"""Populations of queries in which the true change is known, made from real pairs.

The queries of a pair are drawn with replacement, with weights exp(theta d) / Z, where d is the
difference of a query and theta makes the mean of d exactly the wanted one (exponential tilting).
Ties, coarse values and the sizes of changes stay those of the pair. A query has its values before
and after with it, so nothing is added to a value and none leaves its range.

A pair is used in both directions: as it is, and with its rankers exchanged. At a mean of zero one
direction has its long tail among the falls, the other among the gains. If the wanted mean needs so
much tilting that few queries carry the weight, the population is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from real_pairs import SHARE_OF_SPREAD, RealPair
from scipy.optimize import brentq
from scipy.special import softmax

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import Paired

FEWEST = 50.0
"""The smallest effective number of queries, 1 / sum w^2, of a population (Kish 1965)."""

DIRECTIONS = ("few large falls", "few large gains")


@dataclass(frozen=True)
class Population:
    """The queries of a pair, drawn with these weights."""

    pair: RealPair
    weights: FloatArray
    """``[queries]``; they sum to 1."""
    margin: float
    """The fall that counts as the margin of this pair."""

    @property
    def mean(self) -> float:
        """The true mean of the differences; positive is better."""
        return float(self.weights @ self.pair.gains)

    @property
    def deviation(self) -> float:
        """The true standard deviation of the differences."""
        return float(np.sqrt(self.weights @ (self.pair.gains - self.mean) ** 2))

    @property
    def skewness(self) -> float:
        """The true skewness of the differences."""
        return float(self.weights @ ((self.pair.gains - self.mean) / self.deviation) ** 3)

    @property
    def effective(self) -> float:
        """The effective number of queries."""
        return float(1 / (self.weights @ self.weights))

    def places(self, random: np.random.Generator, draws: int, count: int) -> np.ndarray:
        """Return the queries of several samples, ``[draws, count]``."""
        cumulative = np.cumsum(self.weights)
        drawn = random.random((draws, count)) * cumulative[-1]
        return np.asarray(np.searchsorted(cumulative, drawn, side="right"))

    def samples(self, random: np.random.Generator, draws: int, count: int) -> Iterator[Paired]:
        """Yield samples of ``count`` queries as what a gate is given."""
        ids = tuple(f"q{place}" for place in range(count))
        pair = self.pair
        for chosen in self.places(random, draws, count):
            yield Paired(pair.family.metric, ids, pair.before[chosen], pair.after[chosen])


def tilted(pair: RealPair, mean: float, margin: float) -> Population | None:
    """Return the population whose differences have this mean; None if it must be refused."""
    gains = pair.gains
    if not gains.min() < mean < gains.max():
        return None
    scaled = (gains - mean) / gains.std()

    def excess(theta: float) -> float:
        return float(softmax(theta * scaled) @ scaled)

    theta = float(brentq(excess, -50, 50, xtol=1e-14, rtol=1e-14))
    made = Population(pair, softmax(theta * scaled), margin)
    return made if made.effective >= FEWEST else None


def margin_of(pair: RealPair) -> float:
    """Return the fall that counts as the margin."""
    fixed = pair.family.margin
    return fixed if fixed is not None else SHARE_OF_SPREAD * float(pair.gains.std())


def oriented(pair: RealPair, direction: str) -> RealPair:
    """Return the pair or its reverse, whichever has its long tail there at a mean of zero."""
    innocent = tilted(pair, 0.0, margin_of(pair))
    falls_far = innocent is not None and innocent.skewness < 0
    return pair if falls_far == (direction == DIRECTIONS[0]) else pair.reversed()


def populations(
    pairs: Sequence[RealPair], family: str, direction: str, margins: float
) -> list[Population]:
    """Return the populations with a true fall of so many margins, without those refused."""
    made = [
        tilted(oriented(pair, direction), -margins * margin_of(pair), margin_of(pair))
        for pair in pairs
        if pair.family.name == family
    ]
    return [each for each in made if each is not None]
