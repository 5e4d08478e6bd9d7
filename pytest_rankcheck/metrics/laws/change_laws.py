"""Laws of change: what a swap, an added document or a cutoff changes in the value.

A swap at rank i exchanges the documents at ranks i and i+1. Robustness, sensitivity and stability
follow Balestra, Mayr and Müller 2024 (arXiv:2408.16009), who define them for two rankings; the
bounds are ours and are stated with each law.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.metrics.laws.law_trials import (
    CounterExample,
    LawTrials,
    ScoredRanking,
    TrialRankings,
    TrialSubject,
    grades_by_rank,
    hits_from_grades,
    joined_trials,
)

__all__ = [
    "changes_by_rank",
    "cutoff_beyond",
    "cutoff_local",
    "robust_1",
    "sensitive",
    "share_seen",
    "stable",
]


def robust_1(subject: TrialSubject) -> LawTrials:
    """Robustness of type I: one swap changes the value by less than half.

    For every ranking r and every i: |m(r') - m(r)| < 1/2 |m(best) - w|, where r' is r with a swap
    at rank i, m(best) is the best value of any ranking of these documents, and w is the worst end
    of the range or, if that is infinite, the worst value of any ranking of these documents.
    `changes_by_rank` gives the largest change at each rank.
    """
    rankings = subject.rankings
    best, worst = subject.grouped(best=True), subject.grouped(best=False)
    worst_end = subject.ends()[0]
    span = best - (worst if np.isinf(worst_end) else worst_end)
    changes = _swap_changes(subject)
    broken = (changes > subject.tolerance) & (changes >= span / 2 - subject.tolerance)

    def describe(trial: int) -> CounterExample:
        place, row = divmod(trial, len(rankings.sequences))
        share = changes[place, row] / span[row] if span[row] else np.inf
        after_swap = rankings.swapped(place)[row]
        return CounterExample(
            f"the swap at rank {place + 1} changes the value by {share:.0%} of what the best "
            "ranking of these documents has",
            (
                ScoredRanking(grades_by_rank(rankings.sequences[row]), subject.values[row]),
                ScoredRanking(grades_by_rank(after_swap), subject.swapped(place)[row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return LawTrials(broken.ravel(), np.tile(rankings.binary, rankings.n - 1), describe)


def sensitive(subject: TrialSubject) -> LawTrials | None:
    """Sensitivity: swaps near the top change the value most.

    Let w_i be the largest |m(r') - m(r)| of a swap at rank i, over all rankings r of the same
    documents. For all judgments: w_1 >= w_2 >= ..., and w_1 is greater than the last of them,
    unless all are 0; and they are not all 0 for all judgments. With a cutoff k, only swaps inside
    the top k count (at ranks 1 to k-1), not documents that enter or leave it. The law compares at
    least two ranks, so it does not apply for k < 3.
    """
    rankings = subject.rankings
    k = min(subject.metric.cutoff or rankings.n, rankings.n)
    if k < 3:
        return None
    groups = rankings.groups
    weights = np.zeros((k - 1, int(groups.max()) + 1))
    for place, change in enumerate(_swap_changes(subject)[: k - 1]):
        np.maximum.at(weights[place], groups, change)
    tolerance = subject.tolerance
    sees = weights.max(axis=0) > tolerance
    falls = (np.diff(weights, axis=0) <= tolerance).all(axis=0)
    broken = sees & ~(falls & (weights[0] > weights[-1] + tolerance))
    if not sees.any():
        broken = ~broken
    first_rows = np.array([int(np.argmax(groups == group)) for group in range(len(broken))])

    def describe(group: int) -> CounterExample:
        judged = rankings.ideal[first_rows[group]]
        listed = ", ".join(f"{weight:.3g}" for weight in weights[:, group])
        why = (
            f"for documents with the grades {' '.join(f'{grade:g}' for grade in judged)}, the "
            f"largest change by a swap at rank 1, 2, ... is {listed}"
        )
        return CounterExample(
            why if sees.any() else "no swap changes the value", (), tuple(judged.tolist())
        )

    return LawTrials(broken, rankings.binary[first_rows], describe)


def changes_by_rank(subject: TrialSubject) -> FloatArray:
    """Return the largest change by a swap at rank 1, 2, ..., over all rankings, ``[n-1]``."""
    largest: FloatArray = _swap_changes(subject).max(axis=1, initial=0.0)
    return largest


def _swap_changes(subject: TrialSubject) -> FloatArray:
    """Return how much a swap at each rank changes each ranking, ``[n-1, S]``; 0 for NaN."""
    places = range(subject.rankings.n - 1)
    changes = np.stack([np.abs(subject.swapped(place) - subject.values) for place in places])
    finite: FloatArray = np.nan_to_num(changes, nan=0.0)
    return finite


def share_seen(subject: TrialSubject) -> tuple[float, float]:
    """Return the share of swaps that change the value, with binary and with all judgments.

    Only swaps of neighbours with different grades count: no metric distinguishes two documents of
    the same grade.
    """
    rankings = subject.rankings
    differ = np.diff(rankings.sequences, axis=1).T != 0
    is_seen = _swap_changes(subject) > subject.tolerance
    binary, graded = (
        float(is_seen[differ & rows].mean()) for rows in (rankings.binary, np.array(True))
    )
    return binary, graded


def stable(subject: TrialSubject) -> LawTrials:
    """Stability: adding a document below two rankings does not change which one is better.

    For all rankings r and s of the same documents and every judged document x: rx and sx compare
    (better, equal or worse) as r and s do, where x follows the last document of both. With a
    cutoff, the law is tried both with x below the cutoff and with x at the last rank above it.
    After Balestra, Mayr and Müller 2024 (arXiv:2408.16009): adding items changes the value
    consistently.
    """
    rankings, cutoff = subject.rankings, subject.metric.cutoff
    rounds = [_growth_trials(subject)]
    if cutoff is not None and 1 < cutoff < rankings.n:
        within = np.unique(rankings.sequences[:, :cutoff], axis=0)
        top = TrialRankings(within, rankings.scale)
        rounds.append(_growth_trials(TrialSubject(subject.metric, top)))
    return joined_trials(rounds)


def _growth_trials(subject: TrialSubject) -> LawTrials:
    """Try to add the last document of each ranking to the documents above it."""
    rankings = subject.rankings
    short = rankings.sequences[:, :-1]
    judged = -np.sort(-short, axis=1)
    before = subject.compute(hits_from_grades(short, judged, rankings.max_grade))
    after = subject.values
    added = rankings.sequences[:, -1]
    keys = np.column_stack((rankings.groups, added))
    _, groups = np.unique(keys, axis=0, return_inverse=True)
    firsts, seconds = _pairs_within(groups.reshape(-1))
    tolerance = subject.tolerance

    def order(values: np.ndarray) -> np.ndarray:
        merits = subject.turned(values)
        differences = merits[firsts] - merits[seconds]
        signs: np.ndarray = np.where(np.abs(differences) <= tolerance, 0, np.sign(differences))
        return signs

    before_signs, after_signs = order(before), order(after)
    is_number = ~np.isnan(before_signs) & ~np.isnan(after_signs)
    broken = is_number & (before_signs != after_signs)

    def describe(trial: int) -> CounterExample:
        first, second = int(firsts[trial]), int(seconds[trial])
        words = {1: "better than", 0: "as good as", -1: "worse than"}
        was, now = words[int(before_signs[trial])], words[int(after_signs[trial])]
        return CounterExample(
            f"the first ranking is {was} the second, and {now} it when a document of grade "
            f"{added[first]:g} is added below both",
            (
                ScoredRanking(grades_by_rank(short[first]), before[first]),
                ScoredRanking(grades_by_rank(short[second]), before[second]),
                ScoredRanking(grades_by_rank(rankings.sequences[first]), after[first]),
                ScoredRanking(grades_by_rank(rankings.sequences[second]), after[second]),
            ),
            tuple(rankings.ideal[first].tolist()),
        )

    return LawTrials(broken, rankings.binary[firsts], describe)


def _pairs_within(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of rows that are in the same group."""
    order = np.argsort(groups, kind="stable")
    _, starts = np.unique(groups[order], return_index=True)
    firsts, seconds = [], []
    for rows in np.split(order, starts[1:]):
        upper = np.triu_indices(len(rows), 1)
        firsts.append(rows[upper[0]])
        seconds.append(rows[upper[1]])
    return np.concatenate(firsts), np.concatenate(seconds)


def cutoff_local(subject: TrialSubject) -> LawTrials | None:
    """Documents below the cutoff do not change the value.

    For every ranking r and every k: m@k(r) = m@k(r cut at k), on the same judgments.
    """
    if subject.metric.definition.at != "cutoff":
        return None
    rankings = subject.rankings
    cutoffs = range(1, rankings.n)
    whole = np.stack([subject.compute(rankings.hits(), k) for k in cutoffs])
    cut = np.stack(
        [subject.compute(rankings.hits(_cut_at(rankings.sequences, k)), k) for k in cutoffs]
    )
    broken = _differ(whole, cut, subject.tolerance)

    def describe(trial: int) -> CounterExample:
        place, row = divmod(trial, len(rankings.sequences))
        cutoff = place + 1
        shortened = _cut_at(rankings.sequences, cutoff)[row]
        return CounterExample(
            f"at a cutoff of {cutoff}, a document below it changes the value",
            (
                ScoredRanking(grades_by_rank(rankings.sequences[row]), whole[place, row]),
                ScoredRanking(grades_by_rank(shortened), cut[place, row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return LawTrials(broken.ravel(), np.tile(rankings.binary, len(cutoffs)), describe)


def cutoff_beyond(subject: TrialSubject) -> LawTrials | None:
    """A cutoff at or beyond the end of the ranking does not change the value.

    For every ranking r of n documents and every k >= n: m@k(r) = m(r). Tried with n and 2n.
    """
    if subject.metric.definition.at != "cutoff":
        return None
    rankings = subject.rankings
    definition, parameters = subject.metric.definition, dict(subject.metric.parameters)
    whole = definition(rankings.hits(), None, parameters)
    cutoffs = (rankings.n, 2 * rankings.n)
    values = np.stack([subject.compute(rankings.hits(), k) for k in cutoffs])
    broken = _differ(values, whole, subject.tolerance)

    def describe(trial: int) -> CounterExample:
        place, row = divmod(trial, len(rankings.sequences))
        sequence, cutoff = rankings.sequences[row], cutoffs[place]
        return CounterExample(
            f"a cutoff of {cutoff} changes the value of a ranking of {rankings.n} documents",
            (
                ScoredRanking(grades_by_rank(sequence, " (no cutoff)"), whole[row]),
                ScoredRanking(grades_by_rank(sequence, f" (cutoff {cutoff})"), values[place, row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return LawTrials(broken.ravel(), np.tile(rankings.binary, len(cutoffs)), describe)


def _cut_at(sequences: FloatArray, k: int) -> FloatArray:
    """Return the top k of each ranking, padded with NaN."""
    top = sequences.copy()
    top[:, k:] = np.nan
    return top


def _differ(first: np.ndarray, second: np.ndarray, tolerance: float) -> np.ndarray:
    """Return where values differ; NaN equals NaN."""
    same = (np.abs(first - second) <= tolerance) | (np.isnan(first) & np.isnan(second))
    different: np.ndarray = ~same
    return different
