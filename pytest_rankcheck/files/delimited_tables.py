"""Tables with a header, separated by commas, tabs, semicolons or bars, and their columns' roles."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from pytest_rankcheck.errors import RankcheckError, listed, plural, quoted, suggestion
from pytest_rankcheck.files.plain_values import checked_number
from pytest_rankcheck.files.text_files import OnBroken, is_preamble, numbered_lines
from pytest_rankcheck.files.whole_files import check_encodable

_DELIMITERS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}

_SIMILAR = 0.8
"""The similarity (difflib) from which a column name counts as a misspelling of another."""

Rows = Iterator[tuple[int, list[str]]]
"""Rows, each with the number of the line where it begins."""


@dataclass(frozen=True, slots=True)
class Role:
    """A meaning that a column can have, and the column names that imply it."""

    name: str
    names: tuple[str, ...]
    otherwise: tuple[str, ...] = ()
    """Names that imply it only if no better name is present; a ``score`` may be a grade."""

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


DOC_ID = Role(
    "doc_id",
    (
        *("doc_id", "docid", "docno", "document_id", "documentid", "doc"),
        *("corpus_id", "passage_id", "pid", "product_id", "item_id"),
    ),
)
"""The column of a table that has the ids of documents."""


def header_of(line: str) -> list[str]:
    """Return a line's normalised column names, read as the header of a table."""
    return [normalised_name(name) for name in cells_of_line(line, delimiter_of(line))]


def looks_meant_for(header: Sequence[str], roles: Sequence[Role]) -> bool:
    """Whether a header of normalised names has or misspells a column of one of the roles.

    A line with a single column is not a header.
    """
    return len(header) > 1 and any(role.among(header) or role.near(header) for role in roles)


def lacks(header: Sequence[str], taken: Collection[int], missing: Sequence[Role]) -> str:
    """Return a clause about missing columns: misspellings, the present columns, and what to do.

    Args:
        header: the column names.
        taken: the indexes of the columns that have another role.
        missing: the roles without a column.
    """
    if not taken and (problem := _no_header(header)):
        return f"has {problem}"
    free = [name for index, name in enumerate(header) if index not in taken]
    meant = {role.name: near for role in missing if (near := role.near(free)) is not None}
    misspelt = " and ".join(f"'{quoted(column)}'" for column in meant.values())
    hint = f". {'Is' if len(meant) == 1 else 'Are'} {misspelt} misspelt?" if meant else "."
    columns = meant or {missing[0].name: "..."}
    pairs = ", ".join(f"'{name}': '{quoted(column)}'" for name, column in columns.items())
    todo = f". Rename its columns, or map them, such as columns={{{pairs}}} (rankcheck_columns)"
    names = ", ".join(f"'{role.name}'" for role in missing)
    return f"has no column {names}{hint} Its columns are {listed(header, 10)}{todo if free else ''}"


def _no_header(header: Sequence[str]) -> str:
    """Return a message if a first line has a number and no names, so that it is a row; else ""."""
    if DOC_ID.among([*map(normalised_name, header)]) or not any(map(checked_number, header)):
        return ""
    return f"no header, but the row {listed(header, 10)}; write the names of the columns above it"


def normalised_name(name: str) -> str:
    """Return a column name in the form used for comparison: ``Query-ID`` is ``query_id``."""
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


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
    valid = [role.name for role in roles]
    for role_name, column in columns.items():
        if role_name not in valid:
            raise error(
                f"columns: unknown key '{quoted(role_name)}'{suggestion(role_name, valid)}; valid "
                f"keys for {where} are {', '.join(valid)}"
            )
        if column not in header:
            raise error(
                f"{where} has no column '{quoted(column)}'{suggestion(column, header)}; it has "
                f"{listed(header, 10)}"
            )
    mapped = list(columns.values())
    twice = [role_name for role_name, column in columns.items() if mapped.count(column) > 1]
    if twice:
        raise error(
            f"columns: {' and '.join(twice[:2])} are both mapped to '{quoted(columns[twice[0]])}'; "
            "name a column of its own for each"
        )
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
                f"the {role.name}; choose one with columns={{'{role.name}': ...}} "
                "(rankcheck_columns, rankcheck_session_reading)"
            )
        if places:
            indexes[role.name] = places[0]
    return indexes


def table_text(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    error: type[RankcheckError],
    delimiter: str = ",",
) -> str:
    """Return a table as text; None is an empty cell.

    Raises:
        error: a cell has a character (a lone surrogate) that cannot be written as UTF-8.
    """
    cells = [[_text(cell) for cell in row] for row in rows]
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


def delimiter_of(line: str) -> str:
    """Return the separator that splits a header into the most columns."""
    return max(_DELIMITERS, key=lambda delimiter: len(cells_of_line(line, delimiter)))


def cells_of_line(line: str, delimiter: str) -> list[str]:
    """Return the cells of a single line of a table; none if it is malformed."""
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return []


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

    The separator is the one that splits the header into the most columns.

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
    first = next((each for each in lines if not is_preamble(each[1])), None)
    if first is None:
        raise error(f"{path} is empty; a table needs a header and rows")
    number, line = first
    delimiter = delimiter_of(line)
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
        problem = f"duplicate column in the header: {listed(duplicates)}"
        raise error(f"{path}:{number}: {_no_header(header) or problem}")
    width, below = len(header), next(lines, (0, ""))
    separator = f"{delimiter} " if is_spaced else delimiter
    rows = rows_of(chain([below], lines)) if below[0] else iter(())
    return DelimitedTable(header, rows, separator, below[0], rows_of)


def _wrong_length(row: Sequence[str], header: Sequence[str], delimiter: str) -> str:
    return (
        f"{plural(len(row), 'column')}, but the header has {len(header)}: "
        f"'{quoted(' '.join(row), 60)}'; columns are separated by "
        f"{_DELIMITERS[delimiter]}, as in the header"
    )
