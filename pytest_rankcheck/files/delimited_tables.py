"""Tables with a header, separated by commas, tabs, semicolons or bars, and their column roles."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, listed, plural, quoted, suggestion
from pytest_rankcheck.files.checked_cells import decimal_comma_hint
from pytest_rankcheck.files.text_files import numbered_lines
from pytest_rankcheck.files.whole_files import check_encodable

__all__ = [
    "DelimitedTable",
    "Role",
    "decimal_comma_hint",
    "header_of",
    "index_of_roles",
    "is_separator_line",
    "lacks",
    "looks_meant_for",
    "normalised_name",
    "table_of",
    "table_text",
]

_DELIMITERS = (",", "\t", ";", "|")
_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}

_SEPARATOR_LINE = re.compile(r"sep=([^\w\s\"]|\t)\s*", re.IGNORECASE)
"""Excel's first line of a table, which names the separator."""

_SIMILAR = 0.8
"""From this similarity on (difflib), a column name is a misspelling of another."""


@dataclass(frozen=True, slots=True)
class Role:
    """A meaning that a column can have, and the column names that imply it."""

    name: str
    names: tuple[str, ...]
    otherwise: tuple[str, ...] = ()
    """Names that imply it only if no better name is present: a ``score`` may be a grade."""

    def among(self, header: Sequence[str]) -> list[int]:
        """Return the indexes of the columns that have this meaning, by their normalised names.

        Our own name for it takes precedence; if a column has that name, the others do not count.
        """
        for names in ((self.name,), self.names, self.otherwise):
            places = [place for place, name in enumerate(header) if name in names]
            if places:
                return places
        return []

    def near(self, header: Sequence[str]) -> str | None:
        """Return the column whose name looks like a misspelling of one of the names."""
        spellings = {normalised_name(column): column for column in header}
        for name in (self.name, *self.names, *self.otherwise):
            nearest = get_close_matches(name, spellings, n=1, cutoff=_SIMILAR)
            if nearest:
                return spellings[nearest[0]]
        return None


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


def header_of(line: str) -> list[str]:
    """Return a line's normalised column names, read as the header of a table."""
    return [normalised_name(name) for name in _split(line, _delimiter_of(line))]


def is_separator_line(line: str) -> bool:
    """Whether a line is Excel's first line of a table, such as ``sep=;``."""
    return _SEPARATOR_LINE.fullmatch(line) is not None


def looks_meant_for(header: Sequence[str], roles: Sequence[Role]) -> bool:
    """Whether a header of normalised names has or misspells a column of one of the roles.

    A line of JSON or with a single column is not a header.
    """
    if len(header) < 2 or header[0].startswith(("{", "[")):
        return False
    return any(role.among(header) or role.near(header) for role in roles)


def lacks(
    header: Sequence[str], taken: Collection[int], missing: Sequence[Role], *, can_map: bool = True
) -> str:
    """Return a clause about missing columns: misspelt ones, all that there are, and what to do.

    Args:
        header: the column names.
        taken: the indexes of the columns that have another role.
        missing: the roles without a column.
        can_map: whether ``columns=`` applies to this table.
    """
    free = [name for index, name in enumerate(header) if index not in taken]
    near = {role.name: role.near(free) for role in missing}
    meant = {name: column for name, column in near.items() if column is not None}
    misspelt = " and ".join(f"'{quoted(column)}'" for column in meant.values())
    hint = f". {'Is' if len(meant) == 1 else 'Are'} {misspelt} misspelt?" if meant else "."
    only = free[0] if len(free) == 1 else "..."  # of several, any guess may be wrong
    columns = meant or {missing[0].name: only}
    pairs = ", ".join(f"'{name}': '{quoted(column)}'" for name, column in columns.items())
    mapping = ""
    if free and can_map:
        mapping = f". Rename its columns, or map them, such as columns={{{pairs}}}"
    elif free:
        mapping = f". Name a column {missing[0].name}; if the header is missing, add it"
    names = ", ".join(f"'{role.name}'" for role in missing)
    return f"has no column {names}{hint} Its columns are {listed(header, 10)}{mapping}"


