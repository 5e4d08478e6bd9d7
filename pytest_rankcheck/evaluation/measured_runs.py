"""Measuring a run, or several that differ only by chance: `evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import ConfigurationError, RunError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.ranked_run import RankedRun, usable_run
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import TieOrder
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.statistics.run_noise import Averaged


@checked_arguments
def evaluate(
    run: Run | Sequence[Run],
    golden: GoldenSet,
    *,
    conventions: Conventions | str | None = None,
    **chosen: str,
) -> Evaluation:
    """Measure ``run`` on ``golden``. Metrics are computed when they are first needed.

    Several runs are **replicates**: they differ only by chance, such as by the seed of a training.
    The value of a query is then the mean over them, and gates allow for how much the replicates
    vary.

    A `MetricWarning` is given if judged documents are never ranked, or in less than 1% of at least
    50 queries (the ids may not match); if ``doc_id=`` leaves less than half as many judged
    documents; and if replicates have the same rankings. If queries have no judgment or no ranking,
    a warning at the first mean also gives the mean over the other queries.

    Args:
        run: the rankings, or a list of replicates.
        golden: the judged queries.
        conventions: how a missing query, an extra query and a query without a relevant document
            count; by default, as in trec_eval. ``"lightgbm"``, ``"xgboost"`` and ``"catboost"``
            stand for those of that tool. ``ties`` and ``duplicates`` are always those of the run,
            because they were applied when it was made.
        chosen: single conventions by name, such as ``no_relevant="exclude"``, which override those
            of ``conventions``.

    Raises:
        RunError: the rankings of all judged queries are empty, so the ranker is broken, not bad; a
            query is missing or extra and the conventions make that an error; or replicates were
            ranked in different ways or have different queries.
        ConfigurationError: a convention is unknown, or contradicts the ties or duplicates of the
            run.
    """
    if chosen:
        usual = Conventions.of(conventions).to_dict()
        conventions = Conventions.from_dict({**usual, **chosen})
    evaluation = evaluation_of(run, golden, conventions)
    evaluation.warn_of_misfits()
    return evaluation


def evaluation_of(
    run: Run | Sequence[Run], golden: GoldenSet, conventions: Conventions | str | None = None
) -> Evaluation:
    """Return the evaluation of one run or of several, as `evaluate` does, without warnings."""
    if isinstance(run, Run):
        return Evaluation(usable_run(run, golden, conventions))
    foreign = next((each for each in run if not isinstance(each, Run)), None)
    if foreign is not None or not run:
        raise ConfigurationError(
            f"run={quoted(run, 60)} is invalid; give one run or more, such as Run.load(path)"
        )
    _refuse_other_ways(run)
    runs = [usable_run(each, golden, conventions) for each in run]
    _refuse_other_queries(runs)
    return Evaluation(runs[0] if len(runs) == 1 else MeanOfRuns(runs))


def _refuse_other_ways(runs: Sequence[Run]) -> None:
    """Refuse runs that were ranked on other golden sets, or in other ways."""
    for name in ("asked", "depth", "ties", "duplicates"):
        first = getattr(runs[0], name)
        for number, run in enumerate(runs[1:], 2):
            if getattr(run, name) != first:
                what = "golden set" if name == "asked" else name
                raise RunError(
                    f"replicates must differ only by chance, but {what} is "
                    f"{quoted(getattr(run, name))} in replicate {number} ('{quoted(run.name)}') "
                    f"and {quoted(first)} in replicate 1 ('{quoted(runs[0].name)}')"
                )


def _refuse_other_queries(runs: Sequence[RankedRun]) -> None:
    first = {*runs[0].missing}
    for number, each in enumerate(runs[1:], 2):
        differing = sorted(first.symmetric_difference(each.missing))
        if differing:
            has, lacks = (1, number) if differing[0] in each.missing else (number, 1)
            raise RunError(
                f"replicates must rank the same queries, but replicate {has} has query "
                f"'{quoted(differing[0])}', which replicate {lacks} lacks"
            )


class MeanOfRuns(RankedRun):
    """Several runs: the value of a query is the mean over them.

    Rankings and times are those of the first; a query on which any of them failed counts as failed.
    """

    def __init__(self, runs: Sequence[RankedRun]) -> None:
        first = runs[0]
        chosen = (first.name, first.depth, first.golden, first.conventions)
        super().__init__(*chosen, first.joined, run=first.run)
        self._runs = runs
        self.runs: Sequence[Evaluation] = tuple(map(Evaluation, runs))
        self.failed = {name: why for each in runs for name, why in each.failed.items()}

    @cached_property
    def identical(self) -> str:
        """Which two runs have the same rankings, as a sentence; empty if none have."""
        for number, each in enumerate(self._runs):
            for before, other in enumerate(self._runs[:number]):
                if all(each.ranking(name) == other.ranking(name) for name in self.query_ids):
                    return (
                        f"replicates {before + 1} and {number + 1} have the same rankings, so they "
                        "show no noise; does the ranker use the number of its replicate as a seed?"
                    )
        return ""

    @property
    def document_notes(self) -> Mapping[str, bool]:
        """What metrics did not know about documents of any run."""
        found = dict(super().document_notes)
        for each in self._runs:
            found |= each.document_notes
        return found

    def with_ties(self, order: TieOrder) -> RankedRun:
        """Return the runs with tied documents in another order."""
        return MeanOfRuns([each.with_ties(order) for each in self._runs])

    def averaged(self, metric: Metric, query_ids: Sequence[str], label: str) -> Averaged:
        """Return the mean of each run over some queries, without those that `failed`."""
        places = self.runs[0].places(each for each in query_ids if each not in self.failed)
        weights = self.runs[0].weights_of(metric, np.asarray(places, dtype=np.intp))
        columns = (metric.kind.column(each.values(metric)) for each in self.runs if places)
        means = [metric.mean(column[places], weights) for column in columns]
        return Averaged(len(self._runs), means)

    def values(self, metric: Metric) -> FloatArray:
        """Return the mean of each query's values in the runs, ``[Q]``."""
        return metric.kind.over_runs(each.values(metric) for each in self.runs)

    def __repr__(self) -> str:
        return f"{super().__repr__()}; mean of {len(self.runs)} replicates"
