"""Cliff's delta, a measure of how often one sample exceeds another, with its test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import FloatArray

__all__ = ["Dominance", "dominance", "paired_dominance"]


@dataclass(frozen=True, slots=True)
class Dominance:
    """How often the values of one sample exceed those of another, and how surely."""

    delta: float
    """Cliff's delta, in [-1, 1]: the share of pairs in which the first sample's value is larger,
    minus the share in which it is smaller."""
    p: float
    """The two-sided p-value, in [0, 1]."""


def dominance(first: FloatArray, second: FloatArray) -> Dominance:
    """Compare two independent samples by Cliff's delta and the Mann-Whitney test.

    Delta is ``(#{x > y} - #{x < y}) / (m n)`` over all pairs of values (Cliff, Dominance
    statistics, Psychological Bulletin 1993, equation 2), which is ``2 U / (m n) - 1``.

    Args:
        first: ``[m]`` values, at least one.
        second: ``[n]`` values, at least one.
    """
    from scipy.stats import mannwhitneyu

    test = mannwhitneyu(first, second)
    delta = 2 * float(test.statistic) / (len(first) * len(second)) - 1
    return Dominance(delta, float(test.pvalue))


def paired_dominance(first: FloatArray, second: FloatArray) -> Dominance:
    """Compare two measurements of the same units by Cliff's paired delta and Wilcoxon's test.

    Delta is ``(#{x_i > y_i} - #{x_i < y_i}) / n`` (Cliff 1993, the within-subjects delta). Equal
    pairs count in its denominator, but not in the test, as Wilcoxon proposed.

    Args:
        first: ``[n]`` values, at least one.
        second: ``[n]`` values of the same units.
    """
    from scipy.stats import wilcoxon

    signs = np.sign(first - second)
    delta = float(signs.mean())
    if not signs.any():
        return Dominance(delta, 1.0)
    return Dominance(delta, float(wilcoxon(first, second).pvalue))
