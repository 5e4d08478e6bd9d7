"""Compare the limits under which rankings were approved with the limits of the test now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.errors import plural

if TYPE_CHECKING:
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

__all__ = [
    "LIMITED_BY",
    "UNCOMPARED",
    "approved_changes",
    "changed_rankings",
    "loosened_limits",
    "loosened_texts",
    "recorded_limits",
    "uncompared",
]

_CHANGED = re.compile(r"([0-9][0-9,]*) rankings? changed")

LIMITED_BY = "the rankings were limited by "
"""The start of the text about looser limits; an approval of looser limits contains it."""

UNCOMPARED = "the rankings are no longer compared with those of the baseline"


def changed_rankings(count: int) -> str:
    """Return the text of a reason for changed rankings, which `approved_changes` reads."""
    return f"{plural(count, 'ranking')} changed"


def approved_changes(approvals: Iterable[Approval]) -> int:
    """Return how many changed rankings these reasons approve."""
    texts = [approval.change or "" for approval in approvals]
    return sum(int(count.replace(",", "")) for text in texts for count in _CHANGED.findall(text))


def uncompared(now: Sequence[StabilityLimits], record: Record) -> Sequence[str]:
    """Return a text if a test no longer compares rankings, otherwise nothing."""
    return [UNCOMPARED] if record.stability and not now else []


def loosened_limits(
    now: Sequence[StabilityLimits], approved: Iterable[StabilityLimits]
) -> Sequence[StabilityLimits]:
    """Return the approved limits for which the test has none that are at least as strict."""
    return [
        then for then in approved if not any(each.is_at_least_as_strict_as(then) for each in now)
    ]


def loosened_texts(now: Sequence[StabilityLimits], record: Record) -> Sequence[str]:
    """Describe the limits of a record that a test has loosened; nothing if it has no limits."""
    if not now:
        return []
    given = " and by ".join(dict.fromkeys(map(str, now)))
    return [
        f"{LIMITED_BY}{then}, and are limited by {given} now"
        for then in loosened_limits(now, record.stability)
    ]


def recorded_limits(
    now: Iterable[StabilityLimits], record: Record | None, *, is_approved: bool
) -> tuple[StabilityLimits, ...]:
    """Return the limits to record, in a fixed order; looser limits need a reason.

    Args:
        now: those of the test.
        record: the approved record; None without one.
        is_approved: whether a reason covers everything that was measured.
    """
    unique = {str(each): each for each in now}
    limits = tuple(unique[text] for text in sorted(unique))
    if record is None or is_approved or not loosened_limits(limits, record.stability):
        return limits
    return record.stability
