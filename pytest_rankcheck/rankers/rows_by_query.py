"""The rows of a table of rankings, grouped by query."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pytest_rankcheck.files.id_runs import last_run_start, run_starts
from pytest_rankcheck.rankers.run_rows import RunRows, joined_rows

__all__ = ["rows_together", "whole_queries"]

_LONG = 1_000_000
"""A query with more rows is long; callers that can take pieces get it in pieces."""

_PIECE = 100_000
"""The number of rows in a piece of a long query."""


def whole_queries(
    parts: Iterator[RunRows], take_long: Callable[[str, Iterator[RunRows]], None] | None
) -> Iterator[RunRows]:
    """Yield the same rows in parts that do not end within a query whose rows are together.

    Args:
        parts: the rows, in their order.
        take_long: takes the id and the rows of each query with more than `_LONG` rows, which are
            then not yielded; None: they are yielded like other rows.
    """
    rest: RunRows | None = None
    for part in parts:
        rows = part if rest is None else joined_rows([rest, part])
        last = last_run_start(rows.queries)
        rest = rows.part(last, len(rows.queries))
        if last:
            yield rows.part(0, last)
        if take_long is not None and len(rest.queries) > _LONG:
            after: list[RunRows] = []
            query_id = rest.queries.texts(np.zeros(1, np.int64))[0]
            take_long(query_id, _of_query(query_id, rest, parts, after))
            rest = after[0] if after else None
    if rest is not None:
        yield rest


def _of_query(
    query_id: str, first: RunRows, parts: Iterator[RunRows], after: list[RunRows]
) -> Iterator[RunRows]:
    """Yield the rows of one query, and put the rows after it in its last part into a list."""
    yield from _pieces(first)
    for part in parts:
        begins = run_starts(part.queries)
        is_same = part.queries.texts(begins[:1]) == [query_id]
        end = len(part.queries) if len(begins) == 1 else int(begins[1])
        end = end if is_same else 0
        yield from _pieces(part.part(0, end))
        if end < len(part.queries):
            after.append(part.part(end, len(part.queries)))
            return


def _pieces(rows: RunRows) -> Iterator[RunRows]:
    """Yield rows in pieces, which take little memory to sort."""
    count = len(rows.queries)
    for start in range(0, count, _PIECE):
        yield rows.part(start, min(start + _PIECE, count))


def rows_together(parts: Iterator[RunRows]) -> RunRows:
    """Return all rows grouped by query; queries are in the order of their first rows."""
    rows = joined_rows(list(parts))
    begins = run_starts(rows.queries)
    codes: dict[str, int] = {}
    runs = [codes.setdefault(each, len(codes)) for each in rows.queries.texts(begins)]
    lengths = np.diff(np.append(begins, len(rows.queries)))
    return rows.at(np.argsort(np.repeat(np.array(runs, np.int64), lengths), kind="stable"))
