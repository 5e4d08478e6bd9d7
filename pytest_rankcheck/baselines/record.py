"""The record of an approved evaluation, read from a baseline file or made from an evaluation."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.data_file import DataFiles, MissingDataError
from pytest_rankcheck.baselines.record_contents import (
    BEST_DECIMALS,
    TOP,
    RecordContents,
    RecordedMetric,
    SinceApproval,
    as_decimal,
    as_decimals,
)
from pytest_rankcheck.baselines.record_reader import contents_from_text
from pytest_rankcheck.baselines.recorded_clusters import (
    RecordedClusters,
    keyed_hashes,
    numbered,
    secret_key,
)
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.errors import BaselineError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.metric_values import numbers_of
from pytest_rankcheck.evaluation.recorded_precision import as_recorded
from pytest_rankcheck.files.packed_files import failures_named
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.metrics.metric_definition import Unit
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import first_ranks

if TYPE_CHECKING:
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

__all__ = ["Record", "best_as_recorded", "counts_of", "recorded_queries"]

_ATTEMPTS = 30
"""How often the data file of a header that stays the same is looked for."""

_STRICTEST = "tolerance(abs=0, rel=0)"
"""The default gate: nothing may fall."""


class Record(RecordContents):
    """An approved measurement, which an evaluation can be compared with."""

    @classmethod
    @checked_arguments
    def load(cls, path: str | PathLike[str]) -> Record:
        """Read the record in a baseline file.

        Args:
            path: the file.

        Raises:
            BaselineError: the file is missing, not a baseline, edited by hand, or written by a
                newer version of pytest-rankcheck.
        """
        file = Path(path)
        with failures_named(file, BaselineError):  # its name may be too long
            exists = file.exists()
        if not exists:
            raise BaselineError(
                f"{quoted(file)} is missing; pytest --snapshot-update records the baselines of the "
                "tests that it runs"
            )
        unchanged = 0
        while True:
            text = text_of(file, BaselineError)
            try:
                return cls.from_text(text, str(file), DataFiles(file))
            except MissingDataError:  # perhaps an update has just replaced both files
                if not file.exists():
                    raise
                # Two updates may also have brought back the same header.
                unchanged += text_of(file, BaselineError) == text
                if unchanged == _ATTEMPTS:
                    raise
                time.sleep(0.01)

    @classmethod
    def from_text(cls, text: str, path: str = "baseline", data: DataFiles | None = None) -> Record:
        """Return the record in the text of a baseline file.

        Args:
            text: the text.
            path: the file as messages name it.
            data: where the data file of a large record is; None: only a record in one file can be
                read.

        Raises:
            BaselineError: as in `load`.
        """
        contents = contents_from_text(text, path, data)
        return cls(**{name.name: getattr(contents, name.name) for name in fields(contents)})

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        gated: Mapping[Metric, str] | Iterable[Metric],
        watched: Iterable[Metric] = (),
        approvals: tuple[Approval, ...] = (),
        *,
        attributes: Iterable[str] = (),
        kept_depth: int = TOP,
        test: str = "",
        world: Mapping[str, str] | None = None,
        stability: Sequence[StabilityLimits] = (),
    ) -> Record:
        """Return the record of an evaluation that has no record yet.

        Args:
            evaluation: what was measured.
            gated: the metrics that the test gates; a mapping gives the text of each gate too.
            watched: further metrics to record.
            approvals: the reasons for changes, so far.
            attributes: the attributes by whose slices the test gates.
            kept_depth: how many documents of each ranking to keep.
            test: the test that it belongs to.
            world: what was ranked with.
            stability: the limits within which the test lets the rankings change.
        """
        pairs = gated.items() if isinstance(gated, Mapping) else ((m, _STRICTEST) for m in gated)
        gates = {str(metric): gate for metric, gate in pairs}
        names = [*sorted(gates), *sorted({str(metric) for metric in watched} - gates.keys())]
        gated_by = sorted(set(attributes))
        golden = evaluation.golden
        queries = recorded_queries(evaluation, names, gated_by, kept_depth)
        return cls(
            golden_name=golden.name,
            golden_queries=len(golden),
            golden_judgments=golden.judgment_count,
            golden_scale=float(golden.scale),
            golden_fingerprint=golden.fingerprint,
            depth=evaluation.depth,
            conventions=evaluation.conventions,
            kept={name: _first_kept(name, gates.get(name), evaluation) for name in names},
            queries=queries,
            approvals=approvals,
            slices={
                attribute: {value: len(ids) for value, ids in golden.slices(attribute).items()}
                for attribute in gated_by
            },
            kept_depth=kept_depth,
            test=test,
            since_approval=SinceApproval(len(golden), counts_of(queries, names)),
            world=world or {},
            clusters_kept=_clusters_kept(evaluation),
            stability=tuple(stability),
        )

    @property
    def gated(self) -> tuple[str, ...]:
        """The names of those that the test gates."""
        return tuple(name for name, kept in self.kept.items() if kept.gated)

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes."""
        return self.kept_depth

    def noise(self, metric: Metric) -> float:
        """Return the standard deviation of the mean from run to run; NaN if it is not known."""
        kept = self.kept.get(str(metric))
        return math.nan if kept is None or kept.noise is None else kept.noise

    def below_best(self, metric: Metric) -> float:
        """Return how far the recorded mean is below the best that was approved, at least 0.

        Raises:
            BaselineError: the record does not have this metric.
        """
        mean = self.mean(metric)
        best = self.kept[str(metric)].best
        return max(0.0, best - mean if metric.higher_is_better else mean - best)

    def fits(self, metric: Metric) -> bool:
        """Return whether it has values of a metric."""
        return str(metric) in self.metrics

    @property
    def unit(self) -> Unit:
        """What has a value: each query, or each session of a log."""
        of_sessions = any(metric.unit == "session" for metric in self.recorded_metrics)
        return "session" if of_sessions else "query"

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries, sorted."""
        return self.lines.ids

    @property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments when it was measured."""
        return self.lines.by_fingerprint

    def slice_places(self, attribute: str) -> Mapping[str, Sequence[int]]:
        """Return the places of each slice's sessions in `query_ids`; empty for queries."""
        places: dict[str, list[int]] = {}
        for place, slices in enumerate(self.lines.slices or ()):
            for value in slices.get(attribute, ()):
                places.setdefault(value, []).append(place)
        return places

    @cached_property
    def clusters(self) -> IntArray | None:
        """The number of the independent unit of each session, ``[Q]``; None: each is one."""
        units = self.lines.clusters
        if units is None:
            return None
        return np.array([self._cluster_codes[unit] for unit in units], dtype=np.int64)

    @cached_property
    def _cluster_codes(self) -> Mapping[int | str, int]:
        """The number of each recorded unit."""
        units = self.lines.clusters or ()
        return {unit: number for number, unit in enumerate(dict.fromkeys(units))}

    def clusters_named(self, names: Sequence[str]) -> IntArray | None:
        """Return the numbers in `clusters` of units with these names, other numbers for unknown.

        None if the record has numbers instead of keyed hashes, or the key is not at hand.
        """
        if self.clusters_kept is None or self.lines.clusters is None:
            return None
        hashes = self.clusters_kept.hashes(names)
        if hashes is None:
            return None
        known = {str(unit): number for unit, number in self._cluster_codes.items()}
        return numbers_of(hashes, known)

    def slice_counts(self, attribute: str) -> Mapping[str, int]:
        """Return how many queries each slice has; empty if it is not gated by the attribute."""
        return self.slices.get(attribute, {})

    def best_for(self, pairs: ComparedValues) -> float:
        """Return the best mean that was approved, on the queries of ``pairs``.

        It is as far above the recorded mean there as on all queries.
        """
        below, before = self.below_best(pairs.metric), pairs.mean_before
        return before + below if pairs.metric.higher_is_better else before - below

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the top of the ranking of a query, best first; empty if it is not recorded."""
        return self.lines.top(query_id)

    def read_rankings(self, k: int) -> None:
        """Do nothing: a record has no more of a ranking than its top."""

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the rank of each document of `ranking`."""
        return first_ranks(self.ranking(query_id))


