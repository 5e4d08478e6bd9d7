"""What a golden set is made of, and how its pieces are checked and fingerprinted."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from numbers import Integral, Real

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.golden.query import Query

__all__ = ["Contents", "checked_grade", "checked_id", "fingerprint_of", "query_fingerprint"]

_FINGERPRINT_LENGTH = 16
"""Hexadecimal digits, 64 bits: among a million contents, one in 37 million pairs of sets clash."""


class Contents:
    """Queries and grades on their way into a golden set, in the order in which they came.

    The formats and constructors fill it; it refuses contradictions where they are, with the
    place that the caller names.
    """

    def __init__(self) -> None:
        self.queries: dict[str, Query] = {}
        self.grades: dict[str, dict[str, float]] = {}

    def add_query(self, query: Query, where: str) -> None:
        """Add a query; its judgments may have come before.

        Raises:
            GoldenSetError: the query was given before.
        """
        if query.id in self.queries:
            raise GoldenSetError(
                f"{where}: query '{quoted(query.id)}' is given twice; "
                "put all its judgments into one place, or give the second another id"
            )
        self.queries[query.id] = query
        self.grades.setdefault(query.id, {})

    def add_judgment(self, query_id: str, doc_id: str, grade: float, where: str) -> None:
        """Add a judgment. The same judgment twice is one; two different ones are an error.

        Raises:
            GoldenSetError: the document was judged before, with another grade.
        """
        judged = self.grades.setdefault(query_id, {})
        before = judged.setdefault(doc_id, grade)
        if before != grade:
            raise GoldenSetError(
                f"{where}: document '{quoted(doc_id)}' of query '{quoted(query_id)}' is judged "
                f"twice, {before:g} and {grade:g}; decide for one of them"
            )


def checked_id(value: object, what: str, where: str) -> str:
    """Return an id as text. Text and whole numbers are ids.

    Raises:
        GoldenSetError: ``value`` is empty or neither.
    """
    if isinstance(value, str) and value:
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    hint = ""
    if isinstance(value, float):
        hint = "; numbers with a decimal point are no ids: read the column as text (dtype=str)"
    raise GoldenSetError(f"{where}: {what} is {_kind(value)}, not an id{hint}")


def checked_grade(value: object, doc_id: str, where: str) -> float:
    """Return a grade as a number, from a number or the text of one.

    Raises:
        GoldenSetError: it is not a finite number.
    """
    grade = math.nan
    if isinstance(value, (str, Real)) and not isinstance(value, bool) and "_" not in str(value):
        with suppress(ValueError, OverflowError):
            grade = float(value)
    if not math.isfinite(grade):
        raise GoldenSetError(
            f"{where}: the grade of document '{quoted(doc_id)}' is {_kind(value)}, "
            "not a finite number"
        )
    return int(grade) if grade.is_integer() and abs(grade) < 2**53 else grade


def query_fingerprint(query: Query, grades: Mapping[str, float]) -> str:
    """Return the fingerprint of one query's id, text and judgments."""
    judgments = sorted((doc_id, float(grade)) for doc_id, grade in grades.items())
    return _digest(json.dumps([query.id, query.text or "", judgments]))


def fingerprint_of(query_fingerprints: Iterable[str]) -> str:
    """Return the fingerprint of a golden set from those of its queries, in any order."""
    return _digest("\n".join(sorted(query_fingerprints)))


def _digest(text: str) -> str:
    import hashlib  # loads OpenSSL, for those who ask for a fingerprint

    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_FINGERPRINT_LENGTH]


def _kind(value: object) -> str:
    if value is None or value == "":
        return "empty"
    return f"'{quoted(value, 60)}' ({type(value).__name__})"
