"""Runs as tables, in files or frames, with one row for each ranked document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_kinds import is_stream
from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.delimited_tables import decimal_comma_hint
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, NumberIds, TextIds
from pytest_rankcheck.files.id_runs import joined_ids, last_run_start, run_starts
from pytest_rankcheck.files.row_numbering import JoinedNumbering, Numbering
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.tables import TableKind, read_table
from pytest_rankcheck.golden.checked_values import kind_of
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns, SplitQueryError
from pytest_rankcheck.rankers.ranking import RankingRules, has_all_ranks, refuse_incomplete_ranks
from pytest_rankcheck.rankers.ranking_forms import given_twice
from pytest_rankcheck.rankers.run_columns import refuse_unused_numbers, run_columns

if TYPE_CHECKING:
    from pytest_rankcheck.files.table_batches import Batch

__all__ = ["OnLong", "columns_of_table"]

_BATCH_ROWS = 1_000_000
_LONG = 1_000_000
"""A query with more rows is long, if the caller can take it in pieces."""

_PIECE = 100_000
"""The rows of a long query are handed on by so many."""

OnLong = Callable[[str, Iterator[RankedColumns]], None]
"""Takes a long query: its id, and all its rows in pieces."""

_OF_ANY_TYPE = ("", "object")
"""The types of columns of a frame whose cells may have several types."""


def columns_of_table(
    source: object,
    columns: Mapping[str, str],
    rules: RankingRules,
    *,
    kind: TableKind | None = None,
    together: bool = False,
    on_long: OnLong | None = None,
) -> Iterator[RankedColumns]:
    """Yield the rankings of a file, a frame or a table that is open.

    Args:
        source: the file, the frame or the `Table`.
        columns: ``{meaning: column}`` for columns with unusual names.
        rules: how the order is decided where the scores leave it open.
        kind: the kind of a file; without it, the content decides.
        together: whether to bring the rows of each query together first.
        on_long: takes the queries with too many rows for the memory; without it, their rows are
            yielded like those of others.

    Raises:
        RunError: a column is missing, a row lacks an id or a finite number, the ranks that decide
            the order are incomplete, or a column of numbers may be a misspelt score or rank.
    """
    is_file = isinstance(source, (Path, Table))
    where = str(source) if isinstance(source, Path) else "the run"
    if isinstance(source, Table):
        table, where = source, source.numbering.source
    else:
        table = read_table(source, RunError, name=where, kind=kind)
    in_order = not is_file and not is_stream(source)
    place = run_columns(table.header, columns, where, in_order=in_order)
    if "score" not in place and "rank" not in place:
        _refuse_other_numbers(source, table.header, place)
    rows = _rows_of(table, place)
    take_long = None
    if on_long is not None:
        take_long = partial(_take_long, on_long, rules, table.numbering)
    for some in [_together(rows)] if together else _whole_queries(rows, take_long):
        if len(some.queries):
            ranked = some.ranked(rules, table.numbering, are_whole=together)
            yield ranked if is_file else ranked.with_mapped_ids()


def _refuse_other_numbers(frame: object, header: Sequence[str], place: Mapping[str, int]) -> None:
    """Check that a frame in order has no other column that may be a score or a rank."""
    batches = list(read_table(frame, RunError, name="the run").batches())

    def cells(index: int) -> list[object]:
        return [cell for batch in batches for cell in batch.column(index).cells()]

    refuse_unused_numbers(header, place, cells)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Some rows of a table."""

    numbers: IntArray
    """The number of each row, for messages."""
    queries: IdColumn
    documents: IdColumn
    scores: FloatArray | None
    """NaN where a cell is empty."""
    ranks: FloatArray | None
    """NaN where a cell is empty; None also if scores decide in all rows."""

    def at(self, rows: IntArray) -> _Rows:
        """Return some rows, in this order."""
        return _Rows(
            self.numbers[rows],
            self.queries.reordered(rows),
            self.documents.reordered(rows),
            None if self.scores is None else self.scores[rows],
            None if self.ranks is None else self.ranks[rows],
        )

    def part(self, start: int, end: int) -> _Rows:
        """Return the rows from ``start`` to before ``end``."""
        return _Rows(
            self.numbers[start:end],
            self.queries.part(start, end),
            self.documents.part(start, end),
            None if self.scores is None else self.scores[start:end],
            None if self.ranks is None else self.ranks[start:end],
        )

    def ranked(
        self, rules: RankingRules, numbering: Numbering, *, are_whole: bool
    ) -> RankedColumns:
        """Return the rankings of these rows.

        Raises:
            SplitQueryError: ranks are incomplete, but perhaps there are more rows.
        """
        begins = run_starts(self.queries)
        starts = np.append(begins, len(self.queries))
        query_ids = self.queries.texts(begins)
        order = _Order(self, query_ids, starts, rules, numbering, are_whole)
        scores, by_rank = order.decided()
        documents = _documents(self.documents, starts)
        return RankedColumns(query_ids, starts, documents, scores, rules, by_rank=by_rank)


