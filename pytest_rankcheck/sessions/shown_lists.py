"""The column of the documents shown: a list of ids for each event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.log_cells import SEPARATORS, id_list_of, is_absent

__all__ = ["DocumentCodes", "ShownLists", "shown_lists", "unknown_lists"]

IdList = Sequence[str] | None


class DocumentCodes(dict[str, int]):
    """The code of each document. A new one gets the next code when it is looked up.

    Looking up anything else than a text that is not blank is a ValueError.
    """

    def __missing__(self, doc_id: str) -> int:
        """Give a document a code."""
        if not isinstance(doc_id, str) or not doc_id.strip():
            raise ValueError(doc_id)
        code = self[str(doc_id)] = len(self)
        return code


class _PartCodes(dict[str, int]):
    """The code of each part of a text, in which an id may have white space around it."""

    def __init__(self, documents: DocumentCodes) -> None:
        self._documents = documents

    def __missing__(self, part: str) -> int:
        """Find the code of the document; -1 for a blank part."""
        doc_id = part.strip()
        code = self[part] = self._documents[doc_id] if doc_id else -1
        return code


@dataclass(frozen=True, slots=True)
class ShownLists:
    """What some events showed."""

    lists: Sequence[IdList]
    """The documents; None where they are unknown."""
    lengths: IntArray
    """``[N]`` how many documents were shown; -1 where that is unknown."""
    codes: IntArray
    """The codes of the documents of all lists, one after the other."""
    errors: Mapping[int, str]
    """By row, why its cell is invalid."""
    has_list: BoolArray = field(init=False)
    """``[N]`` whether the documents are known."""
    has_space: bool = False
    """Whether white space around the ids in the lists is to be removed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_list", self.lengths >= 0)

    def of(self, row: int) -> IdList:
        """Return the documents that an event showed; None where they are unknown."""
        ids = self.lists[row]
        return list(map(str.strip, ids)) if ids and self.has_space else ids


def unknown_lists(count: int) -> ShownLists:
    """Return the lists of events that do not say what they showed."""
    unknown: IntArray = np.full(count, -1, dtype=np.int64)
    return ShownLists([None] * count, unknown, unknown[:0], {})


def shown_lists(
    column: Column, documents: DocumentCodes, *, empty_text_is_list: bool
) -> ShownLists:
    """Return a column of lists of ids.

    Args:
        column: the column.
        documents: gives each document a code.
        empty_text_is_list: whether an empty text is an empty list, instead of an unknown one.
    """
    usual = _lists_of_column(column, documents)
    if usual is not None:
        return usual
    cells = column.cells()
    kinds = set(map(type, cells))
    errors: dict[int, str] = {}
    codes: list[int] | None = None
    has_space = False
    lists: Sequence[IdList] = []
    if kinds <= {list, type(None)}:
        lists = cells  # type: ignore[assignment]
        codes = _codes(lists, documents)
    elif kinds <= {str, type(None)}:
        lists, errors = _parsed(cells, _split)
        codes, has_space = _codes(lists, _PartCodes(documents)), True
    if codes is None or -1 in codes:
        lists, errors = _parsed(cells, id_list_of)
        codes, has_space = _codes(lists, documents) or [], False
    if empty_text_is_list and str in kinds:
        lists = [
            [] if ids is None and isinstance(cell, str) and not cell else ids
            for cell, ids in zip(cells, lists, strict=True)
        ]
    lengths = np.array([-1 if ids is None else len(ids) for ids in lists], dtype=np.int64)
    return ShownLists(lists, lengths, np.array(codes, dtype=np.int64), errors, has_space)


def _lists_of_column(column: Column, documents: DocumentCodes) -> ShownLists | None:
    """Return a column of lists of texts that are not blank; None for any other column."""
    found = column.lists()
    if found is None:
        return None
    coded = found.items.coded()
    try:
        known = np.array([documents[value] for value in coded.values], dtype=np.int64)  # type: ignore[index]
    except (TypeError, ValueError):  # empty or blank
        return None
    codes = known[coded.codes] if len(known) else coded.codes
    return ShownLists(_ListsOfColumn(column), found.lengths.copy(), codes, {})


class _ListsOfColumn(Sequence[IdList]):
    """The lists of a column, each made when someone asks for it."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, row: int) -> IdList:  # type: ignore[override]
        cell = self._column.cell(row)
        return cell if isinstance(cell, list) else None


def _codes(lists: Sequence[IdList], known: Mapping[str, int]) -> list[int] | None:
    """Return the codes of the items of all lists; None if one is not a usual id."""
    usual: Iterable[Sequence[str]] = filter(None, lists)
    try:
        return list(map(known.__getitem__, chain.from_iterable(usual)))
    except (TypeError, ValueError):  # not hashable, not text, or blank
        return None


def _split(cell: object) -> IdList:
    """Return the parts of a text as `id_list_of` does, except for the white space around them.

    Raises:
        ValueError: an item of a JSON list is not an id.
    """
    if not isinstance(cell, str) or is_absent(cell) or "[" in cell:
        return id_list_of(cell)
    separator = next((char for char in SEPARATORS if char in cell), None)
    return cell.split(separator)


def _parsed(
    cells: Sequence[object], parse: Callable[[object], IdList]
) -> tuple[list[IdList], dict[int, str]]:
    lists: list[IdList] = []
    errors: dict[int, str] = {}
    for row, cell in enumerate(cells):
        try:
            lists.append(parse(cell))
        except ValueError as error:
            lists.append(None)
            errors[row] = str(error)
    return lists, errors
