"""An approval: why, when, by whom and at which commit a baseline was allowed to fall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pytest_rankcheck.baselines.git_commands import asked

__all__ = ["Approval"]


@dataclass(frozen=True, slots=True)
class Approval:
    """The written reason of a fall, kept in the record for ever."""

    reason: str
    date: str
    commit: str | None
    """The commit that was checked out, so the parent of the one that brings the approval."""
    author: str | None
    fall: Mapping[str, Mapping[str, float | None]]
    """What fell: metric, or ``metric, slice`` -> ``{"from": mean, "to": mean}``."""
    change: str | None = None
    """What made the record not comparable, such as another depth; None if nothing did."""

    @classmethod
    def now(
        cls,
        reason: str,
        folder: Path,
        fall: Mapping[str, Mapping[str, float | None]],
        change: str | None = None,
    ) -> Approval:
        """Return an approval of this moment; commit and author are those of git in ``folder``."""
        name, email = asked(folder, "config", "user.name"), asked(folder, "config", "user.email")
        author = f"{name} <{email}>" if name and email else name or email
        date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return cls(reason, date, asked(folder, "rev-parse", "HEAD"), author, fall, change)

    def to_dict(self) -> dict[str, object]:
        """Return the approval as the record's file has it."""
        entry: dict[str, object] = {
            "reason": self.reason,
            "date": self.date,
            "commit": self.commit,
            "author": self.author,
            "fall": {name: dict(means) for name, means in self.fall.items()},
        }
        return entry if self.change is None else {**entry, "change": self.change}
