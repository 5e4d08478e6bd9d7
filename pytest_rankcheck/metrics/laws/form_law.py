"""The law of form: what every metric's function owes to its callers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.law_cases import Cases, CounterExample, Shown, Subject, ranked
from pytest_rankcheck.statistics.array_types import FloatArray

__all__ = ["form"]


def form(subject: Subject) -> Cases:
    """One number for each query, whatever other queries are in its block.

    The function returns one float64 a row, finite or NaN, and leaves its arguments as they are. A
    row's value is the same alone, among other rows, in another order of rows, and when the
    matrices are wider, which more NaN at the end of each row makes them. A block of which no
    ranking has a judged document is possible.
    """
    found = next(_faults(subject), None)
    broken = np.array([found is not None])

    def told(_: int) -> CounterExample:
        assert found is not None
        return found

    return Cases(broken, np.array([True]), told)


def _faults(subject: Subject) -> Iterator[CounterExample]:
    """Yield what is wrong with the form of the values; only the first is of use."""
    hits, rankings = subject.rankings.hits(), subject.rankings
    count = len(rankings.sequences)
    nothing = replace(hits, ranks=hits.ranks[:, :0], grades=hits.grades[:, :0])
    for block in (hits, nothing):
        fault = _fault_of(subject, block)
        if fault is not None:
            yield CounterExample(fault)
    values = subject.values
    chosen = np.arange(0, count, max(1, count // 16))
    alone = [subject.compute(_rows(hits, np.array([row])))[0] for row in chosen]
    trials = (
        ("in a block with the queries in another order", hits_reversed := np.arange(count)[::-1],
         subject.compute(_rows(hits, hits_reversed))),
        ("alone", chosen, np.array(alone)),
        ("in wider matrices, with more NaN at the end of each row", np.arange(count),
         subject.compute(_wider(hits))),
    )  # fmt: skip
    for where, rows, again in trials:
        same = np.abs(again - values[rows]) <= subject.tolerance
        same |= np.isnan(again) & np.isnan(values[rows])
        for place in np.flatnonzero(~same)[:1]:
            row = int(rows[place])
            yield CounterExample(
                f"the value of a query is another {where}; look at one row of the hits at a time "
                "(axis=1), and at NaN as no document",
                (
                    Shown(ranked(rankings.sequences[row]), values[row]),
                    Shown(ranked(rankings.sequences[row]), float(again[place])),
                ),
                tuple(rankings.ideal[row].tolist()),
            )


def _fault_of(subject: Subject, hits: JudgedHits) -> str | None:
    """Return what is wrong with what the function returns for a block, or None."""
    rows, width = hits.ranks.shape
    block = f"for a block of {rows:,} queries with {width} judged documents each"
    try:
        values = subject.compute(hits)
    except MetricError:
        raise
    except Exception as failure:
        hint = ""
        if isinstance(failure, ValueError) and "read-only" in str(failure):
            hint = "; it writes into its arguments, which belong to other metrics too: copy first"
        return f"it raised {type(failure).__name__} {block}: {quoted(failure)}{hint}"
    if not isinstance(values, np.ndarray) or values.shape != (rows,):
        shape = getattr(values, "shape", ())
        return f"it returned the shape {shape} {block}; return one number a query, ({rows},)"
    if values.dtype != np.float64:
        return f"it returned {values.dtype} {block}; return float64"
    if np.isinf(values).any():
        return f"it returned infinity {block}; return a number, or NaN to leave a query out"
    return None


def _rows(hits: JudgedHits, rows: np.ndarray) -> JudgedHits:
    """Return some queries of a block, as a block."""
    return JudgedHits(
        hits.ranks[rows],
        hits.grades[rows],
        hits.retrieved[rows],
        hits.ideal[rows],
        hits.max_grade,
    )


def _wider(hits: JudgedHits) -> JudgedHits:
    """Return the block as it is when another query of it has more judged documents."""

    def padded(matrix: FloatArray, more: int) -> FloatArray:
        return np.pad(matrix, ((0, 0), (0, more)), constant_values=np.nan)

    return replace(
        hits,
        ranks=padded(hits.ranks, 3),
        grades=padded(hits.grades, 3),
        ideal=padded(hits.ideal, 4),
    )
