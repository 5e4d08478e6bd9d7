"""The comparison: an evaluation against an earlier measurement, paired by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.two_sides import TwoSides
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation, html_table
from pytest_rankcheck.metrics.metric_names import MetricLike, usual_metrics
from pytest_rankcheck.statistics.named_tests import FallTest

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.comparison.document_moves import Move
    from pytest_rankcheck.comparison.label_noise import LabelSensitivity, Ruling
    from pytest_rankcheck.comparison.unjudged_documents import Unjudged

__all__ = ["Comparison", "compare"]


@checked_arguments
def compare(evaluation: Evaluation, other: Measured) -> Comparison:
    """Compare ``evaluation`` with an earlier measurement, paired by query.

    Args:
        evaluation: what is measured now.
        other: what it is compared with: another evaluation, or a baseline record.
    """
    return Comparison(evaluation, other)


class Comparison(TwoSides):
    """An evaluation against an earlier measurement, on the queries that are unchanged.

    A query is unchanged if its text and its judgments are. Values are compared at six decimals, as
    records keep them.
    """

    def wins(self, metric: MetricLike) -> int:
        """Return the number of queries that are better."""
        return self.values(metric).wins

    def ties(self, metric: MetricLike) -> int:
        """Return the number of queries that are equal."""
        return self.values(metric).ties

    def losses(self, metric: MetricLike) -> int:
        """Return the number of queries that are worse."""
        return self.values(metric).losses

    def mean_difference(self, metric: MetricLike) -> float:
        """Return the mean difference, after minus before."""
        return self.values(metric).difference

    @checked_arguments
    def p(
        self,
        metric: MetricLike,
        test: FallTest = "sign_flip",
        *,
        range: tuple[float, float] | None = None,
    ) -> float:
        """Return the one-sided p of a fall: small if it is more than chance.

        Args:
            metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
            test: ``"sign_flip"``, ``"t"``, ``"bootstrap"`` or ``"guaranteed"``, paired by query. Of
                two samples, p is that of Welch's t-test or, with ``"guaranteed"``, of a bound by
                betting on each.
            range: with ``"guaranteed"``, the lowest and the highest possible value if the metric's
                own range is not finite.

        Raises:
            ConfigurationError: with ``"guaranteed"``, no finite range, or a value outside of it.
        """
        values = self.values(metric)
        if range is not None:
            from pytest_rankcheck.comparison.ordered_bets import checked_range

            values = replace(values, declared_range=checked_range(range, test))
        return values.p_of_fall(test)

    @checked_arguments
    def interval(self, metric: MetricLike, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the mean difference, after minus before.

        Student's t; NaN with fewer than two queries.
        """
        pairs = self.values(metric)
        low, high = pairs.differences.interval(level)
        return (low, high) if pairs.metric.higher_is_better else (-high, -low)

    def deltas(self, metric: MetricLike) -> pd.Series:
        """Return after minus before of each query, indexed by ``query_id``."""
        import pandas as pd

        pairs = self.values(metric)
        index = pd.Index(pairs.query_ids, name="query_id")
        return pd.Series(pairs.after - pairs.before, index=index, name=str(pairs.metric))

    def table(self, metric: MetricLike) -> pd.DataFrame:
        """Return ``before``, ``after`` and ``delta`` of each query, indexed by ``query_id``."""
        import pandas as pd

        pairs = self.values(metric)
        return pd.DataFrame(
            {"before": pairs.before, "after": pairs.after, "delta": pairs.after - pairs.before},
            index=pd.Index(pairs.query_ids, name="query_id"),
        )

    @checked_arguments
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
            for value, pairs in self.values_by(attribute, metric).items()
        }
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
        from pytest_rankcheck.comparison.document_moves import moves_between

        return moves_between(self.evaluation, self.other, query_id, k)

    @checked_arguments
    def unjudged_entered(self, k: int = 10) -> int:
        """Return how many unjudged documents are new in the top k, over all queries."""
        return sum(
            move.entered and move.grade is None
            for query_id in self.query_ids
            for move in self.moved(query_id, k)
        )

    def unjudged(self, metric: MetricLike) -> Unjudged:
        """Return how much of the difference unjudged documents could explain.

        Counted are those that are new in the top k (the metric's cutoff, else 10) and those that
        left it: how many there are, the change of Judged@k, and the difference if all of them were
        irrelevant, if only the new ones had the highest grade, or only those that left. If the mean
        fell, also how many of the new ones would have to be relevant for the fall to vanish.
        """
        from pytest_rankcheck.comparison.unjudged_documents import unjudged_between

        return unjudged_between(self.evaluation, self.other, self.values(metric))

    @checked_arguments
    def label_sensitivity(
        self,
        metric: MetricLike,
        flip: float = 0.05,
        *,
        gate: Ruling | None = None,
        draws: int = 500,
    ) -> LabelSensitivity:
        """Return how often the verdict survives if a share of the judgments is wrong.

        In each draw that share of the judgments of the compared queries gets another grade: any
        grade that occurs in them, or 0. Both sides are then measured again.

        Args:
            metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
            flip: the share of judgments that are wrong, 0 to 1.
            gate: the gate that gives the verdict; without one, the direction of the mean.
            draws: the number of draws; they are the same every time.

        Raises:
            ConfigurationError: ``flip`` or ``draws`` is out of range.
            MetricError: no such metric, or the rankings are not known far enough down for it: a
                baseline record has ten documents per query.
        """
        from pytest_rankcheck.comparison.label_noise import label_sensitivity

        values = self.values(metric)
        if self.evaluation.golden.has_estimates:
            raise MetricError(
                f"golden set '{quoted(self.evaluation.golden.name)}' has estimates of relevance "
                "instead of judgments, which label_sensitivity cannot change"
            )
        if not isinstance(values, Paired):
            raise MetricError(
                f"{values.metric} is compared on two samples of sessions, which have no judgments "
                "in common; label_sensitivity needs two rankings of the same queries"
            )
        return label_sensitivity(self.evaluation, self.other, values, flip, gate=gate, draws=draws)

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows: each metric, and how certain its change is."""
        import pandas as pd

        recorded = self.other.recorded_metrics
        metrics = (self.evaluation.computed if recorded is None else recorded) or usual_metrics(
            self.evaluation.depth
        )
        rows = []
        for metric in metrics:
            values = self.values(metric)
            low, high = self.interval(metric)
            rows.append(
                {
                    "before": values.mean_before,
                    "now": values.mean_after,
                    "change": values.difference,
                    "95% from": low,
                    "to": high,
                    "p of a fall": self.p(metric),
                    "better": values.wins,
                    "worse": values.losses,
                    "equal": values.ties,
                }
            )
        frame = pd.DataFrame(rows, index=pd.Index([str(m) for m in metrics], name="metric"))
        title = f"{self.evaluation.name} on {self.evaluation.golden.name}, compared"
        return html_table(title, len(self.query_ids), frame)

    def __repr__(self) -> str:
        return f"Comparison({len(self.query_ids)} queries of {self.evaluation!r})"
