"""The age of a baseline: the commit that last changed its approved lines."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BaselineAge"]


@dataclass(frozen=True, slots=True)
class BaselineAge:
    """The commit that last changed the approved lines of a baseline."""

    commit: str
    """Its abbreviated hash."""
    date: str
    """The day on which it was committed, such as ``2024-05-01``."""
    days: int
    """How many whole days have passed since then."""

    @property
    def text(self) -> str:
        """The age in words, such as ``12 days old (3f2a91c, 2024-05-01)``."""
        days = "1 day" if self.days == 1 else f"{self.days:,} days"
        age = f"{days} old" if self.days else "less than a day old"
        return f"{age} ({self.commit}, {self.date})"
