"""The source of a golden set, and the conventions for reading it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Literal, get_args

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion

__all__ = ["Contradictions", "GradeMap", "Source", "checked_contradictions", "checked_number"]

Contradictions = Literal["error", "first", "last", "highest"]
"""Which grade counts if a document is judged twice with different grades."""


class GradeMap:
    """The grades for the codes of a collection: ``{1: 4, 2: 3, "irrelevant": 0}``.

    A numeric code matches however it is written (``1``, ``1.0``, ``"01"``).
    """

    def __init__(self, grades: Mapping[object, float]) -> None:
        self._grades = {_code(code): _checked_grade(code, grade) for code, grade in grades.items()}

    def grade(self, code: object) -> float | None:
        """Return the grade for a code; None if the map does not have it."""
        return self._grades.get(_code(code))

    @property
    def codes(self) -> list[object]:
        """The codes in the map."""
        return list(self._grades)


def _code(code: object) -> object:
    number = checked_number(code)
    return code.strip() if number is None and isinstance(code, str) else number


def _checked_grade(code: object, grade: object) -> float:
    number = checked_number(grade)
    if number is None or isinstance(grade, str):
        raise GoldenSetError(
            f"grades: {quoted(repr(code), 60)} is mapped to {quoted(repr(grade), 60)}, not to a "
            "finite number"
        )
    return number


def checked_number(value: object) -> float | None:
    """Return a number, given as a number or its text; None if it is not a finite number.

    Whole numbers are returned as int, so that they are written as they were read.
    """
    number = math.nan
    is_number = isinstance(value, (str, Real)) and not isinstance(value, bool)
    if is_number and not (isinstance(value, str) and "_" in value):
        with suppress(ValueError, OverflowError):
            number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder, and the conventions for reading it."""

    path: Path | None = None
    grades: GradeMap | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """``{role: column}`` for table columns with unusual names."""
    split: str | None = None
    """Which set of judgments to read, in a folder that has several."""
    contradictions: Contradictions = "error"
    attributes: Collection[str] | None = None
    """The columns or keys that are attributes; None: all that can be."""
    scale: float | None = None
    """The highest grade that a document could get; None: what the file says, if anything."""

    @property
    def file(self) -> Path:
        """The path, which must be set."""
        assert self.path is not None
        return self.path

    def unknown_code(self) -> str:
        """Return the end of a message about a code that is not in the grade map."""
        assert self.grades is not None
        return f"not in the grade map, which has {listed(self.grades.codes, 10)}"


def checked_contradictions(rule: Contradictions) -> Contradictions:
    """Return the rule for contradictions, validated.

    Raises:
        GoldenSetError: the rule is unknown.
    """
    rules = get_args(Contradictions)
    if rule not in rules:
        raise GoldenSetError(
            f"contradictions={quoted(rule)} is invalid{suggestion(str(rule), rules)}; give one of "
            f"{', '.join(rules)}"
        )
    return rule
