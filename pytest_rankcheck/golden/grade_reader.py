"""Reading grades: finite numbers, or the codes of a grade map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.checked_cells import decimal_comma_hint
from pytest_rankcheck.golden.checked_values import checked_grade, checked_number

__all__ = ["GradeMap", "GradeReader"]

_REMEMBERED_GRADES = 1000
"""How many texts of grades are cached; a set has few distinct ones."""


class GradeMap:
    """The grades for the codes of a collection: ``{1: 4, 2: 3, "irrelevant": 0}``.

    A numeric code matches however it is written (``1``, ``1.0``, ``"01"``). A single number is the
    grade of every judgment, for a set without grades.
    """

    def __init__(self, grades: Mapping[Any, float] | float) -> None:
        self.is_constant = not isinstance(grades, Mapping)
        by_code = grades if isinstance(grades, Mapping) else {None: grades}
        self._grades = {_code(code): _checked_grade(code, grade) for code, grade in by_code.items()}

    def grade(self, code: object) -> float | None:
        """Return the grade for a code; None if the map does not have it."""
        return self._grades.get(_code(code))

    def refusal(self) -> str:
        """Return the end of a message about a code that is not in the map."""
        if self.is_constant:
            return (
                f"but grades={self._grades[None]:g} is for judgments without a grade; omit it, or "
                "map the values, grades={...}"
            )
        return f"not in the grade map, which has {listed(list(self._grades), 10)}"


def _code(code: object) -> object:
    number = checked_grade(code)
    return code.strip() if number is None and isinstance(code, str) else number


def _checked_grade(code: object, grade: object) -> float:
    number = checked_grade(grade)
    if number is None or isinstance(grade, str):
        mapped = "" if code is None else f"{quoted(repr(code), 60)} is mapped to "
        raise GoldenSetError(
            f"grades: {mapped}{quoted(repr(grade), 60)}, not {'to ' if mapped else ''}a finite "
            "number"
        )
    return number


class GradeReader:
    """Reads the grades of a golden set from numbers, texts or codes, and remembers the texts."""

    def __init__(self, grade_map: GradeMap | None) -> None:
        self.grade_map = grade_map
        """The grades of codes; None if the judgments have numbers."""
        self.by_text: dict[str, float] = {}
        """The grades of texts that were read before."""

    @property
    def has_one_grade(self) -> bool:
        """Whether all judgments have the same grade, so that a table needs no column for it."""
        return self.grade_map is not None and self.grade_map.is_constant

    def grade(self, value: object) -> float | None:
        """Return the grade for a value; None if it is not a grade (see `refusal`)."""
        known = self.by_text.get(value) if isinstance(value, str) else None
        if known is not None:
            return known
        grade = checked_grade(value) if self.grade_map is None else self.grade_map.grade(value)
        is_new_text = grade is not None and isinstance(value, str)
        if is_new_text and len(self.by_text) < _REMEMBERED_GRADES:
            self.by_text[value] = grade  # type: ignore[index, assignment]
        return grade

    def is_grade(self, value: object) -> bool:
        """Return whether a value is a number, or a code of the grade map."""
        if self.grade_map is None:
            return not isinstance(value, str) and checked_number(value) is not None
        return self.grade_map.grade(value) is not None

    def refusal(self, value: object, *, is_frame: bool) -> str:
        """Return the end of a message about a value that is not a grade."""
        if self.grade_map is not None:
            return self.grade_map.refusal()
        return f"not a finite number{decimal_comma_hint(value, is_frame=is_frame)}"
