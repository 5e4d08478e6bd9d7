"""Golden sets from dicts: whole columns at once, or one by one where something is unusual."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source, checked_id
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.query import Query

_GradesByQuery = Mapping[str, Mapping[str, float]]


def contents_from_dict(
    judgments: _GradesByQuery,
    texts: Mapping[str, str],
    attributes: Mapping[str, Mapping[str, object]],
    source: Source,
) -> Contents:
    """Return the contents of a golden set from ``{query_id: {doc_id: grade}}``."""
    builder = ContentsBuilder(source)
    builder.places.are_ids = True
    columns = _columns_of(judgments)
    if columns is not None:
        builder.collected.take(columns)
    given = dict(attributes)
    is_bare = columns is not None and not texts and not attributes
    for query_id in () if is_bare else {**judgments, **texts}:
        of_query = _mapping(given.pop(query_id, {}), "attributes", query_id)
        if columns is None or of_query or query_id not in judgments:
            where = f"query '{quoted(query_id)}'"
            key = checked_id(query_id, "the query id", where)
            builder.add_query(Query(key, _text(texts.get(query_id), query_id), of_query), where)
            if columns is None:
                judged = _mapping(judgments.get(query_id, {}), "judgments", query_id)
                builder.add_judgments(key, judged, where)
        elif query_id in texts:
            builder.queries[query_id] = Query(query_id, _text(texts[query_id], query_id))
    if given:
        raise GoldenSetError(f"attributes for unknown queries: {listed(list(given))}")
    return builder.built()


def _text(value: object, query_id: object) -> str | None:
    """Return the text of a query; None if it is missing, an error if it is something else."""
    if value is None or isinstance(value, str):
        return value
    from pytest_rankcheck.files.plain_values import is_missing

    if is_missing(value):
        return None
    raise GoldenSetError(
        f"query '{quoted(query_id)}': its text is {quoted(repr(value), 60)} "
        f"({type(value).__name__}), not a str"
    )


def _mapping(value: object, what: str, query_id: object) -> dict[Any, Any]:
    """Return what is given for a query as a dict; an error if it is something else."""
    if isinstance(value, Mapping):
        return dict(value)
    raise GoldenSetError(
        f"query '{quoted(query_id)}': its {what} are {quoted(repr(value), 60)}, not a dict"
    )


def _columns_of(judgments: _GradesByQuery) -> Judgments | None:
    """Return dicts as columns; None if an id is not a text, or a grade not a finite number."""
    judged = judgments.values()
    if not set(map(type, judged)) <= {dict}:
        return None
    if any("" in ids for ids in (judgments, *judged)):
        return None
    doc_ids = chain.from_iterable(judged)
    if not {*map(type, judgments), *map(type, doc_ids)} <= {str}:
        return None
    kinds = set(map(type, chain.from_iterable(each.values() for each in judged)))
    if not all(issubclass(kind, Real) for kind in kinds):
        return None
    try:
        columns = Judgments.of_dicts(judgments)
    except OverflowError:
        return None
    if not np.isfinite(columns.grades).all():
        return None
    if kinds == {int}:  # as the view shows whole grades
        columns.remember(judgments)  # type: ignore[arg-type]
    return columns
