"""Rerankers, which score each candidate of a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import RankerError, plural, quoted, suggestion
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.adapter_protocol import Adapter, RankingTask
from pytest_rankcheck.rankers.adapters.batch_ranker import BatchedAdapter
from pytest_rankcheck.rankers.adapters.model_output import one_each
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
    if pairs is None:
        pairs = _is_cross_encoder(getattr(ask, "__self__", None)) and ask.__name__ == "predict"
    return _Scorer(ask, documents, candidates, pairs)


def _is_cross_encoder(owner: object) -> bool:
    return callable(getattr(owner, "predict", None)) and callable(getattr(owner, "rank", None))


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
            different = min(unlike, key=lambda doc_id: doc_id not in answer)
            what = "has no score"
            if different in answer:
                what = "is scored, but is not a candidate"
            raise RankerError(
                f"the scorer returned scores for {len(answer):,} of "
                f"{plural(len(doc_ids), 'candidate')}; document '{quoted(different)}' {what}. "
                "Score every candidate, those to be ranked last with a very low score"
            )
        return answer
    scores = one_each(answer, len(doc_ids), "the scorer", labels=doc_ids)
    pairs = zip(doc_ids, scores.tolist(), strict=True)
    return dict(sorted(pairs, key=itemgetter(1), reverse=True))
