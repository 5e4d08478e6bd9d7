"""Embeddings: the documents with the largest inner products, found exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from pytest_rankcheck.errors import RankerError, plural
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, Asking
from pytest_rankcheck.rankers.adapters.many_queries import AtOnce, checked_size
from pytest_rankcheck.rankers.adapters.model_output import matrix_of
from pytest_rankcheck.rankers.callable_adapters import name_of
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["embedder"]


_BLOCK_PRODUCTS = 1 << 22
"""How many products are in memory at once: 32 MB."""


def embedder(
    encode: Callable[[list[str]], object],
    corpus: Mapping[str, str],
    *,
    encode_corpus: Callable[[list[str]], object] | None = None,
    cosine: bool = False,
    size: int = 64,
) -> Adapter:
    """Return a ranker by the inner product of the embeddings of query and document.

    The corpus is embedded once, when the first query is asked. The search is exact: every product
    is computed, in blocks.

    Args:
        encode: takes a list of texts and returns a row of numbers for each (``encode`` of
            sentence-transformers).
        corpus: the texts of all documents by their ids.
        encode_corpus: embeds the documents, where that is another function.
        cosine: whether the embeddings are first made to have length 1.
        size: how many texts are embedded at once.

    Raises:
        RankerError: ``encode`` cannot be called, or the corpus is empty.
    """
    for function in (encode, encode_corpus or encode):
        if not callable(function):
            raise RankerError(f"embedder: {type(function).__name__} cannot be called")
    if not corpus:
        raise RankerError("embedder: the corpus is empty")
    return _Embedder(encode, encode_corpus or encode, corpus, cosine, checked_size(size) or 1)


class _Embedder(AtOnce):
    def __init__(
        self,
        encode: Callable[[list[str]], object],
        encode_corpus: Callable[[list[str]], object],
        corpus: Mapping[str, str],
        cosine: bool,
        size: int,
    ) -> None:
        self._encode = encode
        self._encode_corpus = encode_corpus
        self._corpus = corpus
        self._cosine = cosine
        self._embedded: FloatArray | None = None
        self.size: int = size
        self.name = name_of(encode)

    def ask(self, asking: Asking, done: object) -> None:
        """Embed the corpus, once, and then the queries; the corpus is no query's time."""
        __tracebackhide__ = True
        if self._embedded is None:
            texts = list(self._corpus.values())
            parts = [
                self._rows(self._encode_corpus, texts[start : start + self.size], "the corpus")
                for start in range(0, len(texts), self.size)
            ]
            widths = {part.shape[1] for part in parts}
            if len(widths) > 1:
                raise RankerError(f"the corpus is embedded in {sorted(widths)} numbers a text")
            self._embedded = np.concatenate(parts)
        super().ask(asking, done)  # type: ignore[arg-type]

    def answers(self, queries: Sequence[Query], asking: Asking) -> Sequence[object]:
        __tracebackhide__ = True
        assert self._embedded is not None
        asked = self._rows(self._encode, [str(query.text) for query in queries], "the queries")
        if asked.shape[1] != self._embedded.shape[1]:
            raise RankerError(
                f"a query is embedded in {plural(asked.shape[1], 'number')}, a document in "
                f"{self._embedded.shape[1]:,}"
            )
        doc_ids = list(self._corpus)
        return [
            {doc_ids[place]: score for place, score in best.items()}
            for best in _largest(asked, self._embedded, asking.depth)
        ]

    def _rows(
        self, encode: Callable[[list[str]], object], texts: list[str], what: str
    ) -> FloatArray:
        __tracebackhide__ = True
        rows = matrix_of(encode(texts), len(texts), f"the encoder of {what}")
        if self._cosine:
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.where(lengths == 0, 1, lengths)
        return rows


def _largest(asked: FloatArray, embedded: FloatArray, depth: int) -> Iterator[dict[int, float]]:
    """Yield the documents with the ``depth`` largest products for each query, ties included."""
    best: list[dict[int, float]] = [{} for _ in asked]
    step = max(1, _BLOCK_PRODUCTS // max(1, len(asked)))
    for start in range(0, len(embedded), step):
        products = asked @ embedded[start : start + step].T
        for found, row in zip(best, products, strict=True):
            least = _least(row, depth)
            places = np.flatnonzero(row >= least)
            found.update(zip((places + start).tolist(), row[places].tolist(), strict=True))
            if len(found) > 2 * depth:
                bound = _least(np.array(list(found.values())), depth)
                for place in [place for place, score in found.items() if score < bound]:
                    del found[place]
    yield from best


def _least(scores: FloatArray, depth: int) -> float:
    """Return the score of rank ``depth``, or the lowest where there are not so many."""
    if len(scores) <= depth:
        return float(scores.min())
    return float(np.partition(scores, -depth)[-depth])
