"""A query of a golden set, and the slices, weights and units of queries by their attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_rankcheck.errors import GoldenSetError, quoted, suggestion
from pytest_rankcheck.files.plain_values import checked_number

REPLAY = "log_replay"
"""The attribute of a query of a replay with the text of its `Replay`."""
WEIGHT = "weight"
"""The attribute of a query of a replay with its weight."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query: its id, its text if it has one, and the attributes by which it can be sliced."""

    id: str
    text: str | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


def attribute_names(queries: Iterable[Query]) -> list[str]:
    """Return the names of the attributes that queries have, each once."""
    return list({name: None for query in queries for name in query.attributes})


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
    text = str(value)
    return text.lower() if isinstance(value, bool) else text


def weights_of(queries: Iterable[Query], attribute: str, name: str) -> Sequence[float]:
    """Return the weight of each query, a number above 0."""
    weights = []
    for query in queries:
        value = _value(query, attribute, name)
        weight = checked_number(value)
        if weight is None or weight <= 0:
            raise GoldenSetError(
                f"golden set '{quoted(name)}': the weight of query '{quoted(query.id)}' "
                f"({attribute}) is '{quoted(value)}'; it must be a number above 0"
            )
        weights.append(weight)
    return weights


def clusters_of(queries: Iterable[Query], attribute: str, name: str) -> Sequence[str]:
    """Return the unit that each query belongs to."""
    return [label_of(_value(query, attribute, name)) for query in queries]


def _value(query: Query, attribute: str, name: str) -> object:
    value = query.attributes.get(attribute)
    if value is None:
        raise GoldenSetError(
            f"golden set '{quoted(name)}': query '{quoted(query.id)}' has no attribute "
            f"'{quoted(attribute)}'{suggestion(attribute, query.attributes)}; each query needs one"
        )
    return value
