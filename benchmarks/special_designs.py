"""Tables on more than independent queries: weights, clusters, two samples, slices, a rare gain.

The queries come from the nDCG@10 populations. A query's weight is drawn without regard to its
difference, so the true weighted mean is the population's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from populations import DIRECTIONS, Population, populations
from rates import Rate, head, row
from real_pairs import FAMILIES, RealPair
from verdict_counts import ALPHA, ruling

from pytest_rankcheck import Gate, Metric, Outcome
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired, Unpaired
from pytest_rankcheck.gates.family_decisions import FamilySet, decide_sets

FAMILY = "nDCG@10"
COUNTS = (100, 500)
MARGIN = 0.02
RATE_MARGIN = 0.02
DURATION_MARGIN = 0.2
"""In standard deviations."""
SLICE_SIZES = (25, 50, 100)
PER_CLUSTER = 4
SLICES = 10
RATE = 0.03
"""The rate of events after the change, in the two samples of a rate."""
SPREAD_OF_LOGS = 1.0
"""The standard deviation of the logarithms of durations in two samples."""


def weighted(count: int, population: Population, draws: int) -> Iterator[Paired]:
    """Yield samples whose queries have Zipf weights."""
    random = np.random.default_rng(count)
    for pairs in population.samples(random, draws, count):
        yield replace(pairs, weights=random.permutation(1 / np.arange(1, count + 1)))


def clustered(count: int, population: Population, draws: int) -> Iterator[Paired]:
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


def rates(
    innocent: Iterable[ComparedValues], falling: Iterable[ComparedValues], margin: float
) -> tuple[Rate, Rate, Rate]:
    """Return how often both gates are wrong, and how often ``noninferior`` cannot decide.

    Args:
        innocent: samples without a true change.
        falling: samples with a true fall of the margin.
        margin: the margin of ``noninferior``.
    """
    significant, noninferior = Gate.significant(alpha=ALPHA), Gate.noninferior(margin, alpha=ALPHA)
    blocked, undecided, passed = Counter[bool](), Counter[bool](), Counter[bool]()
    for values in innocent:
        blocked[ruling(significant, values) == "blocked"] += 1
        undecided[ruling(noninferior, values) == "inconclusive"] += 1
    for values in falling:
        passed[ruling(noninferior, values) == "passed"] += 1
    one, two, three = (Rate(seen[True], seen.total()) for seen in (blocked, passed, undecided))
    return one, two, three


def slices_table(pairs: list[RealPair], draws: int) -> Iterator[str]:
    """Yield how often one of ten slices is blocked, or inconclusive, though nothing changed."""
    yield from head("ten slices together, queries each", SLICE_SIZES)
    for title, gate, outcome in (
        ("blocks an innocent change", Gate.significant(alpha=ALPHA), Outcome.REGRESSED),
        (
            "leaves a slice inconclusive",
            Gate.noninferior(MARGIN, alpha=ALPHA),
            Outcome.INCONCLUSIVE,
        ),
    ):
        rates = [_of_ten_slices(pairs, gate, outcome, count, draws) for count in SLICE_SIZES]
        name = str(gate).partition("(")[0]
        yield row(f"`{name}` {title}", rates)


def _of_ten_slices(
    pairs: list[RealPair], gate: Gate, outcome: Outcome, count: int, draws: int
) -> Rate:
    """Return how often ten innocent slices of so many queries have an outcome among them."""
    random = np.random.default_rng(count)
    samples = drawn(pairs, 0, draws * SLICES, lambda each, many: each.samples(random, many, count))
    seen = Counter[bool]()
    for parts in zip(*[samples] * SLICES, strict=False):
        sets = [FamilySet(gate.rule, part, "slice", str(i)) for i, part in enumerate(parts)]
        decisions, _ = decide_sets(sets)
        seen[any(decision.outcome is outcome for decision in decisions)] += 1
    return Rate(seen[True], seen.total())


def drawn(
    pairs: list[RealPair],
    margins: float,
    draws: int,
    sample: Callable[[Population, int], Iterator[Paired]],
) -> Iterator[Paired]:
    """Yield samples in equal parts from all populations of both directions.

    Args:
        pairs: the real pairs.
        margins: the true fall.
        draws: how many samples.
        sample: given a population and a number, so many samples of it.
    """
    both = [each for name in DIRECTIONS for each in populations(pairs, FAMILY, name, margins)]
    for population in both:
        yield from sample(population, -(-draws // len(both)))


def rare_gain(fall: float, count: int, draws: int) -> Iterator[Paired]:
    """Yield many small falls and, for 2% of the queries, a large gain, with this mean fall."""
    random = np.random.default_rng(count)
    ids = tuple(map(str, range(count)))
    metric = FAMILIES[0].metric
    for _ in range(draws):
        is_large = random.random(count) < 0.02
        gains = np.where(is_large, 0.49, -0.01 * (1 + 0.5 * random.normal(0, 1, count))) - fall
        yield Paired(metric, ids, np.full(count, 0.5), np.round(0.5 + gains, 6))


def designs_table(pairs: list[RealPair], draws: int) -> Iterator[str]:
    """Yield how often both gates are wrong on each design."""
    wrong = ("`significant` blocks an innocent change", "`noninferior` passes a fall of its margin")
    yield from head("design", (*wrong, "`noninferior` cannot decide"))
    for name, (innocent, falling), margin in _designs(pairs, draws):
        yield row(name, rates(innocent, falling, margin))


def _designs(
    pairs: list[RealPair], draws: int
) -> Iterator[tuple[str, Iterable[Iterator[ComparedValues]], float]]:
    """Yield the name of each design, its samples without and with a fall, and its margin."""
    for count in COUNTS:
        for name, sample in (("Zipf weights", weighted), ("clusters of four", clustered)):
            both = (drawn(pairs, margins, draws, partial(sample, count)) for margins in (0, 1))
            yield f"{name}, {count} queries", both, MARGIN
    both_rates = (two_rates(fall, draws) for fall in (0.0, RATE_MARGIN))
    yield "two samples: a rate of 3%, 1,000 and 100", both_rates, RATE_MARGIN
    durations = (two_durations(fall, draws) for fall in (0.0, DURATION_MARGIN))
    margin = DURATION_MARGIN * deviation_of_durations()
    yield "two samples: lognormal durations, 1,000 and 50", durations, margin
    for count in COUNTS:
        gains = (rare_gain(fall, count, draws) for fall in (0.0, MARGIN))
        yield f"simulated: a rare large gain, {count} queries", gains, MARGIN
