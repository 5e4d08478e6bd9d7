"""The lines of a record, held in columns; a line becomes an object when it is looked at."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import FloatArray, PlaceArray

__all__ = ["RecordedQueries", "RecordedQuery"]

Slices = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class RecordedQuery:
    """One query in a record."""

    fingerprint: str
    values: Mapping[str, float | None]
    """By metric; None where the query did not count."""
    top: tuple[str, ...]
    weight: float | None = None
    """How much the query counts; None where all count the same."""
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of a session: the slices that it belongs to, by gated attribute. The sessions of the next log
    are others, and are compared slice by slice with these."""
    cluster: int | str | None = None
    """Of a session: its independent unit, as a number or a keyed hash; None: it is one itself."""


class RecordedQueries(Mapping[str, RecordedQuery]):
    """The lines of a record by query id, sorted by id.

    Args:
        ids: the queries, sorted.
        fingerprints: the fingerprint of each.
        values: by metric, the value of each query, ``[Q]``; NaN where it did not count.
        tops: the first documents of the ranking of each.
        weights: how much each counts, ``[Q]``; None where all count the same.
        slices: of sessions, the slices of each; None for queries.
        clusters: of sessions, the independent unit of each; None: each is one.
    """

    def __init__(
        self,
        ids: Sequence[str],
        fingerprints: Sequence[str],
        values: Mapping[str, FloatArray],
        tops: Sequence[Sequence[str]],
        *,
        weights: FloatArray | None = None,
        slices: Sequence[Slices] | None = None,
        clusters: Sequence[int | str] | None = None,
    ) -> None:
        self.ids = ids
        self.fingerprints = fingerprints
        self.values_of = values
        """By metric, the value of each query, ``[Q]``; NaN where it did not count."""
        self.tops = tops
        self.weights = weights
        self.slices = slices
        self.clusters = clusters
        for column in values.values():
            column.setflags(write=False)  # it is handed out without a copy

    @classmethod
    def of(cls, lines: Mapping[str, RecordedQuery], metrics: Collection[str]) -> RecordedQueries:
        """Return the columns of some lines, with the values of some metrics.

        Raises:
            ValueError: some lines have a weight and others have none, or a cluster.
        """
        if isinstance(lines, RecordedQueries) and lines.values_of.keys() == set(metrics):
            return lines
        ids = sorted(lines)
        chosen = [lines[query_id] for query_id in ids]
        slices = [line.slices for line in chosen]
        weights = [line.weight for line in chosen if line.weight is not None]
        if weights and len(weights) < len(chosen):
            raise ValueError("some queries have a weight and others have none")
        clusters = [line.cluster for line in chosen if line.cluster is not None]
        if clusters and len(clusters) < len(chosen):
            raise ValueError("some sessions have a cluster and others have none")
        return cls(
            ids,
            [line.fingerprint for line in chosen],
            {name: _column(line.values.get(name) for line in chosen) for name in metrics},
            [line.top for line in chosen],
            weights=np.array(weights, dtype=np.float64) if weights else None,
            slices=slices if any(slices) else None,
            clusters=clusters or None,
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._places

    def __getitem__(self, query_id: str) -> RecordedQuery:
        place = self._places[query_id]
        return RecordedQuery(
            self.fingerprints[place],
            {name: _decimal(column[place]) for name, column in self.values_of.items()},
            tuple(self.tops[place]),
            None if self.weights is None else float(self.weights[place]),
            {} if self.slices is None else self.slices[place],
            None if self.clusters is None else self.clusters[place],
        )

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {query_id: place for place, query_id in enumerate(self.ids)}

    @cached_property
    def by_fingerprint(self) -> Mapping[str, str]:
        """The fingerprint of each query, by its id."""
        return dict(zip(self.ids, self.fingerprints, strict=True))

    def counted(self, metric: str) -> int:
        """Return how many queries have a value of a metric."""
        return int(np.count_nonzero(~np.isnan(self.values_of[metric])))

    def places(self, query_ids: Iterable[str]) -> PlaceArray:
        """Return the indexes of some queries."""
        return np.array([self._places[query_id] for query_id in query_ids], dtype=np.intp)

    def top(self, query_id: str) -> Sequence[str]:
        """Return the first documents of the ranking of a query; empty for an unknown query."""
        place = self._places.get(query_id)
        return () if place is None else self.tops[place]


def _column(values: Iterable[float | None]) -> FloatArray:
    numbers = [math.nan if value is None else value for value in values]
    return np.array(numbers, dtype=np.float64)


def _decimal(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
