"""Ranking by embeddings: an exact search for the largest inner products."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import RankerError, plural
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.adapters.batch_ranker import BatchedAdapter, checked_size
from pytest_rankcheck.rankers.adapters.model_output import matrix_of
from pytest_rankcheck.rankers.callable_adapters import name_of

_BLOCK_PRODUCTS = 1 << 22
"""How many inner products are in memory at once: 32 MB, or those of one query."""


@checked_arguments
def embedder(
    encode: Callable[[list[str]], object],
    corpus: Mapping[str, str],
    *,
    encode_corpus: Callable[[list[str]], object] | None = None,
    cosine: bool = False,
    size: int = 64,
) -> Adapter:
    """Return a ranker that sorts by the inner product of query and document embeddings.

    The corpus is embedded once, before the first query. The search is exact: every product is
    computed.

    Args:
        encode: takes a list of texts and returns a row of numbers for each (such as ``encode`` of
            sentence-transformers).
        corpus: the texts of all documents, by id.
        encode_corpus: embeds the documents, if that is another function.
        cosine: whether to normalise the embeddings to length 1 first.
        size: how many texts are embedded at once.

    Raises:
        RankerError: ``encode`` cannot be called, or the corpus is empty.
    """
    for function in (encode, encode_corpus or encode):
        if not callable(function):
            raise RankerError(f"embedder: {type(function).__name__} cannot be called")
    if not corpus:
        raise RankerError("embedder: the corpus is empty")
    batch = checked_size(size) or 1
    return _Embedder(
        encode, encode_corpus or encode, corpus, cosine, size=batch, name=name_of(encode)
    )


@dataclass(repr=False, eq=False)
class _Embedder(BatchedAdapter):
    encode: Callable[[list[str]], object]
    encode_corpus: Callable[[list[str]], object]
    corpus: Mapping[str, str]
    cosine: bool
    size: int
    name: str
    embedded: FloatArray | None = None

    def ask(self, task: RankingTask, on_answer: object) -> None:
        """Embed the corpus once, outside the measured time, and then the queries."""
        if self.embedded is None:
            texts = list(self.corpus.values())
            parts = [
                self._rows(self.encode_corpus, texts[start : start + self.size], "the corpus")
                for start in range(0, len(texts), self.size)
            ]
            self.embedded = np.concatenate(parts)
        super().ask(task, on_answer)  # type: ignore[arg-type]

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        assert self.embedded is not None
        vectors = self._rows(self.encode, [str(query.text) for query in queries], "the queries")
        if vectors.shape[1] != self.embedded.shape[1]:
            raise RankerError(
                f"the embedding of a query has {plural(vectors.shape[1], 'number')}, that of a "
                f"document {self.embedded.shape[1]:,}"
            )
        return list(_largest(vectors, self.embedded, list(self.corpus), task.depth))

    def _rows(
        self, encode: Callable[[list[str]], object], texts: list[str], what: str
    ) -> FloatArray:
        rows = matrix_of(encode(texts), len(texts), f"the encoder of {what}")
        if self.cosine:
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.where(lengths == 0, 1, lengths)
        return rows


def _largest(
    vectors: FloatArray, embedded: FloatArray, doc_ids: Sequence[str], depth: int
) -> Iterator[dict[str, float]]:
    """Yield the documents with the ``depth`` largest products for each query, ties included."""
    step = max(1, _BLOCK_PRODUCTS // len(embedded))
    for start in range(0, len(vectors), step):
        for row in vectors[start : start + step] @ embedded.T:
            least = -np.inf
            if depth < len(row):
                least = np.partition(row, -depth)[-depth]
            places = np.flatnonzero(row >= least)
            places = places[np.argsort(-row[places], kind="stable")]
            best = [doc_ids[place] for place in places.tolist()]
            yield dict(zip(best, row[places].tolist(), strict=True))
