"""How often lost answers block an innocent change, alone and with the test, and what they find.

A change is innocent in one of two ways. The two rankings of each query are exchanged at random, so
that an answer is gained as often as it is lost. Or the queries are reweighted so that the true mean
of nDCG@10 did not change (populations.py); their answers are those of the pair. How often lost
answers block is exact: of queries that are drawn with weights, the number that lost theirs is
binomial, and none may have gained one. With the test, samples are drawn. What is found is counted
on the same samples after some of their queries lost all of their documents.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import cranfield_bm25
import lambdarank_folds
import numpy as np
from populations import Population, tilted
from rates import head, row
from real_pairs import FAMILIES, Ranking, RealPair, cranfield_changes, lambdarank_changes
from scipy.stats import binom
from verdict_counts import ruling

from pytest_rankcheck import Gate, GoldenSet, evaluate
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.comparison.compared_values import Paired
from pytest_rankcheck.gates.gate_rule import LOST_ANSWERS
from pytest_rankcheck.gates.lost_answers import FIRST, TOP, fewest_of

SIZES = (20, 30, 60, 75, 80, 100, 149, 150, 200, 1000)
TAKEN = (3, 4, 8)


@dataclass(frozen=True)
class Ranked:
    """What a ranker does with each query, ``[queries]``."""

    score: FloatArray
    """nDCG@10."""
    first: FloatArray
    """The reciprocal rank of the first relevant document."""

    def loses_to(self, other: Ranked) -> BoolArray:
        """Return which queries have an answer here, and none in the top ten of another ranker."""
        return (self.first > 1 / (FIRST + 0.5)) & (other.first < 1 / (TOP + 0.5))


@dataclass(frozen=True)
class Innocent:
    """A pair of rankers whose true difference is zero."""

    population: Population
    before: Ranked
    after: Ranked

    def blocked(self, size: int) -> float:
        """Return how often lost answers block a sample of so many queries."""
        weights, (old, new) = self.population.weights, (self.before, self.after)
        return _blocked(
            float(weights @ old.loses_to(new)), float(weights @ new.loses_to(old)), size
        )


def _blocked(lost: float, gained: float, size: int) -> float:
    """Return how often a sample blocks, of queries that lose and gain answers this often."""
    least = np.ceil(fewest_of(size, LOST_ANSWERS) - 1e-9)
    return float((1 - gained) ** size * binom.sf(least - 1, size, lost / (1 - gained)))


def lost_answers_tables(data: Path, draws: int) -> Iterator[str]:
    """Yield the table of innocent changes that are blocked, and that of lost answers."""
    exchanged, innocent = _measured(data)
    yield from head("innocent changes that are blocked, queries", [f"{size:,}" for size in SIZES])
    alone = [[_blocked(each, each, size) for each in exchanged] for size in SIZES]
    reweighted = [[each.blocked(size) for each in innocent] for size in SIZES]
    for what, rates in (
        (f"{len(exchanged)} pairs, exchanged at random", alone),
        (f"{len(innocent)} pairs, reweighted", reweighted),
    ):
        yield row(f"{what}: on average", (f"{np.mean(of_size):.1%}" for of_size in rates))
        yield row(f"{what}: the worst", (f"{max(of_size):.1%}" for of_size in rates))
    counted = [_counted(innocent, size, draws, taken=0) for size in SIZES]
    yield row("reweighted: the test alone", (f"{test:.1%}" for test, _ in counted))
    yield row("reweighted: the test or lost answers", (f"{both:.1%}" for _, both in counted))
    yield ""
    yield from head("lost answers that are blocked, queries", [f"{size:,}" for size in SIZES])
    for taken in TAKEN:
        counted = [_counted(innocent, size, draws // 4, taken=taken) for size in SIZES]
        yield row(f"{taken} more: the test alone", (f"{test:.0%}" for test, _ in counted))
        yield row(f"{taken} more: the test or lost answers", (f"{both:.0%}" for _, both in counted))


def _measured(data: Path) -> tuple[list[float], list[Innocent]]:
    """Return how often answers are lost between any two rankers, and the innocent changes."""
    cranfield, lambdarank = data / "cranfield", data / "lightgbm-lambdarank"
    exchanged: list[float] = []
    innocent: list[Innocent] = []
    for golden, changes in (
        (cranfield_bm25.golden_set(cranfield), cranfield_changes(cranfield)),
        (lambdarank_folds.golden_set(lambdarank), lambdarank_changes(lambdarank)),
    ):
        pairs = {
            name: (_ranked(old, golden), _ranked(new, golden))
            for name, (old, new) in changes.items()
        }
        rankers = {each.score.tobytes(): each for pair in pairs.values() for each in pair}
        exchanged += [
            float((one.loses_to(other).mean() + other.loses_to(one).mean()) / 2)
            for one, other in combinations(rankers.values(), 2)
        ]
        innocent += _reweighted(pairs)
    return exchanged, innocent


def _ranked(ranking: Ranking, golden: GoldenSet) -> Ranked:
    evaluation = evaluate(ranking(), golden)
    return Ranked(np.round(evaluation.values("nDCG@10"), 6), evaluation.values("RR"))


def _reweighted(pairs: Mapping[str, tuple[Ranked, Ranked]]) -> Iterator[Innocent]:
    """Yield the pairs in both directions, with a true difference of zero."""
    for name, (one, other) in pairs.items():
        for before, after in ((one, other), (other, one)):
            pair = RealPair(FAMILIES[0], name, before.score, after.score)
            population = tilted(pair, 0.0, 0.02)
            if population is not None:
                yield Innocent(population, before, after)


def _counted(
    innocent: Sequence[Innocent], size: int, draws: int, *, taken: int
) -> tuple[float, float]:
    """Return how often the test blocks, and the test or lost answers.

    Args:
        innocent: what to draw from, equally from each.
        size: the number of queries in a sample.
        draws: the number of samples.
        taken: how many queries lose all of their documents on top of the innocent change.
    """
    random = np.random.default_rng(zlib.crc32(f"{size}/{taken}".encode()))
    ids, gate = tuple(map(str, range(size))), Gate.significant()
    each, counts = -(-draws // len(innocent)), np.zeros(2)
    for one in innocent:
        lost, gained = one.before.loses_to(one.after), one.after.loses_to(one.before)
        had_answer = one.before.first > 1 / (FIRST + 0.5)
        for chosen in one.population.places(random, each, size):
            before, after = one.before.score[chosen], one.after.score[chosen]
            is_lost = lost[chosen]
            places = random.permutation(np.flatnonzero(had_answer[chosen] & ~is_lost))[:taken]
            after[places], is_lost[places] = 0.0, True
            pairs = Paired(FAMILIES[0].metric, ids, before, after)
            by_test = ruling(gate, pairs) == "blocked"
            by_answers = is_lost.sum() >= fewest_of(size, LOST_ANSWERS) and not gained[chosen].any()
            counts += (by_test, by_test or by_answers)
    test, both = (counts / (each * len(innocent))).tolist()
    return test, both
