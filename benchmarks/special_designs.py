"""Samples that are more than independent queries: weights, clusters, two samples, slices.

The queries come from the nDCG@10 populations. A query's weight is drawn without regard to its
difference, so the true weighted mean is the population's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from populations import DIRECTIONS, Population, populations
from rates import Rate
from real_pairs import RealPair
from verdict_counts import ALPHA, ruling

from pytest_rankcheck import Gate, Metric, Outcome
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets

FAMILY = "nDCG@10"
PER_CLUSTER = 4
SLICES = 10
RATE = 0.03
"""The rate of events after the change, in the two samples of a rate."""
SPREAD_OF_LOGS = 1.0
"""The standard deviation of the logarithms of durations in two samples."""

Weigh = Callable[[np.random.Generator, int], FloatArray]


def zipf(random: np.random.Generator, count: int) -> FloatArray:
    """Return weights 1, 1/2, 1/3, ... in any order."""
    return random.permutation(1 / np.arange(1, count + 1))


def lognormal(random: np.random.Generator, count: int) -> FloatArray:
    """Return lognormal weights: their logarithms have a standard deviation of 1.5."""
    return random.lognormal(0, 1.5, count)


def one_heavy(random: np.random.Generator, count: int) -> FloatArray:
    """Return weights of which one query has 30%."""
    return random.permutation(np.array([0.3, *[0.7 / (count - 1)] * (count - 1)]))


WEIGHTS: dict[str, Weigh] = {
    "Zipf weights": zipf,
    "lognormal weights": lognormal,
    "one query with 30% of the weight": one_heavy,
}


def weighted(population: Population, weigh: Weigh, count: int, draws: int) -> Iterator[Paired]:
    """Yield samples whose queries have weights."""
    random = np.random.default_rng(count)
    for pairs in population.samples(random, draws, count):
        yield replace(pairs, weights=weigh(random, count))


def clustered(population: Population, count: int, draws: int) -> Iterator[Paired]:
    """Yield samples of users with four queries each; half of a user's are the same one."""
    random = np.random.default_rng(count)
    clusters = np.arange(count) // PER_CLUSTER
    firsts = np.arange(count) - np.arange(count) % PER_CLUSTER
    for pairs in population.samples(random, draws, count):
        places = np.where(random.random(count) < 0.5, firsts, np.arange(count))
        yield replace(
            pairs, before=pairs.before[places], after=pairs.after[places], clusters=clusters
        )


def two_rates(fall: float, draws: int) -> Iterator[Unpaired]:
    """Yield 1,000 events at the higher rate before, and 100 at a rate of 3% after the change."""
    random = np.random.default_rng(1)
    metric = Metric.parse("Success@1")
    ids = tuple(map(str, range(100)))
    for _ in range(draws):
        before = (random.random(1000) < RATE + fall).astype(np.float64)
        yield Unpaired(metric, ids, before, (random.random(100) < RATE).astype(np.float64))


def two_durations(fall: float, draws: int) -> Iterator[Unpaired]:
    """Yield 1,000 durations before and 50 after; longer by ``fall`` standard deviations."""
    random = np.random.default_rng(2)
    metric = Metric.parse("TimeToSelection(abandoned=exclude)")
    ids = tuple(map(str, range(50)))
    for _ in range(draws):
        before, after = (random.lognormal(0, SPREAD_OF_LOGS, size) for size in (1000, 50))
        yield Unpaired(metric, ids, before, after + fall * deviation_of_durations())


def deviation_of_durations() -> float:
    """Return the standard deviation of a lognormal value: sqrt((e^s2 - 1) e^s2)."""
    grown = np.exp(SPREAD_OF_LOGS**2)
    return float(np.sqrt((grown - 1) * grown))


@dataclass(frozen=True)
class Special:
    """The rates of one design."""

    name: str
    blocked: Rate
    """Innocent changes that ``significant`` blocks."""
    passed: Rate
    """Falls of the margin that ``noninferior`` passes."""
    inconclusive: Rate
    """Innocent changes on which ``noninferior`` does not decide."""


def special(
    name: str,
    innocent: Iterator[ComparedValues],
    falling: Iterator[ComparedValues],
    margin: float,
) -> Special:
    """Return the rates of a design from samples without a change and with a fall of the margin."""
    significant, noninferior = Gate.significant(alpha=ALPHA), Gate.noninferior(margin, alpha=ALPHA)
    blocked, undecided, passed = Counter[bool](), Counter[bool](), Counter[bool]()
    for values in innocent:
        blocked[ruling(significant, values) == "blocked"] += 1
        undecided[ruling(noninferior, values) == "inconclusive"] += 1
    for values in falling:
        passed[ruling(noninferior, values) == "passed"] += 1
    return Special(name, *(Rate(seen[True], seen.total()) for seen in (blocked, passed, undecided)))


def ten_slices(drawn_from: list[Population], count: int, draws: int) -> tuple[Rate, Rate]:
    """Return how often innocent changes with ten slices are blocked, and are inconclusive.

    Each slice has ``count`` queries; ``significant`` and ``noninferior`` decide on all ten
    together.
    """
    random = np.random.default_rng(count)
    each = -(-draws // len(drawn_from))
    outcomes = {"blocked": 0, "inconclusive": 0}
    for population in drawn_from:
        samples = population.samples(random, each * SLICES, count)
        for parts in zip(*[samples] * SLICES, strict=True):
            for gate, outcome, key in (
                (Gate.significant(alpha=ALPHA), Outcome.REGRESSED, "blocked"),
                (Gate.noninferior(0.02, alpha=ALPHA), Outcome.INCONCLUSIVE, "inconclusive"),
            ):
                sets = [FamilySet(gate.rule, part, "slice", str(i)) for i, part in enumerate(parts)]
                decisions, _ = decide_sets(sets)
                outcomes[key] += any(decision.outcome is outcome for decision in decisions)
    total = each * len(drawn_from)
    return Rate(outcomes["blocked"], total), Rate(outcomes["inconclusive"], total)


def drawn(
    pairs: list[RealPair], margins: float, sample: Callable[[Population, int], Iterator[Paired]]
) -> Iterator[Paired]:
    """Yield samples from all populations of both directions.

    Args:
        pairs: the real pairs.
        margins: the true fall.
        sample: given a population and the number of populations, its samples.
    """
    both = [each for name in DIRECTIONS for each in populations(pairs, FAMILY, name, margins)[0]]
    for population in both:
        yield from sample(population, len(both))
