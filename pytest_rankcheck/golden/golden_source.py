"""The source of a golden set: how messages name its places, and how grades and ids are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.packed_files import shown_name
from pytest_rankcheck.files.plain_values import checked_number, id_text
from pytest_rankcheck.files.text_files import Numbering
from pytest_rankcheck.files.whole_files import readable_json

Contradictions = Literal["error", "first", "last", "highest"]
"""Which grade counts if a document is judged twice with different grades."""


Place = str | int
"""A place in words, or as a line number of the file."""


class Places:
    """The places of queries and judgments, and how messages name a line or row."""

    def __init__(self, file: str = "judgments") -> None:
        self.file = file
        self.numbering = Numbering(file)
        self.are_ids = False
        """Whether a query without another place is named by its id."""
        self.of_queries: dict[str, Place] = {}
        """The places of queries that have one of their own."""

    def shown(self, place: Place) -> str:
        """Return a place as text: ``web.qrels:17``."""
        return place if isinstance(place, str) else self.numbering.place(place)

    def query(self, query_id: str, line: int) -> str:
        """Return the place of a query, whose first judgment is at ``line``; empty if unknown."""
        place = self.of_queries.get(query_id, line)
        if place:
            return self.shown(place)
        return f"query '{quoted(query_id)}'" if self.are_ids else ""


_BOOLEANS = {"true": 1, "false": 0}
_BOOLEAN_TYPES = ("bool", "bool_")
"""The names of Python's and numpy's types."""


def _grade_of(value: object) -> float | None:
    """Return a grade as a number; booleans, even as text, are 1 and 0. None if it is neither."""
    number = checked_number(value)
    if number is not None:
        return number
    if isinstance(value, str) or type(value).__name__ in _BOOLEAN_TYPES:
        return _BOOLEANS.get(str(value).strip().lower())
    return None


def checked_id(value: object, what: str, where: Place, places: Places | None = None) -> str:
    """Return an id as text; anything but a nonempty text or a whole number is an error."""
    if (checked := id_text(value)) is not None:
        return checked
    shown = places.shown(where) if places else where
    raise GoldenSetError(
        f"{shown}: {what} is {kind_of(value)}, not an id; ids are text or whole numbers (pandas: "
        "dtype=str)"
    )


def kind_of(value: object) -> str:
    """Return a value and its type, for a message about an invalid value."""
    if value is None or (isinstance(value, str) and not value):  # an array has no truth value
        return "empty"
    return f"'{quoted(value, 60)}' ({type(value).__name__})"


class GradeReader:
    """Reads grades: finite numbers, or the codes of a grade map.

    A grade map has the grades for the codes of a collection: ``{1: 4, 2: 3, "irrelevant": 0}``. A
    numeric code matches however it is written (``1``, ``1.0``, ``"01"``). A single number is the
    grade of every judgment, for a set without grades.
    """

    def __init__(self, grades: Mapping[Any, float] | float | None = None) -> None:
        self.has_map = grades is not None
        """Whether the judgments have codes or no grades, instead of numbers."""
        self.has_one_grade = self.has_map and not isinstance(grades, Mapping)
        """Whether all judgments have the same grade, so that a table needs no column for it."""
        if not isinstance(grades, Mapping):
            grades = {} if grades is None else {None: grades}
        self._grades: dict[object, float] = {}
        for code, grade in grades.items():
            self._grades[_code(code)] = _checked_grade(grade)

    def grade(self, value: object) -> float | None:
        """Return the grade for a value; None if it is not a grade (see `refusal`)."""
        if not self.has_map:
            return _grade_of(value)
        try:
            return self._grades.get(_code(value))
        except TypeError:  # a list is not hashable
            return None

    def is_grade(self, value: object) -> bool:
        """Return whether a value is a number, or a code of the grade map."""
        if not self.has_map:
            return not isinstance(value, str) and checked_number(value) is not None
        return self.grade(value) is not None

    def refusal(self) -> str:
        """Return the end of a message about a value that is not a grade."""
        if self.has_one_grade:
            return (
                f"but grades={self._grades[None]:g} is for judgments without a grade; omit it, or "
                "map the values, grades={...} (rankcheck_grades)"
            )
        if self.has_map:
            return f"not in the grade map, which has {listed(list(self._grades), 10)}"
        return "not a finite number"


def _code(code: object) -> object:
    number = _grade_of(code)
    if number is None and isinstance(code, str):
        return code.strip()
    return number


def _checked_grade(grade: object) -> float:
    number = _grade_of(grade)
    if number is None or isinstance(grade, str):
        raise GoldenSetError(f"grades: {quoted(repr(grade), 60)} is not a finite number")
    return number


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder, and the conventions for reading it."""

    path: Path | None = None
    grades: GradeReader = field(default_factory=GradeReader)
    """Numbers, or the codes of a grade map."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """``{role: column}`` for table columns with unusual names."""
    split: str | None = None
    """Which set of judgments to read, in a folder that has several."""
    contradictions: Contradictions = "error"
    attributes: Collection[str] | None = None
    """The columns or keys that are attributes; None: all that qualify."""
    scale: float | None = None
    """The highest grade that a document could get; None: what the file says, if anything."""
    is_shared: bool = False
    """Whether other golden sets are read with the same options, so that not all need to fit: an
    attribute may be missing, and one grade for all judgments applies only to tables without
    grades."""
    needed: Collection[str] = ()
    """The meanings whose columns this file must have nevertheless, because no other file can."""
    doc_id_lines: Sequence[str] = ()
    """The lines of the project's option that maps ids, for all golden sets."""

    @classmethod
    def of(
        cls,
        path: Path | None = None,
        *,
        grades: Mapping[Any, float] | float | None = None,
        columns: Mapping[str, str] | None = None,
        attributes: Collection[str] | str | None = None,
        **others: Any,
    ) -> Source:
        """Return the source for the arguments of a constructor of golden sets."""
        names = (attributes,) if isinstance(attributes, str) else attributes
        return cls(path, GradeReader(grades), dict(columns or {}), attributes=names, **others)

    @property
    def file(self) -> Path:
        """The path, which must be set."""
        assert self.path is not None
        return self.path

    def doc_id_line(self, added: Iterable[str]) -> str:
        """Return the configuration of ids with what is already set and an addition for this set."""
        scope = f"{shown_name(self.file)}: " if self.is_shared else ""
        lines = [*self.doc_id_lines, *(f"{scope}{each}" for each in added)]
        return f"rankcheck_doc_id = {readable_json([*dict.fromkeys(lines)])}"

    def reader(self, *, has_grades: bool) -> GradeReader:
        """Return the reader for judgments with or without grades of their own."""
        is_for_others = self.is_shared and self.grades.has_one_grade and has_grades
        return GradeReader() if is_for_others else self.grades