def normalised_name(name: str) -> str:
    """Return a column name in the form used for comparison: ``Query-ID`` is ``query_id``."""
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


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
    separator = _SEPARATOR_LINE.fullmatch(first[1]) if first else None
    if separator:
        first = next(filled, None)
    if first is None:
        raise error(f"{path} is empty; a table needs a header and rows")
    number, line = first
    delimiter = separator[1] if separator else _delimiter_of(line)
    # In a header such as "a, b" the space belongs to the separator, so also in the rows.
    is_spaced = any(name.startswith(" ") for name in _split(line, delimiter))

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


def index_of_roles(
    header: Sequence[str],
    roles: Sequence[Role],
    columns: Mapping[str, str],
    where: str,
    error: type[RankcheckError],
) -> dict[str, int]:
    """Return the index of the column that has each role, by the name of the role.

    Args:
        header: the column names.
        roles: the roles to look for, with their usual column names.
        columns: ``{role: column}`` for columns with unusual names.
        where: the file, for messages.
        error: the exception type to raise.

    Raises:
        error: a column named in ``columns`` is missing or has two roles, or two columns match the
            same role.
    """
    _check_columns(header, [role.name for role in roles], columns, where, error)
    names = [normalised_name(name) for name in header]
    taken = {header.index(column) for column in columns.values()}
    indexes: dict[str, int] = {}
    for role in roles:
        if role.name in columns:
            indexes[role.name] = header.index(columns[role.name])
            continue
        places = [place for place in role.among(names) if place not in taken]
        if len(places) > 1:
            raise error(
                f"{where}: the columns {listed([header[place] for place in places])} could both be "
                f"the {role.name}; choose one with columns={{'{role.name}': ...}}"
            )
        if places:
            indexes[role.name] = places[0]
    return indexes


def _check_columns(
    header: Sequence[str],
    role_names: Sequence[str],
    columns: Mapping[str, str],
    where: str,
    error: type[RankcheckError],
) -> None:
    for role_name, column in columns.items():
        if role_name not in role_names:
            raise error(
                f"columns: unknown key '{quoted(role_name)}'{suggestion(role_name, role_names)}; "
                f"valid keys are {', '.join(role_names)}"
            )
        twice = [name for name, other in columns.items() if other == column and name != role_name]
        if twice:
            raise error(
                f"columns: {role_name} and {twice[0]} are both mapped to '{quoted(column)}'; name "
                "a column of its own for each"
            )
        if column not in header:
            raise error(
                f"{where} has no column '{quoted(column)}'{suggestion(column, header)}; it has "
                f"{listed(header, 10)}"
            )


def table_text(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    error: type[RankcheckError],
    delimiter: str = ",",
) -> str:
    """Return a table as text; None is an empty cell.

    Raises:
        error: a cell is too long to be read again, or has a character (a lone surrogate) that
            cannot be written as UTF-8.
    """
    cells = [[_text(cell) for cell in row] for row in rows]
    longest = max((cell for row in (header, *cells) for cell in row), key=len, default="")
    if len(longest) > csv.field_size_limit():
        raise error(
            f"'{quoted(longest, 40)}' is longer than {csv.field_size_limit():,} characters, which "
            "is too long for a table; save as jsonl"
        )
    # csv leaves a lone carriage return unquoted but reads it as a line end; and a space at the
    # start of a name would be read as part of the separator.
    is_odd = any("\r" in cell for row in (header, *cells) for cell in row)
    is_odd = is_odd or any(name.startswith(" ") for name in header)
    buffer = io.StringIO()
    writer = csv.writer(
        buffer,
        delimiter=delimiter,
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if is_odd else csv.QUOTE_MINIMAL,
    )
    writer.writerow(header)
    writer.writerows(cells)
    check_encodable(buffer.getvalue(), error)
    return buffer.getvalue()


def _text(cell: object) -> str:
    """Return a cell as text; booleans as in JSON."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return "" if cell is None else str(cell)


def _delimiter_of(line: str) -> str:
    return max(_DELIMITERS, key=lambda delimiter: len(_split(line, delimiter)))


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return []
