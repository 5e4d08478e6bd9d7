"""The base of adapters that ask several queries at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial
from itertools import islice

from pytest_rankcheck.errors import RankerError, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import (
    Adapter,
    OnAnswer,
    QueryAnswer,
    RankingTask,
    no_text,
)

__all__ = ["BatchedAdapter", "checked_size"]


class BatchedAdapter(Adapter):
    """A ranker that answers a batch of queries at once."""

    size: int | None
    """The number of queries in a batch; None for all."""
    needs_text = True
    instead_of_text = ""
    """What to do if queries have no texts, for messages."""

    @abstractmethod
    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        """Return an answer for each query, in their order.

        Raises:
            Exception: any error; all queries of the batch have then failed.
        """

    def sees(self, attribute: str) -> bool:
        """Whether the ranker receives queries, not only their texts."""
        return not self.needs_text

    def with_size(self, size: int) -> Adapter | None:
        """Return the same ranker with batches of ``size`` queries."""
        other = copy(self)
        other.size = size
        return other

    def ask(self, task: RankingTask, on_answer: OnAnswer) -> None:
        """Ask one batch after another; each query is given its share of the time."""
        __tracebackhide__ = True
        queries = iter(task.golden)
        while batch := list(islice(queries, self.size or len(task.golden))):
            for query_answer in self._answered(batch, task):
                on_answer(query_answer)

    def _answered(self, batch: Sequence[Query], task: RankingTask) -> Iterator[QueryAnswer]:
        __tracebackhide__ = True
        asked = [query for query in batch if query.text is not None or not self.needs_text]
        answers, failure, seconds = task.tried(partial(self._by_query, asked, task))
        for query in batch:
            if query.text is None and self.needs_text:
                yield QueryAnswer(query, failure=no_text(self.instead_of_text))
            else:
                answer = None if failure else answers[query.id]
                yield QueryAnswer(query, answer, failure, seconds / len(asked))

    def _by_query(self, asked: Sequence[Query], task: RankingTask) -> dict[str, object]:
        __tracebackhide__ = True
        answers = self.answers(asked, task) if asked else ()
        return dict(zip((query.id for query in asked), answers, strict=True))


def checked_size(size: int | None, name: str = "size") -> int | None:
    """Return the size of a batch."""
    if size is not None and size < 1:
        raise RankerError(f"{name}={quoted(size)} is invalid; give a whole number from 1 on")
    return size
