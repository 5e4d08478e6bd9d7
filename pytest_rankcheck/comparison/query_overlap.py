"""The queries that two measurements share unchanged, and how the others differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from pytest_rankcheck.array_types import PlaceArray
from pytest_rankcheck.comparison.measurement import Measured

__all__ = ["QueryOverlap"]


class QueryOverlap:
    """The queries of a measurement and of an earlier one.

    A query is unchanged if its text and its judgments are.
    """

    def __init__(self, measured: Measured, other: Measured) -> None:
        self.measured = measured
        self.other = other

    @cached_property
    def is_paired(self) -> bool:
        """Whether values are compared query by query.

        Two logs rarely have the same sessions; then one sample is compared with the other.
        """
        if self.measured.unit == "query":
            return True
        return set(self.measured.query_ids) == set(self.other.query_ids)

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
        return self._places_in(self.measured.query_ids)

    @cached_property
    def other_places(self) -> PlaceArray:
        """The indexes of the compared queries in the earlier measurement."""
        return self._places_in(self.other.query_ids)

    @property
    def _fingerprints(self) -> tuple[Mapping[str, str], Mapping[str, str]]:
        return self.measured.query_fingerprints, self.other.query_fingerprints

    def _places_in(self, query_ids: Sequence[str]) -> PlaceArray:
        place = {query_id: index for index, query_id in enumerate(query_ids)}
        return np.array([place[query_id] for query_id in self.query_ids], dtype=np.intp)
