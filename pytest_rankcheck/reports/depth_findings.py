"""Findings about the depth that is requested from a ranker.

They follow the rules of `findings`: built-in types, enums and other such classes in every field.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = ["DepthFinding"]


@dataclass(frozen=True, slots=True)
class DepthFinding(ReportedFinding):
    """The top of a ranker's answers at a smaller and a larger depth, and how often it differs."""

    golden_set: str
    ranker: str
    shallow: int
    deep: int
    differing: int
    """How many queries have a different top."""
    queries: int
    """How many queries were asked at both depths; 0 if the ranker does not take the depth."""
    examples: tuple[str, ...] = ()
    """The first few differing queries."""
