"""The comparison: an evaluation against an earlier measurement, paired by query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.comparison.document_moves import Move, moves_between
from pytest_rankcheck.comparison.label_noise import LabelSensitivity, Ruling, label_sensitivity
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.paired_values import Paired, as_recorded
from pytest_rankcheck.comparison.two_sample_values import Unpaired
from pytest_rankcheck.comparison.unjudged_documents import Unjudged, unjudged_in
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.notebook import PlotKind, comparison_html, comparison_plot
from pytest_rankcheck.statistics.paired_tests import PairedTest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "Move", "compare"]


def compare(evaluation: Evaluation, other: Measured) -> Comparison:
    """Compare ``evaluation`` with an earlier measurement, paired by query.

    Args:
        evaluation: what is measured now.
        other: what it is compared with: another evaluation, or a baseline record.
    """
    return Comparison(evaluation, other)


class Comparison:
    """An evaluation against an earlier measurement, on the queries that both have unchanged.

    A query is unchanged when its text and its judgments are. Values are compared at six decimals,
    as records keep them.
    """

    def __init__(self, evaluation: Evaluation, other: Measured) -> None:
        self.evaluation = evaluation
        self.other = other
        self._paired: dict[Metric, Paired] = {}
        self._slice_places: dict[str, Mapping[str, Sequence[int]]] = {}

    @cached_property
    def is_paired(self) -> bool:
        """Whether values are compared query by query.

        Two logs seldom have the same sessions: then it is sample against sample.
        """
        if self.evaluation.unit == "query":
            return True
        return set(self.evaluation.query_ids) == set(self.other.query_ids)

    @cached_property
    def query_ids(self) -> tuple[str, ...]:
        """The queries that are compared, in the evaluation's order."""
        if not self.is_paired:
            return tuple(self.evaluation.query_ids)
        now, then = self.evaluation.query_fingerprints, self.other.query_fingerprints
        return tuple(
            query_id
            for query_id in self.evaluation.query_ids
            if then.get(query_id) == now[query_id]
        )

    @cached_property
    def changed(self) -> Sequence[str]:
        """The queries that both have, with another text or other judgments."""
        now, then = self.evaluation.query_fingerprints, self.other.query_fingerprints
        return tuple(
            query_id for query_id in now if query_id in then and then[query_id] != now[query_id]
        )

    @cached_property
    def added(self) -> Sequence[str]:
        """The queries that only the evaluation has."""
        then = self.other.query_fingerprints
        return tuple(query_id for query_id in self.evaluation.query_ids if query_id not in then)

    @cached_property
    def removed(self) -> Sequence[str]:
        """The queries that only the other side has."""
        now = self.evaluation.query_fingerprints
        return tuple(query_id for query_id in self.other.query_ids if query_id not in now)

    def paired(self, metric: MetricLike) -> Paired:
        """Return the values of a metric before and after, on the queries that count on both sides.

        Raises:
            MetricError: no such metric.
            BaselineError: the other side is a record that does not have it.
        """
        parsed = Metric.parse(metric)
        if parsed not in self._paired and not self.is_paired:
            self._paired[parsed] = self._unpaired(parsed)
        if parsed not in self._paired:
            before = as_recorded(self.other.values(parsed)[self._other_places])
            after = as_recorded(self.evaluation.values(parsed)[self._places])
            both = ~(np.isnan(before) | np.isnan(after))
            ids = tuple(compress(self.query_ids, both)) if not both.all() else self.query_ids
            weights, clusters = self.evaluation.weights, self.evaluation.clusters
            self._paired[parsed] = Paired(
                parsed,
                ids,
                before[both],
                after[both],
                self._noise(parsed),
                None if weights is None else weights[self._places][both],
                None if clusters is None else clusters[self._places][both],
            )
        return self._paired[parsed]

    def _unpaired(
        self,
        metric: Metric,
        then: Sequence[int] | None = None,
        now: Sequence[int] | None = None,
    ) -> Unpaired:
        """Return the values of both samples, or of parts of them."""
        ids = self.evaluation.query_ids
        before = as_recorded(self.other.values(metric))
        after = as_recorded(self.evaluation.values(metric))
        if then is not None and now is not None:
            before, after = before[np.asarray(then, np.intp)], after[np.asarray(now, np.intp)]
            ids = [ids[place] for place in now]
        counted = ~np.isnan(after)
        return Unpaired(
            metric,
            tuple(compress(ids, counted)),
            before[~np.isnan(before)],
            after[counted],
            self._noise(metric),
        )

    def _noise(self, metric: Metric) -> float:
        """Return the larger of what is known of the noise of both sides; NaN if nothing is."""
        known = (self.evaluation.noise(metric), self.other.noise(metric))
        return max((noise for noise in known if not math.isnan(noise)), default=math.nan)

    def wins(self, metric: MetricLike) -> int:
        """Return how many queries are better."""
        return self.paired(metric).wins

    def ties(self, metric: MetricLike) -> int:
        """Return how many queries are equal."""
        return self.paired(metric).ties

    def losses(self, metric: MetricLike) -> int:
        """Return how many queries are worse."""
        return self.paired(metric).losses

    def mean_difference(self, metric: MetricLike) -> float:
        """Return the mean difference, after minus before."""
        return self.paired(metric).difference

    def p(self, metric: MetricLike, test: PairedTest = "sign_flip") -> float:
        """Return the one-sided p of a fall: small where it is more than chance.

        ``test`` is ``"sign_flip"``, ``"t"``, ``"wilcoxon"`` or ``"bootstrap"``, paired by query.
        """
        return self.paired(metric).p_of_fall(test)

    def interval(self, metric: MetricLike, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the mean difference, after minus before.

        Student's t; NaN of fewer than two queries.
        """
        pairs = self.paired(metric)
        low, high = pairs.differences.interval(level)
        return (low, high) if pairs.metric.higher_is_better else (-high, -low)

    def deltas(self, metric: MetricLike) -> pd.Series:
        """Return after minus before of each query, indexed by ``query_id``."""
        import pandas as pd

        pairs = self.paired(metric)
        index = pd.Index(pairs.query_ids, name="query_id")
        return pd.Series(pairs.after - pairs.before, index=index, name=str(pairs.metric))

    def table(self, metric: MetricLike) -> pd.DataFrame:
        """Return ``before``, ``after`` and ``delta`` of each query, indexed by ``query_id``."""
        import pandas as pd

        pairs = self.paired(metric)
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

        rows = {
            value: {
                "before": pairs.mean_before,
                "after": pairs.mean_after,
                "delta": pairs.difference,
                "queries": len(pairs.query_ids),
                "wins": pairs.wins,
                "ties": pairs.ties,
                "losses": pairs.losses,
            }
            for value, pairs in self.paired_by(attribute, metric).items()
        }
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = attribute
        return frame

    def paired_by(self, attribute: str, metric: MetricLike) -> Mapping[str, Paired]:
        """Return the paired values of each slice, by the attribute's value.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        if not self.is_paired:
            then = self.other.slice_places(attribute)
            return {
                value: self._unpaired(Metric.parse(metric), then.get(value, ()), now)
                for value, now in self.evaluation.slice_places(attribute).items()
            }
        pairs = self.paired(metric)
        if pairs.query_ids is not self.query_ids:  # some queries do not count
            places = self._places_of(attribute, pairs.query_ids)
        else:
            if attribute not in self._slice_places:
                self._slice_places[attribute] = self._places_of(attribute, self.query_ids)
            places = self._slice_places[attribute]
        return {value: pairs.at(found) for value, found in places.items()}

    def _places_of(self, attribute: str, query_ids: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Return where the queries of each slice stand among some."""
        place = {query_id: index for index, query_id in enumerate(query_ids)}
        return {
            value: [place[query_id] for query_id in of_slice if query_id in place]
            for value, of_slice in self.evaluation.golden.slices(attribute).items()
        }

    def moved(self, query_id: str, k: int = 10) -> Sequence[Move]:
        """Return the documents of a query's top k, then and now, whose rank differs.

        Documents of a positive grade come first, those that fell furthest before the others;
        then the rest by their rank now. ``before`` is None for a document that was not in the
        part of the earlier ranking that is known (a record keeps the top of each), ``after`` for
        one that is not ranked any more.
        """
        return moves_between(self.other, self.evaluation, query_id, k)

    def unjudged_entered(self, k: int = 10) -> int:
        """Return how many documents without a judgment are new in the top k, over all queries."""
        return sum(
            move.entered and move.grade is None
            for query_id in self.query_ids
            for move in self.moved(query_id, k)
        )

    def unjudged(self, metric: MetricLike) -> Unjudged:
        """Return how much of the difference documents without a judgment could be.

        Those are meant that are new in the top k (the metric's cutoff, else 10): how many, the
        change of Judged@k, and the difference if all were irrelevant, or of the highest grade.
        """
        return unjudged_in(self, self.paired(metric))

    def label_sensitivity(
        self,
        metric: MetricLike,
        flip: float = 0.05,
        *,
        gate: Ruling | None = None,
        draws: int = 500,
    ) -> LabelSensitivity:
        """Return how often the verdict survives if a share of the judgments is wrong.

        In each draw that share of the judgments of the compared queries gets another grade, any
        that occurs in them or 0, and both sides are measured anew.

        Args:
            metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
            flip: the share of judgments that are wrong, 0 to 1.
            gate: the gate whose verdict is meant; without one, which way the mean moved.
            draws: how often; the same draws every time.

        Raises:
            ConfigurationError: the share or the number of draws is none.
            MetricError: no such metric, or the rankings are not known far enough down for it: a
                baseline record knows ten documents a query.
        """
        return label_sensitivity(self, Metric.parse(metric), flip, gate, draws)

    @cached_property
    def _places(self) -> Sequence[int]:
        place = {query_id: index for index, query_id in enumerate(self.evaluation.query_ids)}
        return np.array([place[query_id] for query_id in self.query_ids], dtype=np.intp)  # type: ignore[return-value]

    @cached_property
    def _other_places(self) -> Sequence[int]:
        place = {query_id: index for index, query_id in enumerate(self.other.query_ids)}
        return np.array([place[query_id] for query_id in self.query_ids], dtype=np.intp)  # type: ignore[return-value]

    def plot(self, metric: MetricLike, kind: PlotKind = "bars") -> Any:
        """Return an Altair chart of the change of each query, for a notebook.

        Args:
            metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
            kind: ``"bars"``, worst first; ``"scatter"``, before against now; or ``"histogram"``.

        Raises:
            ConfigurationError: Altair is not installed, or there is no such kind.
        """
        return comparison_plot(self, Metric.parse(metric), kind)

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        recorded = self.other.recorded_metrics
        return comparison_html(self, self.evaluation.computed if recorded is None else recorded)

    def __repr__(self) -> str:
        return f"Comparison({len(self.query_ids)} queries of {self.evaluation!r})"
