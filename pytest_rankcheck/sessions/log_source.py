"""What a format of session logs is given to read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.sessions.log_problems import Problems

__all__ = ["LogSource", "NumberedRow"]

NumberedRow = tuple[int, object]
"""A row with its line or number: ``{column: cell}``, if it is what it should be."""


@dataclass(frozen=True, slots=True)
class LogSource:
    """A file to read, and where rows are noted that cannot be used."""

    path: Path
    problems: Problems
