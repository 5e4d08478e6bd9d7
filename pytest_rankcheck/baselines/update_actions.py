"""What a test session may do to baselines, and what can become of a baseline file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["CAREFUL", "Action", "Mode", "says_budget_spent"]

_BUDGET_SPENT = re.compile(r"\bbudget\b[^.;]*\bspent\b|\bspen[td]\b[^.;]*\bbudget\b", re.I)


@dataclass(frozen=True, slots=True)
class Mode:
    """What this test session may do to baselines."""

    update: bool = False
    new_only: bool = False
    """Only baselines that do not exist yet may be written."""
    approval: str | None = None
    """The reason for which a baseline may fall."""
    raising: str | None = None
    """The reason for which a baseline is raised, though the gain is within the noise."""
    inconclusive: str = "warn"
    """How an inconclusive verdict counts: ``"pass"``, ``"warn"`` or ``"fail"``."""
    suspicious: str = "warn"
    """How an improvement that looks like a leak counts: ``"ignore"``, ``"warn"`` or ``"fail"``."""
    leak_budget: float | None = None
    """How far in total approvals may let a mean fall below the best approved one."""

    slide: str = "warn"
    """What the guard against the slide does: ``"off"``, ``"warn"`` or ``"fail"``."""
    slide_level: float | None = None
    """The share of innocent sequences of changes that the guard stops; None: the usual one."""
    slide_steps: int | None = None
    """How many changes there were since the best was approved, where git has no history."""

    @property
    def may_create(self) -> bool:
        """Whether a baseline that does not exist may be written."""
        return self.update or self.new_only

    @property
    def spends_budget(self) -> bool:
        """Whether the approval says that the budget of approved falls is spent."""
        return self.approval is not None and says_budget_spent(self.approval)


def says_budget_spent(reason: str) -> bool:
    """Return whether a reason says that the budget of approved falls is spent."""
    return _BUDGET_SPENT.search(reason) is not None


class Action(StrEnum):
    """What happens to a baseline file when its test has passed."""

    LEAVE = "unchanged"
    CREATE = "created"
    RAISE = "raised"
    REWRITE = "extended"
    """The approved lines stay; queries or metrics are added, or queries removed."""
    APPROVE = "approved"
    KEEP = "kept"
    """Lower inside the tolerance, or better within noise: the approved lines stay."""
    REFUSE = "refused"

    @property
    def writes(self) -> bool:
        """Whether the file is written."""
        return self in {Action.CREATE, Action.RAISE, Action.REWRITE, Action.APPROVE}


CAREFUL = (
    *(Action.REFUSE, Action.KEEP, Action.APPROVE, Action.LEAVE),
    *(Action.RAISE, Action.REWRITE, Action.CREATE),
)
"""The actions, the most careful first; if checks disagree about a file, the first one wins."""
