"""Slices that a golden set has gained or lost since the baseline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.metric_check import Check
    from pytest_rankcheck.golden.judged_queries import JudgedQueries

__all__ = ["SliceChange", "SliceState", "slice_changes"]


class SliceState(StrEnum):
    """What became of a slice of the baseline."""

    VANISHED = "vanished"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class SliceChange:
    """A slice that differs from the baseline's."""

    attribute: str
    state: SliceState
    value: str
    """The value of the attribute."""
    queries: int
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
