"""The catalogue: all documents that can be ranked, with their attributes.

A catalogue may be far larger than a golden set, so a table is read a part at a time. Only the rows
of ranked or judged documents are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_rankcheck.document_ids import ATTRIBUTE, DocIdMap, DocIdRule
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError, listed, quoted
from pytest_rankcheck.files.plain_values import id_text, is_blank
from pytest_rankcheck.golden.corpus import Corpus, CorpusSource

if TYPE_CHECKING:
    import pandas as pd


DocumentSource: TypeAlias = "CorpusSource | Mapping[str, Mapping[str, object]]"
"""A file or folder with a table of documents, a frame, or the attributes of each by its id."""
Columns: TypeAlias = "Mapping[str, str] | None"

_TITLES = ("title", "doc_title", "document_title", "product_title")


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
        self._differing: dict[str, set[str]] = {}
        """By attribute, the documents whose rows have different values."""
        self._known: dict[str, bool] = {}
        """For the documents that were looked up, whether they have a row."""
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
        for ids, batch in self.corpus.rows():
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
