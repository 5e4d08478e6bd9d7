"""Slices that a golden set has gained or lost since the baseline, or that are gated no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.metric_check import Check
    from pytest_rankcheck.golden.judged_queries import JudgedQueries

__all__ = ["SliceChange", "SliceState", "dropped_slices", "slice_changes"]


class SliceState(StrEnum):
    """What became of a slice of the baseline, or of a whole attribute."""

    VANISHED = "vanished"
    NEW = "new"
    NOT_GATED = "not gated"
    """No check of the test gates by this attribute any more."""


@dataclass(frozen=True, slots=True)
class SliceChange:
    """A slice that differs from the baseline's."""

    attribute: str
    state: SliceState
    value: str = ""
    """The value of the attribute; empty if no slice of the attribute is gated any more."""
    queries: int = 0
    """The size of the slice: in the baseline if it has vanished, otherwise now."""


def slice_changes(check: Check, golden: JudgedQueries) -> Iterator[SliceChange]:
    """Yield which slices of a gated attribute appeared or vanished since the record."""
    recorded = check.record.slices if check.record else {}
    for attribute in check.attributes:
        if attribute in recorded:
            before, now = recorded[attribute], golden.slices(attribute)
            for value in before:
                if value not in now:
                    yield SliceChange(attribute, SliceState.VANISHED, value, before[value])
            for value in now:
                if value not in before:
                    yield SliceChange(attribute, SliceState.NEW, value, len(now[value]))


def dropped_slices(checks: Sequence[Check]) -> Iterator[SliceChange]:
    """Yield the attributes that the record gates by, and no check of the test any more."""
    recorded = checks[0].record.slices if checks and checks[0].record else {}
    gated = {attribute for check in checks for attribute in check.attributes}
    for attribute in recorded:
        if attribute not in gated:
            yield SliceChange(attribute, SliceState.NOT_GATED)
