"""One query's ranking: parsing the forms in which rankings are given, and sorting them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, TypeGuard, get_args

from pytest_rankcheck.errors import RunError, quoted, suggestion

__all__ = [
    "Duplicates",
    "Ranking",
    "Ties",
    "by_score",
    "checked_option",
    "duplicates_settled",
    "first_ranks",
    "is_list_of_ids",
    "ranking_as_given",
    "ranking_of",
]

Ties = Literal["doc_id", "input", "error"]
"""How documents with equal scores are ordered: by document id, descending, as in trec_eval; as in
the input; or not at all, which is an error."""

Duplicates = Literal["error", "close_gaps", "keep_places"]
"""How a duplicate document in a ranking is treated: as an error; or only its first place counts.
Its other places are removed, so that the documents below move up (``"close_gaps"``); or they stay
where they are and count as unjudged (``"keep_places"``)."""

_DOC_COLUMNS = ("doc_id", "docno", "docid", "id")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents ranked for one query, best first, with their scores if known."""

    doc_ids: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    repeated: bool = False
    """Whether a document was duplicated, so that its later places do not count."""

    def __len__(self) -> int:
        return len(self.doc_ids)

    def top(self, depth: int) -> Ranking:
        """Return the first ``depth`` documents."""
        if depth >= len(self.doc_ids):
            return self
        return Ranking(self.doc_ids[:depth], self.scores and self.scores[:depth], self.repeated)


def checked_option(value: str, kind: object, name: str) -> None:
    """Check that ``value`` is one of the values of the literal type ``kind``.

    Raises:
        RunError: it is not; the message names the allowed values.
    """
    allowed = get_args(kind)
    if value not in allowed:
        hint = suggestion(str(value), allowed)
        raise RunError(f"{name}={quoted(value)} is invalid{hint}; allowed: {', '.join(allowed)}")


def by_score(
    doc_ids: Sequence[str], scores: Sequence[float], query_id: str, ties: Ties = "doc_id"
) -> Ranking:
    """Return the documents sorted by score, highest first.

    Args:
        doc_ids: the documents, in the order of the input.
        scores: one finite float64 per document.
        query_id: the query, for messages.
        ties: how equal scores are ordered.

    Raises:
        RunError: a score is not finite, or scores are tied and ``ties`` is ``"error"``.
    """
    if _is_falling(scores):
        return Ranking(tuple(doc_ids), tuple(scores))
    for doc_id, score in zip(doc_ids, scores, strict=True):
        if not math.isfinite(score):
            raise RunError(
                f"query '{quoted(query_id)}': the score of document '{quoted(doc_id)}' is {score}; "
                "scores must be finite numbers"
            )
    pairs = list(zip(scores, doc_ids, strict=True))
    if ties == "doc_id":
        pairs.sort(reverse=True)
    else:
        pairs.sort(key=lambda pair: -pair[0])
        if ties == "error":
            _refuse_ties(pairs, query_id)
    return Ranking(tuple(doc for _, doc in pairs), tuple(score for score, _ in pairs))


def _is_falling(scores: Sequence[float]) -> bool:
    """Whether all scores are finite, and each is lower than the previous one."""
    if not math.isfinite(sum(scores)):
        return False
    return list(scores) == sorted(scores, reverse=True) and len(set(scores)) == len(scores)


def _refuse_ties(pairs: Sequence[tuple[float, str]], query_id: str) -> None:
    for (score, doc_id), (next_score, next_doc_id) in itertools.pairwise(pairs):
        if score == next_score and doc_id != next_doc_id:
            raise RunError(
                f"query '{quoted(query_id)}': documents '{quoted(doc_id)}' and "
                f"'{quoted(next_doc_id)}' have the same score, {score:g}; break ties in the "
                "ranker, or evaluate with ties='doc_id' or ties='input'"
            )


def duplicates_settled(ranking: Ranking, query_id: str, duplicates: Duplicates) -> Ranking:
    """Return the ranking with its duplicate documents treated as ``duplicates`` says.

    Raises:
        RunError: a document is duplicated and ``duplicates`` is ``"error"``.
    """
    doc_ids, scores = ranking.doc_ids, ranking.scores
    if len(set(doc_ids)) == len(doc_ids):
        return ranking
    ranks = first_ranks(doc_ids)
    if duplicates == "error":
        rank, doc_id = next(
            (rank, doc) for rank, doc in enumerate(doc_ids, start=1) if ranks[doc] != rank
        )
        raise RunError(
            f"query '{quoted(query_id)}': document '{quoted(doc_id)}' is ranked twice, at "
            f"{ranks[doc_id]} and {rank}; rank it once, or let only its first place count: "
            "duplicates='keep_places' if the reader sees every place (chunks), "
            "duplicates='close_gaps' if the documents below move up; in pytest, write "
            "rankcheck_conventions = duplicates=keep_places"
        )
    if duplicates == "close_gaps":
        scores = scores and tuple(scores[rank - 1] for rank in ranks.values())
        doc_ids = tuple(ranks)
    return Ranking(doc_ids, scores, repeated=True)


