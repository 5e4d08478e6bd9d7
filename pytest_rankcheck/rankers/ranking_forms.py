"""The forms in which a ranking can be given: lists, pairs, dicts and frames."""

from __future__ import annotations

import itertools
import math
from collections.abc import ItemsView, Iterable, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeGuard

from pytest_rankcheck.errors import RunError, listed, quoted
from pytest_rankcheck.files.checked_cells import finite_number, id_text
from pytest_rankcheck.rankers.ranking import (
    Ranking,
    RankingRules,
    Ties,
    by_score,
    duplicates_settled,
    has_all_ranks,
)

__all__ = [
    "ScoredDocuments",
    "given_twice",
    "has_no_order",
    "ids_of",
    "is_list_of_ids",
    "numbers_of",
    "query_id_of",
    "ranking_as_given",
    "ranking_of",
]


@dataclass(frozen=True, slots=True)
class ScoredDocuments:
    """An answer that is sorted by score, as ``{id: score}`` is, but may repeat documents."""

    doc_ids: Sequence[object]
    scores: Sequence[object]


_DOC_COLUMNS = ("doc_id", "docno", "docid", "id")

_BYTES = (bytes, bytearray, memoryview)


def ranking_of(answer: object, query_id: str, rules: RankingRules) -> Ranking:
    """Return the ranking given by a ranker's answer, or by a value of a dict of rankings.

    Args:
        answer: document ids, best first; or (id, score) pairs, best first; or {id: score}, which
            is sorted by score; or a DataFrame with a column ``doc_id`` (or ``docno``), best first.
            A generator is also accepted, and a pandas Series of text ids.
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
        if rules.to_id is None:
            return ranking
    else:
        ranking = ranking_as_given(answer, query_id, rules.ties)
    if rules.to_id is not None:
        ranking = Ranking(tuple(map(rules.to_id, ranking.doc_ids)), ranking.scores)
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


def ranking_as_given(answer: object, query_id: str, ties: Ties = "doc_id") -> Ranking:
    """Return the ranking given by ``answer``, including duplicate documents."""
    if hasattr(answer, "columns") and hasattr(answer, "to_dict"):
        return _from_frame(answer, query_id)
    if isinstance(answer, Mapping):
        answer = ScoredDocuments(tuple(answer), tuple(answer.values()))
    if isinstance(answer, ScoredDocuments):
        doc_ids = ids_of(answer.doc_ids, query_id)
        scores = numbers_of(answer.scores, doc_ids, query_id, "score")
        return by_score(doc_ids, scores, query_id, ties)
    if hasattr(answer, "to_frame") and hasattr(answer, "index"):
        return _from_series(answer, query_id)
    if has_no_order(answer):
        raise RunError(
            f"query '{quoted(query_id)}': the ranking is {_described(answer)}, which has no order; "
            "give a list of document ids, best first, or {id: score}"
        )
    is_flat = getattr(answer, "ndim", 1) == 1  # of an array
    if isinstance(answer, Iterable) and is_flat and not isinstance(answer, (str, *_BYTES)):
        return _from_items(list(answer), query_id)
    raise RunError(
        f"query '{quoted(query_id)}': the ranking is {_described(answer)}; it must be a list of "
        "document ids (best first), (id, score) pairs, {id: score}, or a DataFrame. For no "
        "results, give an empty list"
    )


def has_no_order(answer: object) -> bool:
    """Whether an answer is a set; the keys of a dict are in the order of the dict."""
    return isinstance(answer, AbstractSet) and not isinstance(
        answer, (KeysView, ItemsView, Sequence)
    )


def _from_items(items: list[object], query_id: str) -> Ranking:
    """Read a list of ids or of (id, score) pairs, whose order is the ranking."""
    if not any(isinstance(item, (tuple, list)) for item in items):
        return Ranking(ids_of(items, query_id))
    pairs: list[Sequence[object]] = []
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise RunError(
                f"query '{quoted(query_id)}': {_described(item)} is mixed with (id, score) pairs; "
                "give all documents as pairs, or all as ids"
            )
        pairs.append(item)
    doc_ids = ids_of((pair[0] for pair in pairs), query_id)
    return Ranking(doc_ids, numbers_of([pair[1] for pair in pairs], doc_ids, query_id, "score"))


def _from_frame(frame: object, query_id: str) -> Ranking:
    """Read a DataFrame (pandas, or anything like it), whose row order is the ranking."""
    from pytest_rankcheck.files.delimited_tables import normalised_name
    from pytest_rankcheck.rankers.run_columns import RANK

    columns = [str(name) for name in frame.columns]  # type: ignore[attr-defined]
    ids = next((name for name in _DOC_COLUMNS if name in columns), None)
    if ids is None:
        raise RunError(
            f"query '{quoted(query_id)}': the DataFrame has no column doc_id; it has "
            f"{', '.join(map(quoted, columns)) or 'none'}"
        )
    doc_ids = ids_of(frame[ids], query_id)  # type: ignore[index]
    spelled = {name: normalised_name(name) for name in columns}
    score = next((name for name in columns if spelled[name] == "score"), None)
    scores: tuple[float, ...] | None = None
    if score is not None:
        scores = numbers_of(frame[score], doc_ids, query_id, "score")  # type: ignore[index]
    elif "rank" in columns:
        numbers_of(frame["rank"], doc_ids, query_id, "rank")  # type: ignore[index]
    for name in columns if scores is None or not _give_order(scores) else ():
        if spelled[name] in RANK.names:
            _refuse_other_order(list(frame[name]), name, query_id)  # type: ignore[index]
    return Ranking(doc_ids, scores)


def _give_order(scores: Sequence[float]) -> bool:
    """Whether scores fall along a list, so that they and not the ranks give its order."""
    falls = all(before >= after for before, after in itertools.pairwise(scores))
    return falls and len(set(scores)) > 1


def _refuse_other_order(cells: Sequence[Any], column: str, query_id: str) -> None:
    """Check that the rows of a ranker's DataFrame are in the order of their ranks.

    Only rows whose scores do not give their order are checked: a reranker may leave the ranks of
    the first stage beside its scores. A column ``position`` may be something else, such as a job
    or a place in a text, so it counts only if it has all ranks.
    """
    from pytest_rankcheck.files.delimited_tables import normalised_name

    are_numbers = all(isinstance(cell, Real) and math.isfinite(cell) for cell in cells)
    if not are_numbers or list(cells) == sorted(cells):
        return
    if normalised_name(column) == "rank" or has_all_ranks(cells):
        raise RunError(
            f"query '{quoted(query_id)}': the rows of the DataFrame, which must be best first, are "
            f"not in the order of its column {quoted(column)}; sort them, or drop the column"
        )


def _from_series(series: Any, query_id: str) -> Ranking:
    """Read a pandas Series whose values are text ids, best first, under an index without texts."""
    values, labels = list(series), list(series.index)
    are_ids = all(isinstance(value, str) for value in values)
    if are_ids and not any(isinstance(label, str) for label in labels):
        return _from_items(values, query_id)
    raise RunError(
        f"query '{quoted(query_id)}': the ranking is a pandas Series, whose document ids could be "
        f"its values ({listed(values, 3)}) or its index ({listed(labels, 3)}); for the values, "
        "give series.tolist(); for an index with scores, give series.to_dict() (highest first) or "
        "list(series.items()) (in this order)"
    )


def query_id_of(value: object) -> str:
    """Return a query id as text."""
    query_id = id_text(value)
    if query_id is None:
        raise RunError(
            f"a query id of the run is {quoted(repr(value), 60)}; query ids are text or whole "
            "numbers"
        )
    return query_id


def given_twice(query_id: str) -> RunError:
    """Return the error for a query whose id is given as text and as a number."""
    return RunError(f"duplicate query '{quoted(query_id)}': given as text and as a number")


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
    if set(map(type, cells)) <= {int, float}:
        with suppress(OverflowError):
            numbers = tuple(map(float, cells))
            if math.isfinite(sum(numbers)):
                return numbers
    pairs = zip(cells, doc_ids, strict=True)
    return tuple(_number(value, doc_id, query_id, what) for value, doc_id in pairs)


def _doc_id(value: object, query_id: str) -> str:
    doc_id = id_text(value)
    if doc_id is None:
        raise RunError(
            f"query '{quoted(query_id)}': a document id is {_described(value)}; ids are text or "
            "whole numbers"
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
    return "None" if value is None else f"{quoted(repr(value), 60)} ({type(value).__name__})"
