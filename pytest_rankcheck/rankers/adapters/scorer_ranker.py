"""Rerankers: a score for each candidate of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from itertools import repeat
from typing import Any

from pytest_rankcheck.errors import RankerError, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, Asking, Order
from pytest_rankcheck.rankers.adapters.many_queries import AtOnce
from pytest_rankcheck.rankers.adapters.model_output import one_each
from pytest_rankcheck.rankers.callable_adapters import name_of, takes_queries
from pytest_rankcheck.rankers.run import Run

__all__ = ["Candidates", "scorer"]

Candidates = Run | Mapping[str, Sequence[str]] | None
"""A first stage: a run, or the documents of each query by its id."""


def scorer(
    ranker: Any,
    *,
    documents: Mapping[str, str] | None = None,
    candidates: Candidates = None,
    pairs: bool | None = None,
) -> Adapter:
    """Return a ranker that orders candidates by the scores that a model gives them.

    Args:
        ranker: takes a query's text (the query, where annotated ``Query``) and a list of
            candidates, and returns a score for each; or ``{candidate: score}``. The ``predict`` and
            ``rank`` of a ``CrossEncoder`` of sentence-transformers are asked in their own way, and
            so is a ``CrossEncoder`` itself.
        documents: the texts of documents by their ids; then the model gets texts, not ids.
        candidates: which documents are scored: a run of a first stage, or ``{query_id: ids}``;
            without it, those of the golden set (its candidates, else its judged documents).
        pairs: whether the model takes one list of (query, candidate) pairs; without it, as its
            class tells.

    Raises:
        RankerError: ``ranker`` cannot be called.
    """
    ask = ranker.predict if _is_cross_encoder(ranker) else ranker
    if not callable(ask):
        raise RankerError(f"scorer: {type(ranker).__name__} cannot be called")
    in_pairs = _takes_pairs(ask) if pairs is None else pairs
    return _Scorer(ask, documents, candidates, in_pairs)


def _is_cross_encoder(owner: object) -> bool:
    return callable(getattr(owner, "predict", None)) and callable(getattr(owner, "rank", None))


def _takes_pairs(ask: object) -> bool:
    is_predict = getattr(ask, "__name__", "") == "predict"
    return is_predict and _is_cross_encoder(getattr(ask, "__self__", None))


class _Scorer(AtOnce):
    size = 1

    def __init__(
        self,
        ask: Callable[..., object],
        documents: Mapping[str, str] | None,
        candidates: Candidates,
        in_pairs: bool,
    ) -> None:
        self._ask = ask
        self._documents = documents
        self._candidates = candidates
        self._in_pairs = in_pairs
        self._order: Order | None = None
        self.name = name_of(ask)
        self.needs_text = not takes_queries(ask)

    def with_size(self, size: int) -> None:
        """Return None: one query is scored after the other, whatever the size."""

    def with_candidates(self, order: Order) -> Adapter:
        """Return the same ranker, given its candidates in another order."""
        other = copy(self)
        other._order = order
        return other

    def answers(self, queries: Sequence[Query], asking: Asking) -> Sequence[object]:
        __tracebackhide__ = True
        return [self._scored(query, asking) for query in queries]

    def _scored(self, query: Query, asking: Asking) -> Mapping[str, float]:
        __tracebackhide__ = True
        doc_ids = list(dict.fromkeys(self._candidates_of(query.id, asking)))
        if not doc_ids:
            return {}
        if self._order:
            doc_ids = [doc_ids[place] for place in self._order(range(len(doc_ids)))]
        given = [self._shown(doc_id) for doc_id in doc_ids]
        asked = query.text if self.needs_text else query
        if self._in_pairs:
            answer = self._ask(list(zip(repeat(asked), given, strict=False)))
        else:
            answer = self._ask(asked, given)
        return dict(_scores(answer, doc_ids))

    def _candidates_of(self, query_id: str, asking: Asking) -> Sequence[str]:
        if self._candidates is None:
            return asking.golden.candidates_of(query_id)
        if isinstance(self._candidates, Run):
            return self._candidates.get(query_id)
        return self._candidates.get(query_id, ())

    def _shown(self, doc_id: str) -> str:
        """Return what the model sees of a document.

        Raises:
            RankerError: its text is not known.
        """
        if self._documents is None:
            return doc_id
        try:
            return self._documents[doc_id]
        except KeyError:
            raise RankerError(
                f"candidate '{quoted(doc_id)}' is not among the documents"
                f"{suggestion(doc_id, list(self._documents)[:1000])}"
            ) from None


def _scores(answer: object, doc_ids: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield the score of each candidate.

    Raises:
        RankerError: there is not one for each, or one is of a document that is no candidate.
    """
    if isinstance(answer, Mapping):
        known = set(doc_ids)
        stranger = next((doc_id for doc_id in answer if doc_id not in known), None)
        if stranger is not None:
            raise RankerError(f"document '{quoted(stranger)}' is scored, but is no candidate")
        yield from answer.items()
        return
    if isinstance(answer, list) and answer and isinstance(answer[0], Mapping):
        yield from _by_place(answer, doc_ids)
        return
    yield from zip(doc_ids, one_each(answer, len(doc_ids), "the scorer").tolist(), strict=True)


def _by_place(
    answer: Sequence[Mapping[str, Any]], doc_ids: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """Read what ``CrossEncoder.rank`` answers: ``{"corpus_id": 3, "score": 0.7}``."""
    for item in answer:
        place = item.get("corpus_id")
        if not isinstance(place, int) or not 0 <= place < len(doc_ids) or "score" not in item:
            raise RankerError(
                f'the scorer answered {quoted(dict(item))}; of each candidate it is "corpus_id" '
                f'(0 to {len(doc_ids) - 1}) and "score"'
            )
        yield doc_ids[place], float(item["score"])
