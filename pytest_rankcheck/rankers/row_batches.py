"""The rows of a table of rankings, read and checked batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.delimited_tables import decimal_comma_hint
from pytest_rankcheck.files.id_columns import IdColumn
from pytest_rankcheck.files.row_numbering import JoinedNumbering, Numbering
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.golden.checked_values import kind_of
from pytest_rankcheck.rankers.ranking_forms import given_twice
from pytest_rankcheck.rankers.run_rows import RunRows, no_number

if TYPE_CHECKING:
    from pytest_rankcheck.files.table_batches import Batch

__all__ = ["rows_of"]

_BATCH_ROWS = 1_000_000

_OF_ANY_TYPE = ("", "object")
"""The types of frame columns whose cells may have several types."""


def rows_of(table: Table, place: Mapping[str, int]) -> Iterator[RunRows]:
    """Yield the rows of each batch of a table.

    Args:
        table: an open table.
        place: the index of the column of each role: ``query_id``, ``doc_id``, ``score``, ``rank``.

    Raises:
        RunError: an id, a score or a rank is invalid; the message names the row.
    """
    given = set[object]()
    kinds: dict[str, tuple[bool, str]] = {}
    for batch in table.batches(sorted(place.values()), rows=_BATCH_ROWS):
        documents = _ids(batch, "doc_id", place, table.numbering)
        queries = _ids(batch, "query_id", place, table.numbering)
        for role in ("query_id", "doc_id"):
            _refuse_other_type(batch, role, place, table.numbering, kinds)
        column = batch.column(place["query_id"])
        if table.numbering.is_frame and column.kind.lower() in _OF_ANY_TYPE:
            given.update(column.cells())
            _refuse_two_spellings(given)
        scores = _numbers(batch, "score", place, documents, table.numbering)
        are_scored = scores is not None and not np.isnan(scores).any()
        ranks = None if are_scored else _numbers(batch, "rank", place, documents, table.numbering)
        numbers = _as_array(batch.numbers)
        yield RunRows(numbers, queries, documents, scores, ranks)


def _ids(batch: Batch, role: str, place: Mapping[str, int], numbering: Numbering) -> IdColumn:
    column = batch.column(place[role])
    cells = column.ids()
    if len(cells.invalid):
        row = int(cells.invalid[0])
        where, value = numbering.place(batch.numbers[row]), kind_of(column.cell(row))
        problem = f"{role} is {value}"
        problem += "" if value == "empty" else "; ids are text or whole numbers"
        raise RunError(f"{where}: {problem}")
    return cells.ids


def _refuse_other_type(
    batch: Batch,
    role: str,
    place: Mapping[str, int],
    numbering: Numbering,
    kinds: dict[str, tuple[bool, str]],
) -> None:
    """Check that, among several files, none has whole numbers where another has text.

    Args:
        batch: some rows.
        role: the column to check.
        place: the index of each column.
        numbering: how messages name the rows.
        kinds: for each role, whether its column has numbers, and the first row that showed it.
    """
    if not isinstance(numbering, JoinedNumbering) or not len(batch.numbers):
        return
    kind = batch.column(place[role]).kind
    if not kind or kind == "Null":
        return
    where = numbering.place(batch.numbers[0])
    is_number = kind.startswith(("Int", "UInt"))
    was_number, first = kinds.setdefault(role, (is_number, where))
    if is_number != was_number:
        own, other = ("whole numbers", "text") if is_number else ("text", "whole numbers")
        raise RunError(
            f"{where}: {role} is a column of {own} here, but of {other} from {first} on; numbers "
            "have no leading zeros, so ids may not match: write it as text in all parts"
        )


def _refuse_two_spellings(queries: set[object]) -> None:
    """Check that no query id is given as text and as a number."""
    texts = {query for query in queries if isinstance(query, str)}
    for query in sorted(texts & set(map(str, queries - texts))):
        raise given_twice(query)


def _numbers(
    batch: Batch, role: str, place: Mapping[str, int], documents: IdColumn, numbering: Numbering
) -> FloatArray | None:
    if role not in place:
        return None
    column = batch.column(place[role])
    cells = column.numbers()
    if not len(cells.invalid):
        return cells.values
    if role == "rank" and "score" in place:  # if scores decide, ranks may be anything
        return np.where(np.isin(np.arange(len(batch)), cells.invalid), np.inf, cells.values)
    row = int(cells.invalid[0])
    where = numbering.place(batch.numbers[row])
    raise no_number(role, where, documents, row, _shown(column.cell(row)))


def _shown(cell: object) -> str:
    """Return why a cell is not a number, for a message."""
    value = f"'{quoted(cell, 40)}'" if isinstance(cell, str) else kind_of(cell)
    return f"{value}, not a finite number{decimal_comma_hint(cell)}"


def _as_array(numbers: Sequence[int]) -> IntArray:
    if isinstance(numbers, range):  # numpy would iterate over these
        return np.arange(numbers.start, numbers.stop)
    return np.asarray(numbers, np.int64)
