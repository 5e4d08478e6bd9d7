"""Runs as tables, in files or frames: the roles of their columns, their rows and rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, pairwise

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import RunError, listed, quoted
from pytest_rankcheck.files.delimited_tables import (
    DOC_ID,
    Role,
    index_of_roles,
    lacks,
    looks_meant_for,
)
from pytest_rankcheck.files.id_columns import (
    HeldIds,
    IdColumn,
    NumberIds,
    TextIds,
    counts_of,
    joined_ids,
    last_run_start,
    run_starts,
)
from pytest_rankcheck.files.plain_values import comma_hint
from pytest_rankcheck.files.table_batches import Batch, Column, Table
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.files.text_files import Numbering
from pytest_rankcheck.golden.golden_source import kind_of
from pytest_rankcheck.golden.judgment_columns import QUERY_ID
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns, SplitQueryError
from pytest_rankcheck.rankers.ranking import RankingRules, has_all_ranks, incomplete_ranks

RANK = Role("rank", ("rank", "position", "pos"))
"""The place of a document in its ranking."""

_ROLES = (
    Role(QUERY_ID.name, QUERY_ID.names, otherwise=("query",)),
    DOC_ID,
    Role("score", ("score", "similarity", "sim")),
    RANK,
)
_ORDER = Role("score or rank", (*_ROLES[2].names, *RANK.names))
"""The role named in errors if a run has neither a score nor a rank."""


def may_have_ranking(header: Sequence[str]) -> bool:
    """Whether a header of normalised names is that of a run, perhaps with wrong names."""
    return looks_meant_for(header, _ROLES)


def run_columns(
    header: Sequence[str],
    columns: Mapping[str, str],
    where: str,
    *,
    in_order: bool | None = None,
) -> dict[str, int]:
    """Return the indexes of ``query_id``, ``doc_id``, ``score`` and ``rank`` in a header.

    Args:
        header: the names of all columns.
        columns: ``{meaning: column}`` for columns with unusual names.
        where: what messages call the run.
        in_order: whether rows without scores and ranks are in order; None: they cannot be.

    Raises:
        RunError: a column is missing, or two columns match the same role.
    """
    place = index_of_roles(header, _ROLES, columns, where, RunError)
    missing = [role for role in _ROLES[:2] if role.name not in place]
    if not in_order and "score" not in place and "rank" not in place:
        missing.append(_ORDER)
    if missing == [_ORDER]:
        ordered = "" if in_order is None else "; or in_order=True, if the rows are in order"
        raise RunError(
            f"{where} has no column score or rank; it has {listed(header, 10)}. Name the column "
            "that gives the order: columns={'score': ...}, if the highest is best (negate "
            "distances), or columns={'rank': ...}, if it is 1, 2, 3, ... (rankcheck_columns)"
            f"{ordered}"
        )
    if missing:
        needed = "query_id and doc_id" if in_order else "query_id, doc_id, and score or rank"
        raise RunError(f"{where} {lacks(header, place.values(), missing)}. A run needs {needed}")
    return place


_BATCH_ROWS = 1_000_000
_HEAD = 2000
"""How many rows are enough to see that ranks contradict the scores."""


def columns_of_table(
    source: object,
    columns: Mapping[str, str],
    rules: RankingRules,
    *,
    together: bool = False,
    in_order: bool | None = None,
) -> Iterator[RankedColumns]:
    """Yield the rankings of a frame, or of the open table of a file.

    Args:
        source: the frame or the `Table`.
        columns: ``{meaning: column}`` for columns with unusual names.
        rules: how to order documents if the scores leave it open.
        together: whether to group the rows by query first.
        in_order: as in `run_columns`.

    Raises:
        RunError: a column is missing, a row lacks an id or a finite number, or the ranks that
            decide the order are incomplete.
    """
    is_file = isinstance(source, Table)
    table = source if isinstance(source, Table) else read_table(source, RunError, name="the run")
    place = run_columns(table.header, columns, table.numbering.source, in_order=in_order)
    rows = _rows_of(table, place)
    for some in [rows_together(rows)] if together else whole_queries(rows):
        if len(some.queries):
            ranked = some.ranked(rules, table.numbering, are_whole=together)
            yield ranked if is_file else ranked.with_mapped_ids()


def _rows_of(table: Table, place: Mapping[str, int]) -> Iterator[RunRows]:
    """Yield the rows of each batch of a table.

    Args:
        table: an open table.
        place: the index of the column of each role: ``query_id``, ``doc_id``, ``score``, ``rank``.

    Raises:
        RunError: an id, a score or a rank is invalid; the message names the row. Or the ranks
            contradict the scores.
    """

    def rows_of(number: int, batch: Batch) -> RunRows:
        documents = _ids(batch, "doc_id", place, table.numbering)
        queries = _ids(batch, "query_id", place, table.numbering)
        scores = _numbers(batch, "score", place, documents, table.numbering)
        rows = RunRows(batch.row_numbers(), queries, documents, scores, None)
        if number == 0 and scores is not None and "rank" in place:
            ranks = _any_numbers(Column([*islice(batch.column(place["rank"]), _HEAD)]))
            head = replace(rows.at(slice(0, len(ranks))), ranks=ranks)
            _refuse_opposed(rows_together([head]), table.numbering.source)
        if scores is not None and not np.isnan(scores).any():
            return rows
        return replace(rows, ranks=_numbers(batch, "rank", place, documents, table.numbering))

    # A batch is dropped before the next one is read, so that its memory is used again.
    return map(rows_of, count(), table.batches(sorted(place.values()), rows=_BATCH_ROWS))


def _refuse_opposed(rows: RunRows, where: str) -> None:
    """Refuse ranks that contradict the scores beside them in all queries.

    One query with agreeing, missing or repeated ranks settles that they do not.
    """
    assert rows.scores is not None
    assert rows.ranks is not None
    misread, begins = MisreadScores(), run_starts(rows.queries)
    ends = [*begins[1:].tolist(), len(rows.queries)]
    for query_id, start, end in zip(rows.queries.texts(begins), begins.tolist(), ends, strict=True):
        scores, ranks = rows.scores[start:end], rows.ranks[start:end]
        if np.isnan(scores).any() or (scores == scores[0]).all():
            continue
        order = np.argsort(ranks)
        if not np.isfinite(ranks).all() or (np.diff(ranks[order]) == 0).any():
            return
        doc_ids = rows.documents.texts(start + order)
        misread.add_list(query_id, doc_ids, scores[order].tolist())
        if not misread.all_rise:
            return
    if misread.problem:
        raise RunError(
            f"{where}: the ranks say the opposite of the scores in all of the first queries, such "
            f"as {misread.example}, in the order of the ranks; the scores decide, highest first. "
            "If they are distances, negate them, or remove their column (not from TREC), so that "
            "the ranks decide; if they are right, remove the ranks (in TREC, write 0 for each)"
        )


def _any_numbers(column: Column) -> FloatArray:
    """Return a column as numbers: NaN for an empty cell, infinity for one that is not a number."""
    values, invalid = column.numbers()
    return np.where(np.isin(np.arange(len(values)), invalid), np.inf, values)


def _ids(batch: Batch, role: str, place: Mapping[str, int], numbering: Numbering) -> IdColumn:
    column = batch.column(place[role])
    cells = column.ids()
    if len(cells.invalid):
        row = int(cells.invalid[0])
        where, value = numbering.place(batch.numbers[row]), kind_of(column.cell(row))
        hint = "" if value == "empty" else "; ids are text or whole numbers"
        raise RunError(f"{where}: {role} is {value}{hint}")
    return cells.ids


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
        return _any_numbers(column)
    row = int(cells.invalid[0])
    cell = column.cell(row)
    shown = f"'{quoted(cell, 40)}'" if isinstance(cell, str) else kind_of(cell)
    problem = f"{shown}, not a finite number{comma_hint(cell)}"
    raise no_number(role, numbering.place(batch.numbers[row]), documents, row, problem)


@dataclass(frozen=True, slots=True)
class RunRows:
    """Some rows of a table, n of them; the arrays have the shape ``[n]``."""

    numbers: IntArray
    """The number of each row, for messages."""
    queries: IdColumn
    documents: IdColumn
    scores: FloatArray | None
    """NaN where a cell is empty."""
    ranks: FloatArray | None
    """NaN where a cell is empty; also None if scores decide in all rows."""

    def at(self, rows: IntArray | slice) -> RunRows:
        """Return some rows, in this order."""
        queries, documents = (
            column.part(rows.start, rows.stop)
            if isinstance(rows, slice)
            else column.reordered(rows)
            for column in (self.queries, self.documents)
        )
        return RunRows(
            self.numbers[rows],
            queries,
            documents,
            None if self.scores is None else self.scores[rows],
            None if self.ranks is None else self.ranks[rows],
        )

    def ranked(
        self, rules: RankingRules, numbering: Numbering, *, are_whole: bool
    ) -> RankedColumns:
        """Return the rankings of these rows.

        Args:
            rules: how to order documents if the scores leave it open.
            numbering: how messages name the rows.
            are_whole: whether these are all rows of each query.

        Raises:
            RunError: a query has empty scores or ranks, or ranks that are incomplete.
            SplitQueryError: ranks are incomplete, but more rows may follow.
        """
        begins = run_starts(self.queries)
        starts = np.append(begins, len(self.queries))
        query_ids = self.queries.texts(begins)
        scores, by_rank = self._decided(starts, numbering)
        if by_rank is not None:
            assert self.ranks is not None
            _refuse_incomplete(self.ranks, starts, by_rank, query_ids, are_whole)
        documents = _documents(self.documents, starts)
        return RankedColumns(query_ids, starts, documents, scores, rules, by_rank=by_rank)

    def _decided(
        self, starts: IntArray, numbering: Numbering
    ) -> tuple[FloatArray | None, BoolArray | None]:
        """Return the scores to sort by (or negated ranks), and which queries have ranks."""
        scores, ranks = self.scores, self.ranks
        if ranks is None:
            if scores is not None:
                self._refuse("score", np.isnan(scores), numbering)
            return scores, None
        by_rank = np.ones(len(starts) - 1, dtype=np.bool_)
        if scores is not None:
            by_rank = counts_of(~np.isnan(scores), starts) == 0
        of_row = np.repeat(by_rank, np.diff(starts))
        if scores is not None:
            self._refuse("score", np.isnan(scores) & ~of_row, numbering)
        if not by_rank.any():
            return scores, None
        self._refuse("rank", np.isnan(ranks) & of_row, numbering)
        self._refuse("rank", np.isinf(ranks) & of_row, numbering, "not a finite number")
        return np.where(of_row, -ranks, -ranks if scores is None else scores), by_rank

    def _refuse(
        self, role: str, is_wrong: BoolArray, numbering: Numbering, problem: str = ""
    ) -> None:
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            problem = problem or ("empty or NaN" if numbering.is_table else "empty")
            where = numbering.place(int(self.numbers[row]))
            raise no_number(role, where, self.documents, row, problem)


def _documents(documents: IdColumn, starts: IntArray) -> TextIds | NumberIds | HeldDocuments:
    """Return a column of documents in the form that rankings use."""
    if isinstance(documents, (TextIds, NumberIds)):
        return documents
    assert isinstance(documents, HeldIds)
    return HeldDocuments([documents.ids[start:end] for start, end in pairwise(starts.tolist())])


def _refuse_incomplete(
    ranks: FloatArray,
    starts: IntArray,
    by_rank: BoolArray,
    query_ids: Sequence[str],
    are_whole: bool,
) -> None:
    """Check that the ranks of each query are 1, 2, 3, ... or 0, 1, 2, ... in some order."""
    firsts = ranks[starts[:-1]]
    expected = np.arange(len(ranks)) - np.repeat(starts[:-1] - firsts, np.diff(starts))
    in_order = (counts_of(ranks != expected, starts) == 0) & np.isin(firsts, (0, 1))
    for place in np.flatnonzero(by_rank & ~in_order).tolist():
        start, end = starts[place : place + 2].tolist()
        listed = ranks[start:end].tolist()
        if not has_all_ranks(listed):
            raise incomplete_ranks(listed, query_ids[place]) if are_whole else SplitQueryError


def no_number(role: str, where: str, documents: IdColumn, row: int, problem: str) -> RunError:
    """Return the error for a row whose score or rank is not a number."""
    doc_id = documents.texts(np.array([row]))[0]
    return RunError(f"{where}: the {role} of document '{quoted(doc_id)}' is {problem}")


def whole_queries(parts: Iterator[RunRows]) -> Iterator[RunRows]:
    """Yield the same rows in parts that do not end within a query whose rows are together."""
    rows: RunRows | None = None
    for part in parts:
        if rows is not None:
            last = last_run_start(rows.queries)  # its query may continue in this part
            if last:
                yield rows.at(slice(0, last))
            rows = rows.at(slice(last, len(rows.queries)))
        rows = part if rows is None else _joined([rows, part])
    if rows is not None:
        yield rows


def rows_together(parts: Iterable[RunRows]) -> RunRows:
    """Return all rows grouped by query; queries are in the order of their first rows."""
    rows = _joined(list(parts))
    begins = run_starts(rows.queries)
    codes: dict[str, int] = {}
    runs = [codes.setdefault(each, len(codes)) for each in rows.queries.texts(begins)]
    lengths = np.diff(np.append(begins, len(rows.queries)))
    return rows.at(np.argsort(np.repeat(np.array(runs, np.int64), lengths), kind="stable"))


def _joined(parts: Sequence[RunRows]) -> RunRows:
    """Return the rows of all parts, one after another."""
    scores = [part.scores for part in parts if part.scores is not None]
    ranks = [  # a part's ranks were not read if all of its rows have scores
        np.full(len(part.queries), np.nan) if part.ranks is None else part.ranks for part in parts
    ]
    has_ranks = any(part.ranks is not None for part in parts)
    return RunRows(
        np.concatenate([part.numbers for part in parts]),
        joined_ids([part.queries for part in parts]),
        joined_ids([part.documents for part in parts]),
        np.concatenate(scores) if scores else None,
        np.concatenate(ranks) if has_ranks else None,
    )
