"""The law of growth: what happens when documents are added."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.laws.law_cases import (
    Cases,
    CounterExample,
    Shown,
    Subject,
    joined,
    ranked,
)
from pytest_rankcheck.metrics.laws.trial_rankings import Rankings, hits_of

__all__ = ["stable"]


def stable(subject: Subject) -> Cases:
    """Stability: a document that is added below two rankings does not change which is better.

    For all rankings r and s of the same documents and every judged document x: rx is better than
    sx, as good or worse, just as r is better than s, as good or worse, where x follows the last
    document of both. With a cutoff, it is tried where x falls below it and where x is the last
    that counts. After Balestra, Mayr and Müller 2024 (arXiv:2408.16009): adding items changes the
    value consistently.
    """
    rankings, cutoff = subject.rankings, subject.metric.cutoff
    trials = [_trial(subject)]
    if cutoff is not None and 1 < cutoff < rankings.n:
        within = np.unique(rankings.sequences[:, :cutoff], axis=0)
        trials.append(_trial(Subject(subject.metric, Rankings(within, rankings.scale))))
    return joined(trials)


def _trial(subject: Subject) -> Cases:
    """Add the last document of each ranking to what stands above it."""
    rankings = subject.rankings
    short = rankings.sequences[:, :-1]
    judged = -np.sort(-short, axis=1)
    before = subject.compute(hits_of(short, judged, rankings.max_grade))
    after = subject.values
    added = rankings.sequences[:, -1]
    keys = np.column_stack((rankings.groups, added))
    _, families = np.unique(keys, axis=0, return_inverse=True)
    families = families.reshape(-1)
    firsts, seconds = _pairs(families)
    tolerance = subject.tolerance

    def order(values: np.ndarray) -> np.ndarray:
        merits = subject.turned(values)
        differences = merits[firsts] - merits[seconds]
        signs: np.ndarray = np.where(np.abs(differences) <= tolerance, 0, np.sign(differences))
        return signs

    before_signs, after_signs = order(before), order(after)
    known = ~np.isnan(before_signs) & ~np.isnan(after_signs)
    broken = known & (before_signs != after_signs)

    def told(case: int) -> CounterExample:
        first, second = int(firsts[case]), int(seconds[case])
        words = {1: "better than", 0: "as good as", -1: "worse than"}
        was, now = words[int(before_signs[case])], words[int(after_signs[case])]
        return CounterExample(
            f"the first ranking is {was} the second, and {now} it when a document of grade "
            f"{added[first]:g} is added below both",
            (
                Shown(ranked(short[first]), before[first]),
                Shown(ranked(short[second]), before[second]),
                Shown(ranked(rankings.sequences[first]), after[first]),
                Shown(ranked(rankings.sequences[second]), after[second]),
            ),
            tuple(rankings.ideal[first].tolist()),
        )

    return Cases(broken, rankings.binary[firsts], told)


def _pairs(families: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of rows that are of one family."""
    order = np.argsort(families, kind="stable")
    _, starts = np.unique(families[order], return_index=True)
    firsts, seconds = [], []
    for rows in np.split(order, starts[1:]):
        upper = np.triu_indices(len(rows), 1)
        firsts.append(rows[upper[0]])
        seconds.append(rows[upper[1]])
    return np.concatenate(firsts), np.concatenate(seconds)
