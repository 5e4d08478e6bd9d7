"""Rerankers, which score each candidate of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, plural, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask, Reorder
from pytest_rankcheck.rankers.adapters.many_queries import BatchedAdapter
from pytest_rankcheck.rankers.adapters.model_output import one_each
from pytest_rankcheck.rankers.callable_adapters import name_of, takes_queries
from pytest_rankcheck.rankers.run import Run

__all__ = ["scorer"]


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
            sentence-transformers, or its method ``predict`` or ``rank``, is called in its own way;
            what ``rank`` leaves out (``top_k``) is not ranked.
        documents: the texts of the documents, by id; if given, the model gets texts, not ids.
        candidates: the documents to score: a run of a first stage, or ``{query_id: ids}``; by
            default those of the golden set (its candidates, otherwise its judged documents).
        pairs: whether the model takes one list of (query, candidate) pairs; by default decided by
            its class.

    Raises:
        RankerError: ``ranker`` cannot be called, or the candidates of a query are a text.
    """
    ask = ranker.predict if _is_cross_encoder(ranker) else ranker
    if not callable(ask):
        raise RankerError(f"scorer: {type(ranker).__name__} cannot be called")
    for query_id, doc_ids in candidates.items() if isinstance(candidates, Mapping) else ():
        if isinstance(doc_ids, (str, bytes)):
            raise RankerError(
                f"scorer: the candidates of query '{quoted(query_id)}' are the text "
                f"'{quoted(doc_ids, 60)}'; give a list of ids"
            )
    in_pairs = _takes_pairs(ask) if pairs is None else pairs
    return _Scorer(ask, documents, candidates, in_pairs)


def _is_cross_encoder(owner: object) -> bool:
    return callable(getattr(owner, "predict", None)) and callable(getattr(owner, "rank", None))


def _takes_pairs(ask: object) -> bool:
    is_predict = getattr(ask, "__name__", "") == "predict"
    return is_predict and _is_cross_encoder(getattr(ask, "__self__", None))


@dataclass(repr=False, eq=False)
class _Scorer(BatchedAdapter):
    scorer: Callable[..., object]
    documents: Mapping[str, str] | None
    candidates: Run | Mapping[str, Sequence[str]] | None
    in_pairs: bool
    order: Reorder | None = None
    size = 1

    def __post_init__(self) -> None:
        self.name = name_of(self.scorer)
        self.needs_text = not takes_queries(self.scorer)

    def with_size(self, size: int) -> None:
        """Return None: queries are always scored one after another."""

    def with_candidates(self, order: Reorder) -> Adapter:
        """Return the same ranker with its candidates reordered."""
        return replace(self, order=order)

    def answers(self, queries: Sequence[Query], task: RankingTask) -> Sequence[object]:
        __tracebackhide__ = True
        return [self._scored(query, task) for query in queries]

    def _scored(self, query: Query, task: RankingTask) -> Mapping[str, float]:
        __tracebackhide__ = True
        doc_ids = list(dict.fromkeys(self._candidates_of(query.id, task)))
        if not doc_ids:
            return {}
        if self.order:
            doc_ids = [doc_ids[place] for place in self.order(range(len(doc_ids)))]
        inputs = [self._model_input(doc_id) for doc_id in doc_ids]
        query_input = query.text if self.needs_text else query
        if self.in_pairs:
            answer = self.scorer(list(zip(repeat(query_input), inputs, strict=False)))
        else:
            answer = self.scorer(query_input, inputs)
        return dict(_scores(answer, doc_ids))

    def _candidates_of(self, query_id: str, task: RankingTask) -> Sequence[str]:
        if self.candidates is None:
            return task.golden.candidates_of(query_id)
        if isinstance(self.candidates, Run):
            return self.candidates.get(query_id)
        return self.candidates.get(query_id, ())

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


def _scores(answer: object, doc_ids: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield the score of each candidate."""
    if isinstance(answer, Mapping):
        candidates = set(doc_ids)
        stranger = next((doc_id for doc_id in answer if doc_id not in candidates), None)
        if stranger is not None:
            raise RankerError(f"document '{quoted(stranger)}' is scored, but is not a candidate")
        missing = next((doc_id for doc_id in doc_ids if doc_id not in answer), None)
        if missing is not None:
            raise RankerError(
                f"the scorer returned scores for {len(answer):,} of "
                f"{plural(len(doc_ids), 'candidate')}; '{quoted(missing)}' has none. Score every "
                "candidate, those to be ranked last with a very low score"
            )
        yield from answer.items()
        return
    if isinstance(answer, list) and answer and isinstance(answer[0], Mapping):
        yield from _by_place(answer, doc_ids)
        return
    scores = one_each(answer, len(doc_ids), "the scorer", labels=doc_ids)
    yield from zip(doc_ids, scores.tolist(), strict=True)


def _by_place(
    answer: Sequence[Mapping[str, Any]], doc_ids: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """Parse the answer of ``CrossEncoder.rank``: ``{"corpus_id": 3, "score": 0.7}``."""
    scored: set[int] = set()
    for item in answer:
        place = item.get("corpus_id")
        if not isinstance(place, int) or not 0 <= place < len(doc_ids) or "score" not in item:
            raise RankerError(
                f'the scorer returned {quoted(dict(item))}; each candidate needs a "corpus_id" '
                f'(0 to {len(doc_ids) - 1}) and a "score"'
            )
        if place in scored:
            raise RankerError(
                f"the scorer returned two scores for the candidate '{quoted(doc_ids[place])}', "
                f"corpus_id {place}"
            )
        scored.add(place)
        yield doc_ids[place], float(item["score"])
