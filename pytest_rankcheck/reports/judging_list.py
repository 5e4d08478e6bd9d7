"""What to judge next, as a table that people fill in."""

from __future__ import annotations

import csv
import io

from pytest_rankcheck.golden.formats.to_judge_csv import COLUMNS, shown
from pytest_rankcheck.reports.report_data import Report


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
