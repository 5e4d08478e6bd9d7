"""pytest-rankcheck on every form, with polars and without."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from speed.inputs import Inputs

Means = Mapping[str, float]
Work = Callable[[], Means]

METRICS = ("nDCG@10", "RR@10", "AP@1000", "R@100", "P@10")


def rankcheck(form: str, inputs: Inputs) -> Work:
    """Prepare pytest-rankcheck on a form."""
    from pytest_rankcheck import GoldenSet, Run, evaluate, evaluate_arrays

    def means(evaluation: Any) -> Means:
        return {name: evaluation.mean(name) for name in METRICS}

    def read(run: Path, golden: Path, form: str | None = None) -> Work:
        return lambda: means(evaluate(Run.load(run), GoldenSet.load(golden, form)))

    if form in ("trec", "plain"):
        return read(inputs.run_text, inputs.qrels_text, "trec")
    if form == "parquet":
        return read(inputs.run_parquet, inputs.qrels_parquet)
    if form == "arrays":
        scores, labels, groups = inputs.arrays()
        return lambda: means(evaluate_arrays(scores, labels, groups))
    if form == "frames":
        table, rows = inputs.frames()
        return lambda: means(evaluate(Run.from_frame(rows), GoldenSet.from_frame(table)))
    qrels, run = inputs.dicts()
    if form == "dicts":
        return lambda: means(evaluate(Run.from_dict(run), GoldenSet.from_dict(qrels)))
    golden = GoldenSet.from_dict(qrels)
    given = {"lists": inputs.run_lists, "pairs": inputs.run_pairs}.get(form, lambda: run)()
    return lambda: means(evaluate(Run.from_dict(given), golden))


def rankcheck_without_polars(form: str, inputs: Inputs) -> Work:
    """Prepare pytest-rankcheck as if polars were not installed."""
    sys.modules["polars"] = None  # type: ignore[assignment]
    return rankcheck(form, inputs)
