"""What is handed in as a ranker, as an adapter: callables, async callables, retrievers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_rankcheck.errors import RankerError, quoted
from pytest_rankcheck.rankers.adapter_protocol import Adapter
from pytest_rankcheck.rankers.callable_adapters import AsyncCallable, OneByOne, is_async, name_of

__all__ = ["adapter_of", "is_ranker"]

_ID_KEYS = ("doc_id", "id", "source")
"""Where retrievers' documents keep their ids, if they have none of their own."""


def adapter_of(ranker: object) -> Adapter:
    """Return the adapter that asks a ranker.

    Raises:
        RankerError: it is no ranker.
    """
    if isinstance(ranker, Adapter):
        return ranker
    ask = _retriever(ranker)
    if ask is not None:
        return OneByOne(ask, name_of(ranker))
    if not callable(ranker):
        raise RankerError(
            f"the ranker is {type(ranker).__name__}, which cannot be called; give a function from "
            "a query's text to document ids, best first"
        )
    return AsyncCallable(ranker) if is_async(ranker) else OneByOne(ranker)


def is_ranker(value: object) -> bool:
    """Whether something can be asked."""
    return isinstance(value, Adapter) or callable(value) or _retriever(value) is not None


def _retriever(ranker: object) -> Callable[[str], object] | None:
    """Return how a retriever of LangChain or LlamaIndex is asked; None if it is none."""
    if isinstance(ranker, type):
        return None
    is_named = any(kind.__name__ == "BaseRetriever" for kind in type(ranker).__mro__)
    if not is_named and callable(ranker):
        return None
    retrieve = getattr(ranker, "retrieve", None)
    if callable(retrieve):
        return lambda text: list(_nodes(retrieve(text)))
    invoke = getattr(ranker, "invoke", None)
    if callable(invoke):
        return lambda text: [_document_id(document) for document in invoke(text)]
    return None


def _nodes(found: object) -> Iterator[object]:
    """Yield the ids of what LlamaIndex found: of the document where the node tells it."""
    for item in found:  # type: ignore[attr-defined]
        node = getattr(item, "node", item)
        doc_id = (getattr(node, "metadata", None) or {}).get("doc_id") or node.node_id
        yield str(doc_id)


def _document_id(document: object) -> str:
    """Return the id of a document of LangChain.

    Raises:
        RankerError: it has none.
    """
    doc_id = getattr(document, "id", None)
    if doc_id is None:
        metadata = getattr(document, "metadata", None) or {}
        doc_id = next((metadata[key] for key in _ID_KEYS if key in metadata), None)
    if doc_id is None:
        raise RankerError(
            f"a document of the retriever has no id: {quoted(document)}; give it one (Document.id, "
            f"or {', '.join(_ID_KEYS)} in its metadata), or hand in a function that returns ids"
        )
    return str(doc_id)
