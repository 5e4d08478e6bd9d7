"""What is known about documents: their attributes, and who has interacted with them before.

A catalogue may be far larger than a golden set, so a table is read a part at a time. Only the rows
of documents that somebody asks about are kept: those that are ranked or judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.document_ids import ATTRIBUTE, DocIdMap, DocIdRule
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError, listed, quoted
from pytest_rankcheck.files.delimited_tables import DOC_ID, Role, index_of_roles
from pytest_rankcheck.files.id_columns import numbered
from pytest_rankcheck.files.plain_values import id_text, is_blank
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.golden.corpus import Corpus, CorpusSource
from pytest_rankcheck.golden.golden_source import checked_id

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.files.frame_tables import Frame

DocumentSource: TypeAlias = "CorpusSource | Mapping[str, Mapping[str, object]]"
"""A file or folder with a table of documents, a frame, or the attributes of each by its id."""
InteractionSource: TypeAlias = "str | Path | Frame"
Columns: TypeAlias = "Mapping[str, str] | None"

_TITLES = ("title", "doc_title", "document_title", "product_title")
_ROLES = {
    "user": Role("user", ("user_id", "userid", "query_id")),
    "item": Role("item", ("itemid", *DOC_ID.names)),
}
_BITS, _ITEM_PART = 32, (1 << 32) - 1
"""A user and an item are one number: that of the user, and in its lower bits that of the item."""


class Documents:
    """A catalogue: a table with one row for each document.

    Args:
        source: the table; one column has the ids, the others are attributes.
        columns: ``{"doc_id": column}`` if the column of ids has an unusual name.
        rule: maps the ids of the table, as ``doc_id=`` does.
    """

    def __init__(
        self,
        source: DocumentSource,
        columns: Mapping[str, str] | None = None,
        rule: DocIdRule | None = None,
    ) -> None:
        if isinstance(source, Mapping):
            import pandas as pd

            frame = pd.DataFrame([*source.values()]).astype(object)
            frame.insert(0, "doc_id", [*source], allow_duplicates=True)
            source = frame
        self.corpus = Corpus.of(source, columns)
        """The ids of its documents, to be read in batches."""
        self.name = self.corpus.name
        """What messages call it."""
        self._to_id = DocIdMap(rule) if rule else None
        self._columns: dict[str, dict[str, object]] = {}
        """By attribute, the values of the documents that have one."""
        self._known: dict[str, bool] = {}
        """Of the documents that were looked up, whether they have a row."""
        self._shown: list[Callable[[], Iterable[str]]] = []

    @cached_property
    def size(self) -> int:
        """The number of different documents in the catalogue."""
        ids = chain.from_iterable(self.corpus.batches())
        return len(set(ids if self._to_id is None else map(self._to_id, ids)))

    @property
    def attributes(self) -> Sequence[str]:
        """The attributes of the documents that were looked up."""
        return list(self._columns)

    def has(self, doc_ids: Sequence[str]) -> list[bool]:
        """Return which documents have a row."""
        self._read(doc_ids)
        return list(map(self._known.__getitem__, doc_ids))

    def values(self, attribute: str, doc_ids: Sequence[str]) -> list[object]:
        """Return an attribute of some documents; None where it is unknown."""
        self._read(doc_ids)
        return list(map(self._columns.get(attribute, {}).get, doc_ids))

    def may_show(self, doc_ids: Callable[[], Iterable[str]]) -> None:
        """Look up these documents too, all at once, when the first title is asked for."""
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
        for ids, batch in self.corpus.rows():
            mapped = ids if self._to_id is None else list(map(self._to_id, ids))
            rows = []
            for row, doc_id in enumerate(mapped):
                if doc_id in found and not found[doc_id]:
                    found[doc_id] = True
                    rows.append(row)
                elif doc_id in found and self._to_id is None:
                    raise GoldenSetError(
                        f"{self.name}: document '{quoted(doc_id)}' has two rows; keep one"
                    )
            if batch is None or not rows:
                continue
            for index, name in enumerate(batch.header):
                cells = batch.column(index).cells()
                kept = ((mapped[row], cells[row]) for row in rows if not is_blank(cells[row]))
                self._columns.setdefault(name, {}).update(kept)
        self._known.update(found)


class ColumnRule:
    """The rule ``attribute:source``, which maps ids to a column of the documents.

    An id without a value stays as it is.

    Raises:
        ConfigurationError: the documents are unknown, or have no such column.
    """

    def __init__(self, rule: str, source: DocumentSource | None, columns: Columns) -> None:
        if source is None:
            raise ConfigurationError(
                f"doc_id={quoted(rule)} needs documents= (rankcheck_documents)"
            )
        corpus, column = Documents(source, columns).corpus, rule.removeprefix(ATTRIBUTE)
        self.__qualname__, self._values = rule, dict[str, object]()
        for ids, batch in corpus.rows():
            header = batch.header if batch else ()
            if batch is None or column not in header:
                raise ConfigurationError(
                    f"doc_id={quoted(rule)}: {corpus.name} has no column '{quoted(column)}', but "
                    f"{listed(header, 10) or 'only ids'}"
                )
            cells = batch.column(header.index(column)).cells()
            self._values.update(zip(ids, cells, strict=True))

    def __call__(self, doc_id: str) -> object:
        """Return the id in a document's column; `DocIdMap` refuses what is no id."""
        value = self._values.get(doc_id)
        return doc_id if is_blank(value) else id_text(value) or value


def with_column_rules(rule: Any, source: DocumentSource | None, columns: Columns) -> Any:
    """Return rules of ``doc_id=`` in which ``attribute:source`` looks into the documents."""
    rules = rule if isinstance(rule, (list, tuple)) else [rule]
    pairs = [(each, isinstance(each, str) and each.startswith(ATTRIBUTE)) for each in rules]
    return rule and [
        ColumnRule(each, source, columns) if is_one else each for each, is_one in pairs
    ]


class Interactions:
    """Who has interacted with which item before: what a recommender was trained on.

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
        given = {role: name for role, name in (columns or {}).items() if role in _ROLES}
        path = Path(source) if isinstance(source, str) else source
        table = read_table(path, GoldenSetError, name="the interactions")
        self.name = table.numbering.source
        """What messages call it."""
        pairs = [np.zeros(0, np.int64)]
        for batch in table.batches():
            places = [*self._places(batch.header, given)]
            user, item = (batch.column(place).ids() for place in places)
            for name, place, ids in zip(_ROLES, places, (user, item), strict=True):
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
        """Return the number of the user that each query is; -1 for no user."""
        return _numbers_in(self._users, query_ids)

    def seen_by(self, user: str, doc_ids: Sequence[str]) -> Sequence[str]:
        """Return which of some documents a user has interacted with."""
        shown = np.arange(len(doc_ids))[np.newaxis]
        return list(compress(doc_ids, self.seen(self.users([user]), doc_ids, shown)[0]))

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
        places = index_of_roles(header, [*_ROLES.values()], columns, self.name, GoldenSetError)
        for name in _ROLES:
            if name not in places:
                raise GoldenSetError(
                    f"{self.name}: the interactions have no column {name}, but "
                    f"{listed(header, 10)}; rename the column, or in pytest name it: "
                    f"rankcheck_columns = {name}=..."
                )
            yield places[name]


def _numbers_in(known: Mapping[str, int], ids: Sequence[str]) -> IntArray:
    """Return the number of each id; -1 for an unknown one."""
    return np.fromiter(map(known.get, ids, repeat(-1)), np.int64, len(ids))
