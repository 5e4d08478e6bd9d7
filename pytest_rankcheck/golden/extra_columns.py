"""The columns of a table that have no role: attributes of queries, or columns of candidates.

A column with one value for each query is an attribute. A column whose values differ within a query
belongs to the candidates. It is a feature, and then every other column of numbers is one too. A
column named ``attribute:...`` or ``candidate:...`` is what its name says.

Left out are the index of a DataFrame, a second column of grades, and columns of events: if rows
repeat a document, what differs between them, such as a timestamp, does not describe the document.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager

from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.id_columns import IdColumn
from pytest_rankcheck.files.plain_values import as_booleans, plain_value
from pytest_rankcheck.golden.column_marks import (
    ATTRIBUTE,
    CANDIDATE,
    GRADES,
    RARE,
    as_numbers,
    is_index,
)
from pytest_rankcheck.golden.column_spread import Spread, repeated_rows, spread_of
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.query import Query, label_of

__all__ = ["ExtraColumns"]


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

    @property
    def are_wanted(self) -> bool:
        """Whether there are such columns, or rows that are marked."""
        return bool(self._names) or self._is_marked

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
        """Keep the columns of some rows.

        Args:
            numbers: of each row.
            queries: of each row.
            documents: of each row.
            is_candidate: which rows are candidates, and not only about their query.
            columns: the cells of each column.
            errors_at: notes the error about a row with a cell of an unsupported type.
        """
        self._numbers += numbers
        self._queries += queries.texts()
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

        Raises:
            GoldenSetError: a column that should be an attribute varies within a query, or nearly
                all queries show that it should be one.
        """
        wanted = self._contents.source.attributes or ()
        columns = {
            name: cells
            for name, cells in zip(self._names, self._cells, strict=True)
            if name in wanted or not is_index(name, cells, is_before_ids=name in self._first)
        }
        rows = repeated_rows(self._queries)
        spreads = {name: spread_of(rows, cells) for name, cells in columns.items()}
        numbers = {name: as_numbers(cells) for name, cells in columns.items()}
        for name in self._left_out(spreads, numbers):
            del columns[name]
        features = [name for name in columns if spreads[name].varying and numbers[name]]
        clear = [name for name in features if not spreads[name].is_nearly_steady(RARE)]
        attributes: dict[str, Sequence[object]] = {}
        candidates: dict[str, Sequence[object]] = {}
        for name, cells in columns.items():
            bare = name.removeprefix(ATTRIBUTE).removeprefix(CANDIDATE)
            is_attribute = self._declared(name, bare, spreads[name])
            if is_attribute is None:
                if spreads[name].is_nearly_steady(RARE) and not (clear and numbers[name]):
                    raise self._variation(name, spreads[name], is_declared=False)
                is_attribute = not spreads[name].varying and not (features and numbers[name])
            if bare in attributes or bare in candidates:
                raise GoldenSetError(
                    f"{self._contents.places.file}: two columns are named '{quoted(bare)}'; rename "
                    "one of them"
                )
            if is_attribute:
                attributes[bare] = cells
            else:
                candidates[bare] = numbers[name] or _as_booleans_or_texts(cells)
        self._set_attributes(attributes)
        if candidates or self._is_marked:
            self._set_candidates(candidates)

    def _left_out(
        self,
        spreads: Mapping[str, Spread[str]],
        numbers: Mapping[str, Sequence[float | None] | None],
    ) -> list[str]:
        """Return the columns that differ between documents and do not describe them.

        Raises:
            GoldenSetError: the rows of a document have different features.
        """
        repeats: dict[tuple[str, str | None], list[int]] = {}
        if self._contents.repeats or self._is_marked:
            repeats = repeated_rows(zip(self._queries, self._documents, strict=True))
            repeats = {pair: rows for pair, rows in repeats.items() if pair[1] is not None}
        wanted, left_out = self._contents.source.attributes or (), []
        for name, cells in zip(self._names, self._cells, strict=True):
            spread = spreads.get(name)
            is_declared = name in wanted or name.startswith(ATTRIBUTE)
            if spread is None or not spread.varying or is_declared:
                continue
            if normalised_name(name) in GRADES:
                left_out.append(name)
                continue
            varying = spread_of(repeats, cells).varying
            if varying and numbers[name] and not self._contents.reader.has_one_grade:
                raise self._two_features(name, cells, repeats[varying[0]])
            if varying and not spread.is_nearly_steady(RARE):
                left_out.append(name)
        return left_out

    def _two_features(
        self, name: str, cells: Sequence[object], rows: Sequence[int]
    ) -> GoldenSetError:
        """Return the error about a document whose rows have different features."""
        other = next(row for row in rows if cells[row] != cells[rows[0]])
        first, second = (
            self._contents.places.shown(self._numbers[row]) for row in (rows[0], other)
        )
        query_id, doc_id = self._queries[other], self._documents[other]
        return GoldenSetError(
            f"{second}: column '{quoted(name)}' is {_shown(cells[other])} for document "
            f"'{quoted(doc_id)}' of query '{quoted(query_id)}', but {_shown(cells[rows[0]])} at "
            f"{first}; a document has one row of features for each query: keep one of the rows, or "
            "remove the column"
        )

    def _declared(self, name: str, bare: str, spread: Spread[str]) -> bool | None:
        """Return whether a column was declared an attribute; None if nothing was declared.

        Raises:
            GoldenSetError: it was, and it varies within a query.
        """
        wanted = self._contents.source.attributes
        if wanted is None and name == bare:
            return None
        is_attribute = name.startswith(ATTRIBUTE) if wanted is None else bare in wanted
        if is_attribute and spread.varying:
            raise self._variation(name, spread, is_declared=True)
        return is_attribute

    def _variation(self, name: str, spread: Spread[str], *, is_declared: bool) -> GoldenSetError:
        """Return the error about an attribute that has two values in a query."""
        query_id, cells = spread.varying[0], self._cells[list(self._names).index(name)]
        rows = [row for row, owner in enumerate(self._queries) if owner == query_id]
        other = next(row for row in rows if cells[row] != cells[rows[0]])
        first, second = (_shown(cells[row]) for row in (rows[0], other))
        places = [self._contents.places.shown(self._numbers[row]) for row in (rows[0], other)]
        text = (
            f"{places[1]}: column '{quoted(name)}' is {second} for query '{quoted(query_id)}', but "
            f"{first} at {places[0]}"
        )
        if is_declared:
            return GoldenSetError(
                f"{text}; an attribute has one value for each query; correct a cell"
            )
        count = spread.steady + len(spread.varying)
        return GoldenSetError(
            f"{text}; the column has one value in {spread.steady:,} of {count:,} queries with "
            "several rows. Correct the cell, or say which columns are attributes of queries: "
            "attributes=[...] (rankcheck_attributes); the others belong to the documents"
        )

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
