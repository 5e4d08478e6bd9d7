"""Spellings of an id: the changes that spreadsheets, data frames and other tools make."""

from __future__ import annotations

import itertools
import re
import unicodedata
from dataclasses import dataclass

from pytest_rankcheck.document_ids import DocIdMap

__all__ = ["Spelling", "loose_form", "spelling_of"]

_DECIMALS = re.compile(r"(?<=\d)\.0+$")

_STEPS = {
    "strip": "white space around them",
    "nfc": "Unicode normalisation",
    "lower": "case",
    "remove_suffix:.0": "'.0' at the end",
    "strip_zeros": "leading zeros",
}
"""The rules of ``doc_id=`` that undo the changes of spreadsheets, data frames and tools, in the
order in which they are applied; each with the difference that it removes."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The difference between two spellings of an id."""

    words: str
    rules: tuple[str, ...] = ()
    """The rules of ``doc_id=`` that make them equal; empty if only a function can."""


def spelling_of(one: str, other: str) -> Spelling:
    """Return the difference between two ids with the same loose form."""
    for size in (1, 2, 3):
        for rules in itertools.combinations(_STEPS, size):
            to_id = DocIdMap(rules)
            if one.strip() and other.strip() and to_id(one) == to_id(other):
                return Spelling(" and ".join(_STEPS[rule] for rule in rules), rules)
    return Spelling("white space within them, or several things")


def loose_form(doc_id: str) -> str:
    """Return an id without the features that spreadsheets and tools change.

    These are white space, case, Unicode normalisation, ``.0`` at the end and, in numbers, leading
    zeros.
    """
    if doc_id.isascii() and doc_id.isalnum():
        return (doc_id.lstrip("0") or "0") if doc_id.isdigit() else doc_id.lower()
    plain = unicodedata.normalize("NFKC", doc_id).casefold()
    plain = _DECIMALS.sub("", "".join(plain.split()))
    return (plain.lstrip("0") or "0") if plain.isdecimal() else plain
