"""Improvements that are too good to be true: signs that judgments leaked into the model.

None of these is a proof. Each is typical of a leak and rare without one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.evaluation.recorded_precision import SLACK

__all__ = ["suspicions"]

_FEW = 10
"""With fewer queries that got better, nothing is suspicious."""
_SHARE = 0.5
"""A gain of more than this share of the possible gain is a jump."""
_ROOM = 0.1
"""With a smaller possible gain than this, a few queries decide."""
_CHANCE = 1e-6
"""An order that is less likely than this is not due to chance."""


def suspicions(comparison: Comparison, pairs: ComparedValues) -> tuple[str, ...]:
    """Return why an improvement looks like a leak of judgments, as sentences; usually empty.

    Args:
        comparison: the comparison.
        pairs: its values of a metric, on all queries.
    """
    if not pairs.gain > SLACK or pairs.metric.unit != "query":
        return ()
    return tuple(sign for check in _SIGNS for sign in check(comparison, pairs))


def _maximum(comparison: Comparison, pairs: ComparedValues) -> Iterator[str]:
    best = _best_value(pairs)
    if pairs.wins >= _FEW and abs(pairs.mean_after - best) <= SLACK:
        yield f"{pairs.metric} is perfect now, {pairs.mean_after:.4f}"


def _every_query(comparison: Comparison, pairs: ComparedValues) -> Iterator[str]:
    room = int((np.abs(pairs.before - _best_value(pairs)) > SLACK).sum())
    if pairs.wins == room >= _FEW and not pairs.losses:
        yield f"every one of the {room:,} queries that could get better did"


def _jump(comparison: Comparison, pairs: ComparedValues) -> Iterator[str]:
    room = abs(_best_value(pairs) - pairs.mean_before)
    if pairs.wins >= _FEW and room >= _ROOM and math.isfinite(room) and pairs.gain > _SHARE * room:
        yield (
            f"{pairs.metric} {pairs.mean_before:.4f} -> {pairs.mean_after:.4f} gained "
            f"{pairs.gain / room:.0%} of all there was to gain"
        )


def _one_ranking(comparison: Comparison, pairs: ComparedValues) -> Iterator[str]:
    ranked = _is_one_ranking(comparison.evaluation, pairs.query_ids)
    if ranked and not _is_one_ranking(comparison.other, pairs.query_ids):
        yield f"all {ranked:,} queries have the same ranking"


def _is_one_ranking(side: Measured, query_ids: Sequence[str]) -> int:
    """Return the number of queries with a ranking, if all rankings are the same; else 0."""
    first: Sequence[str] | None = None
    count = 0
    for query_id in query_ids:
        ranking = side.ranking(query_id)
        if not ranking:
            continue
        if first is not None and tuple(ranking) != tuple(first):
            return 0
        first, count = ranking, count + 1
    return count if count >= _FEW else 0


def _repeated(comparison: Comparison, pairs: ComparedValues) -> Iterator[str]:
    run = comparison.evaluation.run
    repeated = run.repeated if run else ()
    if repeated:
        count = plural(len(repeated), "query ranks", "queries rank")
        yield f"{count} a document more than once, and its first place counts: {listed(repeated)}"


def _file_order(comparison: Comparison, pairs: ComparedValues) -> Iterator[str]:
    golden = comparison.evaluation.golden
    now = _log_chance_of_file_order(comparison.evaluation, pairs.query_ids, golden.grades)
    if now > math.log(_CHANCE):
        return
    then = _log_chance_of_file_order(comparison.other, pairs.query_ids, golden.grades)
    if then > math.log(_CHANCE):
        yield (
            "relevant documents of the same grade are in the order of the golden set's file, in "
            f"every query; by chance that is one in 10^{-now / math.log(10):.0f}"
        )


def _log_chance_of_file_order(
    side: Measured, query_ids: Sequence[str], grades_of: Callable[[str], Mapping[str, float]]
) -> float:
    """Return the log probability of equal grades in file order; 0 if they are in another."""
    chance = 0.0
    for query_id in query_ids:
        grades = grades_of(query_id)
        ranks = side.ranks(query_id)
        by_grade: dict[float, list[int]] = {}
        for doc_id, grade in grades.items():
            if grade > 0 and doc_id in ranks:
                by_grade.setdefault(grade, []).append(ranks[doc_id])
        for group in by_grade.values():
            if group != sorted(group):
                return 0.0
            chance -= math.lgamma(len(group) + 1)
    return chance


def _best_value(pairs: ComparedValues) -> float:
    low, high = pairs.metric.definition.range
    return high if pairs.metric.higher_is_better else low


_SIGNS = (_maximum, _every_query, _jump, _one_ranking, _repeated, _file_order)
