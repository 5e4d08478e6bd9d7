"""How much of a difference comes from slices that grew or shrank, in words."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.gates.explanations import MixEffect
from pytest_rankcheck.gates.verdict import Verdict
from pytest_rankcheck.reports.text.wording import change

__all__ = ["mix_lines", "mix_text"]


def mix_lines(verdict: Verdict) -> Iterator[str]:
    """Yield the difference at the baseline's mix, by attribute."""
    for effect in verdict.mixes:
        is_decided = effect.attribute == verdict.standardised_by
        yield mix_text(effect, is_decided=is_decided)


def mix_text(effect: MixEffect, *, is_decided: bool) -> str:
    """Return ``+0.0210 at the baseline's mix of device; -0.0510 is mix``.

    Args:
        effect: the effect of the mix.
        is_decided: whether the gate decides on the difference at the baseline's mix.
    """
    name = quoted(effect.attribute, 60)
    gone = ""
    if effect.missing_share:
        gone = f" (without slices that had {effect.missing_share:.1%} of it and are gone)"
    whole = effect.at_mix + effect.mix
    decided = f", which decides; as it is, {change(whole)}" if is_decided else ""
    return (
        f"{change(effect.at_mix)} at {quoted(effect.of)}'s mix of {name}{gone}{decided}; "
        f"{change(effect.mix)} is mix"
    )
