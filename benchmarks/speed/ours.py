"""pytest-rankcheck on every form, with polars and without."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from speed.inputs import Inputs

Means = Mapping[str, float]
Work = Callable[[], Means]

METRICS = ("nDCG@10", "RR@10", "AP@1000", "R@100", "P@10")


def rankcheck(form: str, inputs: Inputs) -> Work | None:
    """Prepare pytest-rankcheck on a form; None if this version cannot take it."""
    from pytest_rankcheck import GoldenSet, Run, evaluate

    def means(run: Any, golden: Any) -> Means:
        return _means(evaluate(run, golden))

    def prebuilt(given: Any) -> Work:
        golden = GoldenSet.from_dict(inputs.qrels_dicts())
        return lambda: means(Run.from_dict(given), golden)

    if form in ("trec", "plain"):
        return lambda: means(Run.load(inputs.run_text), GoldenSet.load(inputs.qrels_text, "trec"))
    if form == "parquet":
        return lambda: means(Run.load(inputs.run_parquet), GoldenSet.load(inputs.qrels_parquet))
    if form == "dicts":
        qrels, run = inputs.qrels_dicts(), inputs.run_dicts()
        return lambda: means(Run.from_dict(run), GoldenSet.from_dict(qrels))
    if form == "prebuilt":
        return prebuilt(inputs.run_dicts())
    if form == "lists":
        return prebuilt(inputs.run_lists())
    if form == "frames":
        qrels, run = inputs.qrels_frame(), inputs.run_frame()
        return lambda: means(Run.from_frame(run), GoldenSet.from_frame(qrels))
    return _arrays(inputs)


def rankcheck_without_polars(form: str, inputs: Inputs) -> Work | None:
    """Prepare pytest-rankcheck as if polars were not installed."""
    sys.modules["polars"] = None  # type: ignore[assignment]
    return rankcheck(form, inputs)


def _arrays(inputs: Inputs) -> Work | None:
    """Prepare the evaluation of arrays; None if this version has no such function."""
    import pytest_rankcheck

    evaluate_arrays = getattr(pytest_rankcheck, "evaluate_arrays", None)
    if evaluate_arrays is None:
        return None
    scores, labels, groups = inputs.arrays()
    return lambda: _means(evaluate_arrays(scores, labels, groups))


def _means(evaluation: Any) -> Means:
    return {name: evaluation.mean(name) for name in METRICS}
