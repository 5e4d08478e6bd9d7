"""Reading tables that are separated by commas, tabs, semicolons or bars, row by row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from pytest_rankcheck.errors import RankcheckError, listed, plural, quoted
from pytest_rankcheck.files.delimited_tables import cells_of_line, delimiter_of, named_separator
from pytest_rankcheck.files.json_files import OnBroken
from pytest_rankcheck.files.text_files import numbered_lines

_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}

Rows = Iterator[tuple[int, list[str]]]
"""Rows, each with the number of the line where it begins."""


class DelimitedTable(NamedTuple):
    """A table being read."""

    header: list[str]
    rows: Rows
    separator: str
    """What separates cells; a comma and a space if the header has spaces there."""
    body: int
    """The number of the first line below the header; 0 without one."""
    rows_of: Callable[[Iterator[tuple[int, str]]], Rows]
    """Returns the rows in some numbered lines."""


def table_of(
    path: Path,
    error: type[RankcheckError],
    *,
    lone_first: bool = False,
    on_broken: OnBroken | None = None,
) -> DelimitedTable:
    """Read a table, row by row.

    The separator is the one that Excel's first line ``sep=;`` names, or the one that splits the
    header into the most columns.

    Args:
        path: the file, UTF-8.
        error: the exception type to raise.
        lone_first: whether a row may consist of the first column alone; the others are then empty.
        on_broken: called for each row of the wrong length, which is then skipped; without it, the
            row is an error.

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

    def parsed(lines: Iterator[tuple[int, str]]) -> Rows:
        first = next(lines, None)
        if first is None:
            return
        texts = map(itemgetter(1), chain([first], lines))
        reader = csv.reader(texts, delimiter=delimiter, strict=True, skipinitialspace=is_spaced)
        place = first[0]
        try:
            for row in reader:
                if row:
                    yield place, row
                place = first[0] + reader.line_num
        except csv.Error as failure:
            raise error(f"{path}:{place}: {failure}; is a quotation mark left open?") from None

    def rows_of(lines: Iterator[tuple[int, str]]) -> Rows:
        for start, row in parsed(lines):
            if len(row) == width:
                yield start, row
            elif lone_first and len(row) == 1:
                yield start, row + [""] * (width - 1)
            elif on_broken is not None:
                on_broken(start, "broken row", _wrong_length(row, header, delimiter))
            else:
                raise error(f"{path}:{start}: {_wrong_length(row, header, delimiter)}")

    header = next(parsed(chain([first], lines)))[1]
    duplicates = sorted({name for name in header if name and header.count(name) > 1})
    if duplicates:
        raise error(f"{path}:{number}: duplicate column in the header: {listed(duplicates)}")
    width, below = len(header), next(lines, (0, ""))
    separator = f"{delimiter} " if is_spaced else delimiter
    rows = rows_of(chain([below], lines)) if below[0] else iter(())
    return DelimitedTable(header, rows, separator, below[0], rows_of)


def _wrong_length(row: Sequence[str], header: Sequence[str], delimiter: str) -> str:
    return (
        f"{plural(len(row), 'column')}, but the header has {len(header)}: "
        f"'{quoted(' '.join(row), 60)}'; columns are separated by "
        f"{_NAMES.get(delimiter, delimiter)}, as in the header"
    )
