"""Which gate to take: ``python benchmarks/gate_choice.py [--draws 4000] [--write]``.

For golden sets of 30 to 1,000 queries, on the real pairs of real_pairs.py: how many innocent
changes ``significant`` blocks, how many falls of 0.04 it shows, and how many innocent changes
``noninferior`` leaves inconclusive at several margins. ``--write`` puts the tables into
``docs/which-gate.md`` and draws its picture.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from manual_parts import DOCS, write_part
from populations import DIRECTIONS, populations
from rates import Rate
from real_pairs import cached, require_data
from verdict_counts import ALPHA, PROCESSES, ruling

from pytest_rankcheck import Gate
from pytest_rankcheck.comparison.paired_values import Paired

if TYPE_CHECKING:
    import altair as alt

PAGE, PICTURE = DOCS / "which-gate.md", DOCS / "images" / "which-gate.png"
SIZES = (30, 50, 100, 200, 1000)
METRICS = ("nDCG@10", "RR")
MARGINS = (0.02, 0.03, 0.05, 0.1)
FALL = 2
"""The fall that ``significant`` has to show, in margins of 0.02."""
COLUMNS = {
    "blocked": "`significant()` blocks an innocent change",
    "shown": "`significant()` blocks a fall of 0.04",
    **{
        f"{margin:g}": f"`noninferior(margin={margin:g})` is inconclusive on an innocent change"
        for margin in MARGINS
    },
}


@dataclass(frozen=True)
class Row:
    """The rates of one metric at one size of the golden set."""

    metric: str
    queries: int
    rates: dict[str, Rate]
    """By the keys of `COLUMNS`."""


def row(cell: tuple[str, int], path: Path, draws: int) -> Row:
    """Return the rates of a metric at a size, with as many draws for each."""
    metric, queries = cell
    pairs = cached(path)
    innocent = list(_samples(pairs, metric, queries, 0, draws))
    falling = list(_samples(pairs, metric, queries, FALL, draws))
    rates = {
        "blocked": _rate(innocent, Gate.significant(alpha=ALPHA), "blocked"),
        "shown": _rate(falling, Gate.significant(alpha=ALPHA), "blocked"),
    }
    for margin in MARGINS:
        gate = Gate.noninferior(margin, alpha=ALPHA)
        rates[f"{margin:g}"] = _rate(innocent, gate, "inconclusive")
    return Row(metric, queries, rates)


def _samples(
    pairs: Sequence[object], metric: str, queries: int, margins: float, draws: int
) -> Iterator[Paired]:
    """Yield samples from all populations of both directions equally."""
    drawn_from = [
        population
        for direction in DIRECTIONS
        for population in populations(pairs, metric, direction, margins)[0]  # type: ignore[arg-type]
    ]
    random = np.random.default_rng(zlib.crc32(f"{metric} {queries} {margins}".encode()))
    for population in drawn_from:
        yield from population.samples(random, math.ceil(draws / len(drawn_from)), queries)


def _rate(samples: Sequence[Paired], gate: Gate, wanted: str) -> Rate:
    return Rate(sum(ruling(gate, values) == wanted for values in samples), len(samples))


def table(rows: Sequence[Row], metric: str) -> Iterator[str]:
    """Yield the table of a metric: a row for each size."""
    yield f"| {metric}, queries | {' | '.join(COLUMNS.values())} |"
    yield f"|---|{'---|' * len(COLUMNS)}"
    for each in rows:
        if each.metric == metric:
            cells = " | ".join(f"{each.rates[key].share:.0%}" for key in COLUMNS)
            yield f"| {each.queries:,} | {cells} |"


def picture(rows: Sequence[Row]) -> alt.HConcatChart:
    """Return the picture: what stays inconclusive by size and margin, and what is shown."""
    import altair as alt
    import pandas as pd

    order = [f"{size:,}" for size in SIZES]
    labels = {
        "shown": "significant() blocks a fall of 0.04",
        **{f"{margin:g}": f"noninferior({margin:g}) inconclusive" for margin in MARGINS},
    }
    frame = pd.DataFrame(
        [
            {
                "metric": each.metric,
                "queries": f"{each.queries:,}",
                "share": each.rates[key].share,
                "rate": label,
            }
            for each in rows
            for key, label in labels.items()
        ]
    )
    colours = alt.Scale(
        domain=list(labels.values()),
        range=["#222222", "#0b4f8a", "#2f86c9", "#e08b3e", "#b3411a"],
    )
    panels = [
        alt.Chart(frame[frame["metric"] == metric])
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X(
                "queries:N", sort=order, title="queries", axis=alt.Axis(labelAngle=0, grid=True)
            ),
            y=alt.Y("share:Q", title="share of changes", axis=alt.Axis(format="%")),
            color=alt.Color("rate:N", scale=colours, title=None, legend=alt.Legend(labelLimit=300)),
        )
        .properties(width=260, height=240, title=metric)
        for metric in METRICS
    ]
    return alt.hconcat(*panels)


def main() -> None:
    """Print the tables, and write them and the picture into the manual if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--pairs", type=Path, help="keep the pairs in this file (.npz)")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    require_data()
    with tempfile.TemporaryDirectory() as folder:
        kept = given.pairs or Path(folder) / "pairs.npz"
        cached(kept)
        cells = [(metric, size) for size in reversed(SIZES) for metric in METRICS]
        with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
            rows = list(pool.map(partial(row, path=kept, draws=given.draws), cells))
    rows.sort(key=lambda each: each.queries)
    two = 2 * math.sqrt(0.25 / given.draws)
    lines = [line for metric in METRICS for line in (*table(rows, metric), "")]
    lines += [f"{given.draws:,} draws per cell: two standard errors are at most {two:.1%}."]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.write:
        write_part(PAGE, "rates by size", text)
        picture(rows).save(PICTURE, scale_factor=2)


if __name__ == "__main__":
    main()
