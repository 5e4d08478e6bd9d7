"""Choosing the adapter for a ranker: a callable, an async callable or a retriever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_rankcheck.errors import RankerError
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.callable_adapters import (
    AsyncCallableAdapter,
    CallableAdapter,
    is_async,
    name_of,
)
from pytest_rankcheck.rankers.retrievers import retrieve_function, with_ids

__all__ = ["ADDED_ADAPTERS", "adapter_of", "is_ranker"]

ADDED_ADAPTERS: dict[str, tuple[Callable[[object], bool], Callable[[Any], object]]] = {}
"""The adapters of extensions by name: whether one fits a ranker, and what is asked in its place."""


def adapter_of(ranker: object) -> Adapter:
    """Return the adapter for a ranker.

    Raises:
        RankerError: the object is not a ranker.
    """
    if isinstance(ranker, Adapter):
        return ranker
    for fits, adapt in ADDED_ADAPTERS.values():
        if fits(ranker):
            return adapter_of(adapt(ranker))
    retrieve = retrieve_function(ranker)
    if retrieve is not None:
        return CallableAdapter(with_ids(retrieve), name_of(ranker))
    if not callable(ranker):
        raise RankerError(
            f"the ranker is {type(ranker).__name__}, which cannot be called; give a function that "
            "takes a query's text and returns document ids, best first"
        )
    return AsyncCallableAdapter(ranker) if is_async(ranker) else CallableAdapter(ranker)


def is_ranker(value: object) -> bool:
    """Whether an object can be used as a ranker."""
    if isinstance(value, Adapter) or callable(value) or retrieve_function(value) is not None:
        return True
    return any(fits(value) for fits, _ in ADDED_ADAPTERS.values())
