"""What a verdict depends on, and what other gates would have decided, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.gates.explanations import Fragility, OtherRuling
from pytest_rankcheck.gates.verdict import Verdict

__all__ = ["explanation_lines", "fragility_text", "other_rulings_text"]

_WOULD = {
    "passed": "would have passed",
    "regressed": "would have regressed",
    "inconclusive": "would have been inconclusive",
}


def explanation_lines(verdict: Verdict) -> Iterator[str]:
    """Yield what a failing or inconclusive verdict depends on, and what other gates would say."""
    if verdict.fragility is not None:
        yield f"  fragile: {fragility_text(verdict.fragility)}"
    if verdict.other_rulings:
        yield f"  {other_rulings_text(verdict.other_rulings)}"
        gate = verdict.other_rulings[0].gate
        yield (
            f"  to use such a gate: gate=Gate.{gate} in the assertion, or rankcheck_gate = "
            f'"{gate}" in the configuration'
        )


def fragility_text(fragility: Fragility) -> str:
    """Return ``without query q17 it would have passed``, or clusters with their sizes."""
    names = [
        f"{quoted(unit, 60)} ({plural(len(ids), 'query', 'queries')})"
        if fragility.are_clusters
        else quoted(unit, 60)
        for unit, ids in zip(fragility.units, fragility.queries, strict=True)
    ]
    one, several = ("cluster", "clusters") if fragility.are_clusters else ("query", "queries")
    kind = one if len(names) == 1 else several
    shown = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    return f"without {kind} {shown} it {_WOULD[fragility.ruling]}"


def other_rulings_text(rulings: Sequence[OtherRuling]) -> str:
    """Return that a gate allows no fall, and what other gates would have decided."""
    others = "; ".join(f"under {each.gate} it {_WOULD[each.ruling]}" for each in rulings)
    return (
        "this gate allows no fall, so it blocks about half of the changes that make no real "
        f"difference; {others}"
    )
