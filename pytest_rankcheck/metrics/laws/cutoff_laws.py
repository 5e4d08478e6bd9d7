"""Laws of the cutoff: what m@k sees of a ranking."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.laws.law_cases import Cases, CounterExample, Shown, Subject, ranked

__all__ = ["cutoff_beyond", "cutoff_local"]


def cutoff_local(subject: Subject) -> Cases | None:
    """What stands below the cutoff changes nothing.

    For every ranking r and every k: m@k(r) = m@k(r cut at k), on the same judgments.
    """
    if subject.metric.definition.at != "cutoff":
        return None
    rankings = subject.rankings
    cutoffs = range(1, rankings.n)
    whole = np.stack([subject.compute(rankings.hits(), k) for k in cutoffs])
    cut = np.stack(
        [subject.compute(rankings.hits(_top(rankings.sequences, k)), k) for k in cutoffs]
    )
    broken = _differ(whole, cut, subject.tolerance)

    def told(case: int) -> CounterExample:
        at, row = divmod(case, len(rankings.sequences))
        return CounterExample(
            f"at a cutoff of {at + 1}, what stands below it counts",
            (
                Shown(ranked(rankings.sequences[row]), whole[at, row]),
                Shown(ranked(_top(rankings.sequences, at + 1)[row]), cut[at, row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken.ravel(), np.tile(rankings.binary, len(cutoffs)), told)


def cutoff_beyond(subject: Subject) -> Cases | None:
    """A cutoff at or beyond the end of the ranking changes nothing.

    For every ranking r of n documents and every k >= n: m@k(r) = m(r). Tried with n and 2n.
    """
    if subject.metric.definition.at != "cutoff":
        return None
    rankings = subject.rankings
    definition, parameters = subject.metric.definition, dict(subject.metric.parameters)
    whole = definition(rankings.hits(), None, parameters)
    cutoffs = (rankings.n, 2 * rankings.n)
    found = np.stack([subject.compute(rankings.hits(), k) for k in cutoffs])
    broken = _differ(found, whole, subject.tolerance)

    def told(case: int) -> CounterExample:
        at, row = divmod(case, len(rankings.sequences))
        sequence = rankings.sequences[row]
        return CounterExample(
            f"a cutoff of {cutoffs[at]} changes what {rankings.n} documents score",
            (
                Shown(ranked(sequence, " (no cutoff)"), whole[row]),
                Shown(ranked(sequence, f" (cutoff {cutoffs[at]})"), found[at, row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken.ravel(), np.tile(rankings.binary, len(cutoffs)), told)


def _top(sequences: np.ndarray, k: int) -> np.ndarray:
    top = sequences.copy()
    top[:, k:] = np.nan
    return top


def _differ(one: np.ndarray, other: np.ndarray, tolerance: float) -> np.ndarray:
    """Return where values differ; NaN is the same as NaN."""
    same = (np.abs(one - other) <= tolerance) | (np.isnan(one) & np.isnan(other))
    different: np.ndarray = ~same
    return different
