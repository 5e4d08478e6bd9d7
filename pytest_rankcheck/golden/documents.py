"""What is known about documents: the catalogue with their attributes, and users' interactions.

A catalogue may be far larger than a golden set, and than memory, so a table is read a part at a
time. Only the rows of ranked or judged documents are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice, repeat
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_rankcheck.argument_checks import library_of_frame
from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.document_ids import ATTRIBUTE, DocIdMap, DocIdRule
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError, listed, quoted
from pytest_rankcheck.files.delimited_tables import DOC_ID, Role, index_of_roles, lacks
from pytest_rankcheck.files.file_patterns import are_parts, files_of_parts
from pytest_rankcheck.files.id_columns import numbered
from pytest_rankcheck.files.plain_values import id_text, is_blank
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.golden.golden_source import checked_id

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.files.frame_tables import Frame


CorpusSource: TypeAlias = "str | PathLike[str] | Iterable[str] | Frame"
"""A file or folder with a table of documents, a frame, or the ids of documents."""
DocumentSource: TypeAlias = "CorpusSource | Mapping[str, Mapping[str, object]]"
"""The same, or the attributes of each document by its id."""
Columns: TypeAlias = "Mapping[str, str] | None"
Rows: TypeAlias = Iterator[tuple[Sequence[str], Batch | None]]
"""Some ids, and the rows of the table that they come from, if any."""

BEIR_CORPUS = "corpus.jsonl"
"""The file with the documents in a BEIR folder."""
_ROLE = Role("doc_id", DOC_ID.names, otherwise=("id",))
_BATCH = 1 << 16
_TITLES = ("title", "doc_title", "document_title", "product_title")


class Documents:
    """A catalogue: a table with one row for each document, or only ids.

    A folder is a BEIR collection, or contains the parts of the table.

    Args:
        source: the table; one column has the ids, the others are attributes.
        columns: ``{"doc_id": column}`` if the column of ids has an unusual name.
        rule: maps the ids of the table, as ``doc_id=`` does.
    """

    def __init__(
        self,
        source: DocumentSource,
        columns: Columns = None,
        rule: DocIdRule | None = None,
    ) -> None:
        self.name = "the catalogue"
        """What messages call it, followed by its path if it is in files."""
        if isinstance(source, (str, PathLike)):
            source = Path(source)
            self.name += f" {quoted(source, 300)}"
        if isinstance(source, Mapping):
            import pandas as pd

            frame = pd.DataFrame([*source.values()]).astype(object)
            frame.insert(0, "doc_id", [*source], allow_duplicates=True)
            source = frame
        self._source: Any = source
        self._named = (columns or {}).get("doc_id")
        """The column of ids, if it has an unusual name."""
        self._to_id = DocIdMap(rule) if rule else None
        self._columns: dict[str, dict[str, object]] = {}
        """By attribute, the values of the documents that have one."""
        self._differing: dict[str, set[str]] = {}
        """By attribute, the documents whose rows have different values."""
        self._known: dict[str, bool] = {}
        """For the documents that were looked up, whether they have a row."""
        self._shown: list[Callable[[], Iterable[str]]] = []

    @cached_property
    def size(self) -> int:
        """The number of different documents in the catalogue."""
        ids = chain.from_iterable(ids for ids, _ in self.rows(whole=False))
        return len(set(ids if self._to_id is None else map(self._to_id, ids)))

    @property
    def attributes(self) -> Sequence[str]:
        """The attributes of the documents that were looked up."""
        return list(self._columns)

    def rows(self, *, whole: bool = True) -> Rows:
        """Yield the ids in order, some thousands at a time, including duplicates.

        Args:
            whole: whether the other columns are read too.

        Raises:
            GoldenSetError: a file is missing, damaged or empty, has no column of ids, or has a row
                without an id; the message names the file and the line.
        """
        rows = self._read_rows(whole=whole)
        first = next(rows, None)
        if first is None:
            raise GoldenSetError(f"{self.name} has no documents")
        return chain([first], rows)

    def _read_rows(self, *, whole: bool) -> Rows:
        source, is_path = self._source, isinstance(self._source, Path)
        if not is_path and library_of_frame(source) is None:
            yield from _of_ids(source)
            return
        for each in _files(source) if is_path else [source]:
            table = read_table(each, GoldenSetError, name="the catalogue")
            yield from _of_table(table, self._named, whole=whole)

    def has(self, doc_ids: Sequence[str]) -> list[bool]:
        """Return which documents have a row."""
        self._read(doc_ids)
        return list(map(self._known.__getitem__, doc_ids))

    def values(self, attribute: str, doc_ids: Sequence[str]) -> list[object]:
        """Return an attribute of some documents; None where it is unknown.

        Raises:
            GoldenSetError: a document has two rows with different values.
        """
        self._read(doc_ids)
        for doc_id in filter(self._differing.get(attribute, set()).__contains__, doc_ids):
            rest = f" that differ in {quoted(attribute)}; give it one value in all its rows"
            raise _two_rows(self.name, doc_id, rest)
        return list(map(self._columns.get(attribute, {}).get, doc_ids))

    def may_show(self, doc_ids: Callable[[], Iterable[str]]) -> None:
        """Look up these documents too, all at once, when the first title is needed."""
        self._shown.append(doc_ids)

    def title(self, doc_id: str) -> str | None:
        """Return the title of a document that was looked up; None if it is unknown."""
        while self._shown:
            self._read(self._shown.pop()())
        found = (self._columns.get(name, {}).get(doc_id) for name in _TITLES)
        return next((str(title) for title in found if title), None)

    @property
    def frame(self) -> pd.DataFrame:
        """The documents that were looked up and have a row: ``doc_id`` and the attributes."""
        import pandas as pd

        ids = [doc_id for doc_id, is_known in self._known.items() if is_known]
        columns = {name: list(map(of.get, ids)) for name, of in self._columns.items()}
        return pd.DataFrame({"doc_id": ids, **columns})

    def _read(self, doc_ids: Iterable[str]) -> None:
        """Look up documents, all at once, unless they were looked up before."""
        found = dict.fromkeys((each for each in doc_ids if each not in self._known), False)
        if not found:
            return
        for ids, batch in self.rows():
            mapped = ids if self._to_id is None else list(map(self._to_id, ids))
            rows = []
            for row, doc_id in enumerate(mapped):
                if doc_id not in found:
                    continue
                if found[doc_id] and self._to_id is None:
                    raise _two_rows(self.name, doc_id)
                found[doc_id] = True
                rows.append(row)
            if batch is None or not rows:
                continue
            for index, name in enumerate(batch.header):
                cells, known = batch.column(index).cells(), self._columns.setdefault(name, {})
                for row in rows:
                    doc_id, cell = mapped[row], cells[row]
                    if not is_blank(cell) and str(known.setdefault(doc_id, cell)) != str(cell):
                        self._differing.setdefault(name, set()).add(doc_id)
        self._known.update(found)


def _two_rows(name: str, doc_id: str, rest: str = "; keep one") -> GoldenSetError:
    return GoldenSetError(f"{name}: document '{quoted(doc_id)}' has two rows{rest}")


class ColumnRule:
    """The rule ``attribute:source``, which maps ids to a column of the documents.

    An id without a value stays as it is.

    Raises:
        ConfigurationError: the documents are unknown, or have no such column.
        GoldenSetError: a document has two rows.
    """

    def __init__(self, rule: str, source: DocumentSource | None, columns: Columns) -> None:
        if source is None:
            raise ConfigurationError(
                f"doc_id={quoted(rule)} needs documents= (rankcheck_documents)"
            )
        corpus, column = Documents(source, columns), rule.removeprefix(ATTRIBUTE)
        self.__qualname__, self._values = rule, dict[str, object]()
        for ids, batch in corpus.rows():
            header = batch.header if batch else ()
            if batch is None or column not in header:
                raise ConfigurationError(
                    f"doc_id={quoted(rule)}: {corpus.name} has no column '{quoted(column)}', but "
                    f"{listed(header, 10) or 'only ids'}"
                )
            cells = batch.column(header.index(column)).cells()
            for doc_id, cell in zip(ids, cells, strict=True):
                if doc_id in self._values:
                    raise _two_rows(corpus.name, doc_id)
                self._values[doc_id] = cell

    def __call__(self, doc_id: str) -> object:
        """Return the id in a document's column; `DocIdMap` refuses what is not an id."""
        value = self._values.get(doc_id)
        return doc_id if is_blank(value) else id_text(value) or value


