"""Candidates: the documents to rerank for each query, with their columns."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping

from pytest_rankcheck.errors import GoldenSetError, listed

__all__ = ["Candidates", "copy_candidates", "is_feature_number"]

_DIGITS = 18
"""Of the largest number of a feature; what has more is a name."""

_Column = list[object] | array  # type: ignore[type-arg]


class Candidates:
    """Documents to rank in the order in which they were added, with columns such as features.

    Columns of numbers are kept as arrays; a missing number is `absent`, a missing text None.
    """

    def __init__(self, absent: float = math.nan) -> None:
        self.absent = absent
        """The value of missing numbers: NaN, or 0 in learning-to-rank files."""
        self.first_feature: int | None = None
        """The number from which features are counted, 0 or 1; None if the file does not say."""
        self.doc_ids: list[str] = []
        self.columns: dict[str, _Column] = {}
        self._rows: dict[str, dict[str, int]] = {}

    def declare(self, name: str, *, is_number: bool) -> None:
        """Add a column, still empty, unless it exists: the order of columns is that of features."""
        if name not in self.columns:
            self.columns[name] = array("d") if is_number else []

    def add(self, query_id: str, doc_id: str, values: Mapping[str, object]) -> None:
        """Add a new candidate of a query; new columns are created."""
        row = len(self.doc_ids)
        self.doc_ids.append(doc_id)
        self._rows.setdefault(query_id, {})[doc_id] = row
        for name, value in values.items():
            column, is_number = self.columns.get(name), isinstance(value, float)
            if column is None:
                column = self.columns[name] = array("d") if is_number else []
            self._fill(column, row)
            if not is_number and isinstance(column, array):
                column = self.columns[name] = list(column)
            column.append(value)  # type: ignore[arg-type]

    @property
    def is_sparse(self) -> bool:
        """Whether features have numbers, and those that a line leaves out are 0 (LETOR)."""
        return self.absent == 0

    def complete(self) -> None:
        """Fill all columns up to the number of rows; order numbered features by their numbers."""
        for column in self.columns.values():
            self._fill(column, len(self.doc_ids))
        if self.is_sparse:
            self.order_by_number()

    def order_by_number(self) -> None:
        """Order numbered columns by their numbers, before columns with names."""
        self.columns = dict(sorted(self.columns.items(), key=lambda item: _place(item[0])))

    def _fill(self, column: _Column, length: int) -> None:
        missing = length - len(column)
        if missing > 0:
            column.extend([self.absent if isinstance(column, array) else None] * missing)

    def rows(self, query_id: str) -> Mapping[str, int]:
        """Return the row of each candidate of a query; empty if it has none."""
        return self._rows.get(query_id, {})

    def row(self, row: int) -> dict[str, object]:
        """Return the cells of a row by column, without empty ones."""
        cells = {name: column[row] for name, column in self.columns.items()}
        return {name: cell for name, cell in cells.items() if not _is_empty(cell)}

    def differs(self, row: int, values: Mapping[str, object]) -> bool:
        """Whether other cells than these were added in a row."""
        cells = {name: column[row] for name, column in self.columns.items() if row < len(column)}
        return self._present(cells) != self._present(values)

    def _present(self, cells: Mapping[str, object]) -> dict[str, object]:
        return {
            name: cell
            for name, cell in cells.items()
            if not (_is_empty(cell) or (isinstance(cell, float) and cell == self.absent))
        }

    @property
    def query_ids(self) -> Iterable[str]:
        """The queries that have candidates."""
        return self._rows.keys()

    def __bool__(self) -> bool:
        return bool(self.doc_ids)


def is_feature_number(name: str) -> bool:
    """Whether the name of a column is the number of a feature."""
    return name.isascii() and name.isdecimal() and len(name) <= _DIGITS


def _place(name: str) -> tuple[bool, int]:
    """Return a sort key: numbers by their value, before names."""
    return (False, int(name)) if is_feature_number(name) else (True, 0)


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def copy_candidates(
    candidates: Candidates,
    copies: Candidates,
    query_ids: Iterable[str],
    to_id: Callable[[str], str] = str,
) -> tuple[str, str] | None:
    """Add the candidates of some queries to others, with mapped ids.

    Returns the query and the unmapped id of the first candidate that is there with other columns
    already, and stops there; None without one.
    """
    if not candidates:
        return None
    _agree_on_features(candidates, copies)
    for name, column in candidates.columns.items():
        copies.declare(name, is_number=not isinstance(column, list))
    for query_id in query_ids:
        for doc_id, row in candidates.rows(query_id).items():
            cells = {name: column[row] for name, column in candidates.columns.items()}
            cells = {name: cell for name, cell in cells.items() if cell is not None}
            key = to_id(doc_id)
            before = copies.rows(query_id).get(key)
            if before is None:
                copies.add(query_id, key, cells)
            elif copies.differs(before, cells):
                return query_id, doc_id
    copies.complete()
    return None


def _agree_on_features(candidates: Candidates, copies: Candidates) -> None:
    """Check that the features of two golden sets can be merged, and note how they are counted.

    If one set has numbered features, the other must have them too, counted alike from 0 or from 1.
    Those that a line leaves out are 0 (LETOR); missing cells of a table are not.
    """
    if not copies:
        copies.absent, copies.first_feature = candidates.absent, candidates.first_feature
        return
    pair = (candidates, copies)
    sparse = [each for each in pair if each.is_sparse]
    for each in pair:
        unnumbered = [name for name in each.columns if not is_feature_number(name)]
        if sparse and not each.is_sparse and (unnumbered or not each.columns):
            has = listed(unnumbered, 5) or "no features"
            raise GoldenSetError(
                "one golden set has numbered features (LETOR), and the candidates of another have "
                f"{has}; give both the same columns before you merge them"
            )
    firsts = {each.first_feature for each in sparse} - {None}
    if len(firsts) > 1:
        raise GoldenSetError(
            "the features of one golden set are counted from 0, those of another from 1; number "
            "them alike before you merge them"
        )
    copies.first_feature = next(iter(firsts), None)
    copies.absent = 0.0 if sparse else copies.absent
