"""Rankers of many queries at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pytest_rankcheck.errors import RankerError, plural, quoted
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, Asking
from pytest_rankcheck.rankers.adapters.many_queries import AtOnce, checked_size
from pytest_rankcheck.rankers.callable_adapters import name_of, takes_queries, with_depth

__all__ = ["batch"]


def batch(ranker: Callable[..., object], size: int = 32) -> Adapter:
    """Return a ranker that is called with a list of queries.

    Args:
        ranker: takes a list of texts (of queries, where its first parameter is annotated
            ``list[Query]``) and returns a list of answers in the same order, each as a ranker's of
            one query; a generator will do. A parameter named ``depth`` (or ``k``) gets the depth.
        size: how many queries it gets at once.
    """
    if not callable(ranker):
        raise RankerError(f"batch: {type(ranker).__name__} cannot be called")
    return _Batch(ranker, checked_size(size))


class _Batch(AtOnce):
    def __init__(self, ranker: Callable[..., object], size: int | None) -> None:
        self._ranker = ranker
        self.size = size
        self.name = name_of(ranker)
        self.needs_text = not takes_queries(ranker)

    def answers(self, queries: Sequence[Query], asking: Asking) -> Sequence[object]:
        __tracebackhide__ = True
        asked = list(queries) if not self.needs_text else [query.text for query in queries]
        given = with_depth(self._ranker, asking.depth)(asked)
        if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
            raise RankerError(
                f"the batch was answered with {type(given).__name__}, not a list of rankings: "
                f"{quoted(given)}"
            )
        answers = list(given)
        if len(answers) != len(queries):
            raise RankerError(
                f"the batch of {plural(len(queries), 'query', 'queries')} was answered with "
                f"{plural(len(answers), 'ranking')}; give one for each, an empty list for none"
            )
        return answers
