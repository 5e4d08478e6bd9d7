"""PyTerrier-style rankers: a DataFrame of queries in, a DataFrame of ranked documents out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, listed, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.adapters.many_queries import BatchedAdapter, checked_size
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.rankers.ranking import has_all_ranks
from pytest_rankcheck.rankers.ranking_forms import ScoredDocuments
from pytest_rankcheck.rankers.run_columns import refuse_unused_numbers

__all__ = ["transformer"]


@checked_arguments
def transformer(pipeline: Any, size: int | None = None) -> Adapter:
    """Return a ranker that takes a DataFrame ``qid, query`` and returns ``qid, docno, score``.

    Args:
        pipeline: a PyTerrier transformer or pipeline (with a method ``transform``), or a function.
            A query without a row in the answer has an empty ranking. Without a column ``score``,
            ``rank`` decides; with neither, and no other column of numbers, the order of the rows.
        size: the number of queries in a batch; by default all.

    Raises:
        RankerError: ``pipeline`` cannot be called.
    """
    call = getattr(pipeline, "transform", pipeline)
    if not callable(call):
        raise RankerError(f"transformer: {type(pipeline).__name__} has no transform")
    return _Transformer(call, name_of(pipeline), checked_size(size))


class _Transformer(BatchedAdapter):
    def __init__(self, call: Any, name: str, size: int | None) -> None:
        self._call = call
        self.name = name
        self.size = size

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        __tracebackhide__ = True
        import pandas as pd

        rows = [(query.id, query.text) for query in queries]
        results = self._call(pd.DataFrame(rows, columns=["qid", "query"]))
        if not isinstance(results, pd.DataFrame):
            raise RankerError(
                "the transformer returned "
                f"{type(results).__name__}, not a DataFrame: {quoted(results)}"
            )
        missing = [name for name in ("qid", "docno") if name not in results.columns]
        if missing:
            columns = listed([str(name) for name in results.columns], 10)
            raise RankerError(f"the answer has no column {listed(missing)}; it has {columns}")
        header = [str(name) for name in results.columns]
        if "score" not in header and "rank" not in header:
            place = {"query_id": header.index("qid"), "doc_id": header.index("docno")}
            refuse_unused_numbers(
                header,
                place,
                lambda index: results.iloc[:, index].tolist(),
                "the answer",
                can_map=False,
            )
        return _by_query(results, queries)


def _by_query(results: Any, queries: Sequence[Query]) -> list[object]:
    answers: dict[str, object] = {query.id: [] for query in queries}
    by_rank = "rank" in results.columns and "score" not in results.columns
    ordered = results.sort_values("rank", kind="stable") if by_rank else results
    unnamed = results["qid"].isna().to_numpy()
    if unnamed.any():
        raise RankerError(
            f"row {int(unnamed.argmax()) + 1} of the answer, document "
            f"'{quoted(results['docno'].iloc[int(unnamed.argmax())])}', has no qid"
        )
    for query_id, rows in ordered.groupby("qid", sort=False):
        if str(query_id) not in answers:
            raise RankerError(f"the answer has a query that was not asked: '{quoted(query_id)}'")
        if by_rank and not has_all_ranks(rows["rank"].tolist()):
            raise RankerError(
                f"query '{quoted(query_id)}': the answer has no score, and its ranks have a gap or "
                "a repeat; return a score, or drop the column rank to rank in the order of the rows"
            )
        docs = rows["docno"].tolist()
        if "score" not in rows.columns:
            answers[str(query_id)] = docs
            continue
        scores = rows["score"].tolist()
        has_duplicates = len(set(docs)) < len(docs)  # which a dict would drop
        answers[str(query_id)] = (
            ScoredDocuments(docs, scores)
            if has_duplicates
            else dict(zip(docs, scores, strict=True))
        )
    return list(answers.values())
