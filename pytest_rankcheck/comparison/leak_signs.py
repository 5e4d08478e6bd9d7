"""Improvements that are too good: signs that judgments found their way into the model.

None of these proves anything. Each is what a leak looks like, and is rare without one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from pytest_rankcheck.comparison.compared_values import SLACK, ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.comparison.measurement import Measured
from pytest_rankcheck.errors import listed, plural

__all__ = ["suspicions"]

_FEW = 10
"""Of fewer queries that got better, nothing is too good."""
_SHARE = 0.5
"""A gain of more than this share of what there was to gain is a jump."""
_ROOM = 0.1
"""Less room than this above the baseline is a matter of a few queries."""
_CHANCE = 1e-6
"""An order that chance gives less often than this is none of chance."""


def suspicions(comparison: Comparison, pairs: ComparedValues) -> tuple[str, ...]:
    """Return what makes an improvement look like a leak of judgments, in words; mostly nothing.

    Args:
        comparison: what is compared.
        pairs: the values of a metric on all queries.
    """
    if not pairs.gain > SLACK or pairs.metric.unit != "query":
        return ()
    found = [sign for check in _SIGNS for sign in check(comparison, pairs)]
    return tuple(found)


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
    """Return how many queries have a ranking, if it is the same for all; else 0."""
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
            "relevant documents of the same grade stand in the order of the golden set's file, in "
            f"every query; by chance that is one in 10^{-now / math.log(10):.0f}"
        )


def _log_chance_of_file_order(
    side: Measured, query_ids: Sequence[str], grades_of: Callable[[str], Mapping[str, float]]
) -> float:
    """Return the logarithm of the chance that equal grades are in file order; 0 if they are not."""
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
