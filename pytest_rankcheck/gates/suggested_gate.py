"""Which gate a golden set of a given size should have."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SUGGESTIONS", "SuggestedGate", "suggested_gate"]


@dataclass(frozen=True, slots=True)
class SuggestedGate:
    """A gate for golden sets of some size."""

    queries: int
    """The smallest number of queries that it is for."""
    gate: str
    """The gate as written in the configuration, for metrics from 0 to 1."""
    reason: str
    """Why, as a part of a sentence."""


SUGGESTIONS = (
    SuggestedGate(
        0,
        "significant(max_query_drop=0.5)",
        "so few queries can only show a collapse; judge at least 30",
    ),
    SuggestedGate(
        30,
        "significant(max_query_drop=0.5)",
        "so few queries show large falls only, and the limit for single queries catches a collapse",
    ),
    SuggestedGate(
        50,
        "significant(max_query_drop=0.5)",
        "most innocent changes would be inconclusive under noninferior(margin=0.02)",
    ),
    SuggestedGate(
        100, "significant()", "it blocks few innocent changes and shows falls of medium size"
    ),
    SuggestedGate(
        200,
        "noninferior(margin=0.05)",
        "enough queries to rule out a fall of 0.05, but often not one of 0.02",
    ),
    SuggestedGate(1000, "noninferior(margin=0.02)", "enough queries to rule out a fall of 0.02"),
)
"""By size, smallest first."""


def suggested_gate(queries: int) -> SuggestedGate:
    """Return the gate for a golden set with this many counted queries, at least 0."""
    return next(each for each in reversed(SUGGESTIONS) if each.queries <= queries)
