"""The limits that rankings were approved under, against those of a test now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.record import Record

if TYPE_CHECKING:
    from pytest_rankcheck.behaviour.stability_limits import StabilityLimits

__all__ = [
    "LIMITED_BY",
    "UNCOMPARED",
    "approved_changes",
    "loosened_limits",
    "loosened_texts",
    "recorded_limits",
    "uncompared",
]

_CHANGED = re.compile(r"([0-9][0-9,]*) rankings? changed")

LIMITED_BY = "the rankings were limited by "
"""How the text of looser limits begins; a reason for them contains it."""

UNCOMPARED = "the rankings are no longer compared with those of the baseline"


def approved_changes(approvals: Iterable[Approval]) -> int:
    """Return how many rankings may differ for these reasons."""
    texts = [approval.change or "" for approval in approvals]
    return sum(int(count.replace(",", "")) for text in texts for count in _CHANGED.findall(text))


def uncompared(now: Sequence[StabilityLimits], record: Record) -> Sequence[str]:
    """Return that a test no longer compares rankings, as text; nothing if it does."""
    return [UNCOMPARED] if record.stability and not now else []


def loosened_limits(
    now: Sequence[StabilityLimits], approved: Iterable[StabilityLimits]
) -> Sequence[StabilityLimits]:
    """Return the approved limits that may fail what no limits of the test fail."""
    return [
        then for then in approved if not any(each.is_at_least_as_strict_as(then) for each in now)
    ]


def loosened_texts(now: Sequence[StabilityLimits], record: Record) -> Sequence[str]:
    """Return which limits of a record are looser in a test that compares rankings, as text."""
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
    """Return the limits to record, in a fixed order: looser ones only with a reason.

    Args:
        now: those of the test.
        record: the approved record; None without one.
        is_approved: whether a reason covers everything that is measured.
    """
    unique = {str(each): each for each in now}
    limits = tuple(unique[text] for text in sorted(unique))
    if record is None or is_approved or not loosened_limits(limits, record.stability):
        return limits
    return record.stability
