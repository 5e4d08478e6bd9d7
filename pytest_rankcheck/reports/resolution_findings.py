"""Findings about what a golden set can see of a run."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = ["MetricResolutionDetail", "ResolutionFinding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolutionFinding(ReportedFinding):
    """What metrics can see of a run on a golden set.

    A swap exchanges two neighbours; a loss takes a relevant document out of a ranking.
    """

    golden_set: str
    rankings: str
    """The same as that of the measurement of the same rankings."""
    run: str | None
    """None: the ideal rankings, without a run."""
    queries: int
    depth: int | None
    """The swaps at rank 1 to ``depth`` were tried; None: all."""
    swaps: int
    telling: int
    """The swaps of documents with different grades."""
    losses: int
    metrics: dict[str, MetricResolutionDetail]
    gated: tuple[str, ...]
    """The metrics to gate, which the recommendation explains."""
    agreement: dict[str, dict[str, float | None]]
    """Kendall's tau-b of each two metrics over the queries."""
    recommendation: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResolutionDetail:
    """What one metric can see: shares from 0 to 1, and steps in the unit of the metric."""

    seen: float | None
    seen_of_telling: float | None
    losses_seen: float | None
    sight_of_order: float | None
    """How clearly the metric shows a lower grade above a higher one."""
    sight_of_losses: float | None
    """How clearly the metric shows losses."""
    step: float | None
    step_of_mean: float | None
    at_ceiling: float | None
    at_floor: float | None
    fixed: float | None
    queries: int
    nearest: str | None
    """The other metric with the highest tau."""
    tau: float | None
