"""What a comparison needs from each side, such as an evaluation or a baseline record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.metrics.metric_definition import Unit
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["Measured"]


class Measured(Protocol):
    """A measurement: values of metrics by query, and the tops of the rankings."""

    @property
    def unit(self) -> Unit:
        """What has a value: each query, or each session of a log."""

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries, in the order of `values`."""

    @property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments when it was measured."""

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: to the end."""

    @property
    def recorded_metrics(self) -> Sequence[Metric] | None:
        """The only metrics that have values; None if every metric can be computed."""

    @property
    def weights(self) -> FloatArray | None:
        """The weight of each query in the mean, ``[Q]``; None if all have the same."""

    @property
    def clusters(self) -> IntArray | None:
        """The number of the independent unit of each query, ``[Q]``; None: each is one."""

    def clusters_named(self, names: Sequence[str]) -> IntArray | None:
        """The numbers in `clusters` of units with these names, other numbers for unknown names.

        None if its queries are no clusters, or the names of the clusters are not known.
        """

    def fits(self, metric: Metric) -> bool:
        """Return whether it has values of a metric."""

    def noise(self, metric: Metric) -> float:
        """The standard deviation of the mean from run to run; NaN if it was not measured."""

    def slice_places(self, attribute: str) -> Mapping[str, Sequence[int]]:
        """The indexes of each slice's queries in `query_ids`; empty if they are not known."""

    def slice_counts(self, attribute: str) -> Mapping[str, int]:
        """How many queries each slice has; empty if that is not known."""

    def values(self, metric: Metric) -> FloatArray:
        """The value of each query, ``[Q]``; NaN for a query that does not count."""

    def ranking(self, query_id: str) -> Sequence[str]:
        """The documents ranked for a query, best first, as far down as is known."""

    def read_rankings(self, k: int) -> None:
        """Make `ranking` go down to rank ``k`` at least, if the whole rankings can be read."""

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """The known ranks of a query's documents, from 1."""
