"""Changes of queries: perturbed texts, and counterfactuals, which change an attribute.

The built-in perturbations keep the meaning of a text. They do not depend on a language unless they
say so.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.rankers.callable_adapters import name_of, takes_queries

Perturb = (
    Callable[[str], str | Sequence[str]]
    | Callable[[Query], str | Query | Sequence[str] | Sequence[Query] | Sequence[str | Query]]
)
"""Takes the text of a query, or the query, and returns another one, or several."""

_SYNTAX = re.compile(r"[\"“„«(\[]|(?<!\S)(AND|OR|NOT|[+\-!&])|\w:\S")
"""What queries are written with, such as quotes, brackets and operators: they are not reordered."""

_LATIN_WORD = re.compile(
    r"(?<![A-Za-zÀ-ÖØ-öø-ɏ\u0300-\u036f])[A-Za-zÀ-ÖØ-öø-ɏ]{4,}+(?![\u0300-\u036f])"
)
"""A run of at least four Latin letters: a slip turns shorter words into other words."""
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


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


def changed_queries(golden: GoldenSet, perturbation: object, seed: int) -> ChangedQueries:
    """Perturb the queries of a golden set.

    Raises:
        ConfigurationError: the perturbation is unknown, raises an error, or returns something other
            than texts and queries.
    """
    takes_query = False
    if isinstance(perturbation, str):
        name = f"typo, seed {seed}" if perturbation == "typo" else perturbation
        perturbation = built_in(perturbation, seed)
    elif callable(perturbation):
        name, takes_query = name_of(perturbation), takes_queries(perturbation)
    else:
        raise ConfigurationError(
            f"perturbation={quoted(repr(perturbation), 60)} is invalid; give the name of a "
            "perturbation, or a function that takes a text and returns another"
        )
    made = {
        query.id: _perturbed(perturbation, query, name, takes_query)
        for query in golden
        if takes_query or query.text is not None
    }
    changed = {query_id: others for query_id, others in made.items() if others}
    unchanged = tuple(query_id for query_id in made if query_id not in changed)
    skipped = tuple(query_id for query_id in golden.query_ids if query_id not in made)
    return ChangedQueries(name, changed, unchanged, skipped)


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


# --- built-in perturbations -----------------------------------------------------------------


def _case(text: str) -> Iterator[str]:
    """All lower case, all upper case, and each word with a capital."""
    yield from (text.lower(), text.upper(), text.title())


def _white_space(text: str) -> Iterator[str]:
    """Blanks around the text; two blanks, a tab or a no-break space between its words."""
    yield f"  {text} "
    for gap in ("  ", "\t", "\u00a0"):
        yield gap.join(text.split(" "))


def _typo(text: str, *, seed: int = 0) -> Iterator[str]:
    """A slip on a QWERTY keyboard: the key beside, two letters swapped, one lost or doubled.

    A slip is in a word of at least four Latin letters, but not in its first letter. Other scripts,
    which have other keyboards, stay. It depends only on the seed and the text, not on the position
    of the query.
    """
    words = [match.span() for match in _LATIN_WORD.finditer(text)]
    if words:
        # Only random() is guaranteed to stay the same in later versions of Python.
        drawn = random.Random(f"{seed} {text}".encode("utf-8", "surrogatepass"))
        start, end = words[int(drawn.random() * len(words))]
        yield text[:start] + _mistyped(text[start:end], drawn) + text[end:]


def _mistyped(word: str, drawn: random.Random) -> str:
    """Return a word with one slip, which is never in its first letter."""
    place = 1 + int(drawn.random() * (len(word) - 1))
    before, char, after = word[:place], word[place], word[place + 1 :]
    near = _neighbours().get(char.lower(), "")
    beside = near[int(drawn.random() * len(near))] if near else char
    if char.isupper():
        beside = beside.upper()
    first = max(1, place - 1)
    swapped = word[first + 1] + word[first]
    others = (
        before + beside + after,
        word[:first] + swapped + word[first + 2 :],
        before + after,  # lost
        before + char + char + after,  # doubled
    )
    chosen = int(drawn.random() * len(others))
    # Some slips leave the word as it is: swapping equal letters, or a letter not on the keyboard.
    from_chosen = (*others[chosen:], *others[:chosen])
    return next(other for other in from_chosen if other != word)


@cache
def _neighbours() -> dict[str, str]:
    """Return the keys that touch each key: in its row, and in the rows above and below."""
    near: dict[str, str] = {}
    for row, keys in enumerate(_KEYBOARD):
        above = _KEYBOARD[row - 1] if row else ""
        below = "".join(_KEYBOARD[row + 1 : row + 2])
        for place, key in enumerate(keys):
            left = max(0, place - 1)
            beside = keys[left:place] + keys[place + 1 : place + 2]
            near[key] = beside + above[place : place + 2] + below[left : place + 1]
    return near


def _word_order(text: str) -> Iterator[str]:
    """The words from last to first; the last word first; the first word last."""
    words = text.split()
    if len(words) > 1 and not _SYNTAX.search(text):
        first, last = words[0], words[-1]
        for order in (words[::-1], [last, *words[:-1]], [*words[1:], first]):
            yield " ".join(order)


BUILT_IN: Mapping[str, Callable[[str], Iterator[str]]] = {
    "case": _case,
    "white_space": _white_space,
    "typo": _typo,
    "word_order": _word_order,
}
"""The built-in perturbations."""


def built_in(name: str, seed: int) -> Callable[[str], Iterator[str]]:
    """Return a built-in perturbation; the seed is that of typing errors.

    Raises:
        ConfigurationError: the name is unknown.
    """
    if name not in BUILT_IN:
        raise ConfigurationError(
            f"unknown perturbation '{quoted(name)}'{suggestion(name, BUILT_IN)}; give one of "
            f"{', '.join(BUILT_IN)}, or a function that takes a text and returns another"
        )
    return partial(_typo, seed=seed) if name == "typo" else BUILT_IN[name]
