"""The forms in which a ranking can be given: lists, pairs, dicts and frames."""

from __future__ import annotations

import math
from collections.abc import Collection, ItemsView, Iterable, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeGuard

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.plain_values import finite_number, id_text
from pytest_rankcheck.rankers.ranking import (
    Ranking,
    RankingRules,
    Ties,
    by_score,
    duplicates_settled,
)


@dataclass(frozen=True, slots=True)
class ScoredDocuments:
    """An answer sorted by score, like ``{id: score}``, that may repeat documents."""

    doc_ids: Sequence[Any]
    scores: Sequence[Any]


_DOC_COLUMNS = ("doc_id", "docno", "docid", "id")

_BYTES = (bytes, bytearray, memoryview)
_RETRIEVER = (
    "; give a function that returns documents as rankers.retriever(function, key='id'), with the "
    "entry of their metadata, or the attribute, that identifies them"
)


def ranking_of(answer: object, query_id: str, rules: RankingRules) -> Ranking:
    """Return the ranking given by a ranker's answer, or by a value of a dict of rankings.

    Args:
        answer: document ids, best first; or (id, score) pairs, best first; or {id: score}, which
            is sorted by score; or a DataFrame with a column ``doc_id`` (or ``docno``), best first.
            A generator is also accepted.
        query_id: the query, for messages.
        rules: how equal scores of {id: score} are ordered, ids are mapped, and then duplicate
            documents treated.

    Raises:
        RunError: the answer has another form, an id or score is invalid, or a document is
            duplicated.
        ConfigurationError: an id is mapped to something that is not an id.
    """
    if is_list_of_ids(answer):
        ranking = Ranking(tuple(answer))
    elif (pairs := ordinary_pairs(answer)) is not None:
        ranking = Ranking(tuple(pairs), tuple(map(float, pairs.values())))
    else:
        ranking = ranking_as_given(answer, query_id, rules.ties)
    if rules.to_id is not None:
        ranking = replace(ranking, doc_ids=tuple(map(rules.to_id, ranking.doc_ids)))
    return duplicates_settled(ranking, query_id, rules.duplicates)


def is_list_of_ids(answer: object) -> TypeGuard[Sequence[str]]:
    """Whether an answer is a list of distinct text ids, checked with a few calls for the whole."""
    if not isinstance(answer, (list, tuple)) or not answer or type(answer[0]) is not str:
        return False
    with suppress(TypeError):  # an item that is not hashable or not text
        distinct = set(answer)
        "".join(answer)
        return len(distinct) == len(answer) and "" not in distinct
    return False


