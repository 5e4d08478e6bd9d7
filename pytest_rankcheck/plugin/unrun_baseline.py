"""A baseline whose gate did not run, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import quoted

__all__ = ["ExpectedRecord", "Unrun", "Why"]


class Why(Enum):
    """Why the gate of a baseline did not run."""

    FILE_GONE = "its test file is gone"
    TEST_GONE = "its test is gone"
    NOT_COLLECTED = "its test file exists, but was not collected"
    FILE_SKIPPED = "its test file skips itself"
    SKIPPED = "its test was skipped"
    XFAILED = "its test is expected to fail (xfail)"
    LEFT_OUT = "its test was deselected by the project"
    EXCLUDED = "its test was excluded by a marker in addopts"
    ADDED_SINCE = "the reference has added it since this branch left it, so merge the reference"
    NOT_STARTED = "the test session ended before its test"
    NOT_COMPARED = "its test passed, but did not compare this golden set with it"
    FAILED = "its test failed"
    DESELECTED = "its test was deselected on the command line"
    NOT_CHOSEN = "its test was not selected for this test session"


_GONE = (Why.FILE_GONE, Why.TEST_GONE)
_NO_FAULT = (Why.FAILED, Why.NOT_CHOSEN, Why.DESELECTED)
"""The reasons that are not listed."""


@dataclass(frozen=True, slots=True)
class ExpectedRecord:
    """A baseline whose gate should run."""

    path: Path
    shown_path: str
    """Relative to the root of the project."""
    record: Record | None
    """None if the file cannot be read."""

    @property
    def golden_name(self) -> str:
        """The golden set of the record, or what the file's name says of it."""
        if self.record is not None:
            return self.record.golden_name
        return self.path.stem.rpartition("--")[2]

    @property
    def gated(self) -> tuple[str, ...]:
        """The metrics that it gates."""
        return self.record.gated if self.record else ()


@dataclass(frozen=True, slots=True)
class Unrun:
    """A baseline whose gate did not run, and why."""

    expected: ExpectedRecord
    why: Why
    detail: str = ""
    """Why a test was skipped or is expected to fail."""

    @property
    def is_gone(self) -> bool:
        """Whether the test no longer exists."""
        return self.why in _GONE

    @property
    def is_listed(self) -> bool:
        """Whether people should know."""
        return self.why not in _NO_FAULT

    @property
    def is_failure(self) -> bool:
        """Whether its test failed, which fails the test session anyway."""
        return self.why is Why.FAILED

    @property
    def is_excused(self) -> bool:
        """Whether the test session is right without it: nothing that was gated is lost."""
        return self.why in (Why.EXCLUDED, Why.ADDED_SINCE)

    @property
    def text(self) -> str:
        """What is said about it."""
        metrics = f" ({', '.join(self.expected.gated)})" if self.expected.gated else ""
        detail = f": {quoted(self.detail, 200)}" if self.detail else ""
        return f"{quoted(self.expected.shown_path, 200)}{metrics}: {self.why.value}{detail}"
