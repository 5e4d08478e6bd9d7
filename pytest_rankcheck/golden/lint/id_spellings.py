"""Spellings of an id: what spreadsheets, data frames and other tools change of it."""

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
"""The rules of ``doc_id=`` that undo what spreadsheets, data frames and tools do to ids, in the
order in which they are applied, and what the ids differ in that they make equal."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """What two spellings of an id differ in."""

    words: str
    rules: tuple[str, ...] = ()
    """The rules of ``doc_id=`` that make them equal; empty if only a function can."""


def spelling_of(one: str, other: str) -> Spelling:
    """Return what two ids with the same loose form differ in."""
    for size in (1, 2, 3):
        for rules in itertools.combinations(_STEPS, size):
            to_id = DocIdMap(rules)
            if one.strip() and other.strip() and to_id(one) == to_id(other):
                return Spelling(" and ".join(_STEPS[rule] for rule in rules), rules)
    return Spelling("white space within them, or several things")


def loose_form(doc_id: str) -> str:
    """Return an id without what spreadsheets and tools change.

    That is white space, case, Unicode normalisation, ``.0`` at the end and, in numbers, leading
    zeros.
    """
    if doc_id.isascii() and doc_id.isalnum():
        return (doc_id.lstrip("0") or "0") if doc_id.isdigit() else doc_id.lower()
    plain = unicodedata.normalize("NFKC", doc_id).casefold()
    plain = _DECIMALS.sub("", "".join(plain.split()))
    return (plain.lstrip("0") or "0") if plain.isdecimal() else plain