def _documents(documents: IdColumn, starts: IntArray) -> TextIds | NumberIds | HeldDocuments:
    """Return a column of documents in the form that rankings have."""
    if isinstance(documents, (TextIds, NumberIds)):
        return documents
    assert isinstance(documents, HeldIds)
    return HeldDocuments([documents.ids[start:end] for start, end in pairwise(starts.tolist())])


def _rows_of(table: Table, place: Mapping[str, int]) -> Iterator[_Rows]:
    """Yield the rows of each batch of a table."""
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
        yield _Rows(numbers, queries, documents, scores, ranks)


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
    """Check that no file of several has whole numbers where another has text.

    Args:
        batch: some rows.
        role: the column to check.
        place: the index of each column.
        numbering: how messages name the rows.
        kinds: whether the column of a role has numbers, and the first row that showed it.
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
            "have no leading zeros, so ids may not meet: write it as text in all parts"
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
    if role == "rank" and "score" in place:  # ranks may be anything where scores decide
        return np.where(np.isin(np.arange(len(batch)), cells.invalid), np.inf, cells.values)
    row = int(cells.invalid[0])
    where = numbering.place(batch.numbers[row])
    raise _no_number(role, where, documents, row, _shown(column.cell(row)))


def _shown(cell: object) -> str:
    """Return why a cell is not a number, for a message."""
    value = f"'{quoted(cell, 40)}'" if isinstance(cell, str) else kind_of(cell)
    return f"{value}, not a finite number{decimal_comma_hint(cell)}"


def _no_number(role: str, where: str, documents: IdColumn, row: int, problem: str) -> RunError:
    """Return the error for a row whose score or rank is not a number."""
    doc_id = documents.texts(np.array([row]))[0]
    return RunError(f"{where}: the {role} of document '{quoted(doc_id)}' is {problem}")


def _whole_queries(
    parts: Iterator[_Rows], take_long: Callable[[str, Iterator[_Rows]], None] | None
) -> Iterator[_Rows]:
    """Yield the same rows, so that no part ends within a query whose rows are together."""
    rest: _Rows | None = None
    for part in parts:
        rows = part if rest is None else _joined([rest, part])
        last = last_run_start(rows.queries)
        rest = rows.part(last, len(rows.queries))
        if last:
            yield rows.part(0, last)
        if take_long is not None and len(rest.queries) > _LONG:
            after: list[_Rows] = []
            query_id = rest.queries.texts(np.zeros(1, np.int64))[0]
            take_long(query_id, _of_query(query_id, rest, parts, after))
            rest = after[0] if after else None
    if rest is not None:
        yield rest


def _of_query(
    query_id: str, first: _Rows, parts: Iterator[_Rows], after: list[_Rows]
) -> Iterator[_Rows]:
    """Yield the rows of one query, and put those that follow it in its last part into a list."""
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


def _pieces(rows: _Rows) -> Iterator[_Rows]:
    """Yield some rows in pieces, whose order takes little memory to find."""
    count = len(rows.queries)
    for start in range(0, count, _PIECE):
        yield rows.part(start, min(start + _PIECE, count))


def _take_long(
    on_long: OnLong,
    rules: RankingRules,
    numbering: Numbering,
    query_id: str,
    parts: Iterator[_Rows],
) -> None:
    """Hand the rows of a long query on; whoever sorts them checks that ranks are complete."""
    of_piece = replace(rules, incomplete_ranks="close_gaps")
    pieces = (part.ranked(of_piece, numbering, are_whole=False) for part in parts)
    on_long(query_id, map(RankedColumns.with_mapped_ids, pieces))


def _together(parts: Iterator[_Rows]) -> _Rows:
    """Return all rows, those of each query together, in the order of their first rows."""
    rows = _joined(list(parts))
    begins = run_starts(rows.queries)
    codes: dict[str, int] = {}
    runs = [codes.setdefault(each, len(codes)) for each in rows.queries.texts(begins)]
    lengths = np.diff(np.append(begins, len(rows.queries)))
    return rows.at(np.argsort(np.repeat(np.array(runs, np.int64), lengths), kind="stable"))


def _joined(parts: Sequence[_Rows]) -> _Rows:
    scores = [part.scores for part in parts if part.scores is not None]
    ranks = [  # which were not read if all rows of a part have scores
        np.full(len(part.queries), np.nan) if part.ranks is None else part.ranks for part in parts
    ]
    has_ranks = any(part.ranks is not None for part in parts)
    return _Rows(
        np.concatenate([part.numbers for part in parts]),
        joined_ids([part.queries for part in parts]),
        joined_ids([part.documents for part in parts]),
        np.concatenate(scores) if scores else None,
        np.concatenate(ranks) if has_ranks else None,
    )


def _as_array(numbers: Sequence[int]) -> IntArray:
    if isinstance(numbers, range):  # which numpy would walk
        return np.arange(numbers.start, numbers.stop)
    return np.asarray(numbers, np.int64)


@dataclass(frozen=True, slots=True)
class _Order:
    """What decides the order of the rows of each query: the scores, the ranks, or the rows."""

    rows: _Rows
    query_ids: Sequence[str]
    starts: IntArray
    rules: RankingRules
    numbering: Numbering
    are_whole: bool

    def decided(self) -> tuple[FloatArray | None, BoolArray | None]:
        """Return the scores that decide, negated ranks among them, and which queries have ranks."""
        scores, ranks = self.rows.scores, self.rows.ranks
        if ranks is None:
            if scores is not None:
                self._refuse("score", np.isnan(scores))
            return scores, None
        by_rank = np.ones(len(self.query_ids), dtype=np.bool_)
        if scores is not None:
            is_given = np.concatenate([[0], np.cumsum(~np.isnan(scores))])
            by_rank = is_given[self.starts[1:]] == is_given[self.starts[:-1]]
        of_row = np.repeat(by_rank, np.diff(self.starts))
        if scores is not None:
            self._refuse("score", np.isnan(scores) & ~of_row)
        if not by_rank.any():
            return scores, None
        self._refuse("rank", np.isnan(ranks) & of_row)
        self._refuse("rank", np.isinf(ranks) & of_row, "not a finite number")
        if self.rules.incomplete_ranks == "error":
            self._refuse_incomplete(ranks, by_rank)
        return np.where(of_row, -ranks, -ranks if scores is None else scores), by_rank

    def _refuse(self, role: str, is_wrong: BoolArray, problem: str | None = None) -> None:
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            problem = problem or ("empty or NaN" if self.numbering.is_table else "empty")
            where = self.numbering.place(int(self.rows.numbers[row]))
            raise _no_number(role, where, self.rows.documents, row, problem)

    def _refuse_incomplete(self, ranks: FloatArray, by_rank: BoolArray) -> None:
        """Check that the ranks of each query are 1, 2, 3, ... or 0, 1, 2, ... in some order."""
        places = np.flatnonzero(by_rank)
        firsts = ranks[self.starts[:-1]]
        lengths = np.diff(self.starts)
        expected = np.arange(len(ranks)) - np.repeat(self.starts[:-1] - firsts, lengths)
        wrong = np.concatenate([[0], np.cumsum(ranks != expected)])
        in_order = (wrong[self.starts[1:]] == wrong[self.starts[:-1]]) & np.isin(firsts, (0, 1))
        for place in places[~in_order[places]].tolist():
            start, end = self.starts[place : place + 2].tolist()
            listed = ranks[start:end].tolist()
            if not self.are_whole and not has_all_ranks(listed):
                raise SplitQueryError
            refuse_incomplete_ranks(listed, self.query_ids[place])
