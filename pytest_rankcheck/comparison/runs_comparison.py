"""Several runs side by side: their means, and their differences to one of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.rank_changes import top_of
from pytest_rankcheck.errors import ConfigurationError, listed, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.measured_runs import evaluate
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike, metrics_of
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.statistics.multiplicity import holm

if TYPE_CHECKING:
    import pandas as pd

RunLike = Run | Evaluation | str | PathLike[str]
"""A run, its file, or its evaluation."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A metric of a run, compared with the run `RunsComparison.against`."""

    run: str
    metric: str
    mean: float
    difference: float
    """How far the mean is above that of the other run."""
    low: float
    """The lower end of the 95% interval of the difference (Student's t)."""
    high: float
    """The upper end of that interval."""
    p: float
    """Two-sided p of the difference (Student's t), corrected for all runs and metrics (Holm)."""
    wins: int
    """How many queries are better than in the other run."""
    ties: int
    """How many queries are equal."""
    losses: int
    """How many queries are worse."""
    detectable: float
    """The smallest fall that these queries detect with a power of 80%, one-sided at 5%."""
    judged: float
    """Judged@k: the mean share of the top k that is judged; k is the metric's cutoff, or 10."""


def compare_runs(
    runs: Mapping[str, RunLike | Sequence[RunLike]],
    golden: GoldenSet,
    metrics: MetricLike | Sequence[MetricLike],
    *,
    against: str | None = None,
) -> RunsComparison:
    """Measure several runs, and compare each with one of them, paired by query.

    Args:
        runs: by name, a `Run`, the path of one, or an evaluation; or a list of them, which
            differ only by chance, such as by the seed of a training.
        golden: the judged queries.
        metrics: names such as ``"nDCG@10"``, `Metric` or ir_measures objects.
        against: the name of the run that the others are compared with; None: the first one.

    Raises:
        ConfigurationError: there are no runs or no metrics, ``against`` is not one of the runs, or
            an evaluation is of another golden set.
        RunError: a run cannot be read, or its documents are never those that are judged.
        MetricError: no such metric.
    """
    base = next(iter(runs), "") if against is None else against
    if base not in runs:
        names = listed(list(runs)) or "missing"
        raise ConfigurationError(f"against={quoted(base)}: unknown run; the runs are {names}")
    parsed = metrics_of(metrics)
    measured = {name: _measured(name, given, golden) for name, given in runs.items()}
    for evaluation in measured.values():
        evaluation.refuse_unmet_ids()
    compared = {name: Comparison(each, measured[base]) for name, each in measured.items()}
    rows = [
        _row(name, each, each.values(metric))
        for name, each in compared.items()
        for metric in parsed
    ]
    together = holm([row.p for row in rows])
    corrected = tuple(replace(row, p=p) for row, p in zip(rows, together, strict=True))
    return RunsComparison(corrected, base, golden, compared)


@dataclass(frozen=True, slots=True, repr=False)
class RunsComparison:
    """Several runs, each compared with one of them: what `compare_runs` returns."""

    rows: tuple[RunRow, ...]
    """One for each run and metric, in the given order."""
    against: str
    """The name of the run that the others are compared with."""
    golden: GoldenSet
    """The judged queries."""
    comparisons: Mapping[str, Comparison]
    """By name, the comparison of each run with that one."""

    @property
    def best_first(self) -> Sequence[RunRow]:
        """The rows, starting with the run that is best by the first metric."""
        first = {row.run: row.mean for row in reversed(self.rows)}
        sign = -1 if Metric.parse(self.rows[0].metric).higher_is_better else 1
        return sorted(self.rows, key=lambda row: (sign * first[row.run], row.run))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each run and metric, the index; the columns are those of `RunRow`."""
        import pandas as pd

        return pd.DataFrame(map(asdict, self.rows)).set_index(["run", "metric"])


def _measured(name: str, given: RunLike | Sequence[RunLike], golden: GoldenSet) -> Evaluation:
    """Return the evaluation of a run, or of several."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return evaluate([_run(each) for each in given], golden)
    evaluation = given if isinstance(given, Evaluation) else evaluate(_run(given), golden)
    if evaluation.golden.fingerprint != golden.fingerprint:
        raise ConfigurationError(
            f"'{quoted(name)}' was evaluated on other queries or judgments; give its run instead"
        )
    return evaluation


def _run(given: RunLike) -> Any:
    if isinstance(given, Evaluation):
        return given.run
    return given if isinstance(given, Run) else Run.load(given)


def _row(name: str, comparison: Comparison, values: ComparedValues) -> RunRow:
    """Return the row of a metric, for all queries or a slice, with an uncorrected p."""
    differences, metric = values.differences, values.metric
    low = high = p = detectable = math.nan
    is_other = comparison.evaluation is not comparison.other
    if is_other and metric.definition.is_mean_of_values and values.size > 1:
        (low, high), p = values.interval(), differences.difference_p()
        detectable = differences.smallest_detectable()
    means, ends = (values.mean_after, values.difference), (low, high)
    counts = (values.wins, values.ties, values.losses)
    judged = _judged(comparison.evaluation, top_of(comparison.evaluation, comparison.other, metric))
    return RunRow(name, str(metric), *means, *ends, p, *counts, detectable, judged)


def _judged(evaluation: Evaluation, k: int) -> float:
    """Return the mean judged share of the top k, over the queries with a ranking."""
    grades = evaluation.golden.grades
    shares = [
        # A document with a negative grade counts as unjudged.
        np.mean([grades(query_id).get(doc_id, -1) >= 0 for doc_id in top])
        for query_id in evaluation.query_ids
        if (top := evaluation.ranking(query_id)[:k])
    ]
    return float(np.mean(shares)) if shares else math.nan
