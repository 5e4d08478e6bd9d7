"""What to judge next: the unjudged documents at the top, most influential first."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence

from pytest_rankcheck.comparison.unjudged_documents import can_rejudge, values_under
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.formats.to_judge_csv import COLUMNS, shown
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import first_ranks
from pytest_rankcheck.reports.findings import DocumentToJudge, most_influential
from pytest_rankcheck.reports.report_data import Report


def to_judge(
    evaluation: Evaluation, metrics: Sequence[Metric], top: int = 10
) -> Iterator[DocumentToJudge]:
    """Yield the unjudged documents in the top of each ranking, most influential first.

    Each document appears once, with the metric that it could move most.

    Args:
        evaluation: what was measured.
        metrics: those that are gated; metrics of ir_measures, and those that need more of a
            ranking than is known, are left out.
        top: how many documents of each ranking are looked at, at most the metric's cutoff.
    """
    # The values of several runs are means, and only the rankings of the first are known.
    evaluation = next(iter(evaluation.replicates), evaluation)
    found = [
        document
        for metric in metrics
        if can_rejudge(evaluation, metric)
        for document in _of_metric(evaluation, metric, min(top, metric.cutoff or top))
    ]
    found.sort(key=lambda document: (document.query_id, document.rank))
    yield from most_influential(found)


def _of_metric(evaluation: Evaluation, metric: Metric, top: int) -> Iterator[DocumentToJudge]:
    golden = evaluation.golden
    rows = [
        (query_id, doc_id, rank)
        for query_id in golden.query_ids
        for doc_id, rank in first_ranks(evaluation.ranking(query_id)[:top]).items()
        if doc_id not in golden.grades(query_id)
    ]
    if not rows:
        return
    highest = max(golden.scale, 1.0)
    after = values_under(
        metric,
        [evaluation.ranking(query_id) for query_id, _, _ in rows],
        [{**golden.grades(query_id), doc_id: highest} for query_id, doc_id, _ in rows],
        max_grade=highest,
        conventions=evaluation.conventions,
    )
    before = dict(zip(evaluation.query_ids, evaluation.values(metric).tolist(), strict=True))
    for (query_id, doc_id, rank), value in zip(rows, after.tolist(), strict=True):
        moved = abs(value - before[query_id]) / len(before)
        yield DocumentToJudge(
            golden_set=golden.name,
            query_id=query_id,
            query=golden.query(query_id).text or "",
            doc_id=doc_id,
            title=golden.title(doc_id) or "",
            rank=rank,
            metric=str(metric),
            influence=0.0 if math.isnan(moved) else moved,  # NaN if the query does not count
        )


def csv_of(report: Report) -> str:
    """Return what to judge as a table whose column ``relevance`` people fill in.

    `GoldenSet.load` reads it back, and ``merge`` adds it to the golden set.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in report.documents:
        texts = (each.query_id, each.query, each.doc_id, each.title)
        cells = [*map(shown, texts), "", each.rank, each.metric, f"{each.influence:.6f}"]
        writer.writerow(cells)
    return file.getvalue()
