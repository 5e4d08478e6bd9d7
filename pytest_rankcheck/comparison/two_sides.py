"""The values of an evaluation and of an earlier measurement, paired by query or as two samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.comparison.compared_values import SIDES, ComparedValues, Sides
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.query_overlap import QueryOverlap
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import as_recorded
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.unpaired_values import Unpaired

__all__ = ["TwoSides"]


class TwoSides(QueryOverlap):
    """The values of an evaluation and of an earlier measurement, for each metric and slice.

    Values are compared at six decimals, as records keep them.
    """

    def __init__(self, evaluation: Evaluation, other: Measured, sides: Sides = SIDES) -> None:
        super().__init__(evaluation, other)
        self.evaluation = evaluation
        self.sides = sides
        self._values: dict[Metric, ComparedValues] = {}
        self._slice_places: dict[str, Mapping[str, Sequence[int]]] = {}

    @cached_property
    def is_paired(self) -> bool:
        """Whether values are compared query by query.

        Sessions with the same ids are different ones if they belong to different users.
        """
        return super().is_paired and self._has_same_units

    @property
    def _has_same_units(self) -> bool:
        """Whether sessions with the same id belong to the same cluster, as far as known."""
        units = None if self.evaluation.unit == "query" else self._matched_units
        if units is None or self.other.clusters is None:
            return True
        before = dict(zip(self.other.query_ids, self.other.clusters.tolist(), strict=True))
        now = zip(self.evaluation.query_ids, units.tolist(), strict=True)
        return all(before.get(session_id) == unit for session_id, unit in now)

    def values(self, metric: MetricLike) -> ComparedValues:
        """Return a metric's values before and after, for the queries that count on both sides.

        They are `Paired` by query, or `Unpaired` for two logs with different sessions.

        Raises:
            MetricError: no such metric.
            BaselineError: the other side is a record without this metric.
        """
        parsed = Metric.parse(metric)
        if parsed not in self._values:
            make = self._paired if self.is_paired else self._unpaired
            self._values[parsed] = make(parsed)
        return self._values[parsed]

    def _paired(self, metric: Metric) -> Paired:
        weights, clusters = self.evaluation.weights, self.evaluation.clusters
        return Paired(
            metric,
            self.query_ids,
            as_recorded(self.other.values(metric)[self.other_places]),
            as_recorded(self.evaluation.values(metric)[self.places]),
            self._noise(metric),
            None if weights is None else weights[self.places],
            None if clusters is None else clusters[self.places],
            drawn_share=self.evaluation.drawn_share,
        ).counted()

    def _unpaired(
        self,
        metric: Metric,
        then: Sequence[int] | None = None,
        now: Sequence[int] | None = None,
    ) -> Unpaired:
        """Return the values of both samples, or of parts of them."""
        from pytest_rankcheck.comparison.unpaired_values import Unpaired

        ids, ids_before = self.evaluation.query_ids, self.other.query_ids
        before = as_recorded(self.other.values(metric))
        after = as_recorded(self.evaluation.values(metric))
        if then is not None and now is not None:
            before, after = before[np.asarray(then, np.intp)], after[np.asarray(now, np.intp)]
            ids = [ids[place] for place in now]
            ids_before = [ids_before[place] for place in then]
        units, units_before = self.evaluation.clusters, self.other.clusters
        if self._matched_units is not None:
            units = self._matched_units
        if then is not None and now is not None:
            units, units_before = _at(units, now), _at(units_before, then)
        counted, counted_before = ~np.isnan(after), ~np.isnan(before)
        return Unpaired(
            metric,
            tuple(compress(ids, counted)),
            before[counted_before],
            after[counted],
            self._noise(metric),
            before_ids=tuple(compress(ids_before, counted_before)),
            clusters=_at(units, counted),
            before_clusters=_at(units_before, counted_before),
            are_matched=self._matched_units is not None,
            sides=self.sides,
        )

    @cached_property
    def _matched_units(self) -> IntArray | None:
        """The unit of each value now, in the numbers of the other side; None if unknown there."""
        names = self.evaluation.cluster_names
        return None if names is None else self.other.clusters_named(names)

    def _noise(self, metric: Metric) -> float:
        """Return the noise of the approved side, or else of this one; NaN if neither was measured.

        A ranker that has become noisier must not be allowed to fall further.
        """
        approved = self.other.noise(metric)
        return self.evaluation.noise(metric) if math.isnan(approved) else approved

    def values_by(self, attribute: str, metric: MetricLike) -> Mapping[str, ComparedValues]:
        """Return the values of each slice before and after, by the attribute's value.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        values = self.values(metric)
        if not isinstance(values, Paired):
            then = self.other.slice_places(attribute)
            return {
                value: self._unpaired(values.metric, then.get(value, ()), places)
                for value, places in self.evaluation.slice_places(attribute).items()
            }
        if values.query_ids is not self.query_ids:  # some queries do not count
            slices = self._places_by(attribute, values.query_ids)
        else:
            if attribute not in self._slice_places:
                self._slice_places[attribute] = self._places_by(attribute, self.query_ids)
            slices = self._slice_places[attribute]
        return {value: values.at(places) for value, places in slices.items()}

    def _places_by(self, attribute: str, query_ids: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Return the indexes of each slice's queries in ``query_ids``."""
        place = {query_id: index for index, query_id in enumerate(query_ids)}
        return {
            value: [place[query_id] for query_id in of_slice if query_id in place]
            for value, of_slice in self.evaluation.slices(attribute).items()
        }


def _at(units: IntArray | None, chosen: BoolArray | Sequence[int]) -> IntArray | None:
    """Return the units of some values."""
    if units is None:
        return None
    places = chosen if isinstance(chosen, np.ndarray) else np.asarray(chosen, np.intp)
    return np.asarray(units[places])
