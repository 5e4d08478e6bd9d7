"""Two measurements, such as an evaluation and a baseline record, and what they share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray, PlaceArray
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import as_recorded
from pytest_rankcheck.metrics.kinds import MeasurementKind
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.run_noise import Averaged

Tops = Mapping[str, Sequence[str]]
"""The first documents of each query's ranking, best first."""


class Measured(Protocol):
    """A measurement: values of metrics by query, and the tops of the rankings."""

    @property
    def kind(self) -> MeasurementKind:
        """What has a value: each query, or each session of a log."""

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries, in the order of `values`."""

    @property
    def failed(self) -> Mapping[str, str]:
        """The queries on which the ranker failed, and why."""

    @property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments when it was measured."""

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: to the end."""

    @property
    def relevant_depth(self) -> int | None:
        """How far down `ranks` has the relevant documents; None: to the end."""

    @property
    def recorded_metrics(self) -> Sequence[Metric] | None:
        """The only metrics that have values; None if every metric can be computed."""

    @property
    def clusters(self) -> IntArray | None:
        """The number of the independent unit of each query, ``[Q]``; None: each is one."""

    @property
    def cluster_names(self) -> Sequence[str] | None:
        """The name of the independent unit of each query, in order; None if units have no names."""

    def mean(self, metric: Metric) -> float:
        """The mean of a metric over the queries that count."""

    def weights_of(self, metric: Metric) -> FloatArray | None:
        """The weight of each query in the mean of a metric, ``[Q]``; None: all have the same."""

    def fits(self, metric: Metric) -> bool:
        """Return whether it has values of a metric."""

    def averaged(self, metric: Metric, query_ids: Sequence[str] = (), label: str = "") -> Averaged:
        """The runs behind a mean over some queries, of the slice ``label`` or of all."""

    def slice_places(self, attribute: str) -> Mapping[str, Sequence[int]]:
        """The indexes of each slice's queries in `query_ids`; empty if they are not known."""

    def values(self, metric: Metric) -> FloatArray:
        """The value of each query, ``[Q]``; NaN for a query that does not count."""

    def ranking(self, query_id: str) -> Sequence[str]:
        """The documents ranked for a query, best first, as far down as is known."""

    def tops(self, depth: int | None = None) -> Tops:
        """The first documents of each query's ranking, or all that are known."""

    def read_rankings(self, k: int) -> None:
        """Make `ranking` go down to rank ``k`` at least, if the whole rankings can be read."""

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """The known ranks of a query's documents, from 1."""


class QueryOverlap:
    """The queries of a measurement and of an earlier one.

    A query is unchanged if its text and its judgments are.
    """

    def __init__(self, measured: Measured, other: Measured) -> None:
        self.measured = measured
        self.other = other

    @cached_property
    def all_ids(self) -> tuple[Sequence[str], Sequence[str]]:
        """All queries of the later measurement, and of the earlier one."""
        return self.measured.query_ids, self.other.query_ids

    @property
    def all_units(self) -> tuple[Sequence[str] | None, Sequence[str] | None]:
        """The names of their independent units; None if they have no names."""
        return self.measured.cluster_names, self.other.cluster_names

    @cached_property
    def is_paired(self) -> bool:
        """Whether values are compared query by query; otherwise, as two samples."""
        return self.measured.kind.is_paired(self)

    @cached_property
    def query_ids(self) -> tuple[str, ...]:
        """The queries that are compared, in the order of the later measurement."""
        if not self.is_paired:
            return tuple(self.measured.query_ids)
        now, then = self._fingerprints
        return tuple(
            query_id for query_id in self.measured.query_ids if then.get(query_id) == now[query_id]
        )

    @cached_property
    def changed(self) -> Sequence[str]:
        """The queries on both sides with different texts or judgments."""
        now, then = self._fingerprints
        return tuple(
            query_id for query_id in now if query_id in then and then[query_id] != now[query_id]
        )

    @cached_property
    def added(self) -> Sequence[str]:
        """The queries that only the later measurement has."""
        _, then = self._fingerprints
        return tuple(query_id for query_id in self.measured.query_ids if query_id not in then)

    @cached_property
    def removed(self) -> Sequence[str]:
        """The queries that only the earlier measurement has."""
        now, _ = self._fingerprints
        return tuple(query_id for query_id in self.other.query_ids if query_id not in now)

    @cached_property
    def places(self) -> PlaceArray:
        """The indexes of the compared queries in the later measurement."""
        return places_in(self.measured.query_ids, self.query_ids)

    @cached_property
    def other_places(self) -> PlaceArray:
        """The indexes of the compared queries in the earlier measurement."""
        return places_in(self.other.query_ids, self.query_ids)

    @property
    def _fingerprints(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return self.measured.query_fingerprints, self.other.query_fingerprints


def places_in(query_ids: Sequence[str], chosen: Iterable[str]) -> PlaceArray:
    """Return the index of each of some queries among all."""
    place = {query_id: index for index, query_id in enumerate(query_ids)}
    return np.array([place[query_id] for query_id in chosen], dtype=np.intp)


def recorded_values(side: Measured, metric: Metric) -> FloatArray:
    """Return the value of each query, rounded as in a record, ``[Q]``."""
    return as_recorded(metric.kind.column(side.values(metric)))


def mean_before(evaluation: Evaluation, other: Measured | None, metric: Metric) -> float:
    """Return the mean before; NaN if the golden set has changed, so that it is over other queries.

    Two logs always have other sessions.
    """
    if other is None or not other.fits(metric):
        return math.nan
    is_same = evaluation.query_fingerprints == other.query_fingerprints
    has_mean = is_same or not evaluation.kind.recur or not metric.kind.has_parts
    return other.mean(metric) if has_mean else math.nan
