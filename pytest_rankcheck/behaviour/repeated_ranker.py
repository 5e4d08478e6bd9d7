"""A ranker that is asked more than once under the same conditions, and how its answers differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rankcheck.errors import ConfigurationError, RunError, quoted, suggestion
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.rank import DEFAULT_DEPTH, Attempt, RankOptions, attempted, rank
from pytest_rankcheck.rankers.ranker_lookup import adapter_of, load_ranker
from pytest_rankcheck.rankers.ranking import RankingRules, id_map
from pytest_rankcheck.rankers.run import Run


@dataclass(frozen=True, slots=True)
class RepeatedRanker:
    """A ranker and the options of ``rank`` with which it is asked each time."""

    adapter: Adapter
    options: RankOptions

    @classmethod
    def of(cls, ranker: object, options: RankOptions) -> RepeatedRanker:
        """Return a ranker, or the one with this name, under options.

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
        if isinstance(ranker, str):
            ranker = load_ranker(ranker)
        return cls(adapter_of(ranker), options)

    def first_run(self, golden: GoldenSet) -> Run:
        """Return the run with which all others are compared.

        Raises:
            RankerError: the ranker fails on a query.
            RunError: every ranking is empty.
        """
        run = rank(self.adapter, golden, **self.options)
        if not any(run[query_id] for query_id in run):
            raise RunError(
                f"ranker '{quoted(self.adapter.name)}' on golden set '{quoted(golden.name)}': "
                "every ranking is empty: the ranker is broken, not bad"
            )
        return run

    def rerun(self, golden: GoldenSet) -> Attempt:
        """Return what the ranker answers now, including failures."""
        options: dict[str, Any] = {"depth": DEFAULT_DEPTH, **self.options}
        doc_id = options.pop("doc_id", None)
        rules = {name: options.pop(name) for name in ("ties", "duplicates") if name in options}
        try:
            task = RankingTask(golden, **options)
            return attempted(self.adapter, task, RankingRules(**rules, to_id=id_map(doc_id)))
        except Exception as error:  # it fails on all queries, unlike before
            return Attempt(Run({}), {query.id: error for query in golden})


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """A query that was ranked differently, or failed, when it was asked in a different way."""

    query_id: str
    how: str
    """How it was asked: ``in reverse``; empty if that goes without saying."""
    before: Sequence[str]
    after: Sequence[str]
    failure: Exception | None = None


def answer_differences(run: Run, attempt: Attempt, how: str = "") -> list[AnswerDifference]:
    """Return the queries that fail or are ranked differently than in ``run``, in its order."""
    differences = []
    for query_id in run:
        before, after = run[query_id], attempt.run.get(query_id)
        failure = attempt.failures.get(query_id)
        if failure is not None or before != after:
            differences.append(AnswerDifference(query_id, how, before, after, failure))
    return differences
