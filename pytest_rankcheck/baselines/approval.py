"""An approval: why, when, by whom and at which commit a baseline was changed on purpose."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pytest_rankcheck.errors import quoted

__all__ = ["Approval"]


@dataclass(frozen=True, slots=True)
class Approval:
    """The written reason for a change; it stays in the record for ever."""

    reason: str
    date: str
    commit: str | None
    """The commit that was checked out: the parent of the commit that adds the approval."""
    author: str | None
    fall: Mapping[str, Mapping[str, float | None]]
    """What fell: metric, or ``metric, slice`` -> ``{"from": mean, "to": mean}``."""
    change: str | None = None
    """What else needed the reason, such as another depth or removed queries; None for nothing."""
    raised: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """What was raised within the noise: metric -> ``{"from": mean, "to": mean}``."""

    @classmethod
    def now(
        cls,
        reason: str,
        folder: Path,
        fall: Mapping[str, Mapping[str, float | None]],
        change: str | None = None,
        raised: Mapping[str, Mapping[str, float | None]] | None = None,
    ) -> Approval:
        """Return an approval made now, with commit and author from git in ``folder``."""
        from pytest_rankcheck.files.git_commands import git_line

        name, email = (
            os.environ.get(f"GIT_AUTHOR_{part.upper()}")
            or git_line(folder, "config", f"user.{part}")
            for part in ("name", "email")
        )
        author = f"{name} <{email}>" if name and email else name or email
        date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        commit = git_line(folder, "rev-parse", "HEAD")
        return cls(reason, date, commit, author, fall, change, raised or {})

    def to_dict(self) -> dict[str, object]:
        """Return the approval as the record's file has it."""
        entry: dict[str, object] = {
            "reason": self.reason,
            "date": self.date,
            "commit": self.commit,
            "author": self.author,
            "fall": {name: dict(means) for name, means in self.fall.items()},
        }
        if self.change is not None:
            entry["change"] = self.change
        if self.raised:
            entry["raised"] = {name: dict(means) for name, means in self.raised.items()}
        return entry

    @property
    def text(self) -> str:
        """Who approved it and why, in one line: ``approved by Ada: "half the latency"``."""
        name = (self.author or "").partition(" <")[0]
        by = f" by {quoted(name, 60)}" if name else ""
        return f'approved{by}: "{quoted(self.reason, 200)}"'

    def explains(self, text: str) -> bool:
        """Return whether the reason is about another change than a fall, with these words."""
        return text in (self.change or "")

    def covers(self, metric: str) -> bool:
        """Return whether the reason is about a fall of this metric, overall or in a slice."""
        return any(name == metric or name.startswith(f"{metric}, ") for name in self.fall)
