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
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pytest_rankcheck.errors import ConfigurationError, plural

IMPLAUSIBLE = 0.01
"""Below this p, the variance of the runs now counts as larger than that of the earlier ones."""


@dataclass(frozen=True, slots=True)
class Averaged:
    """What the values of one side are means of."""

    count: int = 1
    """How many runs were averaged."""
    means: Sequence[float] = ()
    """The mean of each run, if known; several show how much runs vary."""

    @property
    def deviation(self) -> float:
        """The standard deviation of the means, of at least two."""
        return math.sqrt(_squares(self.means) / (len(self.means) - 1))


def _squares(means: Sequence[float]) -> float:
    values = np.asarray(means, dtype=np.float64)
    return float(((values - values.mean()) ** 2).sum()) if len(values) else 0.0


def _is_implausible(variance: float, degrees: int, before: float, degrees_before: int) -> bool:
    """Return whether a variance is larger than the one before, by an F test at 1%."""
    if not variance > before:
        return False
    from scipy.special import fdtrc

    return not before > 0 or bool(fdtrc(degrees, degrees_before, variance / before) < IMPLAUSIBLE)


@dataclass(frozen=True, slots=True)
class RunNoise:
    """How much a mean varies between replicates, estimated from both sides of a comparison."""

    test_name: ClassVar[str] = "Student's t over queries and replicates"
    """What messages call the test that allows for the noise."""
    unknown: ClassVar[str] = (
        "needs to know how much the metric varies between replicates, and neither this run nor the "
        "baseline has several"
    )
    """What messages say of a gate that allows for noise that is not known."""
    planned: ClassVar[str] = (
        "the noise of replicates comes on top, and more queries do not reduce it"
    )
    """What messages add to a number of queries."""

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
        """Return the noise that the means of both sides' runs show; None if neither has several.

        Runs now that vary implausibly more than the earlier ones do not count, because a worse
        ranker must not widen its own allowance for noise.
        """
        sides = [(len(side.means) - 1, _squares(side.means)) for side in (before, now)]
        (degrees_before, squares_before), (degrees_now, squares_now) = sides
        if degrees_before > 0 and degrees_now > 0:
            variance, earlier = squares_now / degrees_now, squares_before / degrees_before
            if _is_implausible(variance, degrees_now, earlier, degrees_before):
                sides = sides[:1]
        degrees = sum(max(0, each) for each, _ in sides)
        if not degrees:
            return None
        squares = sum(squares for _, squares in sides)
        return cls(math.sqrt(squares / degrees), degrees, before.count, now.count)

    def by_earlier_terms(self) -> RunNoise:
        """Return the noise of as many replicates now as there were before, at least."""
        return replace(self, now=max(self.before, self.now))

    @staticmethod
    def refuse_units(metric: object, *units: object) -> None:
        """Refuse weights and clusters: any unit that is not None.

        Raises:
            ConfigurationError: one is given; its effect together with noise is not known.
        """
        if any(each is not None for each in units):
            raise ConfigurationError(
                f"{metric}: replicates cannot be combined with weights or clusters; measure one run"
            )

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

    @property
    def spread(self) -> str:
        """How far a difference varies, as messages say it."""
        return f"varies by {self.error:.4f} (standard error) between replicates"

    def share_text(self, share: float) -> str:
        """Return what part of an interval comes from the runs, such as from retraining."""
        before, now = (plural(count, "replicate") for count in (self.before, self.now))
        return (
            f"retraining, or what else differs between replicates, is {share:.0%} of the variance "
            f"of this interval: standard deviation {self.deviation:.4f}, {before} in the baseline, "
            f"{now} now"
        )
