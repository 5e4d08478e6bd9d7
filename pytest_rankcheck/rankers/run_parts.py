"""A run in several files: a folder of parts, or a pattern, read as one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pytest_rankcheck.errors import RunError, listed, plural, quoted
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.files.part_files import (
    files_of_parts,
    joined_tables,
    partition_columns,
    with_columns,
)
from pytest_rankcheck.files.row_numbering import JoinedNumbering
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.table_formats import TABLE_KINDS
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.rankers.held_rankings import HeldColumns
from pytest_rankcheck.rankers.query_files import QueryFiles, late_files, query_ids_of
from pytest_rankcheck.rankers.ranked_columns import (
    HeldDocuments,
    RankedColumns,
    RunSource,
    unsplit,
)
from pytest_rankcheck.rankers.run_columns import run_columns
from pytest_rankcheck.rankers.run_file import RUN_FORMATS, RunFile
from pytest_rankcheck.rankers.run_tables import OnLong, columns_of_table

__all__ = ["RunParts", "table_of_part"]


@dataclass(frozen=True, slots=True)
class RunParts:
    """The files of a run, with the conventions for reading them."""

    source: RunSource
    """The folder or pattern, and how to read its files."""
    files: Sequence[Path]
    format: Format[Iterator[RankedColumns]]
    """The format of all files."""
    depth: int | None = None
    empty: list[str] = field(default_factory=list)
    """The files without rows; known once all were read."""
    gathered: list[str] = field(default_factory=list)
    """What a reader must know about rows that were brought together; known once all were read."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the run must know about its parts, as sentences."""
        notes = (*self.gathered, *late_files(self.files))
        if not self.empty:
            return notes
        count = plural(len(self.empty), "file has", "files have")
        return (
            f"{count} no rows (of {len(self.files):,} parts): {listed(self.empty)}",
            *notes,
        )

    @classmethod
    def of(cls, source: RunSource, format: str | None) -> RunParts:
        """Return the parts in a folder, or those that match a pattern.

        Raises:
            RunError: there are no parts, or they have different formats.
        """
        files = files_of_parts(source.path, RunError)
        if format:
            return cls(source, files, RUN_FORMATS.named(format))
        found = {file: _format_of(file, source.columns) for file in files}
        first = found[files[0]]
        other = next((file for file in files if found[file].name != first.name), None)
        if other is not None:
            raise RunError(
                f"the parts have different formats: {files[0]} is {first.name}, {other} is "
                f"{found[other].name}; move files that are not parts of the run elsewhere"
            )
        return cls(source, files, first)

    def read(self) -> HeldColumns:
        """Return all rankings."""
        return HeldColumns.read(self.columns)

    def top(self, depth: int) -> RunParts:
        """Return the same parts, cut to the first ``depth`` documents of each query."""
        return replace(self, depth=depth)

    def columns(
        self, *, together: bool = False, on_long: OnLong | None = None
    ) -> Iterator[RankedColumns]:
        """Yield the rankings of all files in blocks, as `Run.columns`.

        Args:
            together: whether to group the rows by query first, across all files.
            on_long: takes the queries with too many rows for memory, if the parts are tables.
        """
        if self.format.name in TABLE_KINDS:
            blocks = self._of_tables(together=together, on_long=on_long)
        else:
            blocks = self._together() if together else self._one_by_one()
        is_empty, where = True, str(self.source.path)
        for block in unsplit(blocks):
            is_empty &= not len(block)
            yield replace(block.with_mapped_ids(), depth=self.depth, where=where)
        if is_empty and on_long is None:
            raise RunError(f"{where} is empty; a run needs at least one ranked document")

    def _of_tables(self, *, together: bool, on_long: OnLong | None) -> Iterator[RankedColumns]:
        """Yield the rows of all files as those of one table."""
        kind = TABLE_KINDS[self.format.name]
        joined = joined_tables(list(self._tables()), RunError)
        if together:
            self._refuse_two_runs()
        yield from columns_of_table(
            joined,
            self.source.columns,
            self.source.rules,
            kind=kind,
            together=together,
            on_long=on_long,
        )
        assert isinstance(joined.numbering, JoinedNumbering)
        self.empty[:] = joined.numbering.empty

    def _tables(self) -> Iterator[tuple[Path, Table]]:
        for file in self.files:
            yield file, table_of_part(replace(self.source, path=file), self.format.name)

    def _refuse_two_runs(self) -> None:
        """Find the files with rows of each query, before the rows are brought together."""
        found = QueryFiles()
        for file, table in self._tables():
            place = run_columns(table.header, self.source.columns, str(file))
            found.add(file, query_ids_of(table, place["query_id"]))
        self._note(found)

    def _note(self, found: QueryFiles) -> None:
        found.refuse_two_runs()
        self.gathered[:] = found.notes

    def _one_by_one(self) -> Iterator[RankedColumns]:
        for file in self.files:
            yield from self._of_file(file)

    def _of_file(self, file: Path, *, together: bool = False) -> Iterator[RankedColumns]:
        source = replace(self.source, path=file)
        return RunFile(source, self.format).columns(together=together)

    def _blocks_of_files(self) -> Iterator[tuple[Path, RankedColumns]]:
        for file in self.files:
            for block in self._of_file(file, together=True):
                yield file, block

    def _together(self) -> Iterator[RankedColumns]:
        """Yield the rows of each query together, even if they are in several files."""
        rows: dict[str, list[tuple[Sequence[str], Sequence[float] | None]]] = {}
        found = QueryFiles()
        for file, block in self._blocks_of_files():
            found.add(file, block.query_ids)
            if block.is_ordered or block.scores is None:
                for query_id in block.query_ids:
                    if query_id in rows:
                        raise RunError(
                            f"{self.source.path}: query '{quoted(query_id)}' has a whole ranking "
                            "in two files; keep one of them"
                        )
            for place, query_id in enumerate(block.query_ids):
                start, end = block.starts[place : place + 2].tolist()
                scores = None if block.scores is None else block.scores[start:end].tolist()
                rows.setdefault(query_id, []).append((block.doc_ids(place), scores))
        self._note(found)
        groups = [[doc for docs, _ in parts for doc in docs] for parts in rows.values()]
        every = [scores for parts in rows.values() for _, scores in parts]
        known = [score for scores in every for score in scores or ()]
        is_ordered = any(scores is None for scores in every)
        yield RankedColumns(
            list(rows),
            starts_of(list(map(len, groups))),
            HeldDocuments(groups),
            None if is_ordered else np.array(known),
            self.source.rules,
            is_ordered,
        )


def table_of_part(source: RunSource, format: str) -> Table:
    """Return the table of a file, with the columns that its folders add.

    Raises:
        RunError: the file is damaged; the message names it.
    """
    table = read_table(source.path, RunError, name=str(source.path), kind=TABLE_KINDS[format])
    return with_columns(table, partition_columns(source.path), RunError)


def _format_of(file: Path, columns: Mapping[str, str]) -> Format[Iterator[RankedColumns]]:
    """Return the format of a part; the columns of its folders are not in its header."""
    try:
        return RUN_FORMATS.detected(file, columns)
    except RunError:
        partitions = partition_columns(file)
        named = RUN_FORMATS.by_name.get(file.suffix.removeprefix("."))
        if partitions and named is not None and named.name in TABLE_KINDS:
            return named
        raise
