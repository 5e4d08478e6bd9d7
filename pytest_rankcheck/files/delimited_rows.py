"""Reading tables that are separated by commas, tabs, semicolons or bars, row by row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, listed, plural, quoted
from pytest_rankcheck.files.delimited_tables import cells_of_line, delimiter_of, named_separator
from pytest_rankcheck.files.text_files import numbered_lines

__all__ = ["DelimitedTable", "table_of"]

_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}


@dataclass(frozen=True, slots=True)
class DelimitedTable:
    """A table being read: its header, and its rows with their line numbers."""

    header: list[str]
    rows: Iterator[tuple[int, list[str]]]
    delimiter: str
    is_spaced: bool
    """Whether a space belongs to the separator."""
    first_line: int
    """The number of the line after the header."""
    rows_of: Callable[[int, Iterator[tuple[int, str]]], Iterator[tuple[int, list[str]]]]
    """Returns the rows in some lines, of which the first has the given number."""


def table_of(
    path: Path,
    error: type[RankcheckError],
    *,
    lone_first: bool = False,
    on_broken: Callable[[int, str], None] | None = None,
) -> DelimitedTable:
    """Read a table, row by row.

    The separator is the one that Excel's first line ``sep=;`` names, or the one that splits the
    header into the most columns.

    Args:
        path: the file, UTF-8.
        error: the exception type to raise.
        lone_first: whether a row may consist of the first column alone; the others are then empty.
        on_broken: called with the line number and a description of each row of the wrong length,
            which is then skipped; without it, the row is an error.

    Raises:
        error: the file cannot be read or is empty, a column name is duplicated, or a row has more
            or fewer columns than the header; the message names file and line.
    """
    lines = numbered_lines(path, error)
    filled = ((number, line) for number, line in lines if line.strip())
    first = next(filled, None)
    separator = named_separator(first[1]) if first else None
    if separator:
        first = next(filled, None)
    if first is None:
        raise error(f"{path} is empty; a table needs a header and rows")
    number, line = first
    delimiter = separator or delimiter_of(line)
    # In a header such as "a, b" the space belongs to the separator, so also in the rows.
    is_spaced = any(name.startswith(" ") for name in cells_of_line(line, delimiter))

    def reader_of(start: int, lines: Iterator[tuple[int, str]]) -> _Reader:
        return _Reader(path, error, start, lines, delimiter=delimiter, is_spaced=is_spaced)

    def rows_of(start: int, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
        return _whole_rows(reader_of(start, lines), header, lone_first, on_broken)

    reader = reader_of(number, chain([first], lines))
    header = next(reader)[1]
    duplicates = sorted({name for name in header if name and header.count(name) > 1})
    if duplicates:
        raise error(f"{path}:{number}: duplicate column in the header: {listed(duplicates)}")
    rows = _whole_rows(reader, header, lone_first, on_broken)
    return DelimitedTable(header, rows, delimiter, is_spaced, reader.next_line, rows_of)


class _Reader:
    """The raw rows of a table, with the number of the line where each begins."""

    def __init__(
        self,
        path: Path,
        error: type[RankcheckError],
        start: int,
        lines: Iterator[tuple[int, str]],
        *,
        delimiter: str,
        is_spaced: bool,
    ) -> None:
        self.path, self.error, self.delimiter = path, error, delimiter
        self._start = start
        self._rows = csv.reader(
            (text for _, text in lines),
            delimiter=delimiter,
            strict=True,
            skipinitialspace=is_spaced,
        )

    @property
    def next_line(self) -> int:
        """The number of the line where the next row begins."""
        return self._start + self._rows.line_num

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return self

    def __next__(self) -> tuple[int, list[str]]:
        start = self.next_line
        try:
            return start, next(self._rows)
        except csv.Error as failure:
            raise self.error(
                f"{self.path}:{start}: {failure}; is a quotation mark left open?"
            ) from None


def _whole_rows(
    reader: _Reader,
    header: Sequence[str],
    lone_first: bool,
    on_broken: Callable[[int, str], None] | None,
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty; reject or report rows of the wrong length."""
    for start, row in reader:
        if not row:
            continue
        cells = row
        if len(row) == 1 and lone_first:
            cells = row + [""] * (len(header) - 1)
        if len(cells) != len(header):
            problem = (
                f"{plural(len(row), 'column')}, but the header has {len(header)}: "
                f"'{quoted(' '.join(row), 60)}'; columns are separated by "
                f"{_NAMES.get(reader.delimiter, reader.delimiter)}, as in the header"
            )
            if on_broken is None:
                raise reader.error(f"{reader.path}:{start}: {problem}")
            on_broken(start, problem)
            continue
        yield start, cells
