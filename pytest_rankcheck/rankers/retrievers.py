"""Retrievers: what LangChain, LlamaIndex and the like return, and the ids of these documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, listed, quoted
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.callable_adapters import (
    AsyncCallableAdapter,
    CallableAdapter,
    is_async,
    name_of,
)
from pytest_rankcheck.rankers.ranking_forms import has_no_order

__all__ = ["retrieve_function", "retriever", "with_ids"]

_ID_KEYS = ("doc_id", "id", "source")
"""Metadata keys that hold the id of a retriever's document, if it has no id of its own."""

Key = str | Callable[[Any], object]


@checked_arguments
def retriever(ranker: object, key: Key) -> Adapter:
    """Return a ranker whose documents are identified by an entry of their metadata.

    Args:
        ranker: a retriever of LangChain or LlamaIndex; or a function that takes a query's text (or
            a ``Query``) and returns documents, best first, with ``metadata`` or ``meta``.
        key: the name of the entry, such as ``"source"``; or of an attribute of the document, if
            its metadata has no such entry; or a function from a document to its id.

    Several chunks of one document get the same id: choose how ``duplicates`` count.

    Raises:
        RankerError: ``ranker`` is not a retriever, or ``key`` is neither a name nor a function.
    """
    if not (isinstance(key, str) and key) and not callable(key):
        raise RankerError(
            f"retriever: key={quoted(repr(key), 60)} is invalid; give the name of a metadata "
            "entry, such as 'source', or a function from a document to its id"
        )
    retrieve = retrieve_function(ranker)
    if retrieve is None and callable(ranker) and not isinstance(ranker, (type, Adapter)):
        retrieve = ranker
    if retrieve is None:
        raise RankerError(
            f"retriever: {type(ranker).__name__} is not a retriever; give one of LangChain or "
            "LlamaIndex, or a function that takes a query's text and returns documents"
        )
    if is_async(retrieve):
        return AsyncCallableAdapter(_with_awaited_ids(retrieve, key))
    return CallableAdapter(with_ids(retrieve, key), name_of(ranker))


def retrieve_function(ranker: object) -> Callable[..., object] | None:
    """Return the method of a LangChain or LlamaIndex retriever that is asked; None for others."""
    if isinstance(ranker, type):
        return None
    is_named = any(kind.__name__ == "BaseRetriever" for kind in type(ranker).__mro__)
    if not is_named and callable(ranker):
        return None
    methods = (getattr(ranker, name, None) for name in ("retrieve", "invoke"))
    method = next(filter(callable, methods), None)
    if method is None:
        return None

    def ask(text: str) -> object:
        return method(text)

    return ask


def with_ids(retrieve: Callable[..., object], key: Key | None = None) -> Callable[..., object]:
    """Return a function that returns the ids of the documents that are retrieved."""

    @wraps(retrieve)
    def ask(*arguments: object, **options: object) -> object:
        __tracebackhide__ = True
        return _ids(retrieve(*arguments, **options), key)

    return ask


def _with_awaited_ids(retrieve: Callable[..., Any], key: Key) -> Callable[..., object]:
    @wraps(retrieve)
    async def ask(*arguments: object, **options: object) -> object:
        return _ids(await retrieve(*arguments, **options), key)

    return ask


def _ids(results: Any, key: Key | None) -> list[object]:
    """Return the ids of retrieved documents."""
    if has_no_order(results):
        raise RankerError(
            f"the retriever returned {type(results).__name__}, which has no order; it must return "
            "a list, best first"
        )
    if results is None:
        raise RankerError("the retriever returned None; return an empty list for no results")
    if isinstance(results, (str, bytes, Mapping)) or not isinstance(results, Iterable):
        raise RankerError(
            f"the retriever returned {type(results).__name__}, not a list of documents: "
            f"{quoted(repr(results), 60)}"
        )
    # LlamaIndex returns nodes with their scores.
    documents = [getattr(result, "node", result) for result in results]
    if key is None:
        return [_usual_id(document) for document in documents]
    if callable(key):
        return [key(document) for document in documents]
    return [_entry(document, key) for document in documents]


def _metadata(document: object) -> Mapping[str, object]:
    """Return the metadata of a document; Haystack calls it meta."""
    metadata = getattr(document, "metadata", None) or getattr(document, "meta", None)
    return metadata if isinstance(metadata, Mapping) else {}


def _entry(document: object, key: str) -> object:
    """Return an entry of a document's metadata, else an attribute of the document."""
    metadata = _metadata(document)
    value = metadata.get(key)
    if value is None:
        value = getattr(document, key, None)
    if value is None:
        raise RankerError(
            f"the retriever returned a document without '{quoted(key)}': its metadata has "
            f"{listed(list(metadata), 10) or 'no entries'}; give another key, or a function from a "
            "document to its id"
        )
    return value


def _usual_id(document: object) -> str:
    """Return the id of a LangChain document, or of a LlamaIndex node."""
    metadata = _metadata(document)
    if hasattr(document, "node_id"):
        candidates = [metadata.get("doc_id"), document.node_id]
    else:
        candidates = [getattr(document, "id", None), *map(metadata.get, _ID_KEYS)]
    doc_id = next((candidate for candidate in candidates if candidate is not None), None)
    if doc_id is None:
        raise RankerError(
            f"the retriever returned a document without an id: {quoted(document)}; set Document.id "
            f"(or {', '.join(_ID_KEYS)} in its metadata), or give a function that returns ids"
        )
    return str(doc_id)
