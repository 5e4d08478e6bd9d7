"""Runs as tables, in files or frames, with one row for each ranked document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_rankcheck.argument_kinds import is_stream
from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.row_numbering import Numbering
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.tables import TableKind, read_table
from pytest_rankcheck.rankers.ranked_columns import RankedColumns
from pytest_rankcheck.rankers.ranking import RankingRules
from pytest_rankcheck.rankers.row_batches import rows_of
from pytest_rankcheck.rankers.rows_by_query import rows_together, whole_queries
from pytest_rankcheck.rankers.run_columns import refuse_unused_numbers, run_columns
from pytest_rankcheck.rankers.run_rows import RunRows

__all__ = ["OnLong", "columns_of_table"]

OnLong = Callable[[str, Iterator[RankedColumns]], None]
"""Takes a long query: its id, and all its rows in pieces."""


def columns_of_table(
    source: object,
    columns: Mapping[str, str],
    rules: RankingRules,
    *,
    kind: TableKind | None = None,
    together: bool = False,
    on_long: OnLong | None = None,
) -> Iterator[RankedColumns]:
    """Yield the rankings of a file, a frame or an open table.

    Args:
        source: the file, the frame or the `Table`.
        columns: ``{meaning: column}`` for columns with unusual names.
        rules: how to order documents where the scores leave it open.
        kind: the kind of a file; without it, the content decides.
        together: whether to group the rows by query first.
        on_long: takes the queries with too many rows for memory; without it, their rows are
            yielded like other rows.

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
    rows = rows_of(table, place)
    take_long = None
    if on_long is not None:
        take_long = partial(_take_long, on_long, rules, table.numbering)
    for some in [rows_together(rows)] if together else whole_queries(rows, take_long):
        if len(some.queries):
            ranked = some.ranked(rules, table.numbering, are_whole=together)
            yield ranked if is_file else ranked.with_mapped_ids()


def _refuse_other_numbers(frame: object, header: Sequence[str], place: Mapping[str, int]) -> None:
    """Check that a frame in order has no other column that may be a score or a rank."""
    batches = list(read_table(frame, RunError, name="the run").batches())

    def cells(index: int) -> list[object]:
        return [cell for batch in batches for cell in batch.column(index).cells()]

    refuse_unused_numbers(header, place, cells)


def _take_long(
    on_long: OnLong,
    rules: RankingRules,
    numbering: Numbering,
    query_id: str,
    parts: Iterator[RunRows],
) -> None:
    """Pass on the rows of a long query; the receiver sorts them and checks the ranks."""
    of_piece = replace(rules, incomplete_ranks="close_gaps")
    pieces = (part.ranked(of_piece, numbering, are_whole=False) for part in parts)
    on_long(query_id, map(RankedColumns.with_mapped_ids, pieces))
