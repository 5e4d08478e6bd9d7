"""The tables on real pairs: how often each gate is wrong, by kind of metric and direction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from populations import DIRECTIONS
from rates import Rate, head, pooled, row, sentence
from real_pairs import FAMILIES
from verdict_counts import ALPHA, DETECTABLE, Cell, Counted, count_cells

SIZES = (25, 50, 100, 200, 500)
_COLUMNS = [f"{count} queries" for count in SIZES]
FALLS = (0, 1, 2, DETECTABLE)
TOLERANCES = ("tolerance, 1%", "tolerance, 2%", "tolerance, 5%")
SCORES = tuple(family.name for family in FAMILIES if family.name not in ("count", "duration"))
"""The families whose margin is 0.02."""
DECIDERS = ("significant", "noninferior", *TOLERANCES)


@dataclass(frozen=True)
class PairCounts:
    """Everything that was counted on real pairs."""

    counted: Sequence[Counted]

    @classmethod
    def of(cls, path: Path, draws: int) -> PairCounts:
        """Count all cells."""
        cells = [
            Cell(family.name, direction, count, margins, deciders, draws)
            for margins in FALLS
            for deciders in [("significant",) if margins == DETECTABLE else DECIDERS]
            for family in FAMILIES
            for direction in DIRECTIONS
            for count in sorted(SIZES, reverse=True)
        ]
        return cls(list(count_cells(cells, path)))

    def table(self, decider: str, margins: float, outcome: str) -> Iterator[str]:
        """Yield a table with a row for each family and direction."""
        yield from head(f"metric, direction: {outcome}", _COLUMNS)
        found = self.rates(decider, margins, outcome)
        for family, direction in product((each.name for each in FAMILIES), DIRECTIONS):
            cells = (found[f"{family}, {direction}, {count} queries"] for count in SIZES)
            yield row(f"{family}, {direction}", cells)

    def worst(self, decider: str, margins: float, outcome: str) -> list[str]:
        """Return for each size the highest rate of its cells, and the metric that has it."""
        texts = []
        for count in SIZES:
            rates = [
                (rate.share, str(rate), cell.family)
                for cell, rate in self._rates(decider, margins, outcome)
                if cell.count == count and rate.draws
            ]
            texts.append("{1} ({2})".format(*max(rates)) if rates else "-")
        return texts

    def pooled(self, decider: str, margins: float, outcome: str) -> list[Rate]:
        """Return for each size the rate over all cells of scores."""
        return [
            pooled(
                rate
                for cell, rate in self._rates(decider, margins, outcome)
                if cell.count == count and cell.family in SCORES
            )
            for count in SIZES
        ]

    def rates(self, decider: str, margins: float, outcome: str) -> dict[str, Rate]:
        """Return the rate in each cell, by its name, where the decider was counted."""
        return {cell.name: rate for cell, rate in self._rates(decider, margins, outcome)}

    def _rates(self, decider: str, margins: float, outcome: str) -> Iterator[tuple[Cell, Rate]]:
        for each in self.counted:
            if each.cell.margins == margins and decider in each.counts:
                yield each.cell, each.rate(decider, outcome)


STATED = (
    ("`significant` blocks innocent changes", ("significant", 0, "blocked"), ALPHA),
    ("`noninferior` passes falls of its margin", ("noninferior", 1, "passed"), ALPHA),
    (
        "`significant` misses the smallest detectable fall",
        ("significant", DETECTABLE, "passed"),
        0.2,
    ),
)
"""What is stated: in words, the decider with the true fall and the outcome, and the rate."""


def all_tables(counts: PairCounts) -> Iterator[str]:
    """Yield the tables of all cells, with their titles."""
    for title, cells in (
        ("Innocent changes that `significant` blocks", ("significant", 0, "blocked")),
        ("Falls of the margin that `noninferior` passes", ("noninferior", 1, "passed")),
    ):
        yield from (f"**{title}**", "", *counts.table(*cells), "")


def tolerances_table(counts: PairCounts) -> Iterator[str]:
    """Yield the table of fixed tolerances, pooled over scores."""
    names = ("significant", "noninferior", *TOLERANCES)
    yield from head("innocent changes that are blocked", _COLUMNS)
    for name in names:
        yield row(name, counts.pooled(name, 0, "blocked"))
    yield ""
    yield from head("falls of 0.04 that pass", _COLUMNS)
    for name in names[1:]:
        yield row(name, counts.pooled(name, 2, "passed"))


def summary(counts: PairCounts) -> Iterator[str]:
    """Yield the table of the worst cells, and whether each stated rate holds."""
    yield from head("the worst cell of 12", _COLUMNS)
    yield row("`significant` blocks an innocent change", counts.worst("significant", 0, "blocked"))
    yield row("`noninferior` passes a fall of its margin", counts.worst("noninferior", 1, "passed"))
    yield row(
        "`noninferior` cannot decide on an innocent change",
        counts.worst("noninferior", 0, "inconclusive"),
    )
    yield row(
        "`significant` misses the fall that it says it detects",
        counts.worst("significant", DETECTABLE, "passed"),
    )
    yield ""
    for what, cells, stated in STATED:
        yield f"- {sentence(what, counts.rates(*cells), stated)}"
