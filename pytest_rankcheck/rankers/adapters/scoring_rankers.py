"""Rankers that score documents: rerankers of candidates, and embeddings of a whole corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import RankerError, listed, plural, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.adapters.batch_ranker import (
    BatchedAdapter,
    checked_size,
    matrix_of,
    one_each,
)
from pytest_rankcheck.rankers.callable_adapters import name_of, takes_queries
from pytest_rankcheck.rankers.run import Run


@checked_arguments
def scorer(
    ranker: Any,
    *,
    documents: Mapping[str, str] | None = None,
    candidates: Run | Mapping[str, Sequence[str]] | None = None,
    pairs: bool | None = None,
) -> Adapter:
    """Return a ranker that sorts candidates by the scores of a model.

    Args:
        ranker: takes a query's text (or the query, if annotated ``Query``) and a list of
            candidates, and returns a score for each: in their order, as ``{candidate: score}``, or
            as a pandas Series with the candidates in its index. A ``CrossEncoder`` of
            sentence-transformers, or its method ``predict``, is called in its own way.
        documents: the texts of the documents, by id; if given, the model gets texts, not ids.
        candidates: the documents to score: a run of a first stage, or ``{query_id: ids}``; by
            default those of the golden set (its candidates, otherwise its judged documents).
        pairs: whether the model takes one list of (query, candidate) pairs; by default decided by
            its class.

    Raises:
        RankerError: ``ranker`` cannot be called.
    """
    owner = getattr(ranker, "__self__", ranker)  # of a method
    is_cross_encoder = all(callable(getattr(owner, name, None)) for name in ("predict", "rank"))
    ask = owner.predict if is_cross_encoder else ranker
    if not callable(ask):
        raise RankerError(f"scorer: {type(ranker).__name__} cannot be called")
    return _Scorer(ask, documents, candidates, is_cross_encoder if pairs is None else pairs)


@dataclass(repr=False, eq=False)
class _Scorer(BatchedAdapter):
    scorer: Callable[..., object]
    documents: Mapping[str, str] | None
    candidates: Run | Mapping[str, Sequence[str]] | None
    in_pairs: bool
    size = 1

    def __post_init__(self) -> None:
        self.name = name_of(self.scorer)
        self.needs_text = not takes_queries(self.scorer)

    def with_size(self, size: int) -> None:
        """Return None: queries are always scored one after another."""

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        return [self._scored(query, task) for query in queries]

    def _scored(self, query: Query, task: RankingTask) -> Mapping[str, float]:
        if self.candidates is None:
            candidates = task.golden.candidates_of(query.id)
        else:
            candidates = self.candidates.get(query.id) or ()
        doc_ids = list(dict.fromkeys(candidates))
        if not doc_ids:
            return {}
        inputs = [self._model_input(doc_id) for doc_id in doc_ids]
        query_input = query.text if self.needs_text else query
        if self.in_pairs:
            answer = self.scorer(list(zip(repeat(query_input), inputs, strict=False)))
        else:
            answer = self.scorer(query_input, inputs)
        return _scores(answer, doc_ids)

    def _model_input(self, doc_id: str) -> str:
        """Return the text of a document, or its id if the model takes ids."""
        if self.documents is None:
            return doc_id
        try:
            return self.documents[doc_id]
        except KeyError:
            raise RankerError(
                f"candidate '{quoted(doc_id)}' is not among the documents"
                f"{suggestion(doc_id, list(self.documents)[:1000])}"
            ) from None


def _scores(answer: object, doc_ids: Sequence[str]) -> Mapping[str, float]:
    """Return the score of each candidate."""
    if isinstance(answer, Mapping):
        unlike = set(answer) ^ set(doc_ids)
        if unlike:
            raise RankerError(
                f"the scorer returned {plural(len(answer), 'score')} for "
                f"{plural(len(doc_ids), 'candidate')}, which differ in {listed([*unlike])}. Score "
                "every candidate, those to be ranked last with a very low score, and no other"
            )
        return answer
    scores = one_each(answer, len(doc_ids), "the scorer", labels=doc_ids)
    pairs = zip(doc_ids, scores.tolist(), strict=True)
    return dict(sorted(pairs, key=itemgetter(1), reverse=True))


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
