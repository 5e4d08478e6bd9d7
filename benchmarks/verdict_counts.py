"""Counts what the gates decide on samples of populations, in two processes."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from populations import Population, margin_of, oriented, populations, tilted
from rates import Rate, two_processes
from real_pairs import RealPair, cached

from pytest_rankcheck import Gate, Outcome
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired
from pytest_rankcheck.gates.family_decisions import FamilySet, decide_sets

ALPHA = 0.05
DETECTABLE = -1.0
"""In place of a number of margins: the smallest fall that the verdicts say they detect."""


def ruling(gate: Gate, values: ComparedValues) -> str:
    """Return what a gate decides: blocked, inconclusive or passed."""
    (decision,), _ = decide_sets([FamilySet(gate.rule, values)])
    if decision.outcome is Outcome.REGRESSED:
        return "blocked"
    return "inconclusive" if decision.outcome is Outcome.INCONCLUSIVE else "passed"


def gate_of(name: str, population: Population) -> Gate:
    """Return the gate of this name, such as "tolerance, 2%", on samples of a population."""
    kind, _, option = name.partition(", ")
    if kind == "significant":
        return Gate.significant(alpha=ALPHA)
    if kind == "noninferior":
        return Gate.noninferior(float(option or population.margin), alpha=ALPHA)
    return Gate.tolerance(rel=float(option.removesuffix("%")) / 100)


@dataclass(frozen=True)
class Cell:
    """One cell of the tables: which samples, and who decides on them."""

    family: str
    direction: str
    count: int
    margins: float
    """The true fall in margins, or `DETECTABLE`."""
    deciders: tuple[str, ...]
    draws: int

    @property
    def name(self) -> str:
        """What the sentences call it."""
        return f"{self.family}, {self.direction}, {self.count} queries"


@dataclass(frozen=True)
class Counted:
    """What each decided in one cell."""

    cell: Cell
    counts: dict[str, Counter[str]]

    def rate(self, decider: str, outcome: str) -> Rate:
        """Return how often this outcome was decided."""
        counts = self.counts[decider]
        return Rate(counts[outcome], counts.total())


_PAIRS: list[RealPair] = []


def _load(path: Path) -> None:
    _PAIRS[:] = cached(path)


def count_cells(cells: Sequence[Cell], path: Path) -> Iterator[Counted]:
    """Count all cells, and yield them in their order.

    Args:
        cells: what to count.
        path: the file of the pairs, made by `cached`.
    """
    with two_processes(initializer=_load, initargs=(path,)) as pool:
        yield from pool.map(counted, cells)


def counted(cell: Cell) -> Counted:
    """Draw the samples of one cell, in equal parts from each population, and decide on them."""
    key = f"{cell.family}/{cell.direction}/{cell.count}/{cell.margins}"
    random = np.random.default_rng(zlib.crc32(key.encode()))
    drawn_from = _populations(cell, random)
    counts = {name: Counter[str]() for name in cell.deciders}
    each = -(-cell.draws // max(1, len(drawn_from)))
    for population in drawn_from:
        gates = {name: gate_of(name, population) for name in cell.deciders}
        for sample in population.samples(random, each, cell.count):
            pairs = Paired(
                sample.metric, sample.query_ids, sample.before, sample.after, weights=sample.weights
            )
            for name, count in counts.items():
                count[ruling(gates[name], pairs)] += 1
    return Counted(cell, counts)


def _populations(cell: Cell, random: np.random.Generator) -> list[Population]:
    if cell.margins != DETECTABLE:
        return populations(_PAIRS, cell.family, cell.direction, cell.margins)
    made = [
        _falling_detectably(oriented(pair, cell.direction), cell.count, random)
        for pair in _PAIRS
        if pair.family.name == cell.family
    ]
    return [each for each in made if each is not None]


def _falling_detectably(
    pair: RealPair, count: int, random: np.random.Generator
) -> Population | None:
    """Return the population whose fall is the median of what its own samples' verdicts print."""
    population = tilted(pair, 0.0, margin_of(pair))
    for _ in range(3):
        if population is None:
            return None
        printed = [
            pairs.differences.smallest_detectable(ALPHA)
            for pairs in population.samples(random, 100, count)
        ]
        population = tilted(pair, -float(np.nanmedian(printed)), population.margin)
    return population
