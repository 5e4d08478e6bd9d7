"""Retraining: how often gates block a LambdaRank model for nothing but another seed.

24 models are trained that differ in the seed alone. A draw takes some of them as the replicates of
the baseline and others as those of now, and queries with replacement. A fall takes ten times its
size from one query in ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import lambdarank_folds
import numpy as np
from rates import Rate
from verdict_counts import ALPHA, ruling

from pytest_rankcheck import Gate, Metric, evaluate
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import Paired
from pytest_rankcheck.statistics.run_noise import Averaged, RunNoise

SEEDS = 24
MARGIN = 0.02
METRICS = ("nDCG@10", "RR")
QUERIES = (100, 250)
DESIGNS = ((1, 1), (3, 1), (5, 1), (10, 1), (3, 3), (5, 5), (10, 10))
"""How many replicates the baseline has, and how many there are now."""


WHAT = {
    "blocked": "innocent, blocked",
    "passed": "fall passed by noninferior",
    "found": "fall blocked",
}


class Cell(NamedTuple):
    """A cell of the table: the models on each side, and what is counted."""

    metric: Metric
    then: int
    now: int
    what: str
    queries: int


def values_of_seeds(folder: Path, name: str, seeds: int = SEEDS) -> FloatArray:
    """Return the value of each query under the model of each seed, ``[seeds, Q]``."""
    golden = lambdarank_folds.golden_set(folder)
    runs = (lambdarank_folds.ranked(folder, seed=seed) for seed in range(1, seeds + 1))
    return np.stack([evaluate(run, golden).values(name) for run in runs])


def drawn(random: np.random.Generator, values: FloatArray, cell: Cell) -> Paired:
    """Return a baseline of some models and a retraining, on queries drawn with replacement."""
    fall = 0.0 if cell.what == "blocked" else MARGIN
    models = random.permutation(len(values))[: cell.then + cell.now]
    chosen = values[models][:, random.integers(0, values.shape[1], cell.queries)]
    lost = 10 * fall * (random.random(cell.queries) < 0.1)
    before, after = chosen[: cell.then], chosen[cell.then :] - lost
    sides = [Averaged(len(each), each.mean(axis=1).tolist()) for each in (before, after)]
    return Paired(
        cell.metric,
        tuple(map(str, range(cell.queries))),
        before.mean(axis=0),
        after.mean(axis=0),
        RunNoise.pooled(*sides),
    )


def rate(values: FloatArray, cell: Cell, draws: int) -> Rate:
    """Return the rate of a cell, from the value of each query under each model."""
    random = np.random.default_rng([len(cell.what), cell.queries, cell.then, cell.now])
    passes = cell.what == "passed"
    gate = Gate.noninferior(MARGIN) if passes else Gate.significant(ALPHA)
    rulings = (ruling(gate, drawn(random, values, cell)) for _ in range(draws))
    return Rate(sum(each == ("passed" if passes else "blocked") for each in rulings), draws)


def retraining_table(folder: Path, draws: int) -> Iterator[str]:
    """Yield the table: a row for each metric and design."""
    columns = [(what, queries) for what in WHAT for queries in QUERIES]
    heads = " | ".join(f"{WHAT[what]}, {queries} queries" for what, queries in columns)
    yield f"| metric: models in the baseline, now | {heads} |"
    yield "|---" * (1 + len(columns)) + "|"
    for name in METRICS:
        values = values_of_seeds(folder, name)
        for then, now in DESIGNS:
            cells = (Cell(Metric.parse(name), then, now, *column) for column in columns)
            rates = " | ".join(str(rate(values, cell, draws)) for cell in cells)
            yield f"| {name}: {then}, {now} | {rates} |"
