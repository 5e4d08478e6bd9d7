"""The evidence for a verdict, as numbers: what the differences of single queries show."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_rankcheck.comparison.compared_values import ComparedValues, Unpaired
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.statistics.run_noise import RunNoise


@dataclass(frozen=True, slots=True)
class Power:
    """The smallest fall that would be detected with a power of 80%."""

    units: int
    of_clusters: bool
    """Whether the independent units are clusters of queries."""
    detectable: float
    """NaN: unknown."""
    is_possible: bool
    """Whether the metric can fall that far."""
    is_coarse: bool
    """Whether the power is less than planned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the differences of single queries show."""

    p: float
    """One-sided p of a fall, not corrected."""
    test: str
    is_same: bool
    """Whether nothing changed."""
    has_range: bool
    """Whether it is known how far the metric can fall."""
    power: Power
    bound: float
    """The lower bound of the gain."""
    needed: float | None
    """How many units are needed to detect a fall of the margin, if there are too few; else None."""
    needed_interval: tuple[float, float] | None
    clusters: int | None
    """How many clusters are compared; None: none, or two samples."""
    effective_size: float | None
    samples: tuple[int, int] | None
    """How many clusters two samples have; None without clusters, or for paired queries."""
    noise: RunNoise | None
    noise_share: float
    """The share of the variance that comes from the runs, in [0, 1]."""


def power_of(verdict: Verdict, pairs: ComparedValues) -> Power:
    """Return the smallest fall that the gate could have detected."""
    differences = pairs.differences
    detectable = differences.smallest_detectable(verdict.alpha)
    is_possible = detectable <= differences.full_range
    has_clusters = pairs.clusters is not None
    return Power(differences.count, has_clusters, detectable, is_possible, pairs.is_coarse)


def evidence_for(verdict: Verdict) -> Evidence | None:
    """Return the evidence that a verdict rests on; None for one value of the whole run."""
    pairs = verdict.leading.pairs
    if not pairs.metric.definition.is_mean_of_values:
        return None
    differences, margin, noise = pairs.differences, verdict.margin, pairs.noise
    needed = math.nan if margin is None else differences.needed(margin, verdict.alpha)
    is_short, needed_interval = needed > differences.count and noise is None, None
    if margin is not None and is_short:
        low, high = differences.needed_interval(margin, verdict.alpha)
        needed_interval = None if math.isnan(low) else (low, high)
    has_clusters, unpaired = pairs.clusters is not None, isinstance(pairs, Unpaired)
    samples = None
    if isinstance(pairs, Unpaired) and (has_clusters or pairs.before_clusters is not None):
        samples = pairs.unit_counts
    share = 0.0
    if noise is not None and differences.error > 0:
        share = (noise.error / differences.error) ** 2
    clusters = None
    if pairs.clusters is not None and not unpaired:
        clusters = len(set(pairs.clusters.tolist()))
    return Evidence(
        p=pairs.p_of_fall(),
        test=pairs.test_name,
        is_same=pairs.is_same,
        has_range=not math.isinf(differences.full_range),
        power=power_of(verdict, pairs),
        bound=differences.lower_bound(verdict.alpha),
        needed=needed if is_short else None,
        needed_interval=needed_interval,
        clusters=clusters,
        effective_size=None if unpaired else pairs.effective_size,
        samples=samples,
        noise=noise,
        noise_share=share,
    )