def _sizes(kind: type) -> set[int]:
    """Return how many bytes dicts of up to 1,365 keys of a type need."""
    counts = ((2 << power) // 3 for power in range(3, 12))
    return {dict.fromkeys(map(kind, range(count))).__sizeof__() for count in counts}


_SIZES_WITH_TEXTS = _sizes(str) - _sizes(int)
"""CPython needs fewer bytes if all keys are text. Sizes that do not differ are left out here."""


def has_text_ids(scores: dict[Any, Any]) -> bool:
    """Whether all keys of a dict are ids as text."""
    if "" in scores:
        return False
    if scores.__sizeof__() in _SIZES_WITH_TEXTS:
        return True
    with suppress(TypeError):
        "".join(scores)
        return True
    return False


class PairedScores(dict[str, float]):
    """(id, score) pairs in their order, best first whatever the scores; no id is repeated."""

    __slots__ = ()


def ordinary_pairs(answer: object) -> PairedScores | None:
    """Return (id, score) pairs of distinct text ids and finite numbers of Python.

    None for another answer.
    """
    if isinstance(answer, (list, tuple)) and answer and isinstance(answer[0], (list, tuple)):
        with suppress(TypeError, ValueError):
            pairs = PairedScores(answer)
            if len(pairs) == len(answer) and _are_numbers(pairs.values()) and has_text_ids(pairs):
                return pairs
    return None


def ranking_as_given(answer: object, query_id: str, ties: Ties = "doc_id") -> Ranking:
    """Return the ranking given by ``answer``, including duplicate documents."""
    plain = plain_answer(answer, query_id)
    if isinstance(plain, ScoredDocuments):
        return by_score(plain.doc_ids, plain.scores, query_id, ties)
    return plain


def plain_answer(answer: object, query_id: str) -> Ranking | ScoredDocuments:
    """Return an answer as plain data that gives the same ranking, to send or to keep."""
    if isinstance(answer, Ranking):  # kept, sent by a worker, or from a retriever
        return replace(answer, doc_ids=ids_of(answer.doc_ids, query_id))
    if hasattr(answer, "columns") and hasattr(answer, "to_dict"):
        return _from_frame(answer, query_id)
    if isinstance(answer, Mapping):
        answer = ScoredDocuments(tuple(answer), tuple(answer.values()))
    if isinstance(answer, ScoredDocuments):
        doc_ids = ids_of(answer.doc_ids, query_id)
        return ScoredDocuments(doc_ids, numbers_of(answer.scores, doc_ids, query_id, "score"))
    is_series = hasattr(answer, "to_frame") and hasattr(answer, "index")
    is_flat = getattr(answer, "ndim", 1) == 1  # of an array
    has_items = isinstance(answer, Iterable) and not isinstance(answer, (str, *_BYTES))
    if not (has_items and is_flat) or is_series or has_no_order(answer):
        raise RunError(
            f"query '{quoted(query_id)}': the ranking is {_described(answer)}; it must be a list "
            "of document ids (best first), (id, score) pairs, {id: score}, or a DataFrame; a set "
            "has no order, and a Series two readings: give series.tolist(), or series.to_dict() "
            "with scores. For no results, give an empty list"
        )
    return _from_items(list(answer), query_id)  # type: ignore[call-overload]


def has_no_order(answer: object) -> bool:
    """Whether an answer is a set; the keys of a dict are in the order of the dict."""
    return isinstance(answer, AbstractSet) and not isinstance(
        answer, (KeysView, ItemsView, Sequence)
    )


def _from_items(items: list[Any], query_id: str) -> Ranking:
    """Read a list of ids or of (id, score) pairs, whose order is the ranking."""
    if not any(isinstance(item, (tuple, list)) for item in items):
        return Ranking(ids_of(items, query_id))
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise RunError(
                f"query '{quoted(query_id)}': {_described(item)} is mixed with (id, score) pairs; "
                "give all documents as pairs, or all as ids"
            )
    docs, scores = zip(*items, strict=True)
    doc_ids = ids_of(docs, query_id)
    return Ranking(doc_ids, numbers_of(scores, doc_ids, query_id, "score"))


def _from_frame(frame: object, query_id: str) -> Ranking:
    """Read a DataFrame (pandas, or anything like it), whose row order is the ranking."""
    columns = [str(name) for name in frame.columns]  # type: ignore[attr-defined]
    ids = next((name for name in _DOC_COLUMNS if name in columns), None)
    if ids is None:
        raise RunError(
            f"query '{quoted(query_id)}': the DataFrame has no column doc_id; it has "
            f"{', '.join(map(quoted, columns)) or 'none'}"
        )
    doc_ids = ids_of(frame[ids], query_id)  # type: ignore[index]
    score = next((name for name in columns if name.strip().lower() == "score"), None)
    scores: tuple[float, ...] | None = None
    if score is not None:
        scores = numbers_of(frame[score], doc_ids, query_id, "score")  # type: ignore[index]
    # A reranker may leave the ranks of the first stage beside its scores, which then fall.
    is_sorted = scores is not None and list(scores) == sorted(scores, reverse=True)
    if "rank" in columns and not (is_sorted and len(set(scores or ())) > 1):
        ranks = numbers_of(frame["rank"], doc_ids, query_id, "rank")  # type: ignore[index]
        if list(ranks) != sorted(ranks):
            raise RunError(
                f"query '{quoted(query_id)}': the rows of the DataFrame, which must be best first, "
                "are not in the order of its column rank; sort them, or drop the column"
            )
    return Ranking(doc_ids, scores)


def ids_of(values: Iterable[object], query_id: str) -> tuple[str, ...]:
    """Return document ids as text."""
    cells = tuple(values)
    if set(map(type, cells)) <= {str} and "" not in cells:
        return cells  # type: ignore[return-value]
    return tuple(_doc_id(value, query_id) for value in cells)


def numbers_of(
    values: Iterable[Any], doc_ids: Sequence[str], query_id: str, what: str
) -> tuple[float, ...]:
    """Return the score or the rank of each document."""
    cells = tuple(values)
    if _are_numbers(cells):
        return tuple(map(float, cells))
    pairs = zip(cells, doc_ids, strict=True)
    return tuple(_number(value, doc_id, query_id, what) for value, doc_id in pairs)


def _are_numbers(cells: Collection[Any]) -> bool:
    """Whether these are finite numbers of Python."""
    kinds = set(map(type, cells))
    try:
        total = sum(cells) if kinds == {float} else math.fsum(cells)
        return kinds <= {int, float} and math.isfinite(total)
    except (TypeError, ValueError, OverflowError):
        return False


def _doc_id(value: object, query_id: str) -> str:
    doc_id = id_text(value)
    if doc_id is None:
        is_document = any(hasattr(value, name) for name in ("metadata", "meta", "node"))
        raise RunError(
            f"query '{quoted(query_id)}': a document id is {_described(value)}; ids are text or "
            f"whole numbers{_RETRIEVER if is_document else ''}"
        )
    return doc_id


def _number(value: object, doc_id: str, query_id: str, what: str) -> float:
    number = finite_number(value) if isinstance(value, Real) else None
    if number is None:
        raise RunError(
            f"query '{quoted(query_id)}': the {what} of document '{quoted(doc_id)}' is "
            f"{_described(value)}; {what}s must be finite numbers"
        )
    return number


def _described(value: object) -> str:
    if value is None:
        return "None"
    return f"{quoted(repr(value), 60)} ({type(value).__name__})"
