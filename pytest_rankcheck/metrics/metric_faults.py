"""The faults of a metric: why its function cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_definition import wrong_form
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.metric_trials import Trials


def faults(trials: Trials) -> Iterator[str]:
    """Yield why a function cannot be used as a metric.

    It must return one finite float64 or NaN per query, within its range, and not modify its
    arguments. A query must have the same value alone, in any order of queries, and in wider
    matrices, and a block may contain no ranked judged document at all.
    """
    hits, rows = trials.hits(trials.sequences), np.arange(len(trials.sequences))
    for block in (hits, replace(hits, ranks=hits.ranks[:, :0], grades=hits.grades[:, :0])):
        fault = _fault_of_block(trials.metric, block)
        if fault:
            yield fault
    low, high = trials.metric.definition.range
    for length in range(trials.sequences.shape[1] + 1):
        sequences = trials.top(length)
        values = trials.compute(sequences)
        outside = (values < low - trials.tolerance) | (values > high + trials.tolerance)
        for row in np.flatnonzero(outside)[:1]:
            yield (
                f"a value is outside the range {low:g} to {high:g}"
                + trials.shown(sequences[row], values[row])
            )
    backwards = rows[::-1]
    others = [
        ("in a block with the queries in another order", backwards, _rows(hits, backwards)),
        ("in wider matrices, with more NaN at the end of each row", rows, _widened(hits)),
    ]
    for row in rows[:: max(1, len(rows) // 16)]:
        alone = rows[row : row + 1]
        others.append(("alone", alone, _rows(hits, alone)))
    for where, places, block in others:
        values, again = trials.values[places], trials.metric.compute(block)
        for place in np.flatnonzero(~trials.same(values, again))[:1]:
            sequence = trials.sequences[places[place]]
            yield (
                f"a query has a different value {where}; compute each row of the hits separately "
                "(axis=1), and treat NaN as padding"
                + trials.shown(sequence, values[place])
                + trials.shown(sequence, again[place])
            )


def _fault_of_block(metric: Metric, hits: JudgedHits) -> str:
    """Return what is wrong with the function's result for a block, or an empty text."""
    rows, width = hits.ranks.shape
    block = f"for a block of {rows:,} queries with {width} judged documents each"
    try:
        values = metric.compute(hits)
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
    return ""


def _rows(hits: JudgedHits, rows: IntArray) -> JudgedHits:
    return JudgedHits(
        hits.ranks[rows], hits.grades[rows], hits.retrieved[rows], hits.ideal[rows], hits.max_grade
    )


def _widened(hits: JudgedHits) -> JudgedHits:
    """Return the block as it looks when another of its queries has more judged documents."""
    matrices = (hits.ranks, hits.grades, hits.ideal)
    padding = ((0, 0), (0, 3))
    ranks, grades, ideal = (np.pad(each, padding, constant_values=np.nan) for each in matrices)
    return replace(hits, ranks=ranks, grades=grades, ideal=ideal)
