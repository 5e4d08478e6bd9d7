"""The comparison: an evaluation against an earlier measurement, paired by query or unpaired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray, IntArray, PlaceArray
from pytest_rankcheck.comparison.compared_values import ComparedValues, Paired, Unpaired
from pytest_rankcheck.comparison.measurement import (
    Measured,
    QueryOverlap,
    places_in,
    recorded_values,
)
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.statistics.run_noise import RunNoise

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.comparison.cause import Cause
    from pytest_rankcheck.comparison.rank_changes import Move
    from pytest_rankcheck.comparison.unjudged_documents import TopDocuments, Unjudged


def compare(evaluation: Evaluation, other: Measured) -> Comparison:
    """Compare ``evaluation`` with an earlier measurement, paired by query.

    Args:
        evaluation: what is measured now.
        other: what it is compared with: another evaluation, or a baseline record.
    """
    return Comparison(evaluation, other)


class Comparison(QueryOverlap):
    """An evaluation against an earlier measurement, on the queries that are unchanged.

    A query is unchanged if its text and its judgments are. Values are compared at six decimals, as
    records keep them.
    """

    def __init__(
        self, evaluation: Evaluation, other: Measured, *, has_earlier_terms: bool = False
    ) -> None:
        super().__init__(evaluation, other)
        self.evaluation = evaluation
        self._has_earlier_terms = has_earlier_terms
        self._values: dict[Metric, ComparedValues] = {}
        self._slices: dict[tuple[str, Metric], Mapping[str, ComparedValues]] = {}
        self._top_documents: dict[int, TopDocuments] = {}

    @cached_property
    def query_ids(self) -> tuple[str, ...]:
        """The queries that are compared: unchanged, and not `failed`."""
        unchanged = super().query_ids
        return tuple(query_id for query_id in unchanged if query_id not in self.failed)

    @cached_property
    def failed(self) -> Mapping[str, str]:
        """The queries on which the ranker of one side failed, and why; they are left out."""
        return {**self.other.failed, **self.evaluation.failed}

    # --- the terms of the comparison: slices, independent units, noise ------------------------

    def by_earlier_terms(self) -> Comparison:
        """Return the same comparison by the slices and clusters of the other side.

        The noise of several runs is by earlier terms too: see `RunNoise.by_earlier_terms`.
        """
        return Comparison(self.evaluation, self.other, has_earlier_terms=True)

    def slice_places(self, attribute: str) -> Mapping[str, Sequence[int]]:
        """Return the indexes of each slice's queries in the evaluation.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        if not self._has_earlier_terms:
            slices = self.evaluation.slices(attribute)
            return {value: self.evaluation.places(ids) for value, ids in slices.items()}
        places = dict(zip(self.other_places.tolist(), self.places.tolist(), strict=True))
        return {
            value: [places[place] for place in then if place in places]
            for value, then in self.other.slice_places(attribute).items()
        }

    def clusters(self, now: PlaceArray, then: PlaceArray) -> IntArray | None:
        """Return the number of the independent unit of some queries; None: each is one.

        Args:
            now: their indexes in the evaluation.
            then: their indexes on the other side.
        """
        if self._has_earlier_terms and self.other.clusters is not None:
            return self.other.clusters[then]
        clusters = self.evaluation.clusters
        return None if clusters is None else clusters[now]

    @cached_property
    def answers(self) -> tuple[Set[str], Set[str]]:
        """The queries that lost their answers, and those that gained some in the same way."""
        from pytest_rankcheck.comparison.rank_changes import TOP, answers_between

        tops = self.other.tops(TOP), self.evaluation.tops(TOP)
        return answers_between(*tops, self.evaluation.golden)

    # --- values ------------------------------------------------------------------------------

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

    def values_by(self, attribute: str, metric: MetricLike) -> Mapping[str, ComparedValues]:
        """Return the values of each slice before and after, by the attribute's value.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        parsed = Metric.parse(metric)
        if (attribute, parsed) not in self._slices:
            self._slices[attribute, parsed] = dict(self._parts(attribute, parsed))
        return self._slices[attribute, parsed]

    def _parts(self, attribute: str, metric: Metric) -> Iterator[tuple[str, ComparedValues]]:
        values, then = self.values(metric), self.other.slice_places(attribute)
        metric.kind.refuse_parts(metric)
        chosen = places_in(self.evaluation.query_ids, values.query_ids).tolist()
        index = {place: number for number, place in enumerate(chosen)}
        for value, places in self.slice_places(attribute).items():
            if isinstance(values, Paired):
                part = values.at([index[place] for place in places if place in index])
                yield value, self._with_noise(part, f"{attribute}={value}")
            else:
                yield value, self._unpaired(metric, then.get(value, ()), places)

    def _paired(self, metric: Metric) -> Paired:
        ids = metric.kind.compared_ids(metric, self)
        now, then = self.places, self.other_places
        if ids is not self.query_ids:
            now, then = (places_in(of_side, ids) for of_side in self.all_ids)
        weights = self.evaluation.weights_of(metric)
        pairs = Paired(
            metric,
            ids,
            recorded_values(self.other, metric)[then],
            recorded_values(self.evaluation, metric)[now],
            weights=None if weights is None else weights[now],
            clusters=metric.kind.for_each(self.clusters(now, then)),
            drawn_share=self.evaluation.drawn_share,
        )
        return self._with_noise(pairs.counted(), "")

    def _unpaired(
        self,
        metric: Metric,
        then: Sequence[int] | None = None,
        now: Sequence[int] | None = None,
    ) -> Unpaired:
        """Return the values of both samples, or of parts of them."""
        ids, after, clusters = _sample(self.evaluation, metric, now)
        _, before, before_clusters = _sample(self.other, metric, then)
        return Unpaired(
            metric,
            ids,
            before,
            after,
            clusters=clusters,
            before_clusters=before_clusters,
        )

    def _with_noise(self, pairs: Paired, label: str) -> Paired:
        """Return pairs with the noise of their means between runs, if a side averages several.

        Args:
            pairs: those of all queries, or of a slice.
            label: the slice as ``attribute=value``; empty for all queries.
        """
        asked = pairs.metric, pairs.query_ids, label
        sides = self.other.averaged(*asked), self.evaluation.averaged(*asked)
        noise = RunNoise.pooled(*sides)
        if noise is not None and self._has_earlier_terms:
            noise = noise.by_earlier_terms()
        return pairs if noise is None else replace(pairs, noise=noise)

    # --- what users ask ----------------------------------------------------------------------

    @checked_arguments
    def p(self, metric: MetricLike) -> float:
        """Return the one-sided p of a fall: small if chance does not explain it.

        It is that of a paired sign-flip test. For two samples, it is that of Welch's t-test or, if
        one has fewer than 1,000 values, of a permutation test.

        Args:
            metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
        """
        return self.values(metric).p_of_fall()

    @checked_arguments
    def interval(self, metric: MetricLike, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the mean difference, after minus before.

        Student's t; NaN with fewer than two queries.
        """
        return self.values(metric).interval(level)

    def table(self, metric: MetricLike) -> pd.DataFrame:
        """Return ``before``, ``after`` and ``delta`` of each query, indexed by ``query_id``."""
        import pandas as pd

        pairs = self.values(metric)
        return pd.DataFrame(
            {"before": pairs.before, "after": pairs.after, "delta": pairs.after - pairs.before},
            index=pd.Index(pairs.query_ids, name="query_id"),
        )

    def by(self, attribute: str, metric: MetricLike) -> pd.DataFrame:
        """Return the comparison of each slice, indexed by the attribute.

        Columns: ``before``, ``after``, ``delta``, ``queries``, ``wins``, ``ties``, ``losses``.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        import pandas as pd

        slices = self.values_by(attribute, metric).items()
        rows = {value: _row_of(values) for value, values in slices}
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = attribute
        return frame

    @checked_arguments
    def moved(self, query_id: str, k: int = 10) -> Sequence[Move]:
        """Return the documents in a query's top k, then or now, whose rank differs.

        Documents with a positive grade come first, the highest grade and the longest fall before
        the others; then the rest by their rank now. ``before`` and ``after`` are None for a
        document outside the known part of a ranking: a record keeps the top of each, and so does
        the evaluation of a run that is still in its file, unless ``k`` is beyond that top.
        """
        from pytest_rankcheck.comparison.rank_changes import moves_between

        return moves_between(self.evaluation, self.other, query_id, k)

    def in_common(self, metric: MetricLike, world: Sequence[str] = ()) -> Sequence[Cause]:
        """Return what the queries that fell have in common, facts first, then the best contrasts.

        A cause is named if the queries that have it account for a third of the fall. A contrast
        must also be more frequent among the queries that fell than chance explains, and have more
        falls than rises. The result is empty without causes, and if no query has a difference of
        its own, as for metrics of the whole run and two different logs.

        Args:
            metric: the metric that fell.
            world: how the world that was declared has changed, in sentences.
        """
        from pytest_rankcheck.comparison.in_common import causes_in_common

        return causes_in_common(self.evaluation, self.other, self.values(metric), world)

    def unjudged(self, metric: MetricLike) -> Unjudged:
        """Return how much of the difference unjudged documents could explain.

        It counts the unjudged documents that are new in the top k (the metric's cutoff, else 10)
        and those that left it. It gives their numbers, and the difference if all of them were
        irrelevant, if only the new ones had the highest grade, or only those that left.
        """
        return self.unjudged_in(self.values(metric))

    def unjudged_in(self, values: ComparedValues, *, in_full: bool = True) -> Unjudged:
        """Return how much unjudged documents could explain, for all queries or for a slice.

        Args:
            values: those of the queries.
            in_full: whether to compute all bounds, or only that of the new ones.
        """
        from pytest_rankcheck.comparison.unjudged_documents import unjudged_between

        sides = self.evaluation, self.other
        return unjudged_between(*sides, values, self._top_documents, in_full=in_full)

    def __repr__(self) -> str:
        return f"Comparison({len(self.query_ids)} queries of {self.evaluation!r})"


def _row_of(values: ComparedValues) -> dict[str, float]:
    """Return the row of a table that shows what was compared."""
    return {
        "before": values.mean_before,
        "after": values.mean_after,
        "delta": values.difference,
        "queries": len(values.query_ids),
        "wins": values.wins,
        "ties": values.ties,
        "losses": values.losses,
    }


def _sample(
    side: Measured, metric: Metric, places: Sequence[int] | None
) -> tuple[tuple[str, ...], FloatArray, IntArray | None]:
    """Return the ids, values and units of all or some sessions, if they have a value."""
    values = recorded_values(side, metric)
    chosen = np.arange(len(values)) if places is None else np.asarray(places, np.intp)
    chosen = chosen[~np.isnan(values[chosen])]
    ids, units = side.query_ids, side.clusters
    chosen_ids = tuple(ids[place] for place in chosen.tolist())
    return chosen_ids, values[chosen], None if units is None else units[chosen]
