"""Changes of queries: perturbed texts, and counterfactuals, which change an attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.behaviour.perturbations import Perturbation, perturbation_named
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.callable_adapters import name_of, takes_queries

Perturb = (
    Callable[[str], str | Sequence[str]]
    | Callable[[Query], str | Query | Sequence[str] | Sequence[Query] | Sequence[str | Query]]
)
"""Takes the text of a query, or the query, and returns another one, or several."""


@checked_arguments
def counterfactual(attribute: str, values: Sequence[object]) -> Callable[[Query], Sequence[Query]]:
    """Return a perturbation that replaces an attribute by its other values: gender, locale, ...

    Queries without the attribute are left unchanged, so a misspelt attribute changes nothing, which
    is an error. A query whose own value is not among the values is also an error, because values
    that the ranker does not know, such as ``"F"`` for ``"female"``, prove nothing.

    Args:
        attribute: an attribute of the queries.
        values: all its values, as the queries have them; a query gets each of them but its own.

    Raises:
        ConfigurationError: no values are given.
    """
    if not values:
        raise ConfigurationError(
            f"counterfactual('{quoted(attribute)}', []) has no values; give the values of the "
            "attribute, such as ['phone', 'tablet']"
        )

    def other_values(query: Query) -> Sequence[Query]:
        if attribute not in query.attributes:
            return [query]
        own = query.attributes[attribute]
        if not any(_is_same(own, value) for value in values):
            raise ConfigurationError(
                f"{called}: query '{quoted(query.id)}' has {quoted(attribute)} "
                f"{quoted(repr(own), 60)}, which is not among the values; give all values, as the "
                "queries have them"
            )
        return [
            replace(query, attributes={**query.attributes, attribute: value}) for value in values
        ]

    shown = ", ".join(quoted(value, 30) for value in values)
    called = f"counterfactual('{quoted(attribute)}', {quoted(repr(list(values)), 100)})"
    other_values.__qualname__ = f"{attribute} in {shown}"
    return other_values


@dataclass(frozen=True, slots=True)
class ChangedQueries:
    """The queries of a golden set after a perturbation."""

    name: str
    """The name of the perturbation in messages."""
    changed: Mapping[str, Sequence[Query]]
    """For each query that it changes, the perturbed queries."""
    unchanged: Sequence[str]
    """The queries that it does not change."""
    without_text: Sequence[str]
    """The queries that have no text, if it takes texts."""
    are_draws: bool = False
    """Whether the perturbed queries are random draws; then their mean counts."""


def changed_queries(golden: GoldenSet, perturbation: object, seed: int) -> ChangedQueries:
    """Perturb the queries of a golden set.

    Raises:
        ConfigurationError: the perturbation is unknown, raises an error, or returns something other
            than texts and queries.
    """
    if isinstance(perturbation, str):
        perturbation = perturbation_named(perturbation)
    if not callable(perturbation):
        raise ConfigurationError(
            f"perturbation={quoted(repr(perturbation), 60)} is invalid; give the name of a "
            "perturbation, or a function that takes a text and returns another"
        )
    are_draws, takes_query = False, False
    if isinstance(perturbation, Perturbation):
        are_draws = perturbation.is_random
        name = f"{perturbation}, seed {seed}" if are_draws else str(perturbation)
        perturbation = partial(perturbation, seed=seed)
    else:
        name = name_of(perturbation)
        takes_query = takes_queries(perturbation)
    made = {
        query.id: _perturbed(perturbation, query, name, takes_query)
        for query in golden
        if takes_query or query.text is not None
    }
    changed = {query_id: others for query_id, others in made.items() if others}
    unchanged = tuple(query_id for query_id in made if query_id not in changed)
    skipped = tuple(query_id for query_id in golden.query_ids if query_id not in made)
    return ChangedQueries(name, changed, unchanged, skipped, are_draws)


def changed_attributes(before: Query, after: Query) -> Mapping[str, tuple[object, object]]:
    """Return the attributes that differ, each with its value before and after; None if absent."""
    old, new = before.attributes, after.attributes
    pairs = {name: (old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))}
    return {name: pair for name, pair in pairs.items() if not _is_same(*pair)}


def _perturbed(
    perturb: Callable[..., object], query: Query, name: str, takes_query: bool
) -> list[Query]:
    """Return the perturbed queries of a query, without duplicates or the query itself."""
    # A copy, because a perturbation may modify the attributes and return the same query.
    given = replace(query, attributes=deepcopy(dict(query.attributes)))
    shown = f"query '{quoted(query.id)}'"
    if query.text:
        shown += f' "{quoted(query.text)}"'
    try:
        made = perturb(given if takes_query else query.text)
        is_one = isinstance(made, (str, bytes, Mapping)) or not isinstance(made, Iterable)
        others = [made] if is_one else list(made)  # type: ignore[call-overload]
    except ConfigurationError:
        raise
    except Exception as error:
        is_unfit = not takes_query and isinstance(error, (AttributeError, TypeError))
        hint = "; to get the query, annotate its parameter as Query" if is_unfit else ""
        raise ConfigurationError(
            f"perturbation '{quoted(name)}' failed on {shown}: {type(error).__name__}: "
            f"{quoted(error, 300)}{hint}"
        ) from error
    perturbed: list[Query] = []
    for other in others:
        new = replace(query, text=other) if isinstance(other, str) else other
        if not (
            isinstance(new, Query)
            and new.id == query.id
            and isinstance(new.text, (str, type(None)))
            and isinstance(new.attributes, Mapping)
        ):
            raise ConfigurationError(
                f"perturbation '{quoted(name)}' returned {quoted(repr(other), 60)} for {shown}; it "
                "must return a text or a Query with the same id, or a list of them: "
                "dataclasses.replace(query, attributes=...)"
            )
        if all(
            new.text != known.text or changed_attributes(known, new)
            for known in (query, *perturbed)
        ):
            perturbed.append(new)
    return perturbed


def _is_same(one: object, other: object) -> bool:
    """Whether two values are equal; arrays are equal if all their elements are."""
    try:
        return one is other or bool(one == other)
    except ValueError:  # an array has no single truth value
        return bool(np.array_equal(one, other))  # type: ignore[arg-type]