def recorded_queries(
    evaluation: Evaluation, names: Sequence[str], attributes: Sequence[str], kept_depth: int
) -> RecordedQueries:
    """Return what to keep of each query, sorted: values of metrics, and the top of its ranking."""
    evaluation.read_rankings(kept_depth)
    ids = evaluation.query_ids
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.intp)
    ids = [ids[place] for place in order.tolist()]
    fingerprints, ranking = evaluation.query_fingerprints, evaluation.ranking
    members = _members(evaluation, attributes) if evaluation.unit == "session" else {}
    weights = evaluation.weights
    return RecordedQueries(
        ids,
        [fingerprints[query_id] for query_id in ids],
        {name: as_decimals(evaluation.values(name)[order]) for name in names},
        [tuple(ranking(query_id)[:kept_depth]) for query_id in ids],
        weights=None if weights is None else np.asarray(weights, dtype=np.float64)[order],
        slices=[members.get(place, {}) for place in order.tolist()] if members else None,
        clusters=_clusters(evaluation, order),
    )


def _clusters(evaluation: Evaluation, order: IntArray) -> Sequence[int | str] | None:
    """Return the independent unit of each session in the order of a record.

    None for queries: those of the next measurement are the same, and say it themselves.
    """
    names = evaluation.cluster_names
    if names is None or evaluation.unit != "session":
        return None
    ordered, key = [names[place] for place in order.tolist()], secret_key()
    return numbered(ordered) if key is None else keyed_hashes(ordered, key)


def _clusters_kept(evaluation: Evaluation) -> RecordedClusters | None:
    by = evaluation.golden.cluster_by
    if by is None:
        return None
    return RecordedClusters.of(by, secret_key() if evaluation.unit == "session" else None)


def counts_of(queries: RecordedQueries, names: Iterable[str]) -> Mapping[str, int]:
    """Return how many queries have a value, by the name of the metric."""
    return {name: queries.counted(name) for name in names}


def _first_kept(name: str, gate: str | None, evaluation: Evaluation) -> RecordedMetric:
    """Return what is kept of a metric that was not recorded before."""
    metric = Metric.parse(name)
    mean = metric.mean(as_recorded(evaluation.values(metric)), evaluation.weights)
    noise = as_decimal(evaluation.noise(metric))
    is_lower = not metric.higher_is_better
    return RecordedMetric(gate is not None, best_as_recorded(mean), noise, gate, is_lower)


def best_as_recorded(value: float) -> float:
    """Return a best mean as it comes back from a file."""
    decimal = as_decimal(value, BEST_DECIMALS)
    return math.nan if decimal is None else decimal


def _members(
    evaluation: Evaluation, attributes: Iterable[str]
) -> Mapping[int, Mapping[str, tuple[str, ...]]]:
    """Return the slices of each session, by its place."""
    members: dict[int, dict[str, tuple[str, ...]]] = {}
    for attribute in attributes:
        for value, places in evaluation.slice_places(attribute).items():
            for place in places:
                slices = members.setdefault(place, {})
                slices[attribute] = (*slices.get(attribute, ()), value)
    return members
