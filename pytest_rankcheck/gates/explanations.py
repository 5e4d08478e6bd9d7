"""What explains a verdict beyond its evidence: what it depends on, what other gates would say."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fragility", "OtherRuling"]


@dataclass(frozen=True, slots=True)
class Fragility:
    """The fewest queries, or clusters of queries, without which a verdict is another one."""

    units: tuple[str, ...]
    """The ids of the queries, or the names of the clusters; at most three."""
    queries: tuple[tuple[str, ...], ...]
    """The ids of the queries of each unit."""
    are_clusters: bool
    """Whether the units are clusters."""
    ruling: str
    """What the verdict would be without them: passed, regressed or inconclusive."""


@dataclass(frozen=True, slots=True)
class OtherRuling:
    """What another gate would have decided on the same values."""

    gate: str
    """The gate as written in the configuration."""
    ruling: str
    """Passed, regressed or inconclusive."""
