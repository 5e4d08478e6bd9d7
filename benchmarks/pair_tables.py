"""The tables on real pairs: how often each gate is wrong, by kind of metric and direction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from populations import DIRECTIONS
from rates import Rate, sentence
from real_pairs import FAMILIES
from rules_of_tools import OTHER_TOOLS
from verdict_counts import ALPHA, DETECTABLE, Cell, Counted, count_cells

SIZES = (25, 50, 100, 200, 500)
FALLS = (0, 1, 2, DETECTABLE)
TOLERANCES = ("tolerance, 1%", "tolerance, 2%", "tolerance, 5%")
SCORES = tuple(family.name for family in FAMILIES if family.name not in ("count", "duration"))
"""The families that other tools know: higher is better, at most 1."""
BESIDE = ("nDCG@10", "RR", "Success@1")
"""The families on which the tests other than the usual one are measured."""
LARGEST_BOOTSTRAP = 100
"""The bootstrap takes too long with more queries."""


def deciders(family: str, count: int, margins: float) -> tuple[str, ...]:
    """Return who decides on the samples of a cell."""
    if margins == DETECTABLE:
        return ("significant",)
    tools = tuple(OTHER_TOOLS) if family in SCORES and margins != 1 else ()
    usual = ("significant", "noninferior", *TOLERANCES, *tools)
    if family not in BESIDE:
        return usual
    beside = ["noninferior, guaranteed", *(["noninferior, t"] if margins else [])]
    if margins == 0:
        beside += ["significant, t", "significant, guaranteed"]
        beside += ["significant, bootstrap"] if count <= LARGEST_BOOTSTRAP else []
    return (*usual, *beside)


@dataclass(frozen=True)
class PairCounts:
    """Everything that was counted on real pairs."""

    counted: Sequence[Counted]
    sizes: Sequence[int]

    @classmethod
    def of(
        cls,
        path: Path,
        draws: int,
        sizes: Sequence[int] = SIZES,
        families: Iterable[str] = tuple(family.name for family in FAMILIES),
        falls: Sequence[float] = FALLS,
    ) -> PairCounts:
        """Count all cells, for true falls of so many margins."""
        cells = [
            Cell(family, direction, count, margins, deciders(family, count, margins), draws)
            for margins in falls
            for family in families
            for direction in DIRECTIONS
            for count in sizes
        ]
        # The slow ones first, so that both processes end at about the same time.
        order = sorted(range(len(cells)), key=lambda place: -cells[place].count)
        made = list(count_cells([cells[place] for place in order], path))
        return cls([made[order.index(place)] for place in range(len(cells))], sizes)

    def refused(self, margins: float) -> str:
        """Return which populations were refused for this fall."""
        cells = [each for each in self.counted if each.cell.margins == margins and each.refused]
        named = {
            f"{each.cell.family}, {each.cell.direction}"
            + (f", {each.cell.count} queries" if margins == DETECTABLE else "")
            + f": {each.refused}"
            for each in cells
        }
        return "; ".join(sorted(named))

    def table(self, margins: float, shown: dict[str, tuple[str, tuple[str, ...]]]) -> list[str]:
        """Return a table with a row for each family and direction.

        Args:
            margins: the true fall.
            shown: the label of each rate, its decider and the outcomes that it counts.
        """
        lines = _head(f"metric, direction: {' / '.join(shown)}", self.sizes)
        for family in FAMILIES:
            for direction in DIRECTIONS:
                cells = {
                    each.cell.count: each
                    for each in self.counted
                    if (each.cell.family, each.cell.direction, each.cell.margins)
                    == (family.name, direction, margins)
                }
                if not cells:
                    continue
                texts = (
                    " / ".join(
                        str(cells[count].rate(decider, *outcomes))
                        for decider, outcomes in shown.values()
                    )
                    for count in self.sizes
                )
                lines.append(f"| {family.name}, {direction} | {' | '.join(texts)} |")
        return lines

    def worst(self, decider: str, margins: float, *outcomes: str) -> list[str]:
        """Return for each size the highest rate of its cells, and the metric that has it."""
        texts = []
        for count in self.sizes:
            rates = [
                (rate.share, str(rate), cell.family)
                for cell, rate in self._rates(decider, margins, *outcomes)
                if cell.count == count and rate.draws
            ]
            texts.append("{1} ({2})".format(*max(rates)) if rates else "-")
        return texts

    def pooled(
        self, decider: str, margins: float, *outcomes: str, families: Sequence[str] = SCORES
    ) -> list[Rate]:
        """Return for each size the rate over all cells of some families."""
        pooled = []
        for count in self.sizes:
            rates = [
                rate
                for cell, rate in self._rates(decider, margins, *outcomes)
                if cell.count == count and cell.family in families
            ]
            pooled.append(Rate(sum(each.hits for each in rates), sum(each.draws for each in rates)))
        return pooled

    def rates(self, decider: str, margins: float, *outcomes: str) -> dict[str, Rate]:
        """Return the rate in each cell, by its name, where the decider was counted."""
        return {cell.name: rate for cell, rate in self._rates(decider, margins, *outcomes)}

    def _rates(self, decider: str, margins: float, *outcomes: str) -> Iterator[tuple[Cell, Rate]]:
        for each in self.counted:
            if each.cell.margins == margins and decider in each.counts:
                yield each.cell, each.rate(decider, *outcomes)


def _head(title: str, sizes: Sequence[int]) -> list[str]:
    columns = " | ".join(f"{count} queries" for count in sizes)
    return [f"| {title} | {columns} |", f"|---|{'---|' * len(sizes)}"]


def _row(title: str, cells: Iterable[object]) -> str:
    return f"| {title} | {' | '.join(map(str, cells))} |"


def all_tables(counts: PairCounts) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the lines of each table of all cells."""
    yield (
        "Innocent changes that `significant` blocks",
        counts.table(0, {"blocked": ("significant", ("blocked",))}),
    )
    yield (
        "Falls of the margin that `noninferior` passes",
        counts.table(1, {"passed": ("noninferior", ("passed",))}),
    )
    yield (
        "Innocent changes under `noninferior`",
        counts.table(
            0,
            {
                "passed": ("noninferior", ("passed",)),
                "inconclusive": ("noninferior", ("inconclusive",)),
            },
        ),
    )
    yield (
        "Falls of twice the margin under `noninferior`",
        counts.table(
            2,
            {
                "blocked": ("noninferior", ("blocked",)),
                "not passed": ("noninferior", ("blocked", "inconclusive")),
            },
        ),
    )
    yield (
        "The printed smallest detectable fall under `significant`",
        counts.table(DETECTABLE, {"blocked": ("significant", ("blocked",))}),
    )
    yield "Other tests: the worst cell", list(_other_tests(counts))


