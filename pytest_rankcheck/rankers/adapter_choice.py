"""Choosing the adapter for a ranker: a callable, an async callable or a retriever."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pytest_rankcheck.errors import RankerError, quoted
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.callable_adapters import (
    AsyncCallableAdapter,
    CallableAdapter,
    is_async,
    name_of,
)
from pytest_rankcheck.rankers.ranking_forms import has_no_order

__all__ = ["ADDED_ADAPTERS", "adapter_of", "is_ranker"]

ADDED_ADAPTERS: dict[str, tuple[Callable[[object], bool], Callable[[Any], object]]] = {}
"""The adapters of extensions by name: whether one fits a ranker, and what is asked in its place."""

_ID_KEYS = ("doc_id", "id", "source")
"""Metadata keys that hold the id of a retriever's document, if it has no id of its own."""


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
    ask = _retriever(ranker)
    if ask is not None:
        return CallableAdapter(ask, name_of(ranker))
    if not callable(ranker):
        raise RankerError(
            f"the ranker is {type(ranker).__name__}, which cannot be called; give a function that "
            "takes a query's text and returns document ids, best first"
        )
    return AsyncCallableAdapter(ranker) if is_async(ranker) else CallableAdapter(ranker)


def is_ranker(value: object) -> bool:
    """Whether an object can be used as a ranker."""
    if isinstance(value, Adapter) or callable(value) or _retriever(value) is not None:
        return True
    return any(fits(value) for fits, _ in ADDED_ADAPTERS.values())


def _retriever(ranker: object) -> Callable[[str], object] | None:
    """Return a function that asks a LangChain or LlamaIndex retriever; None for other objects."""
    if isinstance(ranker, type):
        return None
    is_named = any(kind.__name__ == "BaseRetriever" for kind in type(ranker).__mro__)
    if not is_named and callable(ranker):
        return None
    retrieve = getattr(ranker, "retrieve", None)
    if callable(retrieve):
        return lambda text: list(_nodes(_in_order(retrieve(text))))
    invoke = getattr(ranker, "invoke", None)
    if callable(invoke):
        return lambda text: [_document_id(document) for document in _in_order(invoke(text))]
    return None


def _in_order(results: Any) -> Any:
    """Return the results of a retriever.

    Raises:
        RankerError: they are a set.
    """
    if has_no_order(results):
        raise RankerError(
            f"the retriever returned {type(results).__name__}, which has no order; it must return "
            "a list, best first"
        )
    return results


def _nodes(results: object) -> Iterator[object]:
    """Yield the ids of LlamaIndex results: the document's id if the node has it, else its own."""
    for item in results:  # type: ignore[attr-defined]
        node = getattr(item, "node", item)
        doc_id = (getattr(node, "metadata", None) or {}).get("doc_id") or node.node_id
        yield str(doc_id)


def _document_id(document: object) -> str:
    """Return the id of a LangChain document.

    Raises:
        RankerError: the document has no id.
    """
    doc_id = getattr(document, "id", None)
    if doc_id is None:
        metadata = getattr(document, "metadata", None) or {}
        doc_id = next((metadata[key] for key in _ID_KEYS if key in metadata), None)
    if doc_id is None:
        raise RankerError(
            f"the retriever returned a document without an id: {quoted(document)}; set Document.id "
            f"(or {', '.join(_ID_KEYS)} in its metadata), or give a function that returns ids"
        )
    return str(doc_id)
