"""What explains a verdict beyond its evidence: what it depends on, what other gates would say.

Built-in types in every field: reports carry them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fragility", "OtherRuling", "TieEffect"]


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


@dataclass(frozen=True, slots=True)
class TieEffect:
    """How the order of documents with the same score affects a mean."""

    queries: int
    """In how many queries a judged document in the top k shares its score."""
    lowest: float
    """The lowest mean over all orders of the tied documents."""
    highest: float
    """The highest mean over all orders of the tied documents."""
    decides: bool
    """Whether the verdict depends on the order."""
