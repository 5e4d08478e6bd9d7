"""A query of a golden set, and slices of queries that share a value of an attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

__all__ = ["Query", "label_of", "slices_of"]


@dataclass(frozen=True, slots=True)
class Query:
    """A query: its id, its text if it has one, and the attributes by which it can be sliced."""

    id: str
    text: str | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


def slices_of(queries: Iterable[Query], attribute: str) -> dict[str, list[str]]:
    """Return the ids of the queries with each value of an attribute, by the value as text.

    If an attribute is a list, the query belongs to the slice of each item; a query without the
    attribute belongs to the slice ``(none)``.
    """
    slices: dict[str, list[str]] = {}
    for query in queries:
        value = query.attributes.get(attribute)
        items = value if isinstance(value, (list, tuple)) else [value]
        for label in dict.fromkeys(label_of(item) for item in items):
            slices.setdefault(label, []).append(query.id)
    return dict(sorted(slices.items()))


def label_of(value: object) -> str:
    """Return an attribute's value as text."""
    if value is None:
        return "(none)"
    return str(value).lower() if isinstance(value, bool) else str(value)
