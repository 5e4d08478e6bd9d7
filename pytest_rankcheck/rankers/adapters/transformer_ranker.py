"""PyTerrier-style rankers: a DataFrame of queries in, a DataFrame of ranked documents out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, listed, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.adapters.batch_ranker import BatchedAdapter, checked_size
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.rankers.ranking import has_all_ranks
from pytest_rankcheck.rankers.ranking_forms import ScoredDocuments


@checked_arguments
def transformer(pipeline: Any, size: int | None = None) -> Adapter:
    """Return a ranker that takes a DataFrame ``qid, query`` and returns ``qid, docno, score``.

    Args:
        pipeline: a PyTerrier transformer or pipeline (with a method ``transform``), or a function.
            A query without a row in the answer has an empty ranking. Without a column ``score``,
            ``rank`` decides.
        size: the number of queries in a batch; by default all.

    Raises:
        RankerError: ``pipeline`` cannot be called.
    """
    call = getattr(pipeline, "transform", pipeline)
    if not callable(call):
        raise RankerError(f"transformer: {type(pipeline).__name__} has no transform")
    return _Transformer(call, name_of(pipeline), checked_size(size))


@dataclass(repr=False, eq=False)
class _Transformer(BatchedAdapter):
    call: Any
    name: str
    size: int | None

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        import pandas as pd

        rows = [(query.id, query.text) for query in queries]
        results = self.call(pd.DataFrame(rows, columns=["qid", "query"]))
        if not isinstance(results, pd.DataFrame):
            raise RankerError(
                "the transformer returned "
                f"{type(results).__name__}, not a DataFrame: {quoted(results)}"
            )
        header = [str(name) for name in results.columns]
        missing = [name for name in ("qid", "docno") if name not in results.columns]
        if missing:
            raise RankerError(
                f"the answer has no column {listed(missing)}; it has {listed(header, 10)}"
            )
        if "score" not in header and "rank" not in header:
            raise RankerError(
                f"the answer has no column score or rank; it has {listed(header, 10)}. If its rows "
                "are in order, best first, add results['rank'] = results.groupby('qid').cumcount()"
            )
        return _by_query(results, queries)


def _by_query(results: Any, queries: Sequence[Query]) -> list[object]:
    answers: dict[str, object] = {query.id: [] for query in queries}
    by_rank = "rank" in results.columns and "score" not in results.columns
    ordered = results.sort_values("rank", kind="stable") if by_rank else results
    for query_id, rows in ordered.groupby("qid", sort=False, dropna=False):
        if str(query_id) not in answers:
            raise RankerError(f"the answer has a query that was not asked: '{quoted(query_id)}'")
        if by_rank and not has_all_ranks(rows["rank"].tolist()):
            raise RankerError(
                f"query '{quoted(query_id)}': the answer has no score, and its ranks have a gap or "
                "a repeat; return a score, or drop the column rank to rank in the order of the rows"
            )
        docs = rows["docno"].tolist()
        has_scores = "score" in rows.columns
        answers[str(query_id)] = (
            ScoredDocuments(docs, rows["score"].tolist()) if has_scores else docs
        )
    return list(answers.values())
