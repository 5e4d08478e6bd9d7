"""What the linter found: where it is, why it matters for a gate, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_rankcheck.errors import listed

__all__ = ["Finding", "Found", "Level"]

Level = Literal["error", "warning", "ignore"]

_SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True)
class Found:
    """What a rule found, with all the queries it concerns."""

    query_ids: tuple[str, ...]
    """The queries that it concerns; none where it concerns the whole set."""
    what: str
    why: str
    remedy: str
    places: tuple[str, ...] = ()
    """Where it stands, as ``file:line``, as far as that is known."""


@dataclass(frozen=True, slots=True)
class Finding(Found):
    """One thing that the linter found: what, where, why it matters, and what to do."""

    rule: str = ""
    level: Level = "warning"
    """``"error"`` fails ``--rankcheck-lint``, ``"warning"`` is shown."""

    @classmethod
    def of(cls, found: Found, rule: str, level: Level) -> Finding:
        """Return what a rule found, as a finding of that rule."""
        return cls(found.query_ids, found.what, found.why, found.remedy, found.places, rule, level)

    @property
    def message(self) -> str:
        """All of it in a line."""
        where = f" ({listed(self.places, _SHOWN_PLACES)})" if self.places else ""
        return f"{self.what}. {self.why}; {self.remedy}{where}"

    def __str__(self) -> str:
        return f"{self.level} {self.rule}: {self.message}"
