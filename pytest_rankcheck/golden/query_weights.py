"""Weights of queries, and clusters of queries that belong together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pytest_rankcheck.errors import GoldenSetError, quoted, suggestion
from pytest_rankcheck.golden.checked_values import checked_number
from pytest_rankcheck.golden.query import Query, label_of

__all__ = ["clusters_of", "effective_size", "weights_of"]


def weights_of(queries: Iterable[Query], attribute: str, name: str) -> Sequence[float]:
    """Return the weight of each query.

    Raises:
        GoldenSetError: the attribute of a query is missing or not a number above 0.
    """
    return [_weight(query, attribute, name) for query in queries]


def _weight(query: Query, attribute: str, name: str) -> float:
    value = _value(query, attribute, name)
    weight = checked_number(value)
    if weight is None or weight <= 0:
        raise GoldenSetError(
            f"golden set '{quoted(name)}': the weight of query '{quoted(query.id)}' ({attribute}) "
            f"is '{quoted(value)}'; it must be a number above 0"
        )
    return weight


def clusters_of(queries: Iterable[Query], attribute: str, name: str) -> Sequence[str]:
    """Return the unit that each query belongs to.

    Raises:
        GoldenSetError: a query has no such attribute.
    """
    return [label_of(_value(query, attribute, name)) for query in queries]


def effective_size(weights: Sequence[float]) -> float:
    """Return how many queries of equal weight are as informative as these (Kish, 1965)."""
    return math.fsum(weights) ** 2 / math.fsum(weight * weight for weight in weights)


def _value(query: Query, attribute: str, name: str) -> object:
    value = query.attributes.get(attribute)
    if value is None:
        raise GoldenSetError(
            f"golden set '{quoted(name)}': query '{quoted(query.id)}' has no attribute "
            f"'{quoted(attribute)}'{suggestion(attribute, query.attributes)}; each query needs one"
        )
    return value
