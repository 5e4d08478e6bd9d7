"""Laws of swaps: what exchanging two neighbours changes, and at which rank.

A swap at rank i exchanges the documents at ranks i and i+1. After Balestra, Mayr and Müller 2024
(arXiv:2408.16009), who name the properties for two rankings; the bounds are ours, and written out.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.laws.law_cases import Cases, CounterExample, Shown, Subject, ranked
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["changes_by_rank", "robust_1", "sensitive", "share_seen"]


def robust_1(subject: Subject) -> Cases:
    """Robustness of type I: a swap in one ranking changes it little: by less than half.

    For every ranking r and every i: |m(r') - m(r)| < 1/2 |m(best) - w|, where r' is r with a swap
    at rank i, m(best) the best value of a ranking of these documents and w the worst end of the
    range; where that is infinite, the worst value of a ranking of these documents. By how much at
    each rank is `changes_by_rank`.
    """
    rankings = subject.rankings
    best, worst = subject.grouped(best=True), subject.grouped(best=False)
    end = subject.ends()[0]
    span = best - (worst if np.isinf(end) else end)
    changes = _changes(subject)
    broken = (changes > subject.tolerance) & (changes >= span / 2 - subject.tolerance)

    def told(case: int) -> CounterExample:
        place, row = divmod(case, len(rankings.sequences))
        share = changes[place, row] / span[row] if span[row] else np.inf
        return CounterExample(
            f"the swap at rank {place + 1} changes the value by {share:.0%} of what the best "
            "ranking of these documents has",
            (
                Shown(ranked(rankings.sequences[row]), subject.values[row]),
                Shown(ranked(rankings.swapped(place)[row]), subject.swapped(place)[row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken.ravel(), np.tile(rankings.binary, rankings.n - 1), told)


def sensitive(subject: Subject) -> Cases | None:
    """Sensitivity: the top weighs most.

    Let w_i be the largest |m(r') - m(r)| of a swap at rank i, over all rankings r of the same
    documents. For every judgments: w_1 >= w_2 >= ..., and w_1 > the last of them, unless all are
    0; and not all are 0 for every judgments. With a cutoff k, swaps inside the top k count (those
    at ranks 1 to k-1); what enters or leaves the top k is another matter. It needs two places to
    compare, so it says nothing for k < 3.
    """
    rankings = subject.rankings
    k = min(subject.metric.cutoff or rankings.n, rankings.n)
    if k < 3:
        return None
    groups = rankings.groups
    weights = np.zeros((k - 1, int(groups.max()) + 1))
    for place, change in enumerate(_changes(subject)[: k - 1]):
        np.maximum.at(weights[place], groups, change)
    tolerance = subject.tolerance
    sees = weights.max(axis=0) > tolerance
    falls = (np.diff(weights, axis=0) <= tolerance).all(axis=0)
    broken = sees & ~(falls & (weights[0] > weights[-1] + tolerance))
    if not sees.any():
        broken = ~broken
    first = np.array([int(np.argmax(groups == group)) for group in range(len(broken))])

    def told(group: int) -> CounterExample:
        judged = rankings.ideal[first[group]]
        listed = ", ".join(f"{weight:.3g}" for weight in weights[:, group])
        why = (
            f"of documents with the grades {' '.join(f'{grade:g}' for grade in judged)}, the most "
            f"that a swap at rank 1, 2, ... changes is {listed}"
        )
        return CounterExample(
            why if sees.any() else "no swap changes anything", (), tuple(judged.tolist())
        )

    return Cases(broken, rankings.binary[first], told)


def changes_by_rank(subject: Subject) -> FloatArray:
    """Return the most that a swap at rank 1, 2, ... changes, ``[n-1]``, over all the rankings."""
    largest: FloatArray = _changes(subject).max(axis=1, initial=0.0)
    return largest


def _changes(subject: Subject) -> FloatArray:
    """Return by how much a swap at each rank changes each ranking, ``[n-1, S]``; 0 if unknown."""
    places = range(subject.rankings.n - 1)
    changes = np.stack([np.abs(subject.swapped(i) - subject.values) for i in places])
    known: FloatArray = np.nan_to_num(changes, nan=0.0)
    return known


def share_seen(subject: Subject) -> tuple[float, float]:
    """Return the share of swaps that change the value, on binary judgments and on all.

    Of the swaps of neighbours with different grades: no metric tells documents of one grade apart.
    """
    rankings = subject.rankings
    differ = np.diff(rankings.sequences, axis=1).T != 0
    seen = _changes(subject) > subject.tolerance
    shares = [float(seen[differ & chosen].mean()) for chosen in (rankings.binary, np.array(True))]
    return shares[0], shares[1]
