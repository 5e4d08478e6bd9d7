"""Which gate a golden set of a given size should have: the table of ``docs/which-gate.md``.

It is for nDCG and other averages over the top ten; ``benchmarks/gate_choice.py`` measures it.
"""

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
        0, "significant()", "so few queries show a collapse and nothing else; judge at least 30"
    ),
    SuggestedGate(
        30,
        "significant()",
        "it seldom blocks an innocent change, and noninferior(margin=0.02) would leave nearly all "
        "of them inconclusive",
    ),
    SuggestedGate(
        50,
        "significant()",
        "it seldom blocks an innocent change, and noninferior(margin=0.02) would leave three "
        "in four of them inconclusive",
    ),
    SuggestedGate(
        100,
        "significant()",
        "it shows most falls of 0.04, and noninferior(margin=0.02) would leave four in ten "
        "innocent changes inconclusive",
    ),
    SuggestedGate(
        200,
        "noninferior(margin=0.03)",
        "it rules out a fall of 0.03, and decides on most innocent changes",
    ),
    SuggestedGate(1000, "noninferior(margin=0.02)", "enough queries to rule out a fall of 0.02"),
)
"""By size, smallest first."""


def suggested_gate(queries: int) -> SuggestedGate:
    """Return the gate for a golden set with this many counted queries, at least 0."""
    return next(each for each in reversed(SUGGESTIONS) if each.queries <= queries)
