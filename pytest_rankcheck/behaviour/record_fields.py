"""The fields of records, which are dicts or dataclasses: their ids, texts and changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from pytest_rankcheck.errors import ConfigurationError, listed, quoted

__all__ = [
    "ID_FIELDS",
    "Key",
    "changed_fields",
    "fields_of",
    "ids_in",
    "is_same",
    "text_fields",
    "with_fields",
    "with_text",
]

Key = str | int
"""The id of a document."""

ID_FIELDS = ("doc_id", "id", "_id", "docid", "docno")
"""The fields in which records usually hold their ids."""


def fields_of(record: object) -> Mapping[str, object]:
    """Return the fields of a record; a text or any other object has none."""
    if isinstance(record, Mapping):
        return record
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: getattr(record, field.name) for field in fields(record)}
    return {}


def with_fields(record: Any, changes: Mapping[str, object]) -> Any:
    """Return a record with new values for some fields."""
    return {**record, **changes} if isinstance(record, Mapping) else replace(record, **changes)


def ids_in(record: object, key: Key) -> Sequence[str]:
    """Return those of the usual id fields that hold the record's id."""
    values = fields_of(record)
    return [name for name in ID_FIELDS if name in values and str(values[name]) == str(key)]


def text_fields(record: object, chosen: Sequence[str] | None, key: Key) -> Mapping[str, str]:
    """Return the texts of a record by field; under ``""`` the document itself, if it is a text.

    Args:
        record: the document.
        chosen: the fields to use; without them, all that hold texts except the id.
        key: the document's id.

    Raises:
        ConfigurationError: it has no text.
    """
    if isinstance(record, str):
        return {"": record}
    ids = ids_in(record, key)
    texts = {
        name: value
        for name, value in fields_of(record).items()
        if isinstance(value, str) and (name in chosen if chosen else name not in ids)
    }
    if not texts:
        which = f" in the fields {listed(chosen)}" if chosen else ""
        raise ConfigurationError(
            f"document '{quoted(key)}' has no text{which}; this relation changes the texts of "
            "documents: give texts, or records with fields of text, and name them in fields="
        )
    return texts


def with_text(record: Any, texts: Mapping[str, str]) -> Any:
    """Return a document with new texts, in the form of `text_fields`."""
    return texts[""] if isinstance(record, str) else with_fields(record, texts)


def changed_fields(before: object, after: object) -> Mapping[str, tuple[object, object]]:
    """Return the fields of a record that changed, each with its value before and after."""
    old, new = fields_of(before), fields_of(after)
    names = dict.fromkeys((*old, *new))
    values = {name: (old.get(name), new.get(name)) for name in names}
    return {name: pair for name, pair in values.items() if not is_same(*pair)}


def is_same(one: object, other: object) -> bool:
    """Whether two records or values are equal; arrays are equal if all their elements are."""
    try:
        return one is other or bool(one == other)
    except ValueError:  # an array, here or in a field, has no single truth value
        old, new = fields_of(one), fields_of(other)
        if not old and not new:
            return bool(np.array_equal(one, other))  # type: ignore[arg-type]
        return old.keys() == new.keys() and all(is_same(old[name], new[name]) for name in old)
