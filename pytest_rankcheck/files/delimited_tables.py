"""Tables with a header, separated by commas, tabs, semicolons or bars; which column is which."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError, listed, plural, quoted, suggestion
from pytest_rankcheck.files.text_files import numbered_lines

__all__ = [
    "Role",
    "Table",
    "header_of",
    "index_of_roles",
    "normalised",
    "table_of",
    "table_text",
]

_DELIMITERS = (",", "\t", ";", "|")
_NAMES = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}


@dataclass(frozen=True, slots=True)
class Role:
    """What a column may mean, and the names by which it is known."""

    name: str
    names: tuple[str, ...]
    otherwise: tuple[str, ...] = ()
    """Names that mean this where no better one is there: a ``score`` may be a grade."""

    def among(self, header: Sequence[str]) -> list[int]:
        """Return the places of the columns that have this meaning, by their normalised names.

        The name that we give it ourselves is the best; where it is, others mean something else.
        """
        for names in ((self.name,), self.names, self.otherwise):
            places = [place for place, name in enumerate(header) if name in names]
            if places:
                return places
        return []


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it is read: its header, and its rows with the numbers of their lines."""

    header: list[str]
    rows: Iterator[tuple[int, list[str]]]


def header_of(line: str) -> list[str]:
    """Return the names of columns that a line has if it is the header of a table, normalised."""
    return [normalised(name) for name in _split(line, _delimiter_of(line))]


def normalised(name: str) -> str:
    """Return a column's name as it is compared: ``Query-ID`` is ``query_id``."""
    return "_".join(name.strip().lower().replace("-", " ").replace("_", " ").split())


def table_of(
    path: Path,
    error: type[RankcheckError],
    *,
    lone_first: bool = False,
    on_broken: Callable[[int, str], None] | None = None,
) -> Table:
    """Read a table; the separator is the one that divides the header into most columns.

    Args:
        path: the file, UTF-8.
        error: what to raise.
        lone_first: whether a row may have the first column only; the others are empty then.
        on_broken: is told of a row of another length, its line and what is wrong, which is left out
            then; without it, such a row is an error.

    Raises:
        error: it cannot be read, is empty, has a column twice, or a row has more or fewer columns
            than the header; file and line are named.
    """
    lines = numbered_lines(path, error)
    first = next(((number, line) for number, line in lines if line.strip()), None)
    if first is None:
        raise error(f"{path} is empty; a table has a header and rows")
    number, line = first
    reader = _Reader(path, error, number, line, lines)
    header = next(reader)[1]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise error(f"{path}:{number}: the header has the column {listed(twice)} twice")
    return Table(header, _whole_rows(reader, header, lone_first, on_broken))


class _Reader:
    """The rows of a table as they are, with the number of the line where each begins."""

    def __init__(
        self,
        path: Path,
        error: type[RankcheckError],
        first: int,
        line: str,
        others: Iterator[tuple[int, str]],
    ) -> None:
        self.path, self.error = path, error
        self.delimiter = _delimiter_of(line)
        self._before = first
        texts = chain([line], (text for _, text in others))
        # "a, b": the space belongs to the separator, in the rows too.
        spaced = any(name.startswith(" ") for name in _split(line, self.delimiter))
        self._rows = csv.reader(
            texts, delimiter=self.delimiter, strict=True, skipinitialspace=spaced
        )

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return self

    def __next__(self) -> tuple[int, list[str]]:
        start = self._before + self._rows.line_num
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
    """Yield the rows that are not empty; refuse one that is not as long as the header."""
    for start, row in reader:
        if not row:
            continue
        cells = row
        if len(row) == 1 and lone_first:
            cells = row + [""] * (len(header) - 1)
        if len(cells) != len(header):
            what = (
                f"{plural(len(row), 'column')}, but the header has {len(header)}: "
                f"'{quoted(' '.join(row), 60)}'; columns are separated by "
                f"{_NAMES[reader.delimiter]}, as in the header"
            )
            if on_broken is None:
                raise reader.error(f"{reader.path}:{start}: {what}")
            on_broken(start, what)
            continue
        yield start, cells


def index_of_roles(
    header: Sequence[str],
    roles: Sequence[Role],
    given: Mapping[str, str],
    where: str,
    error: type[RankcheckError],
) -> dict[str, int]:
    """Return where the columns are that have a meaning.

    Args:
        header: the names of the columns.
        roles: the meanings, by the names that they usually have.
        given: ``{meaning: column}`` where the names are others.
        where: the file, for messages.
        error: what to raise.

    Raises:
        error: a given column is not there, or two columns may mean the same.
    """
    _check_given(header, [role.name for role in roles], given, where, error)
    names = [normalised(name) for name in header]
    taken = {header.index(column) for column in given.values()}
    found: dict[str, int] = {}
    for role in roles:
        if role.name in given:
            found[role.name] = header.index(given[role.name])
            continue
        places = [place for place in role.among(names) if place not in taken]
        if len(places) > 1:
            raise error(
                f"{where}: the columns {listed([header[place] for place in places])} may both be "
                f"the {role.name}; say which, with columns={{'{role.name}': ...}}"
            )
        if places:
            found[role.name] = places[0]
    return found


def _check_given(
    header: Sequence[str],
    known: Sequence[str],
    given: Mapping[str, str],
    where: str,
    error: type[RankcheckError],
) -> None:
    for meaning, column in given.items():
        if meaning not in known:
            raise error(
                f"columns: there is no '{quoted(meaning)}'{suggestion(meaning, known)}; a column "
                f"may be {', '.join(known)}"
            )
        if column not in header:
            raise error(
                f"{where} has no column '{quoted(column)}'{suggestion(column, header)}; it has "
                f"{listed(header, 10)}"
            )


def table_text(
    header: Sequence[str], rows: Sequence[Sequence[object]], delimiter: str = ","
) -> str:
    """Return a table as text; None is an empty cell."""
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    # csv leaves a lone carriage return unquoted, and reads it as the end of a line; and a space
    # at the beginning of a name would read as a part of the separators.
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
    return buffer.getvalue()


def _delimiter_of(line: str) -> str:
    return max(_DELIMITERS, key=lambda delimiter: len(_split(line, delimiter)))


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    except csv.Error:
        return []
