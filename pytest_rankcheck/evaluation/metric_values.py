"""The values that a metric's function or ir_measures returns, checked, and its cutoff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, plural, quoted, warn_caller
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.ir_measures_bridge import measure_of
from pytest_rankcheck.metrics.kinds import MetricInput
from pytest_rankcheck.metrics.metric_definition import wrong_form
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.metrics.name_grammar import parts_of
from pytest_rankcheck.rankers.ranking import Duplicates
from pytest_rankcheck.rankers.run import Run

_ROUNDING = 1e-9
"""How far a value may be outside a metric's range, because of rounding."""


def computed_values(metric: Metric, block: MetricInput, query_ids: Sequence[str]) -> FloatArray:
    """Return the value of each query or session of a block.

    Raises:
        MetricError: the metric's function did not return one number for each, or returned a
            number outside the metric's range.
    """
    values = metric.kind.returned(metric.compute(block), len(query_ids))
    problem = wrong_form(values, len(query_ids))
    if problem is None:
        problem = _outside_range(values, metric, query_ids)
    if problem is not None:
        raise MetricError(f"{metric} ({metric.definition.reference}) {problem}")
    return values


def _outside_range(values: FloatArray, metric: Metric, query_ids: Sequence[str]) -> str | None:
    """Return the place of an infinite or out-of-range value; None if all are valid, as NaN is."""
    values = metric.kind.column(values)
    valid, precision = metric.definition.range, np.finfo(values.dtype).eps
    lowest, highest = (
        bound + sign * max(_ROUNDING, 8 * precision) * max(1.0, abs(bound))
        for bound, sign in zip(valid, (-1, 1), strict=True)
    )
    is_wrong = (values < lowest) | (values > highest) | np.isinf(values)
    if not is_wrong.any():
        return None
    place = int(np.argmax(is_wrong))
    where = f"{metric.kind.words[0]} '{quoted(query_ids[place])}'"
    return (
        f"returned {values[place]:.10g} for {where}, but its range is {valid[0]:g} to "
        f"{valid[1]:g}; correct the function, or declare the metric with range=(lowest, highest)"
    )


def warn_if_uninformative(metric: Metric, golden: JudgedQueries) -> None:
    """Warn about a ``rel`` above every grade."""
    rel = dict(metric.parameters).get("rel")
    if isinstance(rel, (int, float)) and rel > golden.max_grade:
        warn_caller(
            f"{metric}: nothing is relevant, because no grade of {golden.kind} "
            f"'{quoted(golden.name)}' reaches {rel:g} (the highest is {golden.max_grade:g}); "
            "lower rel"
        )


def refuse_constant(metric: Metric, duplicates: Duplicates) -> None:
    """Refuse to count repeated documents if rankings cannot contain them."""
    is_by_id = metric.name == "Duplicates" and dict(metric.parameters)["by"] is None
    if is_by_id and duplicates != "keep_places":
        raise MetricError(
            f"{metric} is 0 whatever the ranker does, because duplicates={duplicates} leaves no "
            "duplicates; write duplicates=keep_places (rankcheck_conventions), or by=text"
        )


def beyond_depth(what: str, wanted: int, depth: int) -> str:
    """Return the message that the rankings are too short because of the requested depth.

    Args:
        what: what looks that far down.
        wanted: how many documents it looks at.
        depth: how many documents of each ranking were asked for.
    """
    verb = "was" if depth == 1 else "were"
    return (
        f"{what} looks at the first {plural(wanted, 'document')} of each ranking, but only "
        f"{depth:,} {verb} asked for; measure at most {depth:,}, or rank to a depth of at least "
        f"{wanted}: rankcheck_depth = {wanted} in the configuration, or depth={wanted} in rank()"
    )


def cutoff_of(metric: Metric) -> int | None:
    """Return the cutoff of a metric, also of one that ir_measures computes."""
    if metric.definition.ir_measures is None:
        return metric.cutoff
    cutoff = parts_of(metric.definition.ir_measures).cutoff
    return cutoff if isinstance(cutoff, int) else None


def ir_measures_values(name: str, run: Run, golden: GoldenSet) -> FloatArray:
    """Return the value of each query of ``golden`` that ir_measures computes, ``[Q]``.

    Rankings are passed as falling scores, so our order counts however that library breaks ties. For
    a diversity measure, all documents of a set without subtopics belong to one subtopic. A query
    without a value scores 0.

    Raises:
        MetricError: a grade is not a whole number, or ir_measures cannot compute the measure.
    """
    measure = measure_of(name)
    qrels = _qrels(golden, measure)
    values = dict.fromkeys(golden.query_ids, 0.0)
    try:
        for result in measure.iter_calc(qrels, _scores(run, golden)):
            if result.query_id in values:
                values[result.query_id] = float(result.value)
    except Exception as failure:  # whatever the library and its providers raise
        raise MetricError(
            f"ir_measures cannot compute {quoted(name)}: {type(failure).__name__}: "
            f"{quoted(failure, 300)}"
        ) from failure
    return np.array(list(values.values()), dtype=np.float64)


def _qrels(golden: GoldenSet, measure: Any) -> list[Any]:
    from ir_measures import Qrel, pyndeval

    by_subtopic = golden.contents.by_subtopic if pyndeval.supports(measure) else None
    qrels = []
    for key, doc_id, grade in (by_subtopic or golden.columns).rows_at():
        query_id, _, subtopic = key.rpartition("\t") if by_subtopic else (key, "", "0")
        if grade != int(grade):
            raise MetricError(
                f"ir_measures takes whole grades only; document '{quoted(doc_id)}' of query "
                f"'{quoted(query_id)}' has {grade:g}"
            )
        qrels.append(Qrel(query_id, doc_id, int(grade), subtopic))
    return qrels


def _scores(run: Run, golden: GoldenSet) -> dict[str, dict[str, float]]:
    ranked = [query_id for query_id in golden.query_ids if run.get(query_id)]
    return {query_id: _falling_scores(run[query_id]) for query_id in ranked}


def _falling_scores(ranking: Sequence[str]) -> dict[str, float]:
    """Return scores that give a ranking; repeats of a document become unjudged documents."""
    scores: dict[str, float] = {}
    for rank, doc_id in enumerate(ranking, start=1):
        scored_id = f"{doc_id}#repeated-at-{rank}" if doc_id in scores else doc_id
        scores[scored_id] = float(len(ranking) + 1 - rank)
    return scores