def with_column_rules(rule: Any, source: DocumentSource | None, columns: Columns) -> Any:
    """Return rules of ``doc_id=`` in which ``attribute:source`` looks into the documents."""
    rules = rule if isinstance(rule, (list, tuple)) else [rule]
    pairs = [(each, isinstance(each, str) and each.startswith(ATTRIBUTE)) for each in rules]
    return rule and [
        ColumnRule(each, source, columns) if is_one else each for each, is_one in pairs
    ]


def _files(path: Path) -> Sequence[Path]:
    """Return the files of a path, a pattern or a folder, in the order of their names."""
    if not are_parts(path):
        return [path]
    corpus = path / BEIR_CORPUS
    return [corpus] if corpus.exists() else files_of_parts(path, GoldenSetError)


def _of_table(table: Table, named: str | None, *, whole: bool) -> Rows:
    header, numbering = table.header, table.numbering
    wanted = None if whole or not header else [_id_column(header, named, numbering.source)]
    for batch in table.batches(wanted):
        index = _id_column(batch.header, named, numbering.place(batch.numbers[0]))
        column = batch.column(index)
        cells = column.ids()
        for row in cells.invalid[:1].tolist():
            where = numbering.place(int(batch.numbers[row]))
            checked_id(column.cell(row), "the id of a document in the catalogue", where)
        if len(cells.ids):
            yield cells.ids.texts(), batch


