"""An approval: why, when and by whom a baseline was changed on purpose, and what it allows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_rankcheck.baselines.change import Change
from pytest_rankcheck.baselines.typed_json import decoded, decoded_fields, encoded
from pytest_rankcheck.errors import quoted


@dataclass(frozen=True, slots=True)
class Approval:
    """The written reason for a change; it stays in the record."""

    reason: str
    date: str
    commit: str | None
    """The commit that was checked out: the parent of the commit that adds the approval."""
    author: str | None
    keys: tuple[Change, ...] = ()
    """The changes that it allows; the name of each in the file is its key."""

    @classmethod
    def now(cls, reason: str, folder: Path, keys: Sequence[Change] = ()) -> Approval:
        """Return an approval made now, with commit and author from git in ``folder``."""
        from pytest_rankcheck.files.git_commands import git_line

        name, email = (
            os.environ.get(f"GIT_AUTHOR_{part.upper()}")
            or git_line(folder, "config", f"user.{part}")
            for part in ("name", "email")
        )
        author = f"{name} <{email}>" if name and email else name or email
        date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return cls(reason, date, git_line(folder, "rev-parse", "HEAD"), author, tuple(keys))

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> Approval:
        """Return the approval of an entry in a record's file.

        Raises:
            ValueError: it has no reason, or a value of another type.
            KeyError: something is missing.
        """
        keys = decoded(Mapping[str, Mapping[str, Any]], entry["keys"])
        approval: Approval = decoded_fields(
            cls, entry, keys=tuple(Change.from_dict(name, key) for name, key in keys.items())
        )
        if not approval.reason.strip():
            raise ValueError(f"the approval of {quoted(approval.date)} has no reason")
        return approval

    def to_dict(self) -> Mapping[str, Any]:
        """Return the approval as the record's file has it."""
        entry = {name: getattr(self, name) for name in ("reason", "date", "commit", "author")}
        return {**entry, "keys": {key.name: encoded(key) for key in self.keys}}

    @property
    def text(self) -> str:
        """Who approved it and why, in one line: ``approved by Ada: "half the latency"``."""
        name = (self.author or "").partition(" <")[0]
        by = f" by {quoted(name, 60)}" if name else ""
        return f'approved{by}: "{quoted(self.reason, 200)}"'
