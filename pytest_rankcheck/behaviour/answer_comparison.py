"""Asking a ranker more than once, and comparing its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import ConfigurationError, RunError, quoted, suggestion
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_choice import adapter_of
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask, RetriedError
from pytest_rankcheck.rankers.rank import DEFAULT_DEPTH, Attempt, RankOptions, attempted, rank
from pytest_rankcheck.rankers.ranking import Duplicates, RankingRules, Ties, id_map
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule

__all__ = ["AnswerDifference", "RepeatedRanker", "answer_differences"]


@dataclass(frozen=True, slots=True)
class RepeatedRanker:
    """A ranker and the conditions of each request, as in ``rank``."""

    adapter: Adapter
    depth: int = DEFAULT_DEPTH
    ties: Ties = "doc_id"
    duplicates: Duplicates = "error"
    doc_id: DocIdRule | None = None
    concurrency: int = 8
    timeout: float | None = None
    retries: int = 0
    retry_on: Sequence[RetriedError] = ()
    _asked: list[int] = field(default_factory=list, repr=False, compare=False)
    """The number of queries of each request; thread-safe, and shared with `with_adapter` copies."""

    @classmethod
    def of(cls, ranker: object, golden: GoldenSet, options: RankOptions) -> RepeatedRanker:
        """Return a ranker under the conditions that the options of ``rank`` set.

        Raises:
            ConfigurationError: an option is unknown.
            RankerError: ``ranker`` is not a ranker.
        """
        names = list(RankOptions.__annotations__)
        for name in options:
            if name not in names:
                raise ConfigurationError(
                    f"unknown option '{quoted(name)}'{suggestion(name, names)}; the options "
                    f"are those of rank: {', '.join(names)}"
                )
        return cls(adapter_of(ranker), **options)

    def first_run(self, golden: GoldenSet) -> Run:
        """Return the run with which all others are compared.

        Raises:
            RankerError: the ranker fails on a query.
            RunError: every ranking is empty.
        """
        __tracebackhide__ = True
        self.count(len(golden))
        run = rank(
            self.adapter,
            golden,
            self.depth,
            ties=self.ties,
            duplicates=self.duplicates,
            doc_id=self.doc_id,
            concurrency=self.concurrency,
            timeout=self.timeout,
            retries=self.retries,
            retry_on=self.retry_on,
        )
        if not any(run[query_id] for query_id in run):
            raise RunError(
                f"ranker '{quoted(self.adapter.name)}' on golden set '{quoted(golden.name)}': "
                "every ranking is empty: the ranker is broken, not bad"
            )
        return run

    def rerun(self, golden: GoldenSet) -> Attempt:
        """Return what the ranker answers now, including failures."""
        self.count(len(golden))
        how = (self.depth, self.concurrency, self.timeout, self.retries, tuple(self.retry_on))
        try:
            rules = RankingRules(self.ties, self.duplicates, id_map(self.doc_id))
            return attempted(self.adapter, RankingTask(golden, *how), rules)
        except Exception as error:  # it fails on all queries, unlike before
            return Attempt(Run({}), {query.id: error for query in golden})

    @property
    def calls(self) -> int:
        """How many queries the ranker was asked, counting repeated ones each time."""
        return sum(self._asked)

    def count(self, queries: int) -> None:
        """Count a request for some queries that was made elsewhere."""
        self._asked.append(queries)

    def with_adapter(self, adapter: Adapter) -> RepeatedRanker:
        """Return the same ranker behind another adapter, under the same conditions."""
        return replace(self, adapter=adapter)


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """A query that was ranked differently, or failed, when it was asked in a different way."""

    query_id: str
    how: str
    """How it was asked: ``in reverse order``."""
    before: Sequence[str]
    after: Sequence[str]
    failure: Exception | None = None


def answer_differences(run: Run, attempt: Attempt, how: str) -> Mapping[str, AnswerDifference]:
    """Return the queries that fail or are ranked differently than in ``run``."""
    differences: dict[str, AnswerDifference] = {}
    for query_id in (*attempt.failures, *attempt.run):
        before, after = run.get(query_id), attempt.run.get(query_id)
        failure = attempt.failures.get(query_id)
        if failure is not None or before != after:
            differences[query_id] = AnswerDifference(query_id, how, before, after, failure)
    return differences
