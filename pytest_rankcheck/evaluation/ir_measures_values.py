"""Values of the measures that ir_measures computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError, quoted
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.ir_measures_bridge import measure_of
from pytest_rankcheck.rankers.run import Run


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
