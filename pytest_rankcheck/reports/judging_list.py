"""What to judge next: unjudged documents at the top, those first that could move a verdict most."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_rankcheck.comparison.rejudged_values import can_rejudge, values_under
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.formats.to_judge_csv import COLUMNS, guarded
from pytest_rankcheck.metrics.metric_names import Metric

__all__ = ["ToJudge", "csv_of", "quepid_of", "to_judge"]

_TOP = 10


@dataclass(frozen=True, slots=True)
class ToJudge:
    """An unjudged document at the top of a query's ranking."""

    query_id: str
    query: str
    doc_id: str
    title: str
    rank: int
    metric: str
    influence: float
    """How far the metric's mean would move if the document had the highest grade."""


def to_judge(evaluation: Evaluation, metrics: Sequence[Metric]) -> Iterator[ToJudge]:
    """Yield the unjudged documents in the top of each ranking, most influential first.

    The top is that of the metric's cutoff, else ten. A document stands once, with the metric that
    it could move most.

    Args:
        evaluation: what was measured.
        metrics: those that are gated; metrics of ir_measures, and those that need more of a
            ranking than is known, are left out.
    """
    found: dict[tuple[str, str], ToJudge] = {}
    for metric in metrics:
        if can_rejudge(evaluation, metric):
            for one in _of_metric(evaluation, metric):
                key = (one.query_id, one.doc_id)
                if key not in found or one.influence > found[key].influence:
                    found[key] = one
    yield from sorted(found.values(), key=lambda one: (-one.influence, one.query_id, one.rank))


def _of_metric(evaluation: Evaluation, metric: Metric) -> Iterator[ToJudge]:
    golden = evaluation.golden
    rows = [
        (query_id, doc_id, rank)
        for query_id in golden.query_ids
        for rank, doc_id in enumerate(
            evaluation.ranking(query_id)[: metric.cutoff or _TOP], start=1
        )
        if doc_id not in golden.grades(query_id)
    ]
    if not rows:
        return
    highest = max(golden.max_grade, 1.0)
    after = values_under(
        metric,
        [evaluation.ranking(query_id) for query_id, _, _ in rows],
        [{**golden.grades(query_id), doc_id: highest} for query_id, doc_id, _ in rows],
        max_grade=highest,
        exclude=evaluation.conventions.no_relevant == "exclude",
    )
    before = dict(zip(evaluation.query_ids, evaluation.values(metric).tolist(), strict=True))
    for (query_id, doc_id, rank), value in zip(rows, after.tolist(), strict=True):
        moved = abs(value - before[query_id]) / len(before)
        yield ToJudge(
            query_id,
            golden.query(query_id).text or "",
            doc_id,
            golden.title(doc_id) or "",
            rank,
            str(metric),
            0.0 if math.isnan(moved) else moved,  # NaN where the query does not count
        )


def csv_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return what to judge as a table whose column ``relevance`` is to be filled in.

    `GoldenSet.load` reads it back, and ``merge`` adds it to the golden set.
    """
    return _table(
        COLUMNS,
        (
            (
                row["query_id"],
                row["query"],
                row["doc_id"],
                row["title"],
                "",
                row["rank"],
                row["metric"],
                f"{row['influence']:.6f}",
            )
            for row in rows
        ),
    )


def quepid_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return what to judge in Quepid's form, ``query,docid,rating``; the text is the query's id."""
    return _table(
        ("query", "docid", "rating"),
        ((row["query"] or row["query_id"], row["doc_id"], "") for row in rows),
        guard=" ",  # as Quepid guards its own exports
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], guard: str | None = None) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        cells = [guarded(cell) if isinstance(cell, str) else cell for cell in row]
        if guard is not None:
            cells = [
                f"{guard}{old}" if new != old else old for new, old in zip(cells, row, strict=True)
            ]
        writer.writerow(cells)
    return file.getvalue()
