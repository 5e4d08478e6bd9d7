"""Rates that were counted: their Monte Carlo error, and whether they keep a stated rate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context

from scipy.stats import binomtest

from pytest_rankcheck.statistics.multiplicity import holm

FAMILYWISE = 0.01
"""The chance that a table in which every cell keeps its rate is said to break it."""

two_processes = partial(ProcessPoolExecutor, 2, get_context("spawn"))


def row(title: str, cells: Iterable[object]) -> str:
    """Return a row of a table."""
    return f"| {title} | {' | '.join(map(str, cells))} |"


def head(title: str, columns: Iterable[object]) -> list[str]:
    """Return the head of a table and the line below it."""
    names = list(columns)
    return [row(title, names), f"|---|{'---|' * len(names)}"]


@dataclass(frozen=True)
class Rate:
    """How often something happened in so many draws."""

    hits: int
    draws: int

    @property
    def share(self) -> float:
        """The rate; NaN without draws."""
        return self.hits / self.draws if self.draws else math.nan

    @property
    def error(self) -> float:
        """The standard error of the rate."""
        return math.sqrt(self.share * (1 - self.share) / self.draws) if self.draws else math.nan

    def __str__(self) -> str:
        return f"{self.share:.1%}" if self.draws else "refused"


def pooled(rates: Iterable[Rate]) -> Rate:
    """Return the rate over several cells together."""
    every = list(rates)
    return Rate(sum(each.hits for each in every), sum(each.draws for each in every))


def above(rates: Sequence[Rate], stated: float) -> list[bool]:
    """Return which rates are above the stated one: binomial tests, corrected by Holm at 1%."""
    p_values = [
        binomtest(rate.hits, rate.draws, stated, alternative="greater").pvalue if rate.draws else 1
        for rate in rates
    ]
    return [p <= FAMILYWISE for p in holm(p_values)]


def sentence(what: str, rates: Mapping[str, Rate], stated: float) -> str:
    """Return whether a stated rate holds over a whole table, or by how much it can be off.

    Args:
        what: what is stated, as the beginning of a sentence.
        rates: the rate of each cell, by the cell's name.
        stated: the rate that no cell should exceed.
    """
    counted = {name: rate for name, rate in rates.items() if rate.draws}
    worst = max(counted, key=lambda name: counted[name].share)
    is_above = above(list(counted.values()), stated)
    rate = counted[worst]
    text = f"{rate} ± {rate.error:.1%} ({worst})"
    if not any(is_above):
        return f"{what} ({stated:.0%}): holds in all {len(counted)} cells; the worst is {text}."
    return (
        f"{what} ({stated:.0%}): exceeded in {sum(is_above)} of {len(counted)} cells, by up to "
        f"{100 * (rate.share - stated):.1f} points; the worst is {text}."
    )
