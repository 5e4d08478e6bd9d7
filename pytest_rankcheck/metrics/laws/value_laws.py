"""Laws of single values: their form, their range, and where the ends of the range are reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.law_trials import (
    CounterExample,
    LawTrials,
    ScoredRanking,
    TrialSubject,
    grades_by_rank,
    hits_from_grades,
)
from pytest_rankcheck.metrics.metric_definition import wrong_form

__all__ = ["all_best", "empty_worst", "form", "in_range", "none_worst"]


def form(subject: TrialSubject) -> LawTrials:
    """The value of a query does not depend on the other queries in its block.

    The function returns one float64 per row, finite or NaN, and does not modify its arguments. A
    row has the same value alone, among other rows, in any order of rows, and in wider matrices,
    where each row has more NaN at its end. A block may contain no ranked judged document at all.
    """
    fault = next(_faults(subject), None)

    def describe(_: int) -> CounterExample:
        assert fault is not None
        return fault

    return LawTrials(np.array([fault is not None]), np.array([True]), describe)


def _faults(subject: TrialSubject) -> Iterator[CounterExample]:
    """Yield what is wrong with the form of the values; only the first fault is reported."""
    hits, rankings = subject.rankings.hits(), subject.rankings
    count = len(rankings.sequences)
    without_hits = replace(hits, ranks=hits.ranks[:, :0], grades=hits.grades[:, :0])
    for block in (hits, without_hits):
        fault = _fault_of_block(subject, block)
        if fault is not None:
            yield CounterExample(fault)
    values = subject.values
    sample = np.arange(0, count, max(1, count // 16))
    alone = [subject.compute(_hits_of_rows(hits, np.array([row])))[0] for row in sample]
    backwards = np.arange(count)[::-1]
    trials = (
        (
            "in a block with the queries in another order",
            backwards,
            subject.compute(_hits_of_rows(hits, backwards)),
        ),
        ("alone", sample, np.array(alone)),
        (
            "in wider matrices, with more NaN at the end of each row",
            np.arange(count),
            subject.compute(_widened(hits)),
        ),
    )
    for where, rows, again in trials:
        same = np.abs(again - values[rows]) <= subject.tolerance
        same |= np.isnan(again) & np.isnan(values[rows])
        for place in np.flatnonzero(~same)[:1]:
            row = int(rows[place])
            yield CounterExample(
                f"a query has a different value {where}; compute each row of the hits separately "
                "(axis=1), and treat NaN as padding",
                (
                    ScoredRanking(grades_by_rank(rankings.sequences[row]), values[row]),
                    ScoredRanking(grades_by_rank(rankings.sequences[row]), float(again[place])),
                ),
                tuple(rankings.ideal[row].tolist()),
            )


def _fault_of_block(subject: TrialSubject, hits: JudgedHits) -> str | None:
    """Return what is wrong with the function's result for a block, or None."""
    rows, width = hits.ranks.shape
    block = f"for a block of {rows:,} queries with {width} judged documents each"
    try:
        values = subject.compute(hits)
    except MetricError:
        raise
    except Exception as failure:
        hint = ""
        if isinstance(failure, ValueError) and "read-only" in str(failure):
            hint = "; it modifies its arguments, which other metrics use too: copy them first"
        return f"it raised {type(failure).__name__} {block}: {quoted(failure)}{hint}"
    problem = wrong_form(values, rows)
    if problem is not None:
        return f"{block}, it {problem}"
    if values.dtype != np.float64:
        return f"it returned {values.dtype} {block}; return float64"
    if np.isinf(values).any():
        return f"it returned infinity {block}; return a number, or NaN to leave a query out"
    return None


def _hits_of_rows(hits: JudgedHits, rows: np.ndarray) -> JudgedHits:
    """Return some queries of a block as a block."""
    return JudgedHits(
        hits.ranks[rows],
        hits.grades[rows],
        hits.retrieved[rows],
        hits.ideal[rows],
        hits.max_grade,
    )


