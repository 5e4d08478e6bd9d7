"""Findings about what a gate does not decide: slices that are too small, tests that cannot fail."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rankcheck.reports.findings import FindingOfTest

__all__ = [
    "IndecisiveGateFinding",
    "RarelyDecidingFinding",
    "UngatedFallFinding",
    "UngatedSlice",
    "UngatedSlicesFinding",
]


@dataclass(frozen=True, slots=True)
class UngatedSlice:
    """A slice that a gate does not decide on."""

    label: str
    """The slice as ``attribute=value``."""
    queries: int
    changed: int | None = None
    """How many queries changed, if those are too few; None: the slice has too few queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UngatedSlicesFinding(FindingOfTest):
    """The slices that an assertion names with ``by``, but does not gate."""

    golden_set: str
    metrics: tuple[str, ...]
    unit: str
    """What has a value: query or session."""
    slices: int
    """The number of slices, gated or not."""
    not_gated: tuple[UngatedSlice, ...]
    min_queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UngatedFallFinding(FindingOfTest):
    """A slice that is not gated, and fell by more than chance."""

    golden_set: str
    metric: str
    unit: str
    """What has a value: query or session."""
    label: str
    """The slice as ``attribute=value``."""
    queries: int
    before: float
    now: float
    p: float
    """One-sided, by sign flips; corrected by Holm for all slices that are not gated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndecisiveGateFinding(FindingOfTest):
    """A gate that passed, but could not have failed: too few changes, or too wide an allowance."""

    golden_set: str
    metric: str
    gate: str
    """The gate as the configuration writes it."""
    units: str = ""
    """How many queries could show a fall, such as ``3 changed queries``; empty without a test."""
    smallest_p: float | None = None
    """The smallest p that a fall could have; None without a test."""
    decisions: int = 1
    """How many decisions share the level."""
    alpha: float | None = None
    allowed: float | None = None
    """How far the mean may fall; None if the allowance is not the reason."""
    room: float | None = None
    """How far the mean of the baseline is from the worst possible value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RarelyDecidingFinding(FindingOfTest):
    """A gate whose test left open what happened, as it mostly does with so few queries."""

    golden_set: str
    metric: str
    gate: str
    """The gate as the configuration writes it."""
    units: str
    """How many queries there are, such as ``60 queries``, or how many clusters."""
    fewest: int
    """With fewer of them, the test rarely decides."""
