"""The noise of replicates: runs that differ only by chance, such as by the seed of a training.

A mean then has two sources of noise, the queries and the runs, and their variances add up:
s^2 / n + s_r^2 (1 / R0 + 1 / R1), where R0 and R1 runs were averaged before and now. The
degrees of freedom are those of Satterthwaite (An approximate distribution of estimates of variance
components, Biometrics Bulletin 2, 1946). The share of s_r that comes from the queries is not
subtracted, so the sum is slightly too large: corrected, it blocks innocent retrainings too often
(see ``benchmarks/retraining.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Averaged:
    """What the values of one side are means of."""

    count: int = 1
    """How many runs were averaged."""
    means: Sequence[float] = ()
    """The mean of each of them, where these are known; several show how much they vary."""


@dataclass(frozen=True, slots=True)
class RunNoise:
    """How much a mean varies between replicates, estimated from both sides of a comparison."""

    deviation: float
    """The standard deviation of the mean of one run, s_r."""
    degrees: int
    """The degrees of freedom of this estimate."""
    before: int
    """How many runs the values before are means of, R0."""
    now: int
    """How many runs the values now are means of, R1."""

    @classmethod
    def pooled(cls, before: Averaged, now: Averaged) -> RunNoise | None:
        """Return the noise that the means of both sides' runs show; None if neither has several."""
        sides = [np.asarray(side.means, dtype=np.float64) for side in (before, now) if side.means]
        degrees = sum(len(means) - 1 for means in sides)
        if not degrees:
            return None
        squares = sum(float(((means - means.mean()) ** 2).sum()) for means in sides)
        return cls(math.sqrt(squares / degrees), degrees, before.count, now.count)

    @property
    def error(self) -> float:
        """The standard error that the runs give to the difference of the means."""
        return self.deviation * math.sqrt(1 / self.before + 1 / self.now)

    def combined(self, error: float, degrees: float) -> tuple[float, float]:
        """Return the standard error of both sources, and its degrees of freedom.

        Args:
            error: the standard error that the queries give.
            degrees: its degrees of freedom, above 0.
        """
        queries, runs = error**2, self.error**2
        total = queries + runs
        if not total > 0:
            return error, degrees
        spread = queries**2 / degrees + runs**2 / self.degrees
        return math.sqrt(total), total**2 / spread
