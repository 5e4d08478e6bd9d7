"""PyTerrier style: a DataFrame of queries in, a DataFrame of ranked documents out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_rankcheck.errors import RankerError, listed, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, Asking
from pytest_rankcheck.rankers.adapters.many_queries import AtOnce, checked_size
from pytest_rankcheck.rankers.callable_adapters import name_of

__all__ = ["transformer"]


def transformer(pipeline: Any, size: int | None = None) -> Adapter:
    """Return a ranker that is given a DataFrame ``qid, query`` and returns ``qid, docno, score``.

    Args:
        pipeline: a PyTerrier transformer or pipeline (what has ``transform``), or a function. A
            query of which it returns no row has an empty ranking. Without a ``score``, its
            ``rank`` counts, else the order of its rows.
        size: how many queries it gets at once; without it, all.

    Raises:
        RankerError: ``pipeline`` cannot be called.
    """
    call = getattr(pipeline, "transform", pipeline)
    if not callable(call):
        raise RankerError(f"transformer: {type(pipeline).__name__} has no transform")
    return _Transformer(call, name_of(pipeline), checked_size(size))


class _Transformer(AtOnce):
    def __init__(self, call: Any, name: str, size: int | None) -> None:
        self._call = call
        self.name = name
        self.size = size

    def answers(self, queries: Sequence[Query], asking: Asking) -> Sequence[object]:
        __tracebackhide__ = True
        import pandas as pd

        rows = [(query.id, query.text) for query in queries]
        found = self._call(pd.DataFrame(rows, columns=["qid", "query"]))
        if not isinstance(found, pd.DataFrame):
            raise RankerError(
                f"the transformer answered {type(found).__name__}, not a DataFrame: {quoted(found)}"
            )
        missing = [name for name in ("qid", "docno") if name not in found.columns]
        if missing:
            columns = listed([str(name) for name in found.columns], 10)
            raise RankerError(f"the answer has no column {listed(missing)}; it has {columns}")
        return _by_query(found, queries)


def _by_query(found: Any, queries: Sequence[Query]) -> list[object]:
    answers: dict[str, object] = {query.id: [] for query in queries}
    by_rank = "rank" in found.columns and "score" not in found.columns
    ordered = found.sort_values("rank", kind="stable") if by_rank else found
    for query_id, rows in ordered.groupby("qid", sort=False):
        if str(query_id) not in answers:
            raise RankerError(f"the answer has a query that was not asked: '{quoted(query_id)}'")
        docs = rows["docno"].tolist()
        if "score" not in rows.columns:
            answers[str(query_id)] = docs
            continue
        scores = rows["score"].tolist()
        if len(set(docs)) < len(docs):  # for the caller to say which; a dict would drop one
            best_first = sorted(zip(docs, scores, strict=True), key=lambda pair: -pair[1])
            answers[str(query_id)] = best_first
        else:
            answers[str(query_id)] = dict(zip(docs, scores, strict=True))
    return list(answers.values())
