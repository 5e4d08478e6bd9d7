"""Runs as tables, in files or frames: the roles of their columns, their rows and rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice, pairwise

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
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
from pytest_rankcheck.files.table_batches import Batch, Column, Table
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.files.text_files import Numbering
from pytest_rankcheck.golden.golden_source import kind_of
from pytest_rankcheck.golden.judgment_columns import QUERY_ID
from pytest_rankcheck.rankers.misread_scores import MisreadScores
from pytest_rankcheck.rankers.ranked_columns import HeldDocuments, RankedColumns, SplitQueryError
from pytest_rankcheck.rankers.ranking import RankingRules

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
    by_rank = "rank" in place and "score" not in place
    rows = _rows_of(table, place)
    for some in [rows_together(rows)] if together else whole_queries(rows):
        if len(some.queries):
            ranked = some.ranked(rules, by_rank=by_rank, are_whole=together)
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
        rows = RunRows(_ids(batch, "query_id", place, table.numbering), documents, None)
        if "score" not in place:
            ranks = _numbers(batch, "rank", place, documents, table.numbering)
            return rows if ranks is None else replace(rows, scores=-ranks)
        rows = replace(rows, scores=_numbers(batch, "score", place, documents, table.numbering))
        if number == 0 and "rank" in place:
            some = Column([*islice(batch.column(place["rank"]), _HEAD)])
            _refuse_opposed(rows.at(slice(0, len(some.values))), some, table.numbering.source)
        return rows

    # A batch is dropped before the next one is read, so that its memory is used again.
    return map(rows_of, count(), table.batches(sorted(place.values()), rows=_BATCH_ROWS))


def _refuse_opposed(rows: RunRows, column: Column, where: str) -> None:
    """Refuse ranks that contradict the scores beside them in all queries.

    One query with agreeing, missing or repeated ranks settles that they do not.
    """
    grouped = _grouped(rows.queries)
    rows, cells = rows.at(grouped), column.numbers()
    values, is_invalid = cells.values, np.isin(np.arange(len(grouped)), cells.invalid)
    numbers = np.where(is_invalid, np.nan, values)[grouped]
    assert rows.scores is not None
    misread, begins = MisreadScores(), run_starts(rows.queries)
    ends = [*begins[1:].tolist(), len(rows.queries)]
    for query_id, start, end in zip(rows.queries.texts(begins), begins.tolist(), ends, strict=True):
        scores, ranks = rows.scores[start:end], numbers[start:end]
        if (scores == scores[0]).all():
            continue
        order = np.argsort(ranks)
        if np.isnan(ranks).any() or (np.diff(ranks[order]) == 0).any():
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
    is_missing = np.isnan(cells.values)
    if len(cells.invalid):
        row = int(cells.invalid[0])
        cell = column.cell(row)
        shown = f"'{quoted(cell, 40)}'" if isinstance(cell, str) else kind_of(cell)
        problem = f"{shown}, not a finite number"
    elif is_missing.any():
        row = int(np.argmax(is_missing))
        problem = "empty or NaN" if numbering.is_table else "empty"
    else:
        return cells.values
    where, doc_id = numbering.place(batch.numbers[row]), documents.texts(np.array([row]))[0]
    raise RunError(f"{where}: the {role} of document '{quoted(doc_id)}' is {problem}")


@dataclass(frozen=True, slots=True)
class RunRows:
    """Some rows of a table, n of them; the arrays have the shape ``[n]``."""

    queries: IdColumn
    documents: IdColumn
    scores: FloatArray | None
    """By which rows are sorted: scores, or negated ranks; None: they are in order."""

    def at(self, rows: IntArray | slice) -> RunRows:
        """Return some rows, in this order."""
        queries, documents = (
            column.part(rows.start, rows.stop)
            if isinstance(rows, slice)
            else column.reordered(rows)
            for column in (self.queries, self.documents)
        )
        return RunRows(queries, documents, None if self.scores is None else self.scores[rows])

    def ranked(self, rules: RankingRules, *, by_rank: bool, are_whole: bool) -> RankedColumns:
        """Return the rankings of these rows.

        Args:
            rules: how to order documents if the scores leave it open.
            by_rank: whether the scores are negated ranks.
            are_whole: whether these are all rows of each query.

        Raises:
            RunError: ranks are incomplete.
            SplitQueryError: ranks are incomplete, but more rows may follow.
        """
        begins = run_starts(self.queries)
        starts = np.append(begins, len(self.queries))
        query_ids = self.queries.texts(begins)
        if by_rank and self.scores is not None:
            _refuse_incomplete(-self.scores, starts, query_ids, are_whole)
        documents = _documents(self.documents, starts)
        return RankedColumns(query_ids, starts, documents, self.scores, rules, by_rank=by_rank)


def _documents(documents: IdColumn, starts: IntArray) -> TextIds | NumberIds | HeldDocuments:
    """Return a column of documents in the form that rankings use."""
    if isinstance(documents, (TextIds, NumberIds)):
        return documents
    assert isinstance(documents, HeldIds)
    return HeldDocuments([documents.ids[start:end] for start, end in pairwise(starts.tolist())])


def _refuse_incomplete(
    ranks: FloatArray, starts: IntArray, query_ids: Sequence[str], are_whole: bool
) -> None:
    """Check that the ranks of each query are 1, 2, 3, ... or 0, 1, 2, ... in some order."""
    firsts = ranks[starts[:-1]]
    expected = np.arange(len(ranks)) - np.repeat(starts[:-1] - firsts, np.diff(starts))
    in_order = (counts_of(ranks != expected, starts) == 0) & np.isin(firsts, (0, 1))
    for place in np.flatnonzero(~in_order).tolist():
        start, end = starts[place : place + 2].tolist()
        ordered = np.sort(ranks[start:end])
        wrong = np.flatnonzero(ordered != np.arange(len(ordered)) + (ordered[0] != 0))
        if len(wrong) and not are_whole:
            raise SplitQueryError
        if len(wrong):
            raise RunError(
                f"query '{quoted(query_ids[place])}': its ranks have a gap or a repeat at "
                f"{wrong[0] + (ordered[0] != 0)}; without scores the ranks decide, and must be 1, "
                "2, 3, ... or 0, 1, 2, .... Add the missing documents, or a column score; if the "
                "ranks give only the order, number them anew"
            )


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
    return rows.at(_grouped(rows.queries))


def _grouped(queries: IdColumn) -> IntArray:
    """Return the rows of a column in groups of equal queries, in the order of their first rows."""
    begins = run_starts(queries)
    codes: dict[str, int] = {}
    runs = [codes.setdefault(each, len(codes)) for each in queries.texts(begins)]
    lengths = np.diff(np.append(begins, len(queries)))
    return np.argsort(np.repeat(np.array(runs, np.int64), lengths), kind="stable")


def _joined(parts: Sequence[RunRows]) -> RunRows:
    """Return the rows of all parts, one after another."""
    scores = [part.scores for part in parts if part.scores is not None]
    return RunRows(
        joined_ids([part.queries for part in parts]),
        joined_ids([part.documents for part in parts]),
        np.concatenate(scores) if scores else None,
    )
