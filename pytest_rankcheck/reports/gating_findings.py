"""Findings about what a gate does not decide: slices that are too small, tests that cannot fail."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rankcheck.gates.explanations import MixEffect, ReplayEvidence
from pytest_rankcheck.reports.findings import FindingOfTest

__all__ = [
    "GatedSizeFinding",
    "IndecisiveGateFinding",
    "MixFinding",
    "MostlyInconclusiveFinding",
    "RarelyDecidingFinding",
    "ReplayFinding",
    "SliceOdds",
    "UngatedFallFinding",
    "UngatedSlice",
    "UngatedSlicesFinding",
    "UnshownFallFinding",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFinding(FindingOfTest):
    """What the verdict on a replayed log rests on."""

    golden_set: str
    metric: str
    evidence: ReplayEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class MixFinding(FindingOfTest):
    """How much of a difference comes from slices that grew or shrank."""

    golden_set: str
    metric: str
    effect: MixEffect
    is_decided: bool
    """Whether the gate decides on the difference at the baseline's mix."""


@dataclass(frozen=True, slots=True)
class SliceOdds:
    """How often a slice would be inconclusive."""

    label: str
    """The slice as ``attribute=value``."""
    queries: int
    share: float
    """Of the changes that lose nothing, in [0, 1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MostlyInconclusiveFinding(FindingOfTest):
    """A gate with a margin whose slices are too small for it."""

    golden_set: str
    metric: str
    gate: str
    """The gate as the configuration writes it."""
    margin: float
    share: float
    """How often at least one slice of an attribute would be inconclusive, in [0, 1]."""
    slices: tuple[SliceOdds, ...]
    """The slices that are inconclusive most often, the most often first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnshownFallFinding(FindingOfTest):
    """A fall that passed because chance could explain it."""

    golden_set: str
    metric: str
    gate: str
    """The gate as the configuration writes it."""
    unit: str
    """What has a value: query or session."""
    queries: int
    before: float
    now: float
    p: float
    """One-sided; corrected for all decisions of the assertion."""
    detectable: float | None
    """The smallest fall that would be shown with a power of 80%; None: unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedSizeFinding(FindingOfTest):
    """How many queries a gate decided on, where something changed."""

    golden_set: str
    metric: str
    gate: str
    """The gate as the configuration writes it."""
    queries: int
