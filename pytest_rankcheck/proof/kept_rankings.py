"""The rankings that were measured, and evaluations of copies with some of them replaced."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain
from zlib import crc32

import numpy as np
from numpy.random import Generator, default_rng

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.evaluation.ranked_run import RankedRun
from pytest_rankcheck.evaluation.run_golden_join import join
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import Ranking

Rankings = Mapping[str, Sequence[str]]
"""The documents of queries, best first."""

_FEWEST = 5
"""A slice with fewer queries is not harmed; queries that lose all their answers cover it."""


class KeptRankings:
    """The rankings that were measured, of all queries of a golden set.

    Raises:
        ConfigurationError: the evaluation has no whole rankings.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        source = evaluation.source
        if not isinstance(source, RankedRun) or source.run is None:
            raise ConfigurationError(
                f"'{quoted(evaluation.name)}' has no whole rankings to harm; evaluate a run in one "
                "piece"
            )
        self.golden, self._run, self._conventions = source.golden, source.run, source.conventions
        self.queries, self._source = self.golden.query_ids, source
        self.rankings: Rankings = {query: self._run.get(query) for query in self.queries}
        self._answers = {query: Ranking(tuple(docs)) for query, docs in self.rankings.items()}
        self._joined = join(self._run.with_rankings(self._answers), self.golden)
        self.longest = max(map(len, self.rankings.values()))
        """How many documents the longest ranking has."""
        grades = {query: self.golden.grades(query).items() for query in self.queries}
        self.relevant = {q: {doc for doc, grade in of if grade > 0} for q, of in grades.items()}
        """The relevant documents of each query."""

    @cached_property
    def unharmed(self) -> Evaluation:
        """The evaluation of a copy without a change."""
        return self.evaluated({})

    def evaluated(self, changed: Rankings) -> Evaluation:
        """Return the evaluation of a copy with some rankings replaced."""
        others = {query: Ranking(tuple(docs)) for query, docs in changed.items()}
        joined = self._joined.with_others(join(self._run.with_rankings(others), self.golden))
        answers = {**self._answers, **others}
        run = self._run.with_rankings(answers)
        copy = RankedRun(run.name, run.depth, self.golden, self._conventions, joined, run=run)
        copy.ranking = lambda query_id: answers[query_id].doc_ids  # type: ignore[method-assign]  # the same, sooner
        self.golden.title("")  # looks up its documents now, so that no table keeps the copy
        copy.noise = self._source
        return Evaluation(copy)

    def generator(self, harm: str, number: int) -> Generator:
        """Return the random generator for a draw of a harm, the same for the same golden set."""
        names = (self.golden.fingerprint, harm)
        seeds = [crc32(name.encode("utf-8", "surrogatepass")) for name in names]
        return default_rng([*seeds, number])

    @cached_property
    def documents(self) -> Sequence[str]:
        """All ranked documents, each once."""
        return tuple(dict.fromkeys(chain.from_iterable(self.rankings.values())))

    @cached_property
    def slices(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """By attribute, the queries of each value that enough queries have and others lack."""
        found = {
            attribute: {
                value: ids
                for value, ids in self.golden.slices(attribute).items()
                if _FEWEST <= len(ids) < len(self.queries)
            }
            for attribute in self.golden.attributes
        }
        return {attribute: slices for attribute, slices in found.items() if slices}

    def without(self, lost: Collection[str], query: str) -> Sequence[str]:
        """Return a query's ranking without some documents."""
        return [doc for doc in self.rankings[query] if doc not in lost]

    def reciprocal_rank(self, query: str) -> float:
        """Return 1 / the rank of a query's first answer; 0 without one."""
        ranks = enumerate(self.rankings[query], 1)
        return next((1 / rank for rank, doc in ranks if doc in self.relevant[query]), 0.0)


class SwappedQueries(Source):
    """Some queries from one evaluation, and the rest from another."""

    def __init__(self, some: Evaluation, rest: Evaluation, queries: Collection[str]) -> None:
        super().__init__(rest.name, rest.depth, rest.golden, rest.conventions)
        self._some, self._rest, self._queries = some, rest, queries
        self._are_swapped = np.array([query in queries for query in rest.query_ids])
        self.noise = rest.source

    def values(self, metric: Metric) -> FloatArray:
        """Return the value of each query, ``[Q]``."""
        return np.where(self._are_swapped, self._some.values(metric), self._rest.values(metric))

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the documents ranked for a query, best first."""
        return (self._some if query_id in self._queries else self._rest).ranking(query_id)


class SwappedComparison(Comparison):
    """A change of some queries, and the reverse change of the others; nothing is measured again.

    Args:
        change: the change of all queries.
        before: what it compares with.
        queries: the queries that change; all others have their sides swapped.
    """

    def __init__(self, change: Comparison, before: Evaluation, queries: Set[str]) -> None:
        now, then = change.evaluation, before
        super().__init__(
            Evaluation(SwappedQueries(now, then, queries)),
            Evaluation(SwappedQueries(then, now, queries)),
        )
        self._change, self._queries = change, queries

    @cached_property
    def answers(self) -> tuple[Set[str], Set[str]]:
        """The queries that lost their answers, and those that gained some."""
        (lost, gained), own = self._change.answers, self._queries
        return (lost & own) | (gained - own), (gained & own) | (lost - own)