def first_ranks(doc_ids: Iterable[str]) -> dict[str, int]:
    """Return the rank of each document, from 1; of a duplicate document, the first."""
    ranks: dict[str, int] = {}
    for rank, doc_id in enumerate(doc_ids, start=1):
        ranks.setdefault(doc_id, rank)
    return ranks


def ranking_of(
    answer: object,
    query_id: str,
    *,
    depth: int | None = None,
    ties: Ties = "doc_id",
    duplicates: Duplicates = "error",
) -> Ranking:
    """Return the ranking given by a ranker's answer, or by a value of a dict of rankings.

    Args:
        answer: document ids, best first; or (id, score) pairs, best first; or {id: score}, which
            is sorted by score; or a DataFrame with a column ``doc_id`` (or ``docno``), best first.
            A generator is also accepted.
        query_id: the query, for messages.
        depth: the largest number of documents to keep.
        ties: how equal scores of {id: score} are ordered.
        duplicates: how a duplicate document is treated.

    Raises:
        RunError: the answer has another form, an id or score is invalid, or a document is
            duplicated.
    """
    if is_list_of_ids(answer):
        ranking = Ranking(tuple(answer))
    else:
        ranking = ranking_as_given(answer, query_id, ties)
        ranking = duplicates_settled(ranking, query_id, duplicates)
    return ranking if depth is None else ranking.top(depth)


def is_list_of_ids(answer: object) -> TypeGuard[Sequence[str]]:
    """Whether an answer is a list of distinct text ids, checked with a few calls for the whole."""
    if not isinstance(answer, (list, tuple)) or not answer or type(answer[0]) is not str:
        return False
    with suppress(TypeError):  # an item that is not hashable or not text
        distinct = set(answer)
        "".join(answer)
        return len(distinct) == len(answer) and "" not in distinct
    return False


def ranking_as_given(answer: object, query_id: str, ties: Ties = "doc_id") -> Ranking:
    """Return the ranking given by ``answer``, including duplicate documents.

    Raises:
        RunError: as in `ranking_of`.
    """
    if hasattr(answer, "columns") and hasattr(answer, "to_dict"):
        return _from_frame(answer, query_id)
    if isinstance(answer, Mapping):
        doc_ids = [_doc_id(doc_id, query_id) for doc_id in answer]
        pairs = zip(doc_ids, answer.values(), strict=True)
        return by_score(
            doc_ids, [_score(score, doc, query_id) for doc, score in pairs], query_id, ties
        )
    if isinstance(answer, Iterable) and not isinstance(answer, (str, bytes)):
        return _from_items(list(answer), query_id)
    raise RunError(
        f"query '{quoted(query_id)}': the ranking is {_described(answer)}; it must be a list of "
        "document ids (best first), (id, score) pairs, {id: score}, or a DataFrame. For no "
        "results, give an empty list"
    )


def _from_items(items: list[object], query_id: str) -> Ranking:
    """Read a list of ids or of (id, score) pairs, whose order is the ranking."""
    if not any(isinstance(item, (tuple, list)) for item in items):
        return Ranking(tuple(_doc_id(item, query_id) for item in items))
    doc_ids, scores = [], []
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise RunError(
                f"query '{quoted(query_id)}': {_described(item)} is mixed with (id, score) pairs; "
                "give all documents as pairs, or all as ids"
            )
        doc_ids.append(_doc_id(item[0], query_id))
        scores.append(_score(item[1], doc_ids[-1], query_id))
    return Ranking(tuple(doc_ids), tuple(scores))


def _from_frame(frame: object, query_id: str) -> Ranking:
    """Read a DataFrame (pandas, or anything like it), whose row order is the ranking."""
    columns = [str(name) for name in frame.columns]  # type: ignore[attr-defined]
    ids = next((name for name in _DOC_COLUMNS if name in columns), None)
    if ids is None:
        raise RunError(
            f"query '{quoted(query_id)}': the DataFrame has no column doc_id; it has "
            f"{', '.join(map(quoted, columns)) or 'none'}"
        )
    doc_ids = tuple(_doc_id(value, query_id) for value in frame[ids])  # type: ignore[index]
    if "score" not in columns:
        return Ranking(doc_ids)
    pairs = zip(doc_ids, frame["score"], strict=True)  # type: ignore[index]
    return Ranking(doc_ids, tuple(_score(score, doc, query_id) for doc, score in pairs))


def _doc_id(value: object, query_id: str) -> str:
    if isinstance(value, str) and value:
        return str(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    raise RunError(
        f"query '{quoted(query_id)}': a document id is {_described(value)}; ids are text or whole "
        "numbers"
    )


def _score(value: object, doc_id: str, query_id: str) -> float:
    score = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            score = float(value)
    if not math.isfinite(score):
        raise RunError(
            f"query '{quoted(query_id)}': the score of document '{quoted(doc_id)}' is "
            f"{_described(value)}; scores must be finite numbers"
        )
    return score


def _described(value: object) -> str:
    return "None" if value is None else f"{quoted(repr(value), 60)} ({type(value).__name__})"
