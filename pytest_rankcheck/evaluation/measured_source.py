"""The source of an evaluation: it gives the values and the rankings that are measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.evaluation.conventions import Conventions, meant, settled
from pytest_rankcheck.evaluation.metric_values import computed_values
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.kinds import MeasurementKind, MetricInput
from pytest_rankcheck.metrics.metric_definition import KINDS
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import TieOrder, first_ranks
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.statistics.run_noise import Averaged

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.unfit_runs import Gaps, UnmetIds


class Source(ABC):
    """A run, several runs, a session log or a record, as an `Evaluation` measures it.

    The methods here are the defaults of all sources.

    Args:
        name: how messages refer to what was measured: the name of a run, a log or a file.
        depth: how many documents were requested for each query; None: no limit.
        golden: the queries, with their judgments, attributes and weights.
        conventions: how ties, gaps and duplicates were treated.
    """

    kind: MeasurementKind = KINDS["query"]
    """What has a value: each query, or each session of a log."""
    # The same as in the evaluation:
    run: Run | None = None
    missing: Sequence[str] = ()
    unanswered: Sequence[str] = ()
    failed: Mapping[str, str] = {}
    extra: Sequence[str] = ()
    gaps: Gaps | None = None
    runs: Sequence[Any] = ()
    """The evaluation of each run, if several that differ only by chance were measured."""
    noise: Source | None = None
    """Another source whose means vary between runs as those of this one."""
    recorded_metrics: Sequence[Metric] | None = None
    """The only metrics that have values; None if every metric can be computed."""

    def __init__(
        self, name: str, depth: int | None, golden: JudgedQueries, conventions: Conventions
    ) -> None:
        self.name, self.depth, self.golden, self.conventions = name, depth, golden, conventions

    @property
    def query_ids(self) -> Sequence[str]:
        """All judged queries, in the golden set's order."""
        return self.golden.query_ids

    # --- values ------------------------------------------------------------------------------

    def fits(self, metric: Metric) -> bool:
        """Return whether a metric applies: to queries and runs, or to sessions."""
        return metric.kind.words == self.kind.words

    def inputs(self, metric: Metric) -> Iterable[tuple[MetricInput, Sequence[str]]]:
        """Yield the inputs of the metric's function, block by block, with the queries of each.

        Nothing if the values are known without it.
        """
        return ()

    def returned(self, metric: Metric) -> FloatArray:
        """Compute the value of each query by the metric's function, ``[Q]``."""
        asked = meant(metric, self.conventions)
        values = [computed_values(asked, given, ids) for given, ids in self.inputs(metric)]
        return np.concatenate(values)

    def values(self, metric: Metric) -> FloatArray:
        """Return the value of each query under the conventions, ``[Q]``."""
        has_relevant = self.golden.columns.has_relevant
        return settled(metric, self.returned(metric), has_relevant, self.conventions)

    def hint_for_no_value(self, metric: Metric) -> str:
        """Return the likely reason that no query has a value, and what to do."""
        if metric.definition.aggregate == "by_judged":
            return "it needs relevant and other judged documents of the same query"
        return "if the ranker found nothing at all, give the metric a value for that"

    def averaged(self, metric: Metric, query_ids: Sequence[str], label: str) -> Averaged:
        """Return the runs behind the mean over some queries, without those that `failed`."""
        return self.noise.averaged(metric, query_ids, label) if self.noise else Averaged()

    def depends_on_scale(self, metric: Metric, scale: float) -> bool:
        """Return whether another scale of the golden set would change values of a metric.

        It does for ERR, whose stopping probabilities are relative to the scale: without a given
        scale, a single query with a higher grade changes the value of every other query.
        """
        return False

    # --- rankings ----------------------------------------------------------------------------

    @abstractmethod
    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the documents ranked for a query, best first, down to `known_depth`."""

    def tops(self, k: int | None) -> Mapping[str, Sequence[str]]:
        """Return the first ``k`` documents of each query's ranking, or all that are known."""
        return {query_id: self.ranking(query_id)[:k] for query_id in self.query_ids}

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: to the end."""
        return None

    @property
    def is_cut(self) -> bool:
        """Whether rankings may go on below the number of documents requested."""
        return False

    def warn_if_short(self, metric: Metric) -> None:  # noqa: B027 - only runs can be short
        """Warn if rankings end above the metric's cutoff, and a relevant document is missing."""

    def read_rankings(self, k: int) -> None:  # noqa: B027 - mostly, there is no more to read
        """Make `ranking` go down to rank ``k`` at least, if the whole rankings can be read."""

    def ranks(self, query_id: str) -> Mapping[str, int]:
        """Return the known rank of each document of a query, from 1."""
        return first_ranks(self.ranking(query_id))

    # --- what is unusual ---------------------------------------------------------------------

    @property
    def notes(self) -> Sequence[str]:
        """What was unusual when the data was read, as sentences."""
        return ()

    @property
    def document_notes(self) -> Mapping[str, bool]:
        """What metrics did not know about documents, as sentences.

        Each with whether it concerns many documents, so that metrics may mislead.
        """
        return {}

    @property
    def unmet_ids(self) -> UnmetIds | None:
        """What is wrong if judged documents are never or hardly ever ranked, otherwise None."""
        return None

    @property
    def identical(self) -> str:
        """Which two runs have the same rankings, as a sentence; empty if none have."""
        return ""

    @property
    def knows_ties(self) -> bool:
        """Whether tied scores are known without reading a large file."""
        return True

    @property
    def mostly_tied(self) -> Sequence[str]:
        """The queries whose rankings are mostly ties, if they are at least half of all."""
        return ()

    def tied(self, k: int | None) -> Sequence[str]:
        """Return the queries in which a judged document of the top k shares its score."""
        return ()

    def with_ties(self, order: TieOrder) -> Source:
        """Return the source with tied documents in another order; itself without scores."""
        return self
