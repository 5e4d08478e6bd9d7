"""Which gate to take, by the number of queries.

For golden sets of 30 to 1,000 queries, on the real pairs of real_pairs.py: how many innocent
changes ``significant`` blocks, how many falls of 0.04 it shows, and how many innocent changes
``noninferior`` leaves inconclusive at several margins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from populations import DIRECTIONS
from rates import head, pooled, row
from verdict_counts import Cell, count_cells

SIZES = (30, 50, 100, 200, 1000)
METRICS = ("nDCG@10", "RR")
MARGINS = ("0.02", "0.03", "0.05", "0.1")
COLUMNS = {
    "`significant()` blocks an innocent change": (0, "significant", "blocked"),
    "`significant()` blocks a fall of 0.04": (2, "significant", "blocked"),
    **{
        f"`noninferior(margin={margin})` is inconclusive on an innocent change": (
            0,
            f"noninferior, {margin}",
            "inconclusive",
        )
        for margin in MARGINS
    },
}
"""By the title: the true fall in margins of 0.02, the decider and the outcome."""


def choice_tables(path: Path, draws: int) -> Iterator[str]:
    """Yield the table of each metric, and a line on their error."""
    deciders = tuple(dict.fromkeys(decider for _, decider, _ in COLUMNS.values()))
    cells = [
        Cell(metric, direction, size, margins, deciders, math.ceil(draws / len(DIRECTIONS)))
        for size in reversed(SIZES)
        for metric in METRICS
        for margins in (0, 2)
        for direction in DIRECTIONS
    ]
    found = list(count_cells(cells, path))
    for metric in METRICS:
        yield from head(f"{metric}, queries", COLUMNS)
        for size in SIZES:
            rates = (
                pooled(
                    each.rate(decider, outcome)
                    for each in found
                    if (each.cell.family, each.cell.count, each.cell.margins)
                    == (metric, size, margins)
                )
                for margins, decider, outcome in COLUMNS.values()
            )
            yield row(f"{size:,}", (f"{rate.share:.0%}" for rate in rates))
        yield ""
    two = 2 * math.sqrt(0.25 / draws)
    yield f"{draws:,} draws per cell: two standard errors are at most {two:.1%}."
