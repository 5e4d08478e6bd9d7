"""The tables of weights, clusters, two samples, slices and simulated differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from populations import DIRECTIONS, Population, populations
from real_pairs import FAMILIES, RealPair
from special_designs import (
    WEIGHTS,
    Special,
    Weigh,
    clustered,
    deviation_of_durations,
    drawn,
    special,
    ten_slices,
    two_durations,
    two_rates,
    weighted,
)

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.paired_values import Paired

COUNTS = (50, 100, 500)
MARGIN = 0.02
RATE_MARGIN = 0.02
DURATION_MARGIN = 0.2
"""In standard deviations."""
SLICE_SIZES = (25, 50, 100)


def designs_table(pairs: list[RealPair], draws: int) -> Iterator[str]:
    """Yield how often both gates are wrong on each design."""
    yield (
        "| design | `significant` blocks an innocent change "
        "| `noninferior` passes a fall of its margin | `noninferior` cannot decide |"
    )
    yield "|---|---|---|---|"
    for made in _designs(pairs, draws):
        yield f"| {made.name} | {made.blocked} | {made.passed} | {made.inconclusive} |"


def _designs(pairs: list[RealPair], draws: int) -> Iterator[Special]:
    for count in COUNTS:
        for name, weigh in WEIGHTS.items():
            innocent, falling = (
                drawn(pairs, margins, partial(_weighted, weigh, count, draws)) for margins in (0, 1)
            )
            yield special(f"{name}, {count} queries", innocent, falling, MARGIN)
        innocent, falling = (
            drawn(pairs, margins, partial(_clustered, count, draws)) for margins in (0, 1)
        )
        yield special(f"clusters of four, {count} queries", innocent, falling, MARGIN)
    rates, falling_rates = (two_rates(fall, draws) for fall in (0.0, RATE_MARGIN))
    yield special("two samples: a rate of 3%, 1,000 and 100", rates, falling_rates, RATE_MARGIN)
    durations, longer = (two_durations(fall, draws) for fall in (0.0, DURATION_MARGIN))
    margin = DURATION_MARGIN * deviation_of_durations()
    yield special("two samples: lognormal durations, 1,000 and 50", durations, longer, margin)
    for name, draw in SIMULATED.items():
        for count in COUNTS:
            innocent, falling = (_simulated(draw, fall, count, draws) for fall in (0.0, MARGIN))
            yield special(f"simulated: {name}, {count} queries", innocent, falling, MARGIN)


def _weighted(
    weigh: Weigh, count: int, draws: int, population: Population, of: int
) -> Iterator[Paired]:
    return weighted(population, weigh, count, -(-draws // of))


def _clustered(count: int, draws: int, population: Population, of: int) -> Iterator[Paired]:
    return clustered(population, count, -(-draws // of))


def symmetric(random: np.random.Generator, count: int) -> FloatArray:
    """Return differences of which 30% are normal, and the others zero."""
    return np.where(random.random(count) < 0.3, random.normal(0, 0.2, count), 0.0)


def rare_gain(random: np.random.Generator, count: int) -> FloatArray:
    """Return many small falls and, for 2% of the queries, a large gain; their mean is zero."""
    is_large = random.random(count) < 0.02
    return np.where(is_large, 0.49, -0.01 * (1 + 0.5 * random.normal(0, 1, count)))


Draw = Callable[[np.random.Generator, int], FloatArray]

SIMULATED: dict[str, Draw] = {"symmetric": symmetric, "a rare large gain": rare_gain}


def _simulated(draw: Draw, fall: float, count: int, draws: int) -> Iterator[Paired]:
    random = np.random.default_rng(count)
    ids = tuple(map(str, range(count)))
    metric = FAMILIES[0].metric
    for _ in range(draws):
        gains = draw(random, count) - fall
        yield Paired(metric, ids, np.full(count, 0.5), np.round(0.5 + gains, 6))


def slices_table(pairs: list[RealPair], draws: int) -> Iterator[str]:
    """Yield how often one of ten slices is blocked, or inconclusive, though nothing changed."""
    yield f"| ten slices together, queries each | {' | '.join(map(str, SLICE_SIZES))} |"
    yield f"|---|{'---|' * len(SLICE_SIZES)}"
    both = [each for name in DIRECTIONS for each in populations(pairs, "nDCG@10", name, 0)[0]]
    rates = [ten_slices(both, count, draws) for count in SLICE_SIZES]
    for place, title in enumerate(
        ("`significant` blocks an innocent change", "`noninferior` leaves a slice inconclusive")
    ):
        yield f"| {title} | {' | '.join(str(rate[place]) for rate in rates)} |"
