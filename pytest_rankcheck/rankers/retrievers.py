"""Retrievers: what LangChain, LlamaIndex and the like return, and the ids of these documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from pytest_rankcheck.errors import RankerError, listed, quoted
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.callable_adapters import function_adapter, is_async, name_of
from pytest_rankcheck.rankers.ranking import Ranking
from pytest_rankcheck.rankers.ranking_forms import has_no_order

_ID_KEYS = ("doc_id", "id", "source")
"""Metadata keys that hold the id of a retriever's document, if it has no id of its own."""

Key = str | Callable[[Any], Any]


def retriever(ranker: object, key: Key) -> Adapter:
    """Return a ranker whose documents are identified by an entry of their metadata.

    Args:
        ranker: a retriever of LangChain or LlamaIndex; or a function that takes a query's text (or
            a ``Query``) and returns documents, best first, with ``metadata`` or ``meta``; or
            (document, score) pairs, best first.
        key: the name of the entry, such as ``"source"``; or of an attribute of the document, if
            its metadata has no such entry; or a function from a document, or a pair, to its id.

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
    return function_adapter(with_ids(retrieve, key), name_of(ranker))


def retrieve_function(ranker: object) -> Callable[..., object] | None:
    """Return the method to call on a LangChain or LlamaIndex retriever; None for others."""
    if isinstance(ranker, type):
        return None
    is_named = any(kind.__name__ == "BaseRetriever" for kind in type(ranker).__mro__)
    if not is_named and callable(ranker):
        return None
    methods = (getattr(ranker, name, None) for name in ("retrieve", "invoke"))
    method = next(filter(callable, methods), None)
    return None if method is None else lambda text: method(text)  # noqa: PLW0108 - no other arguments


def with_ids(retrieve: Callable[..., Any], key: Key | None = None) -> Callable[..., Any]:
    """Return a function that returns the ids of the documents that are retrieved."""

    @wraps(retrieve)
    def ask(*arguments: object, **options: object) -> object:
        return _retrieved(retrieve(*arguments, **options), key)

    @wraps(retrieve)
    async def ask_async(*arguments: object, **options: object) -> object:
        return _retrieved(await retrieve(*arguments, **options), key)

    return ask_async if is_async(retrieve) else ask


def _retrieved(results: Any, key: Key | None) -> Ranking:
    """Return retrieved documents, with ids as they are and their texts."""
    is_list = isinstance(results, Iterable) and not isinstance(results, (str, bytes, Mapping))
    if not is_list or has_no_order(results):
        problem = "has no order" if has_no_order(results) else "is not a list of documents"
        raise RankerError(
            f"the retriever returned {type(results).__name__}, which {problem}: "
            f"{quoted(repr(results), 60)}; return a list, best first, and an empty one for no "
            "results"
        )
    # LlamaIndex returns nodes with their scores, LangChain's vector stores pairs with them.
    nodes = [getattr(result, "node", result) for result in results]
    documents = [getattr(document, "node", document) for document in map(_alone, nodes)]
    ids = [*map(key, nodes)] if callable(key) else [_id_of(each, key) for each in documents]
    return Ranking(tuple(ids), texts=[*map(_text_of, documents)])


def _alone(result: object) -> object:
    """Return the document of a (document, score) pair; anything else as it is."""
    return result[0] if type(result) is tuple and len(result) == 2 else result


def _text_of(document: object) -> str | None:
    """Return the text of a document of LangChain, LlamaIndex or Haystack; None without one."""
    texts = (getattr(document, name, None) for name in ("page_content", "text", "content"))
    return next((text for text in texts if isinstance(text, str)), None)


def _id_of(document: object, key: str | None) -> Any:
    """Return an entry of a document's metadata, else an attribute of the document.

    Without a key, it is the id of a LangChain document, or of a LlamaIndex node.
    """
    metadata: Any = getattr(document, "metadata", None) or getattr(document, "meta", None)
    metadata = metadata if isinstance(metadata, Mapping) else {}  # Haystack calls it meta
    if key is not None:
        candidates = [metadata.get(key), getattr(document, key, None)]
    elif hasattr(document, "node_id"):
        candidates = [metadata.get("doc_id"), document.node_id]
    else:
        candidates = [getattr(document, "id", None), *map(metadata.get, _ID_KEYS)]
    doc_id = next((candidate for candidate in candidates if candidate is not None), None)
    if doc_id is not None:
        return doc_id if key else str(doc_id)
    if key is None:
        raise RankerError(
            f"the retriever returned a document without an id: {quoted(document)}; set Document.id "
            f"(or {', '.join(_ID_KEYS)} in its metadata), or give a function that returns ids"
        )
    raise RankerError(
        f"the retriever returned a document without '{quoted(key)}': its metadata has "
        f"{listed(list(metadata), 10) or 'no entries'}; give another key, or a function from a "
        "document to its id"
    )
