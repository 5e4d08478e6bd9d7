"""Laws of order: how the values of rankings of the same documents compare.

Throughout, r is a ranking of judged documents, r_i the document at rank i, g its grade, and the
ideal ranking has the same documents in descending order of grade (equal grades in any order). The
judgments determine the ideal ranking: where a law of Balestra, Mayr and Müller (Ranking evaluation
metrics from a group-theoretic perspective, 2024, arXiv:2408.16009) concerns two rankings, one is r
and the other is the ideal ranking. With a cutoff k, the top k takes the place of the ranking.
"""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.laws.law_trials import (
    CounterExample,
    LawTrials,
    ScoredRanking,
    TrialSubject,
    grades_by_rank,
)

__all__ = ["identity", "monotone", "normalised", "optimal"]


def monotone(subject: TrialSubject) -> LawTrials:
    """Moving a document up past one with a lower grade never makes the value worse.

    For every ranking r and every i with g(r_i) < g(r_{i+1}): m(r') is not worse than m(r), where
    r' is r with r_i and r_{i+1} swapped.
    """
    rankings, tolerance = subject.rankings, subject.tolerance
    places = range(rankings.n - 1)
    improved = np.stack([np.diff(rankings.sequences, axis=1)[:, place] > 0 for place in places])
    after = np.stack([subject.turned(subject.swapped(place)) for place in places])
    broken = improved & (after < subject.merits - tolerance)

    def describe(trial: int) -> CounterExample:
        place, row = divmod(trial, len(rankings.sequences))
        upper, lower = rankings.sequences[row, place : place + 2]
        after_swap = rankings.swapped(place)[row]
        return CounterExample(
            f"the document of grade {lower:g} moves up from rank {place + 2} past one of grade "
            f"{upper:g}, and the value gets worse",
            (
                ScoredRanking(grades_by_rank(rankings.sequences[row]), subject.values[row]),
                ScoredRanking(grades_by_rank(after_swap), subject.swapped(place)[row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return LawTrials(broken.ravel(), np.tile(rankings.binary, rankings.n - 1), describe)


def optimal(subject: TrialSubject) -> LawTrials:
    """No ranking of the same documents is better than the ideal ranking.

    For every ranking r and the ideal ranking r* of its documents: m(r) is not better than m(r*).
    """
    rankings = subject.rankings
    ideal = subject.of(rankings.ideal)
    broken = subject.merits > subject.turned(ideal) + subject.tolerance

    def describe(row: int) -> CounterExample:
        return _ideal_and_ranking(
            subject, row, ideal[row], "a ranking is better than the ideal one"
        )

    return LawTrials(broken, rankings.binary, describe)


def identity(subject: TrialSubject) -> LawTrials:
    """Identity of indiscernibles: only the ideal ranking has the best value.

    For every ranking r: m(r) is the best value of any ranking of these documents if and only if r
    has the same grade as the ideal ranking at every rank (down to the cutoff). If all grades
    differ, exactly one ranking has the best value.
    """
    rankings = subject.rankings
    best = subject.grouped(best=True)
    is_best = np.abs(subject.merits - best) <= subject.tolerance
    is_ideal = rankings.is_ideal(subject.metric.cutoff)
    broken = (is_best != is_ideal) & ~np.isnan(best)
    ideal = subject.of(rankings.ideal)

    def describe(row: int) -> CounterExample:
        why = "another ranking is as good as the ideal one"
        if is_ideal[row]:
            why = "the ideal ranking is not the best"
        return _ideal_and_ranking(subject, row, ideal[row], why)

    return LawTrials(broken, rankings.binary, describe)


def normalised(subject: TrialSubject) -> LawTrials:
    """The ideal ranking has the best value of the range if any document is relevant.

    For all judgments with at least one relevant document: m(r*) is the best end of the declared
    range, so a perfect ranker reaches it on every such query.
    """
    rankings = subject.rankings
    _, best_end = subject.ends()
    ideal = subject.of(rankings.ideal)
    has_relevant = subject.is_relevant(rankings.sequences).any(axis=1)
    broken = has_relevant & ~(np.abs(subject.turned(ideal) - best_end) <= subject.tolerance)

    def describe(row: int) -> CounterExample:
        return CounterExample(
            f"the ideal ranking does not reach {abs(best_end):g}",
            (ScoredRanking(grades_by_rank(rankings.ideal[row], " (ideal)"), ideal[row]),),
            tuple(rankings.ideal[row].tolist()),
        )

    return LawTrials(broken, rankings.binary, describe)


def _ideal_and_ranking(
    subject: TrialSubject, row: int, ideal_value: float, why: str
) -> CounterExample:
    """Return the counter-example that a ranking and the ideal one of its documents make."""
    rankings = subject.rankings
    return CounterExample(
        why,
        (
            ScoredRanking(grades_by_rank(rankings.ideal[row], " (ideal)"), ideal_value),
            ScoredRanking(grades_by_rank(rankings.sequences[row]), subject.values[row]),
        ),
        tuple(rankings.ideal[row].tolist()),
    )
