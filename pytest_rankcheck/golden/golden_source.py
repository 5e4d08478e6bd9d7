"""The source of a golden set, and the conventions for reading it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pytest_rankcheck.golden.grade_reader import GradeReader

__all__ = ["Contradictions", "Source"]

Contradictions = Literal["error", "first", "last", "highest"]
"""Which grade counts if a document is judged twice with different grades."""


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
    """The columns or keys that are attributes; None: all that can be."""
    scale: float | None = None
    """The highest grade that a document could get; None: what the file says, if anything."""
    is_shared: bool = False
    """Whether other golden sets are read with the same options, so that not all need to fit: an
    attribute may be missing, and one grade for all judgments applies only to tables without
    grades."""

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
        """Return the source for the arguments of a constructor of golden sets.

        Raises:
            GoldenSetError: a grade is not a number.
        """
        names = (attributes,) if isinstance(attributes, str) else attributes
        return cls(path, GradeReader(grades), dict(columns or {}), attributes=names, **others)

    @property
    def file(self) -> Path:
        """The path, which must be set."""
        assert self.path is not None
        return self.path

    def reader(self, *, has_grades: bool) -> GradeReader:
        """Return the reader for judgments with or without grades of their own."""
        is_for_others = self.is_shared and self.grades.has_one_grade and has_grades
        return GradeReader() if is_for_others else self.grades
