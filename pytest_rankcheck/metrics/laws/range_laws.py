"""Laws of the ends: the range, an empty ranking, nothing relevant, everything relevant."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.laws.law_cases import Cases, CounterExample, Shown, Subject, ranked
from pytest_rankcheck.metrics.laws.trial_rankings import hits_of
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["all_best", "empty_worst", "in_range", "none_worst"]


def in_range(subject: Subject) -> Cases:
    """Every value is within the declared range.

    For every ranking r, every beginning of it, and the empty one: low <= m(r) <= high, or m(r) is
    NaN, which leaves the query out of the mean.
    """
    rankings = subject.rankings
    low, high = subject.metric.definition.range
    beginnings = [_cut(rankings.sequences, length) for length in range(rankings.n + 1)]
    values = np.stack([subject.of(sequences) for sequences in beginnings])
    broken = (values < low - subject.tolerance) | (values > high + subject.tolerance)

    def told(case: int) -> CounterExample:
        length, row = divmod(case, len(rankings.sequences))
        return CounterExample(
            f"a value is not from {low:g} to {high:g}",
            (Shown(ranked(beginnings[length][row]), values[length, row]),),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken.ravel(), np.tile(rankings.binary, rankings.n + 1), told)


def empty_worst(subject: Subject) -> Cases:
    """An empty ranking is no better than any ranking of the judged documents.

    For every ranking r: m() is no better than m(r), where () ranks none of the same documents.
    """
    rankings = subject.rankings
    nothing = np.empty((len(rankings.sequences), 0))
    empty = subject.compute(hits_of(nothing, rankings.ideal, rankings.max_grade))
    broken = subject.turned(empty) > subject.merits + subject.tolerance

    def told(row: int) -> CounterExample:
        return CounterExample(
            "an empty ranking is better than one of all judged documents",
            (
                Shown(ranked(nothing[row]), empty[row]),
                Shown(ranked(rankings.sequences[row]), subject.values[row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken, rankings.binary, told)


def none_worst(subject: Subject) -> Cases:
    """Where nothing is relevant, no ranking is better than one where something is.

    For every ranking r without a relevant document and every ranking s of as many documents with
    one: m(r) is no better than m(s).
    """
    rankings = subject.rankings
    some = subject.is_relevant(rankings.sequences).any(axis=1)
    without = np.where(some | np.isnan(subject.merits), -np.inf, subject.merits)
    highest = int(np.argmax(without))
    broken = some & (without[highest] > subject.merits + subject.tolerance)

    def told(row: int) -> CounterExample:
        return CounterExample(
            "with nothing relevant it is better than with something relevant",
            (
                Shown(ranked(rankings.sequences[highest]), subject.values[highest]),
                Shown(ranked(rankings.sequences[row]), subject.values[row]),
            ),
        )

    return Cases(broken, rankings.binary, told)


def all_best(subject: Subject) -> Cases:
    """Where every document has the highest grade, a ranking of all reaches the best of the range.

    m(r) is the best end of the declared range, for r of documents with the scale's highest grade.
    """
    rankings = subject.rankings
    _, end = subject.ends()
    chosen = (rankings.sequences == rankings.max_grade).all(axis=1)
    broken = chosen & ~(np.abs(subject.merits - end) <= subject.tolerance)

    def told(row: int) -> CounterExample:
        return CounterExample(
            f"with nothing but the best it does not reach {abs(end):g}",
            (Shown(ranked(rankings.sequences[row]), subject.values[row]),),
            tuple(rankings.ideal[row].tolist()),
        )

    return Cases(broken, rankings.binary, told)


def _cut(sequences: FloatArray, length: int) -> FloatArray:
    """Return the first documents of each ranking, the rest NaN."""
    cut = sequences.copy()
    cut[:, length:] = np.nan
    return cut
