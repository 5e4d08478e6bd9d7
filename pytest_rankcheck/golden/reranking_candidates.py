"""Candidates: the documents to rerank for each query, with their columns."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import GoldenSetError

_DIGITS = 18
"""The digits of the largest feature number; anything longer is a name."""

Column = FloatArray | list[object]


@dataclass(frozen=True)
class Candidates:
    """Documents to rerank, in columns that the parts of a golden set share with the whole."""

    rows_of: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The row of each document, by query; empty if the golden set has no candidates."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    """Arrays of numbers, with `absent` for a missing one; lists of other cells, with None."""
    absent: float = math.nan
    """NaN, or 0 in learning-to-rank files."""

    @classmethod
    def of(
        cls, pairs: Iterable[tuple[str, str]], columns: Mapping[str, Sequence[object]]
    ) -> Candidates:
        """Return candidates from their queries, their documents and the cells of each column."""
        rows_of: dict[str, dict[str, int]] = {}
        for row, (query_id, doc_id) in enumerate(pairs):
            rows_of.setdefault(query_id, {})[doc_id] = row
        return cls(rows_of, {name: _typed(cells) for name, cells in columns.items()})

    @property
    def is_sparse(self) -> bool:
        """Whether features are numbered, and those that a line leaves out are 0 (LETOR)."""
        return self.absent == 0

    def rows(self, query_id: str) -> Mapping[str, int]:
        """Return the row of each candidate of a query; empty if it has none."""
        return self.rows_of.get(query_id, {})

    def cells(self, query_id: str) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield the candidates of a query with their cells by column, without empty ones."""
        rows = self.rows(query_id)
        places = list(rows.values())
        taken = {name: _taken(cells, places) for name, cells in self.columns.items()}
        columns = {name: _as_list(cells) for name, cells in taken.items()}
        for place, doc_id in enumerate(rows):
            cells = {name: column[place] for name, column in columns.items()}
            yield doc_id, {name: cell for name, cell in cells.items() if not _is_empty(cell)}

    def take(self, query_ids: Iterable[str]) -> Candidates:
        """Return the candidates of some queries; the columns are shared.

        A part of a set with candidates has candidates too, if only those that its queries lack.
        """
        return replace(self, rows_of={each: self.rows(each) for each in query_ids if self})

    def compact(self) -> Candidates:
        """Return the same candidates in their own columns, without the rows of others."""
        taken = [row for rows in self.rows_of.values() for row in rows.values()]
        numbers = iter(range(len(taken)))
        rows_of = {
            query_id: dict(zip(rows, numbers, strict=False))
            for query_id, rows in self.rows_of.items()
        }
        columns = {name: _taken(cells, taken) for name, cells in self.columns.items()}
        return replace(self, rows_of=rows_of, columns=columns)

    def __bool__(self) -> bool:
        return bool(self.rows_of)


class SparseRows:
    """Collects candidates whose columns are numbers, one by one; absent numbers are 0."""

    def __init__(self) -> None:
        self.rows_of: dict[str, dict[str, int]] = {}
        self.columns: dict[str, array[float]] = {}
        self._count = 0

    def add(self, query_id: str, doc_id: str, numbers: Mapping[str, float]) -> None:
        """Add a new candidate of a query; new columns are created."""
        self.rows_of.setdefault(query_id, {})[doc_id] = self._count
        for name, number in numbers.items():
            column = self.columns.get(name)
            if column is None:
                column = self.columns[name] = array("d")
            if len(column) < self._count:
                self._filled(column)
            column.append(number)
        self._count += 1

    def built(self) -> Candidates:
        """Return the candidates; the columns are in the order of their numbers."""
        names = sorted(self.columns, key=int)
        filled = {name: np.array(self._filled(self.columns[name])) for name in names}
        return Candidates(self.rows_of, filled, 0.0)

    def _filled(self, column: array[float]) -> array[float]:
        column.extend([0.0] * (self._count - len(column)))
        return column


def is_feature_number(name: str) -> bool:
    """Whether the name of a column is the number of a feature."""
    return name.isascii() and name.isdecimal() and len(name) <= _DIGITS


def merged_candidates(parts: Sequence[Candidates]) -> Candidates:
    """Return the candidates of several golden sets, at most one of which may have columns."""
    filled = [part for part in parts if part]
    if len(filled) < 2:
        return filled[0] if filled else Candidates()
    if any(part.columns for part in filled):
        raise GoldenSetError(
            "several of the golden sets have candidates with columns; merge their tables, and read "
            "the whole"
        )
    pairs = ((each, doc) for part in filled for each, rows in part.rows_of.items() for doc in rows)
    return Candidates.of(dict.fromkeys(pairs), {})


def _typed(cells: Sequence[object]) -> Column:
    if all(cell is None or isinstance(cell, float) for cell in cells):
        return np.array(cells, np.float64)  # None becomes NaN
    return list(cells)


def _taken(column: Column, rows: Sequence[int]) -> Column:
    if isinstance(column, list):
        return [column[row] for row in rows]
    return column[np.asarray(rows, np.int64)]


def _as_list(column: Column) -> list[object]:
    cells: list[object] = column if isinstance(column, list) else column.tolist()
    return cells


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))