def _id_column(header: Sequence[str], named: str | None, where: str) -> int:
    """Return the index of the column with the ids."""
    columns = {}
    if named is not None and named in header:
        columns["doc_id"] = named
    place = index_of_roles(header, (_ROLE,), columns, where, GoldenSetError)
    if not place:
        raise GoldenSetError(
            f"{where}: the catalogue has no column of ids, such as doc_id, _id or id; it has "
            f"{listed(header, 10)}. Rename the column, or name it with columns={{'doc_id': ...}} "
            "(rankcheck_columns); a list of ids needs the line doc_id above it"
        )
    return place["doc_id"]


def _of_ids(source: Iterable[object]) -> Rows:
    ids = (checked_id(each, "an id", "documents=") for each in source)
    while some := list(islice(ids, _BATCH)):
        yield some, None


# --- interactions --------------------------------------------------------------------------------

InteractionSource: TypeAlias = "str | Path | Frame"

ROLES = {
    "user": Role("user", ("user_id", "userid", "query_id")),
    "item": Role("item", ("itemid", *DOC_ID.names)),
}
_BITS, _ITEM_PART = 32, (1 << 32) - 1
"""A user and an item are one number, with the number of the item in the lower bits."""


class Interactions:
    """Which items each user has interacted with.

    Args:
        source: a table with a row for each interaction, with the columns ``user`` and ``item``.
        columns: ``{"user": column, "item": column}`` if they have unusual names.
        rule: maps the ids of the items, as ``doc_id=`` does.
    """

    def __init__(
        self,
        source: InteractionSource,
        columns: Mapping[str, str] | None = None,
        rule: DocIdRule | None = None,
    ) -> None:
        self._users, items = dict[str, int](), dict[str, int]()
        given = {role: name for role, name in (columns or {}).items() if role in ROLES}
        path = Path(source) if isinstance(source, str) else source
        table = read_table(path, GoldenSetError, name="the interactions")
        self.name = table.numbering.source
        """What messages call it."""
        pairs = [np.zeros(0, np.int64)]
        for batch in table.batches():
            places = [*self._places(batch.header, given)]
            user, item = (batch.column(place).ids() for place in places)
            for name, place, ids in zip(ROLES, places, (user, item), strict=True):
                for row in ids.invalid[:1].tolist():
                    where = table.numbering.place(int(batch.numbers[row]))
                    checked_id(batch.column(place).cell(row), f"the {name}", where)
            pairs.append(numbered(user.ids, self._users) << _BITS | numbered(item.ids, items))
        every, to_id = np.concatenate(pairs), DocIdMap(rule) if rule else str
        self._items: dict[str, int] = {}
        codes = [self._items.setdefault(to_id(item), len(self._items)) for item in items]
        mapped = np.array(codes, np.int64)[every & _ITEM_PART]
        self._pairs = np.unique(every >> _BITS << _BITS | mapped)
        """Each user and item once, as one number, in order."""
        self._counts = np.bincount(self._pairs & _ITEM_PART, minlength=len(self._items) + 1)

    @property
    def user_count(self) -> int:
        """The number of users."""
        return len(self._users)

    def popularity(self, doc_ids: Sequence[str]) -> IntArray:
        """Return how many users have interacted with each document; 0 if it is unknown."""
        return self._counts[_numbers_in(self._items, doc_ids)]

    def users(self, query_ids: Sequence[str]) -> IntArray:
        """Return the number of the user of each query; -1 for no user."""
        return _numbers_in(self._users, query_ids)

    def seen(self, users: IntArray, doc_ids: Sequence[str], shown: IntArray) -> BoolArray:
        """Return which of the shown documents the users have interacted with.

        Args:
            users: the numbers of the users, ``[Q]``.
            doc_ids: the documents.
            shown: ``[Q, D]`` the index in ``doc_ids`` of each document shown to a user; below 0
                where nothing is shown.
        """
        order = np.argsort(users)  # neighbours are looked up together, which is faster
        items = np.append(_numbers_in(self._items, doc_ids), -1)[shown[order]]
        known, user = np.append(self._pairs, -1), users[order, np.newaxis]
        pairs = np.where((user >= 0) & (items >= 0), user << _BITS | items, -2)
        seen = np.zeros(shown.shape, dtype=np.bool_)
        seen[order] = known[np.searchsorted(self._pairs, pairs)] == pairs
        return seen

    def _places(self, header: Sequence[str], columns: Mapping[str, str]) -> Iterator[int]:
        places = index_of_roles(header, [*ROLES.values()], columns, self.name, GoldenSetError)
        if missing := [role for name, role in ROLES.items() if name not in places]:
            raise GoldenSetError(f"{self.name} {lacks(header, places.values(), missing)}")
        return map(places.__getitem__, ROLES)


def _numbers_in(known: Mapping[str, int], ids: Sequence[str]) -> IntArray:
    """Return the number of each id; -1 for an unknown one."""
    return np.fromiter(map(known.get, ids, repeat(-1)), np.int64, len(ids))
