"""Ids that look like misspellings of others.

An id looks misspelt if it differs from a known one only in form, or slightly and only in letters:
ids with other numbers are other documents. Ids are compared only if they have the same numbers,
begin or end alike and are about equally long, so the time is not quadratic in their number.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Hashable, Iterable, Mapping

from pytest_rankcheck.golden.lint.id_spellings import loose_form

__all__ = ["nearest_ids"]

_NEAR = 0.9
"""How similar two ids must be for one to look like a misspelling of the other."""
_EDGE = 2
"""How many characters a misspelt id must share with the right one, at the start or the end, and by
how many it may be shorter or longer."""
_DIGITS = re.compile(r"\d+")


def nearest_ids(ids: Iterable[str], known: Collection[str]) -> Mapping[str, str]:
    """Return the ids that look misspelt, each with the most similar known one.

    Args:
        ids: the unknown ids.
        known: the known ids, in any order.
    """
    by_form: dict[tuple[Hashable, str], str] = {}
    buckets: dict[Hashable, list[str]] = {}
    for other in sorted(known):
        form, numbers = _form(other), _numbers(other)
        if (numbers, form) not in by_form:
            for edge in _edges(form):
                buckets.setdefault((numbers, len(form), edge), []).append(form)
        by_form[numbers, form] = other
    nearest = {}
    for each in ids:
        form, numbers = _form(each), _numbers(each)
        close = {
            other
            for length in range(len(form) - _EDGE, len(form) + _EDGE + 1)
            for edge in _edges(form)
            for other in buckets.get((numbers, length, edge), ())
        }
        alike = [form] if form in close else close
        for other in difflib.get_close_matches(form, alike, n=1, cutoff=_NEAR):
            nearest[each] = by_form[numbers, other]
    return nearest


def _edges(form: str) -> tuple[tuple[str, str], ...]:
    """Return the beginning and the end of a form."""
    return ("begins", form[:_EDGE]), ("ends", form[-_EDGE:])


def _numbers(doc_id: str) -> tuple[str, ...]:
    """Return the numbers in an id, without leading zeros."""
    return tuple(number.lstrip("0") for number in _DIGITS.findall(loose_form(doc_id)))


def _form(doc_id: str) -> str:
    """Return the loose form of an id, without leading zeros in each of its numbers."""
    return _DIGITS.sub(lambda number: number.group().lstrip("0"), loose_form(doc_id))
