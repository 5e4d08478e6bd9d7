"""The columns of a table that have no role: attributes of queries, or columns of candidates.

A column with one value for each query is an attribute; any other belongs to the candidates. A
column named ``attribute:...`` or ``candidate:...`` is what its name says.

The index of a DataFrame, a second column of grades, who judged, and columns of events are left out:
if rows repeat a document, a value that differs between them, such as a time, does not describe it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

import numpy as np

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.id_columns import IdColumn
from pytest_rankcheck.files.id_runs import run_starts
from pytest_rankcheck.files.plain_values import as_booleans, checked_number, plain_value
from pytest_rankcheck.files.table_batches import Batch
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.judgment_columns import (
    NO_FEATURES,
    first_varying,
    is_index,
    repeated_rows,
)
from pytest_rankcheck.golden.query import Query, label_of
from pytest_rankcheck.golden.reranking_candidates import Candidates

ATTRIBUTE, CANDIDATE = "attribute:", "candidate:"
_NUMBERS = {"nan": None, "NaN": None, "inf": math.inf, "-inf": -math.inf}
"""How tools write numbers that are missing or infinite."""


class ExtraColumns:
    """Collects the cells of columns without a role, until it is clear what the columns are."""

    def __init__(
        self,
        builder: ContentsBuilder,
        names: Mapping[int, str],
        *,
        is_marked: bool,
    ) -> None:
        self._builder = builder
        self._names = names
        """By their places in the header."""
        self._is_marked = is_marked
        """Whether a column marks which rows are candidates."""
        self._numbers: list[int] = []
        self._queries: list[str] = []
        self._documents: list[str | None] = []
        """The document of each row; None if the row is no candidate."""
        self._cells: dict[int, list[object]] = {at: [] for at in names}
        """The cells of each column."""

    def add_rows(
        self, batch: Batch, queries: IdColumn, documents: IdColumn, is_candidate: BoolArray
    ) -> None:
        """Keep the cells of each column in some rows.

        Rows that are no candidates are only about their query.
        """
        if not self._names and not self._is_marked:
            return
        starts = run_starts(queries)
        lengths = np.diff(starts, append=len(queries)).tolist()
        self._queries += chain.from_iterable(map(repeat, queries.texts(starts), lengths))
        rows = zip(documents.texts(), is_candidate.tolist(), strict=True)
        self._documents += [doc_id if is_one else None for doc_id, is_one in rows]
        for at, name in self._names.items():
            kept = self._cells[at]
            try:
                kept.extend(map(_plain, batch.column(at).cells()))
            except TypeError as failure:
                where = self._builder.places.shown(batch.numbers[len(kept) - len(self._numbers)])
                raise GoldenSetError(f"{where}: column '{quoted(name)}': {failure}") from None
        self._numbers += batch.numbers

    def assign(self) -> None:
        """Give each column to the queries or to the candidates.

        It is an error if a column is declared as an attribute, and varies within a query.
        """
        wanted, of_query = self._builder.source.attributes, repeated_rows(self._queries)
        of_document: dict[tuple[str, str | None], list[int]] = {}
        if self._builder.collected.repeats or self._is_marked:
            rows = repeated_rows(zip(self._queries, self._documents, strict=True))
            of_document = {pair: places for pair, places in rows.items() if pair[1] is not None}
        attributes: dict[str, Sequence[object]] = {}
        features: dict[str, Sequence[object]] = {}
        for at, name in self._names.items():
            cells, bare = self._cells[at], name.removeprefix(ATTRIBUTE).removeprefix(CANDIDATE)
            is_declared = name.startswith(ATTRIBUTE) if wanted is None else bare in wanted
            varying = first_varying(of_query, cells)
            if is_declared and varying is not None:
                raise self._varies(name, cells, of_query[varying], varying)
            if not is_declared and (
                is_index(name)
                or (varying is not None and normalised_name(name) in NO_FEATURES)
                or first_varying(of_document, cells) is not None
            ):
                continue
            if bare in attributes or bare in features:
                raise GoldenSetError(
                    f"{self._builder.places.file}: two columns are named '{quoted(bare)}'; "
                    "rename one of them"
                )
            is_open = wanted is None and name == bare
            if is_declared or (is_open and varying is None):
                attributes[bare] = cells
            else:
                features[bare] = _as_numbers(cells) or _as_booleans_or_texts(cells)
        self._set_attributes(attributes)
        if features or self._is_marked:
            self._set_candidates(features)

    def _varies(
        self, name: str, cells: Sequence[object], rows: Sequence[int], query_id: str
    ) -> GoldenSetError:
        """Return the error about an attribute that has different cells in rows of a query."""
        first = rows[0]
        other = next(row for row in rows if cells[row] != cells[first])
        places = [self._builder.places.shown(self._numbers[row]) for row in (first, other)]
        return GoldenSetError(
            f"{places[1]}: column '{quoted(name)}' is {_shown(cells[other])} for query "
            f"'{quoted(query_id)}', but {_shown(cells[first])} at {places[0]}; an attribute has "
            "one value for each query; correct a cell"
        )

    def _set_attributes(self, columns: Mapping[str, Sequence[object]]) -> None:
        queries, first = self._builder.queries, dict[str, int]()
        for row, query_id in enumerate(self._queries):
            first.setdefault(query_id, row)
        for query_id, row in first.items():
            query = queries.get(query_id) or Query(query_id)
            cells = {name: cells[row] for name, cells in columns.items() if cells[row] is not None}
            queries[query_id] = Query(query_id, query.text, {**query.attributes, **cells})

    def _set_candidates(self, columns: Mapping[str, Sequence[object]]) -> None:
        first: dict[tuple[str, str], int] = {}
        for row, (query_id, doc_id) in enumerate(zip(self._queries, self._documents, strict=True)):
            if doc_id is not None:
                first.setdefault((query_id, doc_id), row)
        chosen = {name: [cells[row] for row in first.values()] for name, cells in columns.items()}
        self._builder.candidates = Candidates.of(first, chosen)


def _as_numbers(cells: Iterable[object]) -> list[float | None] | None:
    """Return a column of numbers, or of texts of numbers; None if another cell occurs."""
    numbers: list[float | None] = []
    for cell in cells:
        if isinstance(cell, str) and cell in _NUMBERS:
            numbers.append(_NUMBERS[cell])
        elif cell is None or isinstance(cell, float):
            numbers.append(cell)
        elif (number := checked_number(cell)) is not None:
            numbers.append(float(number))
        else:
            return None
    return numbers


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
