"""Building an index from documents and asking its ranker, again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_rankcheck.behaviour.answer_comparison import RepeatedRanker
from pytest_rankcheck.behaviour.index_documents import IndexDocuments
from pytest_rankcheck.errors import ConfigurationError, RankerError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.rankers.rank import Attempt, RankOptions
from pytest_rankcheck.rankers.run import Run

__all__ = ["USUAL_SAMPLE", "Build", "IndexBuilds", "sampled"]

Build = Callable[[Any], object]
"""Takes documents, in the form that the user gave, and returns a ranker."""

USUAL_SAMPLE = 10
"""The default number of queries if each needs an index of its own."""


class IndexBuilds:
    """Builds an index from each list of documents, and asks its ranker.

    The ranker of one index is asked before the next index is built, so ``build`` may replace an
    index in place.

    Args:
        build: the user's function.
        options: how each ranker is asked.
    """

    def __init__(self, build: Build, options: RankOptions) -> None:
        if not callable(build):
            raise ConfigurationError(
                "build must be a function that takes documents and returns a ranker of them, not "
                f"{type(build).__name__} ({quoted(repr(build), 60)}); write def build(documents): "
                "return a ranker"
            )
        self._build = build
        self._options = options
        self.ranker = ""
        """The name of the ranker in messages."""
        self.count = 0
        """How many indexes were built."""
        self.calls = 0
        """How many queries were asked, over all indexes."""

    def first_run(self, documents: IndexDocuments, golden: GoldenSet) -> Run:
        """Build an index of the unchanged documents, and return its answers.

        Raises:
            ConfigurationError: a ranked document is not among the documents.
            RankerError: ``build`` fails or returns no ranker, or the ranker fails on a query.
            RunError: every ranking is empty.
        """
        __tracebackhide__ = True
        ranker = self._ranker(documents, "the documents", golden)
        self.ranker = ranker.adapter.name
        run = ranker.first_run(golden)
        for query_id in run:
            for doc_id in run[query_id]:
                if doc_id not in documents.places:
                    raise ConfigurationError(
                        f"ranker '{quoted(self.ranker)}' ranks '{quoted(doc_id)}' for query "
                        f"'{quoted(query_id)}', which is not the id of any document; build must "
                        "use the documents that it is given, and its ranker must return their ids"
                    )
        return run

    def attempt(self, documents: IndexDocuments, what: str, golden: GoldenSet) -> Attempt:
        """Build an index of changed documents, and return its answers, including failures.

        Args:
            documents: the changed documents.
            what: how they are changed, for messages.
            golden: the queries.

        Raises:
            RankerError: ``build`` fails or returns no ranker.
        """
        __tracebackhide__ = True
        ranker = self._ranker(documents, what, golden)
        return ranker.rerun(golden)

    def refuse_unused_documents(
        self, documents: IndexDocuments, golden: GoldenSet, run: Run
    ) -> None:
        """Build an index without the top document of a query, and ask it for that query.

        Args:
            documents: the unchanged documents.
            golden: the queries.
            run: their answers.

        Raises:
            ConfigurationError: the removed document is still ranked.
            RankerError: ``build`` fails or returns no ranker.
        """
        __tracebackhide__ = True
        query_id = next(query_id for query_id in run if run[query_id])
        top = run[query_id][0]
        what = f"the documents without '{quoted(top, 60)}'"
        attempt = self.attempt(documents.without(top), what, golden.subset([query_id]))
        if top in attempt.run.get(query_id):
            raise ConfigurationError(
                f"{quoted(name_of(self._build))} was given {what}, but its ranker "
                f"'{quoted(self.ranker)}' still ranks it for query '{quoted(query_id)}': it seems "
                "to ignore the documents, or to keep answers of an earlier index. Build a new "
                "index from the given documents each time"
            )

    def _ranker(self, documents: IndexDocuments, what: str, golden: GoldenSet) -> RepeatedRanker:
        __tracebackhide__ = True
        self.count += 1
        self.calls += len(golden)
        try:
            built = self._build(documents.given())
        except Exception as error:
            raise RankerError(
                f"{quoted(name_of(self._build))} failed on {what}: {type(error).__name__}: "
                f"{quoted(error, 500)}"
            ) from error
        try:
            return RepeatedRanker.of(built, golden, self._options)
        except RankerError as error:
            raise RankerError(
                f"{quoted(name_of(self._build))} must build an index of the documents and return "
                f"its ranker: {error}"
            ) from None


def sampled(golden: GoldenSet, queries: int | None, usual: int | None, seed: int) -> GoldenSet:
    """Return some queries of a golden set, drawn by the seed, or all.

    Args:
        golden: all queries.
        queries: how many the user wants; None: the default.
        usual: the default number; None: all.
        seed: the seed of the draw.
    """
    wanted = queries if queries is not None else usual
    return golden if wanted is None or wanted >= len(golden) else golden.sample(wanted, seed)
