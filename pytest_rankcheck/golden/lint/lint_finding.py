"""Findings of the linter: what is wrong, where, why it matters for a gate, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_rankcheck.errors import listed

__all__ = ["Level", "LintFinding", "RuleResult"]


Level = Literal["error", "warning", "ignore"]

_SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The result of a rule that found a problem; without places, those of its queries count."""

    query_ids: tuple[str, ...]
    """The queries concerned; empty if the problem concerns the whole set."""
    what: str
    why: str
    remedy: str
    places: tuple[str, ...] = ()
    """The places, as ``file:line``, as far as known."""


@dataclass(frozen=True, slots=True)
class LintFinding(RuleResult):
    """A finding of the linter: what is wrong, where, why it matters, and what to do."""

    rule: str = ""
    level: Level = "warning"
    """``"error"`` fails ``--rankcheck-lint``, ``"warning"`` is shown."""

    @property
    def message(self) -> str:
        """The whole finding on one line."""
        where = f" ({listed(self.places, _SHOWN_PLACES)})" if self.places else ""
        return f"{self.what}. {self.why}; {self.remedy}{where}"

    def __str__(self) -> str:
        return f"{self.level} {self.rule}: {self.message}"
