"""The slices of a golden set: the queries that share a value of an attribute."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_rankcheck.golden.query import Query

__all__ = ["label_of", "slices_of"]


def slices_of(queries: Iterable[Query], attribute: str) -> dict[str, list[str]]:
    """Return the ids of the queries that have each value of an attribute, by the value as text.

    A query whose attribute is a list belongs to the slice of each item; one without the attribute
    to the slice ``(none)``.
    """
    found: dict[str, list[str]] = {}
    for query in queries:
        value = query.attributes.get(attribute)
        items = value if isinstance(value, (list, tuple)) else [value]
        for label in dict.fromkeys(label_of(item) for item in items):
            found.setdefault(label, []).append(query.id)
    return dict(sorted(found.items()))


def label_of(value: object) -> str:
    """Return an attribute's value as text."""
    if value is None:
        return "(none)"
    return str(value).lower() if isinstance(value, bool) else str(value)
