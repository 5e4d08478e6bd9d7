"""Rankers that take a batch of queries, the base class of their adapters, and checks of numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import RankerError, listed, plural, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import (
    Adapter,
    OnAnswer,
    QueryAnswer,
    RankingTask,
    no_text,
)
from pytest_rankcheck.rankers.callable_adapters import (
    depth_name,
    name_of,
    takes_queries,
    with_depth,
)
from pytest_rankcheck.rankers.ranking_forms import has_no_order


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
        queries = iter(task.golden)
        while batch := list(islice(queries, self.size or len(task.golden))):
            for query in batch if self.needs_text else ():
                if query.text is None:
                    on_answer(QueryAnswer(query, failure=no_text(self.instead_of_text)))
            asked = [query for query in batch if query.text is not None or not self.needs_text]
            if not asked:
                continue
            answers, failure, seconds = task.tried(partial(self.answers, asked, task))
            for place, query in enumerate(asked):
                answer = None if failure else answers[place]
                on_answer(QueryAnswer(query, answer, failure, seconds / len(asked), len(asked)))


def checked_size(size: int | None) -> int | None:
    """Return the size of a batch."""
    if size is not None and size < 1:
        raise RankerError(f"size={quoted(size)} is invalid; give a whole number from 1 on")
    return size


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
        return depth_name(self._ranker) is not None

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
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
                f"{plural(len(answers), 'ranking')}; return one per query, or an empty list for it"
            )
        return answers


def one_each(
    answer: object, count: int, what: str, labels: Sequence[object] | None = None
) -> FloatArray:
    """Return ``count`` numbers ``[count]``; a column ``[count, 1]`` is also accepted.

    Args:
        answer: numbers in order; or a pandas Series whose index has the labels, in any order.
        count: how many there must be.
        what: what returned them, for messages.
        labels: the labels of an index, in order; by default 0, 1, 2, ....
    """
    numbers = _array(_in_order(answer, count, what, labels), what)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.shape != (count,):
        raise RankerError(
            f"{what} returned numbers of the shape {_shape(numbers)}, not one for each of {count:,}"
        )
    return numbers


def matrix_of(answer: object, count: int, what: str) -> FloatArray:
    """Return one row of numbers for each of ``count`` items, ``[count, d]``."""
    numbers = _array(_in_order(answer, count, what), what)
    if numbers.ndim != 2 or len(numbers) != count:
        raise RankerError(
            f"{what} returned numbers of the shape {_shape(numbers)}, not one row for each of "
            f"{count:,}"
        )
    is_finite = np.isfinite(numbers).all(axis=1)
    if not is_finite.all():
        row = int(np.argmin(is_finite)) + 1
        raise RankerError(f"{what} returned a number that is not finite, in row {row}")
    return numbers


def _in_order(answer: Any, count: int, what: str, labels: Sequence[object] | None = None) -> object:
    """Return a pandas object in the order of its labels; anything else unchanged."""
    if not (hasattr(answer, "iloc") and hasattr(answer, "index")) or len(answer) != count:
        return answer
    given, places = answer.index.tolist(), list(range(count))
    if given == places:
        return answer
    expected = places if labels is None else list(labels)
    if answer.index.is_unique and set(given) == set(expected):
        return answer.loc[expected]
    raise RankerError(
        f"{what} returned a pandas {type(answer).__name__} with the index {listed(given, 3)}, not "
        f"{listed(expected, 3)}; return its .to_numpy() if its rows are in the order of the input"
    )


def _array(answer: Any, what: str) -> FloatArray:
    for step in ("detach", "cpu"):  # a tensor with gradients, or on a device
        answer = getattr(answer, step)() if hasattr(answer, step) else answer
    try:
        values = list(answer) if hasattr(answer, "__next__") else answer
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise RankerError(
            f"{what} returned {type(answer).__name__}, not numbers: {quoted(answer)}"
        ) from None


def _shape(numbers: FloatArray) -> str:
    return " x ".join(map(str, numbers.shape)) or "a single number"
