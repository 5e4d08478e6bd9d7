"""The columns of a table that have no role: attributes of queries, or columns of candidates.

A column with one value for each query is an attribute. A column whose values differ within a query
belongs to the candidates. It is a feature, and then every other column of numbers is one too. A
column named ``attribute:...`` or ``candidate:...`` is what its name says. A column that names the
judge, with several judges within a query, belongs to the judgments: the linter compares the judges.

The index of a DataFrame, a second column of grades and columns of events are left out: if rows
repeat a document, a value that differs between them, such as a timestamp, does not describe it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.id_columns import IdColumn
from pytest_rankcheck.files.id_runs import run_starts
from pytest_rankcheck.files.plain_values import as_booleans, plain_value
from pytest_rankcheck.golden.column_marks import (
    ATTRIBUTE,
    CANDIDATE,
    GRADES,
    JUDGES,
    RARE,
    Spread,
    as_numbers,
    is_index,
    repeated_rows,
    spread_of,
)
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.query import Query, label_of

__all__ = ["ExtraColumns"]


@dataclass(frozen=True, slots=True)
class _Column:
    """A column without a role."""

    name: str
    cells: Sequence[object]
    spread: Spread[str]
    """How it varies within queries."""
    numbers: Sequence[float | None] | None
    """The cells as numbers; None if one of them is not."""
    wanted: Collection[str] | None
    """The columns that were declared as attributes; None if none were."""

    @property
    def bare(self) -> str:
        """The name without what it says about the meaning."""
        return self.name.removeprefix(ATTRIBUTE).removeprefix(CANDIDATE)

    @property
    def is_open(self) -> bool:
        """Whether nothing was declared, so that the cells decide."""
        return self.wanted is None and self.name == self.bare

    @property
    def is_declared(self) -> bool:
        """Whether it was declared as an attribute."""
        if self.wanted is None:
            return self.name.startswith(ATTRIBUTE)
        return self.bare in self.wanted

    @property
    def names_judges(self) -> bool:
        """Whether it names the judge of each row; with one judge per query it is an attribute."""
        is_named = normalised_name(self.name) in JUDGES and not self.is_declared
        return is_named and bool(self.spread.varying)


class ExtraColumns:
    """Collects the cells of columns without a role, until it is clear what the columns are."""

    def __init__(
        self, contents: Contents, names: Sequence[str], first: Collection[str], *, is_marked: bool
    ) -> None:
        self._contents = contents
        self._names = names
        self._first = first
        """The names of columns before the ids."""
        self._is_marked = is_marked
        """Whether a column marks which rows are candidates."""
        self._numbers: list[int] = []
        self._queries: list[str] = []
        self._documents: list[str | None] = []
        """The document of each row; None if the row is no candidate."""
        self._cells: list[list[object]] = [[] for _ in names]
        """The cells of each column."""

    def add_rows(
        self,
        numbers: Sequence[int],
        queries: IdColumn,
        documents: IdColumn,
        is_candidate: BoolArray,
        columns: Sequence[Sequence[object]],
        *,
        errors_at: Callable[[int], AbstractContextManager[int]],
    ) -> None:
        """Keep the cells of each column in some rows; an unsupported one is noted by ``errors_at``.

        Rows that are no candidates are only about their query.
        """
        self._numbers += numbers
        starts = run_starts(queries)
        lengths = np.diff(starts, append=len(queries)).tolist()
        self._queries += chain.from_iterable(map(repeat, queries.texts(starts), lengths))
        rows = zip(documents.texts(), is_candidate.tolist(), strict=True)
        self._documents += [doc_id if is_one else None for doc_id, is_one in rows]
        for name, kept, cells in zip(self._names, self._cells, columns, strict=True):
            start = len(kept)
            try:
                kept.extend(map(_plain, cells))
            except TypeError as failure:
                with errors_at(len(kept) - start) as number:
                    where = self._contents.places.shown(number)
                    raise GoldenSetError(f"{where}: column '{quoted(name)}': {failure}") from None

    def assign(self) -> None:
        """Give each column to the queries or to the candidates.

        It is an error if a column varies within a query, and is declared as an attribute or is one
        in nearly all queries.
        """
        wanted, rows = self._contents.source.attributes, repeated_rows(self._queries)
        given = [
            _Column(name, cells, spread_of(rows, cells), as_numbers(cells), wanted)
            for name, cells in zip(self._names, self._cells, strict=True)
            if name in (wanted or ())
            or not is_index(name, cells, is_before_ids=name in self._first)
        ]
        judges = [column for column in given if column.names_judges]
        for column in judges:
            self._set_judges(column)
        columns = self._describing([column for column in given if column not in judges])
        features = [column for column in columns if column.spread.varying and column.numbers]
        has_clear = any(not column.spread.is_nearly_steady(RARE) for column in features)
        attributes: dict[str, Sequence[object]] = {}
        candidates: dict[str, Sequence[object]] = {}
        for column in columns:
            is_beside_clear = has_clear and bool(column.numbers)
            varies = bool(column.spread.varying)
            if column.is_declared and varies:
                raise self._variation(column)
            if column.is_open and column.spread.is_nearly_steady(RARE) and not is_beside_clear:
                raise self._variation(column)
            if column.bare in attributes or column.bare in candidates:
                raise GoldenSetError(
                    f"{self._contents.places.file}: two columns are named '{quoted(column.bare)}'; "
                    "rename one of them"
                )
            is_steady = not varies and not (features and column.numbers)
            if column.is_declared or (column.is_open and is_steady):
                attributes[column.bare] = column.cells
            else:
                candidates[column.bare] = column.numbers or _as_booleans_or_texts(column.cells)
        self._set_attributes(attributes)
        if candidates or self._is_marked:
            self._set_candidates(candidates)

    def _describing(self, columns: Sequence[_Column]) -> list[_Column]:
        """Return the columns without those that differ between documents and do not describe them.

        The rows of a document must have the same features.
        """
        repeats: dict[tuple[str, str | None], list[int]] = {}
        if self._contents.repeats or self._is_marked:
            repeats = repeated_rows(zip(self._queries, self._documents, strict=True))
            repeats = {pair: rows for pair, rows in repeats.items() if pair[1] is not None}
        kept = []
        for column in columns:
            if not column.spread.varying or column.is_declared:
                kept.append(column)
                continue
            if normalised_name(column.name) in GRADES:
                continue
            varying = spread_of(repeats, column.cells).varying
            if varying and column.numbers and not self._contents.reader.has_one_grade:
                query_id, doc_id = varying[0]
                about = f"document '{quoted(doc_id)}' of query '{quoted(query_id)}'"
                raise GoldenSetError(
                    f"{self._difference(column, repeats[varying[0]], about)}; a document has one "
                    "row of features for each query: keep one of the rows, or remove the column"
                )
            if not varying or column.spread.is_nearly_steady(RARE):
                kept.append(column)
        return kept

    def _difference(self, column: _Column, rows: Sequence[int], about: str) -> str:
        """Return the beginning of a message about rows that have different cells."""
        cells, first = column.cells, rows[0]
        other = next(row for row in rows if cells[row] != cells[first])
        places = [self._contents.places.shown(self._numbers[row]) for row in (first, other)]
        return (
            f"{places[1]}: column '{quoted(column.name)}' is {_shown(cells[other])} for {about}, "
            f"but {_shown(cells[first])} at {places[0]}"
        )

    def _variation(self, column: _Column) -> GoldenSetError:
        """Return the error about an attribute that has two values in a query."""
        query_id, spread = column.spread.varying[0], column.spread
        rows = [row for row, owner in enumerate(self._queries) if owner == query_id]
        text = self._difference(column, rows, f"query '{quoted(query_id)}'")
        if column.is_declared:
            return GoldenSetError(
                f"{text}; an attribute has one value for each query; correct a cell"
            )
        count = spread.steady + len(spread.varying)
        return GoldenSetError(
            f"{text}; the column has one value in {spread.steady:,} of {count:,} queries with "
            "several rows. Correct the cell, or say which columns are attributes of queries: "
            "attributes=[...] (rankcheck_attributes); the others belong to the documents"
        )

    def _set_judges(self, column: _Column) -> None:
        pairs = zip(self._numbers, column.cells, strict=True)
        self._contents.judges = {
            number: label_of(cell) for number, cell in pairs if cell is not None
        }

    def _set_attributes(self, columns: Mapping[str, Sequence[object]]) -> None:
        queries, first = self._contents.queries, dict[str, int]()
        for row, query_id in enumerate(self._queries):
            first.setdefault(query_id, row)
        for query_id, row in first.items():
            query = queries.get(query_id) or Query(query_id)
            cells = {name: cells[row] for name, cells in columns.items() if cells[row] is not None}
            queries[query_id] = Query(query_id, query.text, {**query.attributes, **cells})

    def _set_candidates(self, columns: Mapping[str, Sequence[object]]) -> None:
        candidates, first = self._contents.candidates, dict[tuple[str, str], int]()
        for name, cells in columns.items():
            is_number = all(cell is None or isinstance(cell, float) for cell in cells)
            candidates.declare(name, is_number=is_number)
        for row, (query_id, doc_id) in enumerate(zip(self._queries, self._documents, strict=True)):
            if doc_id is not None:
                first.setdefault((query_id, doc_id), row)
        for pair, row in first.items():
            values = {name: cells[row] for name, cells in columns.items() if cells[row] is not None}
            candidates.add(*pair, values)
        candidates.complete()


def _plain(cell: object) -> object:
    """Return a cell as a plain value; None if it is empty."""
    if cell.__class__ is str:
        return cell or None
    value = plain_value(cell)
    return None if value == "" else value


def _shown(cell: object) -> str:
    return "empty" if cell is None else f"'{quoted(cell, 40)}'"


def _as_booleans_or_texts(cells: Sequence[object]) -> Sequence[object]:
    """Return a column of booleans as it is, and any other as text."""
    return as_booleans(cells) or [
        cell if cell is None or isinstance(cell, (str, list, dict)) else label_of(cell)
        for cell in cells
    ]
