"""The values of one metric before and after: what paired and unpaired values have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.named_tests import FallTest

if TYPE_CHECKING:
    from pytest_rankcheck.statistics.betting import BetsOnDifference, BetsOnMean

__all__ = ["SIDES", "ComparedValues", "Sides"]


class Sides(NamedTuple):
    """What messages call the two sides of a comparison."""

    before: str
    now: str
    mix_of: str
    """What messages call the earlier side when they name its mix of slices."""


SIDES = Sides("in the baseline", "now", "the baseline")
"""The sides of a comparison with a baseline."""


@dataclass(frozen=True, slots=True, repr=False)
class ComparedValues(ABC):
    """The values of one metric before and after: either `Paired` or `Unpaired`."""

    metric: Metric
    query_ids: tuple[str, ...]
    """The queries of ``after``."""
    before: FloatArray
    after: FloatArray
    noise: float = math.nan
    """The standard deviation of the mean from run to run; NaN if it was not measured."""
    declared_range: tuple[float, float] | None = field(default=None, kw_only=True)
    """The lowest and the highest possible value if not those of the metric's definition."""
    is_paired: ClassVar[bool]
    """Whether the values before and after are of the same queries."""

    def __repr__(self) -> str:
        sizes = f"{len(self.before):,} -> {len(self.after):,}"
        means = f"{self.mean_before:.4f} -> {self.mean_after:.4f}"
        return f"{type(self).__name__}({self.metric}, {sizes} values, mean {means})"

    @property
    @abstractmethod
    def gains(self) -> FloatArray:
        """How much better each query is that is on both sides, ``[n]``.

        Positive is better whatever the metric's direction.
        """

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of queries; of two samples, the size of the smaller one."""

    @property
    @abstractmethod
    def units(self) -> int:
        """The number of independent units: queries, clusters, or sessions of the smaller sample."""

    @property
    @abstractmethod
    def changed_units(self) -> int:
        """The number of independent units that changed; of two samples, all of them."""

    @property
    @abstractmethod
    def is_same(self) -> bool:
        """Whether nothing changed."""

    @property
    @abstractmethod
    def differences(self) -> Differences:
        """How precisely the mean gain is known, and how small a fall could be detected."""

    @property
    @abstractmethod
    def _bets(self) -> BetsOnMean | BetsOnDifference:
        """The bets of ``test="guaranteed"`` on the mean gain.

        Raises:
            ConfigurationError: the range of the metric is not finite, or a value is outside of it.
        """

    @property
    def limits(self) -> tuple[float, float]:
        """The lowest and the highest possible value.

        Raises:
            ConfigurationError: they are not finite.
        """
        from pytest_rankcheck.comparison.ordered_bets import refuse_infinite

        refuse_infinite(self.metric, self._range)
        return self._range

    @property
    def _range(self) -> tuple[float, float]:
        """The lowest and the highest possible value, as far as they are known."""
        return self.declared_range or self.metric.definition.range

    @abstractmethod
    def p_of_fall(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a fall; small if the fall is more than chance."""

    @abstractmethod
    def smallest_p(self, test: FallTest = "sign_flip") -> float:
        """Return the smallest p that a fall could have with as many changed units.

        With ``"guaranteed"``, with as many units: no values could give a smaller p.
        """

    def p_of_rise(self, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a rise; small if the gain is more than chance."""
        return replace(self, before=self.after, after=self.before).p_of_fall(test)

    def p_of_margin(self, margin: float, test: FallTest = "sign_flip") -> float:
        """Return the one-sided p of a fall by ``margin`` or more; small if it is ruled out.

        It is at most alpha if and only if `lower_bound` of alpha is above ``-margin``.
        """
        if test == "guaranteed":
            return self._bets.p_of_margin(margin)
        return self.differences.noninferiority_p(margin)

    def lower_bound(self, alpha: float, test: FallTest = "sign_flip") -> float:
        """Return the one-sided lower confidence bound of the mean gain at level ``alpha``."""
        if test == "guaranteed":
            return self._bets.lower_bound(alpha)
        return self.differences.lower_bound(alpha)

    @property
    def mean_before(self) -> float:
        """The mean before; NaN without queries."""
        return self.metric.mean(self.before)

    @property
    def mean_after(self) -> float:
        """The mean after; NaN without queries."""
        return self.metric.mean(self.after)

    @property
    def difference(self) -> float:
        """The difference of the means, after minus before."""
        return self.mean_after - self.mean_before

    @property
    def gain(self) -> float:
        """The difference of the means; positive is better."""
        return self.difference if self.metric.higher_is_better else -self.difference

    @property
    def wins(self) -> int:
        """The number of queries that are better."""
        return int((self.gains > SLACK).sum())

    @property
    def losses(self) -> int:
        """The number of queries that are worse."""
        return int((self.gains < -SLACK).sum())

    @property
    def ties(self) -> int:
        """The number of queries that are equal."""
        return len(self.gains) - self.wins - self.losses

    def worst(self, limit: int | None = None) -> Sequence[int]:
        """Return the indexes of the queries that are worse, the largest loss first."""
        gains = self.gains
        worse = [int(place) for place in np.argsort(gains, kind="stable") if gains[place] < -SLACK]
        return worse[:limit]