def _other_tests(counts: PairCounts) -> Iterator[str]:
    yield from _head("rate", counts.sizes)
    for test in ("t", "bootstrap", "guaranteed"):
        name = f"significant, {test}"
        yield _row(f"{name}: blocks an innocent change", counts.worst(name, 0, "blocked"))
    for test in ("t", "guaranteed"):
        name = f"noninferior, {test}"
        yield _row(f"{name}: passes a fall of the margin", counts.worst(name, 1, "passed"))
    for what, margins, outcome in (
        ("passes an innocent change", 0, "passed"),
        ("blocks a fall of twice the margin", 2, "blocked"),
    ):
        yield _row(f"{name}: {what}, over its scores", counts.pooled(name, margins, outcome))


def tools_table(counts: PairCounts) -> Iterator[str]:
    """Yield the table of fixed tolerances and of other tools, pooled over scores."""
    names = ("significant", "noninferior", *TOLERANCES, *OTHER_TOOLS)
    yield from _head("innocent changes that are blocked", counts.sizes)
    for name in names:
        yield _row(name, counts.pooled(name, 0, "blocked"))
    yield ""
    yield from _head("falls of 0.04 that pass", counts.sizes)
    for name in names[1:]:
        yield _row(name, counts.pooled(name, 2, "passed"))


def summary(counts: PairCounts) -> Iterator[str]:
    """Yield the table of the worst cells, and whether each stated rate holds."""
    yield from _head("the worst cell of 12", counts.sizes)
    yield _row("`significant` blocks an innocent change", counts.worst("significant", 0, "blocked"))
    yield _row(
        "`noninferior` passes a fall of its margin", counts.worst("noninferior", 1, "passed")
    )
    yield _row(
        "`noninferior` cannot decide on an innocent change",
        counts.worst("noninferior", 0, "inconclusive"),
    )
    yield _row(
        "`significant` misses the fall that it says it detects",
        counts.worst("significant", DETECTABLE, "passed"),
    )
    yield ""
    for what, decider, margins, outcome, stated in stated_rates():
        rates = counts.rates(decider, margins, outcome)
        if any(rate.draws for rate in rates.values()):
            yield f"- {sentence(what, rates, stated)}"


def stated_rates() -> Iterator[tuple[str, str, float, str, float]]:
    """Yield what is stated: in words, the decider, the true fall, the outcome and the rate."""
    tests = {"": "", ", t": '(test="t")', ", guaranteed": '(test="guaranteed")'}
    for test, shown in tests.items():
        what = f"`significant{shown}` blocks innocent changes"
        yield what, f"significant{test}", 0, "blocked", ALPHA
    for test, shown in tests.items():
        what = f"`noninferior{shown}` passes falls of its margin"
        yield what, f"noninferior{test}", 1, "passed", ALPHA
    missed = "`significant` misses the smallest detectable fall"
    yield missed, "significant", DETECTABLE, "passed", 0.2
