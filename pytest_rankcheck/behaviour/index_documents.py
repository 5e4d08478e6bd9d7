"""The documents that an index is built from, and the changes that relations make to them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

from pytest_rankcheck.behaviour.record_fields import ID_FIELDS, Key, ids_in, with_fields
from pytest_rankcheck.errors import ConfigurationError, listed, quoted

__all__ = ["IndexDocuments"]


@dataclass(frozen=True)
class IndexDocuments:
    """Documents in their order; a document is a text, or a record with fields."""

    keys: tuple[Key, ...]
    """Their ids as the user gave them."""
    records: tuple[Any, ...]
    id_field: str | None = None
    """The field of the id, if the documents are a list of records; None: they are a mapping."""

    @classmethod
    def of(cls, documents: object) -> IndexDocuments:
        """Return the documents of a mapping or a list of records.

        Raises:
            ConfigurationError: they are neither, or too few; or an id is missing, a duplicate, or
                neither a text nor a whole number.
        """
        id_field = None
        if isinstance(documents, Mapping):
            made = cls(tuple(documents), tuple(documents.values()))
        elif isinstance(documents, Sequence) and not isinstance(documents, (str, bytes)):
            id_field = _id_field(documents)
            made = cls(tuple(record[id_field] for record in documents), tuple(documents), id_field)
        else:
            raise ConfigurationError(
                f"documents={quoted(repr(documents), 60)} is invalid; give a dict of documents by "
                'id, {"d1": "a text"}, or a list of records with an id, [{"id": "d1", ...}]'
            )
        if len(made.keys) < 2:
            raise ConfigurationError("fewer than 2 documents were given; give all of the index")
        wrong = [
            key
            for key in made.keys
            if isinstance(key, bool) or not isinstance(key, (str, Integral))
        ]
        if wrong:
            raise ConfigurationError(
                f"the id {quoted(repr(wrong[0]), 60)} of a document is neither a text nor a whole "
                "number"
            )
        if len(made.places) < len(made.keys):
            [(twice, _)] = Counter(map(str, made.keys)).most_common(1)
            raise ConfigurationError(f"two documents have the id '{quoted(twice)}'")
        return made

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each document, by its id as text, the form that rankings have."""
        return {str(key): place for place, key in enumerate(self.keys)}

    def given(self) -> dict[Key, Any] | list[Any]:
        """Return a copy of the documents in the form that the user gave; it may be changed."""
        records = [dict(each) if type(each) is dict else each for each in self.records]
        return records if self.id_field else dict(zip(self.keys, records, strict=True))

    def record(self, doc_id: str) -> Any:
        """Return a copy of a document."""
        return deepcopy(self.records[self.places[doc_id]])

    # --- changes -----------------------------------------------------------------------------

    def permuted(self, seed: int) -> IndexDocuments:
        """Return the same documents in a different, random order."""
        drawn = random.Random(seed)
        order = sorted(range(len(self.keys)), key=[drawn.random() for _ in self.keys].__getitem__)
        if order == sorted(order):
            order.reverse()
        return self._at(order)

    def without(self, doc_id: str) -> IndexDocuments:
        """Return all documents but one."""
        place = self.places[doc_id]
        return self._at([each for each in range(len(self.keys)) if each != place])

    def changed(self, doc_id: str, record: Any) -> IndexDocuments:
        """Return the documents with one of them replaced under the same id."""
        place = self.places[doc_id]
        records = (*self.records[:place], record, *self.records[place + 1 :])
        return replace(self, records=records)

    def with_copies(self, doc_ids: Sequence[str]) -> tuple[IndexDocuments, Mapping[str, str]]:
        """Return the documents with a copy after some of them, and the copies' ids by original."""
        copied = {self.places[doc_id] for doc_id in doc_ids}
        # next to the original's id, because ids may break ties
        new_key = self._new_keys("{}-copy")
        copies = {place: new_key(self.keys[place]) for place in sorted(copied)}
        keys: list[Key] = []
        records: list[Any] = []
        for place, (key, record) in enumerate(zip(self.keys, self.records, strict=True)):
            keys.append(key)
            records.append(record)
            if place in copies:
                keys.append(copies[place])
                records.append(self._with_id(deepcopy(record), key, copies[place]))
        ids = {str(self.keys[place]): str(key) for place, key in copies.items()}
        return replace(self, keys=tuple(keys), records=tuple(records)), ids

    def with_more(
        self, count: int, make: Callable[[Any, Key], Any], seed: int
    ) -> tuple[IndexDocuments, Sequence[str]]:
        """Return the documents with more documents at the end, and the ids of the new ones.

        Args:
            count: how many.
            make: makes a document from a copy of an existing one and its id.
            seed: the seed for choosing the existing ones.
        """
        drawn, new_key = random.Random(seed), self._new_keys("irrelevant-{}")
        keys: list[Key] = []
        records: list[Any] = []
        for number in range(count):
            place = int(drawn.random() * len(self.keys))
            key, record = self.keys[place], deepcopy(self.records[place])
            keys.append(new_key(number + 1))
            records.append(self._with_id(make(record, key), key, keys[-1]))
        more = replace(self, keys=(*self.keys, *keys), records=(*self.records, *records))
        return more, tuple(map(str, keys))

    def _at(self, places: Sequence[int]) -> IndexDocuments:
        keys = tuple(self.keys[place] for place in places)
        return replace(self, keys=keys, records=tuple(self.records[place] for place in places))

    def _new_keys(self, pattern: str) -> Callable[[Key], Key]:
        """Return a function that makes new ids, of the same type as those of the documents."""
        numbers = [int(key) for key in self.keys if isinstance(key, Integral)]
        if len(numbers) == len(self.keys):
            highest = iter(range(max(numbers) + 1, max(numbers) + 1 + 2 * len(numbers) + 1_000))
            return lambda key: next(highest)

        def new_key(key: Key) -> Key:
            name = pattern.format(key)
            while name in self.places:
                name += "'"
            return name

        return new_key

    def _with_id(self, record: Any, key: Key, new_key: Key) -> Any:
        names = ids_in(record, key)
        return with_fields(record, dict.fromkeys(names, new_key)) if names else record


def _id_field(records: Sequence[object]) -> str:
    """Return the field that holds the id in a list of records."""
    for record in records:
        if not isinstance(record, Mapping):
            raise ConfigurationError(
                f"documents contains {quoted(repr(record), 60)}, which is not a record with an id; "
                'give a dict of documents by id, {"d1": "a text"}, or a list of records, '
                '[{"id": "d1", ...}]'
            )
    for name in ID_FIELDS:
        if all(isinstance(record, Mapping) and name in record for record in records):
            return name
    first = records[0] if records else {}
    names = list(first) if isinstance(first, Mapping) else []
    raise ConfigurationError(
        f"the records of documents have no common field for the id ({', '.join(ID_FIELDS)}); the "
        f"first one has {listed(names) or 'no fields'}. Give a dict of documents by id"
    )
