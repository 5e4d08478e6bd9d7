"""Findings: what assertions and the test session found, as values. Reports turn them into words.

Every field is of a built-in type, an enum or another of these classes, so that ``finding_encoding``
can write any finding as JSON, and ``finding_codec`` can read what a worker of pytest-xdist sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

__all__ = ["FindingOfTest", "ReportedFinding"]


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """What an assertion or the test session found."""

    @property
    def failed(self) -> bool:
        """Whether it fails the test."""
        return False

    def with_test(self, test: str) -> Self:
        """Return it with the test that made it, if findings of its kind name their test."""
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingOfTest(ReportedFinding):
    """A finding that names its test."""

    test: str = ""
    """The id of the test, or the two files that were compared; filled in when it has ended."""

    def with_test(self, test: str) -> Self:
        """Return it with the test that made it, unless it has one."""
        return self if self.test else replace(self, test=test)
