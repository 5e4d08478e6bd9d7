"""Copies of measured rankings: harmed, and swapped with the original as an innocent change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from zlib import crc32

import numpy as np
from numpy.random import Generator, default_rng

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.evaluation.ranked_run import RankedRun
from pytest_rankcheck.evaluation.run_golden_join import join
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.proof.harms import KeptRankings, Rankings
from pytest_rankcheck.rankers.ranking import Ranking


class HarmedCopies:
    """Makes copies of the rankings that an evaluation measured; of replicates, of the first.

    Raises:
        ConfigurationError: the rankings are not kept.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        source = evaluation.source
        if not isinstance(source, RankedRun) or source.run is None:
            raise ConfigurationError(
                f"'{quoted(evaluation.name)}' has no whole rankings to harm; evaluate a run in one "
                "piece"
            )
        self._run, self._source = source.run, source
        golden = source.golden
        self.kept = KeptRankings(golden, {each: source.run.get(each) for each in golden.query_ids})
        self.depth = evaluation.depth
        self._seed = crc32(golden.fingerprint.encode())

    def generator(self, harm: str, number: int) -> Generator:
        """Return the generator of a draw of a harm: the same for the same data."""
        return default_rng([self._seed, crc32(harm.encode()), number])

    @cached_property
    def unharmed(self) -> Evaluation:
        """The evaluation of a copy without a harm."""
        return self.with_changed({})

    def with_changed(self, changed: Rankings) -> Evaluation:
        """Return the evaluation of a copy in which some rankings are others."""
        rankings = {**self.kept.rankings, **changed}
        run = self._run.with_rankings(
            {query: Ranking(tuple(docs)) for query, docs in rankings.items()}
        )
        golden, conventions = self.kept.golden, self._source.conventions
        joined = join(run, golden)
        copy = RankedRun(run.name, run.depth, golden, conventions, joined, run=run)
        golden.title("")  # looks up the documents of the copy, which would be kept for it otherwise
        return Evaluation(copy)


class SwappedQueries(Source):
    """Some queries as one evaluation has them, and the rest as another has them."""

    def __init__(self, some: Evaluation, rest: Evaluation, queries: Collection[str]) -> None:
        super().__init__(rest.name, rest.depth, rest.golden, rest.conventions)
        self._some, self._rest, self._queries = some, rest, queries
        self._is_of_some = np.array([query in queries for query in rest.query_ids])

    def values(self, metric: Metric) -> FloatArray:
        """Return the value of each query, ``[Q]``."""
        return np.where(self._is_of_some, self._some.values(metric), self._rest.values(metric))

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the documents ranked for a query, best first."""
        return (self._some if query_id in self._queries else self._rest).ranking(query_id)
