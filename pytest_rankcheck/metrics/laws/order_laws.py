"""Laws of order: what a better ranking of the same documents scores.

Everywhere r is a ranking of judged documents, r_i the document at rank i, g its grade, and the
ideal ranking has the same documents, the higher grades first (any order among equal grades). The
judgments induce the ideal ranking: where a law of Balestra, Mayr and Müller (Ranking evaluation
metrics from a group-theoretic perspective, 2024, arXiv:2408.16009) speaks of two rankings, one is
r and the other is the ideal one. With a cutoff k, the top k stands for the ranking.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.laws.law_cases import Cases, CounterExample, Shown, Subject, ranked

__all__ = ["identity", "monotone", "normalised", "optimal"]


def monotone(subject: Subject) -> Cases:
    """A document that moves up past one of a lower grade never makes it worse.

    For every ranking r and every i with g(r_i) < g(r_{i+1}): m(r') is no worse than m(r), where
    r' is r with r_i and r_{i+1} exchanged.
    """
    rankings, tolerance = subject.rankings, subject.tolerance
    places = range(rankings.n - 1)
    improved = np.stack([np.diff(rankings.sequences, axis=1)[:, i] > 0 for i in places])
    after = np.stack([subject.turned(subject.swapped(i)) for i in places])
    broken = improved & (after < subject.merits - tolerance)

    def told(case: int) -> CounterExample:
        place, row = divmod(case, len(rankings.sequences))
        upper, lower = rankings.sequences[row, place : place + 2]
        return CounterExample(
            f"the document of grade {lower:g} moves up from rank {place + 2} past one of grade "
            f"{upper:g}, and the value gets worse",
            (
                Shown(ranked(rankings.sequences[row]), subject.values[row]),
                Shown(ranked(rankings.swapped(place)[row]), subject.swapped(place)[row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken.ravel(), np.tile(rankings.binary, rankings.n - 1), told)


def optimal(subject: Subject) -> Cases:
    """No ranking of the same documents is better than the ideal one.

    For every ranking r and the ideal ranking r* of its documents: m(r) is no better than m(r*).
    """
    rankings = subject.rankings
    ideal = subject.of(rankings.ideal)
    broken = subject.merits > subject.turned(ideal) + subject.tolerance

    def told(row: int) -> CounterExample:
        return CounterExample(
            "a ranking is better than the ideal one",
            (
                Shown(ranked(rankings.ideal[row], " (ideal)"), ideal[row]),
                Shown(ranked(rankings.sequences[row]), subject.values[row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken, rankings.binary, told)


def identity(subject: Subject) -> Cases:
    """Identity of indiscernibles: the ideal ranking is best, and no other is as good.

    For every ranking r: m(r) is the best value that a ranking of these documents has exactly
    where the grades of r are those of the ideal ranking, rank by rank (as far as the cutoff). If
    all grades differ, that is one ranking.
    """
    rankings = subject.rankings
    best = subject.grouped(best=True)
    is_best = np.abs(subject.merits - best) <= subject.tolerance
    is_ideal = rankings.is_ideal(subject.metric.cutoff)
    broken = (is_best != is_ideal) & ~np.isnan(best)
    ideal = subject.of(rankings.ideal)

    def told(row: int) -> CounterExample:
        why = "another ranking is as good as the ideal one"
        if is_ideal[row]:
            why = "the ideal ranking is not the best"
        return CounterExample(
            why,
            (
                Shown(ranked(rankings.ideal[row], " (ideal)"), ideal[row]),
                Shown(ranked(rankings.sequences[row]), subject.values[row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken, rankings.binary, told)


def normalised(subject: Subject) -> Cases:
    """The ideal ranking of any judgments with something relevant reaches the best of the range.

    For every judgments of which a document is relevant: m(r*) is the best end of the declared
    range, so that a perfect ranker has it on every query.
    """
    rankings = subject.rankings
    _, end = subject.ends()
    ideal = subject.of(rankings.ideal)
    counts = subject.is_relevant(rankings.sequences).any(axis=1)
    broken = counts & ~(np.abs(subject.turned(ideal) - end) <= subject.tolerance)

    def told(row: int) -> CounterExample:
        return CounterExample(
            f"the ideal ranking does not reach {abs(end):g}",
            (Shown(ranked(rankings.ideal[row], " (ideal)"), ideal[row]),),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken, rankings.binary, told)
