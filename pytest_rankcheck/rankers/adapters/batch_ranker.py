"""Rankers that take a batch of queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, plural, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.adapters.many_queries import BatchedAdapter, checked_size
from pytest_rankcheck.rankers.callable_adapters import (
    name_of,
    takes_depth,
    takes_queries,
    with_depth,
)
from pytest_rankcheck.rankers.ranking_forms import has_no_order

__all__ = ["batch"]


@checked_arguments
def batch(ranker: Callable[..., object], size: int = 32) -> Adapter:
    """Return a ranker that is called with a list of queries.

    Args:
        ranker: takes a list of texts (or of queries, if its first parameter is annotated
            ``list[Query]``) and returns a list or generator of answers in the same order, each in
            a form that a ranker of one query may return. A parameter named ``depth``
            (or ``k``) gets the depth.
        size: the number of queries in a batch.
    """
    if not callable(ranker):
        raise RankerError(f"batch: {type(ranker).__name__} cannot be called")
    return _Batch(ranker, checked_size(size))


class _Batch(BatchedAdapter):
    instead_of_text = "annotate the ranker's parameter as list[Query] to get ids and attributes"

    def __init__(self, ranker: Callable[..., object], size: int | None) -> None:
        self._ranker = ranker
        self.size = size
        self.name = name_of(ranker)
        self.needs_text = not takes_queries(ranker)

    @property
    def takes_depth(self) -> bool:
        return takes_depth(self._ranker)

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        __tracebackhide__ = True
        batch = list(queries) if not self.needs_text else [query.text for query in queries]
        output = with_depth(self._ranker, task.depth)(batch)
        is_unfit = isinstance(output, (str, bytes, Mapping)) or has_no_order(output)
        if is_unfit or not isinstance(output, Iterable):
            raise RankerError(
                f"the batch was answered with {type(output).__name__}, not a list of rankings: "
                f"{quoted(output)}"
            )
        answers = list(output)
        if len(answers) != len(queries):
            raise RankerError(
                f"the batch of {plural(len(queries), 'query', 'queries')} was answered with "
                f"{plural(len(answers), 'ranking')}; return one per query, an empty list if there "
                "are no results"
            )
        return answers