def _widened(hits: JudgedHits) -> JudgedHits:
    """Return the block as it looks when another of its queries has more judged documents."""

    def padded(matrix: FloatArray, columns: int) -> FloatArray:
        return np.pad(matrix, ((0, 0), (0, columns)), constant_values=np.nan)

    return replace(
        hits,
        ranks=padded(hits.ranks, 3),
        grades=padded(hits.grades, 3),
        ideal=padded(hits.ideal, 4),
    )


def in_range(subject: TrialSubject) -> LawTrials:
    """Every value is within the declared range.

    For every ranking r, every prefix of it, and the empty ranking: low <= m(r) <= high, or m(r) is
    NaN, which excludes the query from the mean.
    """
    rankings = subject.rankings
    low, high = subject.metric.definition.range
    prefixes = [_prefixes(rankings.sequences, length) for length in range(rankings.n + 1)]
    values = np.stack([subject.of(sequences) for sequences in prefixes])
    broken = (values < low - subject.tolerance) | (values > high + subject.tolerance)

    def describe(trial: int) -> CounterExample:
        length, row = divmod(trial, len(rankings.sequences))
        return CounterExample(
            f"a value is outside the range {low:g} to {high:g}",
            (ScoredRanking(grades_by_rank(prefixes[length][row]), values[length, row]),),
            tuple(rankings.ideal[row].tolist()),
        )

    return LawTrials(broken.ravel(), np.tile(rankings.binary, rankings.n + 1), describe)


def empty_worst(subject: TrialSubject) -> LawTrials:
    """An empty ranking is never better than a ranking of the judged documents.

    For every ranking r: m() is not better than m(r), where () is the empty ranking.
    """
    rankings = subject.rankings
    nothing = np.empty((len(rankings.sequences), 0))
    empty = subject.compute(hits_from_grades(nothing, rankings.ideal, rankings.max_grade))
    broken = subject.turned(empty) > subject.merits + subject.tolerance

    def describe(row: int) -> CounterExample:
        return CounterExample(
            "an empty ranking is better than a ranking of all judged documents",
            (
                ScoredRanking(grades_by_rank(nothing[row]), empty[row]),
                ScoredRanking(grades_by_rank(rankings.sequences[row]), subject.values[row]),
            ),
            tuple(rankings.ideal[row].tolist()),
        )

    return LawTrials(broken, rankings.binary, describe)


def none_worst(subject: TrialSubject) -> LawTrials:
    """A ranking with no relevant document is never better than one with a relevant document.

    For every ranking r without a relevant document and every ranking s of the same length with
    one: m(r) is not better than m(s).
    """
    rankings = subject.rankings
    has_relevant = subject.is_relevant(rankings.sequences).any(axis=1)
    without = np.where(has_relevant | np.isnan(subject.merits), -np.inf, subject.merits)
    highest = int(np.argmax(without))
    broken = has_relevant & (without[highest] > subject.merits + subject.tolerance)

    def describe(row: int) -> CounterExample:
        return CounterExample(
            "a ranking with no relevant document is better than one with a relevant document",
            (
                ScoredRanking(grades_by_rank(rankings.sequences[highest]), subject.values[highest]),
                ScoredRanking(grades_by_rank(rankings.sequences[row]), subject.values[row]),
            ),
        )

    return LawTrials(broken, rankings.binary, describe)


def all_best(subject: TrialSubject) -> LawTrials:
    """If every document has the highest grade, a ranking of all of them has the best value.

    m(r) is the best end of the declared range for every r whose documents all have the highest
    grade of the scale.
    """
    rankings = subject.rankings
    _, best_end = subject.ends()
    all_highest = (rankings.sequences == rankings.max_grade).all(axis=1)
    broken = all_highest & ~(np.abs(subject.merits - best_end) <= subject.tolerance)

    def describe(row: int) -> CounterExample:
        return CounterExample(
            f"a ranking of documents that all have the highest grade does not reach "
            f"{abs(best_end):g}",
            (ScoredRanking(grades_by_rank(rankings.sequences[row]), subject.values[row]),),
            tuple(rankings.ideal[row].tolist()),
        )

    return LawTrials(broken, rankings.binary, describe)


def _prefixes(sequences: FloatArray, length: int) -> FloatArray:
    """Return the first ``length`` documents of each ranking, padded with NaN."""
    prefixes = sequences.copy()
    prefixes[:, length:] = np.nan
    return prefixes
