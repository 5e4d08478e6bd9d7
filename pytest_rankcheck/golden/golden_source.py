"""Where a golden set is read from, and how what stands there is to be taken."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Literal, get_args

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion

__all__ = ["Contradictions", "GradeMap", "Source", "checked_contradictions", "checked_number"]

Contradictions = Literal["error", "first", "last", "highest"]
"""What counts where a document is judged twice, with different grades."""


class GradeMap:
    """What the codes of a collection mean: ``{1: 4, 2: 3, "irrelevant": 0}``.

    A code that is a number is found however it is written (``1``, ``1.0``, ``"01"``).
    """

    def __init__(self, grades: Mapping[object, float]) -> None:
        self._grades = {_code(code): _meant(code, grade) for code, grade in grades.items()}

    def grade(self, code: object) -> float | None:
        """Return the grade that a code means; None if the map does not have it."""
        return self._grades.get(_code(code))

    @property
    def codes(self) -> list[object]:
        """The codes that the map knows."""
        return list(self._grades)


def _code(code: object) -> object:
    number = checked_number(code)
    return code.strip() if number is None and isinstance(code, str) else number


def _meant(code: object, grade: object) -> float:
    meant = checked_number(grade)
    if meant is None or isinstance(grade, str):
        raise GoldenSetError(
            f"grades: {quoted(repr(code), 60)} means {quoted(repr(grade), 60)}, not a finite number"
        )
    return meant


def checked_number(value: object) -> float | None:
    """Return a number from one, or from the text of one; None if it is no finite number.

    Whole numbers come as int, so that they are written as they were.
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
    """A file or folder with the conventions by which it is read."""

    path: Path | None = None
    grades: GradeMap | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """What a column means, by our name for it, where a table has other names."""
    split: str | None = None
    """Which of several sets of judgments, in a folder that has them."""
    contradictions: Contradictions = "error"

    @property
    def file(self) -> Path:
        """The path, where there is one."""
        assert self.path is not None
        return self.path

    def unknown_code(self) -> str:
        """Return the end of a message about a code that the grade map lacks."""
        assert self.grades is not None
        return f"not in the grade map, which has {listed(self.grades.codes, 10)}"


def checked_contradictions(rule: Contradictions) -> Contradictions:
    """Return the rule for contradictions.

    Raises:
        GoldenSetError: there is no such rule.
    """
    rules = get_args(Contradictions)
    if rule not in rules:
        raise GoldenSetError(
            f"contradictions={quoted(rule)} is not possible{suggestion(str(rule), rules)}; it is "
            f"one of {', '.join(rules)}"
        )
    return rule
