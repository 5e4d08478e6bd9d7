"""The names that other tools use, and what to write here: the rows of docs/reference/metric-names.md.

The rows are in ``name_rows.csv``. The numbers beside them are recorded by ``other_tools.py`` and compared by ``test_name_tables.py``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """A name of another tool."""

    name: str
    ours: str = ""
    """What to write here; empty if we do not have the metric."""
    note: str = ""
    """What differs, or what the name means if we do not have the metric."""
    differs: bool = False
    """Whether the two numbers differ; otherwise they agree."""
    binary: bool = False
    """Whether the numbers are of the example with grades of 0 and 1."""
    listed: bool = False
    """Whether the numbers are of the example in which only ranked documents are judged."""
    top: int | None = None
    """The depth at which our run is cut before it is evaluated."""
    all_queries: bool | None = None
    """Whether missing queries count; by default, as for the other names of the tool."""
    read_as: str = ""
    """The metric that the name means here, if that is not ``ours``."""


INTRODUCTIONS = {
    "trec_eval": (
        True,
        (
            "Version 10.0-rc3, with `-c`, so that all five queries count. Its names work here, "
            "except with a number after `set_F`; the error says what to write. "
            "With `-l`, which is `rel=` here, its `rbp` ignores the level; ours does not."
        ),
    ),
    "ir_measures": (
        True,
        (
            "All five queries count. An ir_measures object gives the number of ir_measures, except "
            "among ties for `RR@3` and `Judged@3`, at recall levels that it rounds wrongly, and "
            "for the mean of `Accuracy@3`, which leaves out queries without a value; here they "
            "count as 0. A name that both have keeps our meaning, as the last column says."
        ),
    ),
    "ranx": (
        False,
        (
            "ranx refuses a run that lacks a query, so four queries count. A suffix `-l2` is "
            "`rel=2` here; for ndcg and dcg it also sets lower grades to 0, which has no equal."
        ),
    ),
    "scikit-learn": (
        False,
        (
            "Its functions see one query as two arrays, the grades and the scores of the ranked "
            "documents; documents that were not retrieved do not exist. Ties share the mean of "
            "their gains; here the document id decides."
        ),
    ),
    "LightGBM": (
        False,
        (
            "It ranks the rows of a group and knows no other documents. A group without a relevant "
            "row counts as 1; here the query scores 0."
        ),
    ),
    "RecTools": (
        True,
        (
            "Users are queries, and the users of the interactions count, so all five queries do. "
            "There are no grades: every interaction is relevant."
        ),
    ),
    "BEIR": (
        False,
        (
            "`EvaluateRetrieval.evaluate` takes the mean over the four ranked queries; the metrics "
            "of `evaluate_custom` divide by all five. Values are rounded to five decimals."
        ),
    ),
    "torchmetrics": (
        False,
        (
            "It sees the grades and scores of the ranked documents only, like scikit-learn. A "
            "query without a relevant document is 0 by default (`empty_target_action`)."
        ),
    ),
    "ragas": (
        False,
        (
            "A sample is a query, and its retrieved contexts are the documents: here, the first "
            "three. The number recorded for `ContextPrecision` is that of its own formula with our "
            "judgments in place of the verdicts of a language model. Metrics of the answer, such "
            "as Faithfulness, are not ranking metrics."
        ),
    ),
    "LlamaIndex": (
        False,
        "It has no cutoff: the retriever returns the first three documents. There are no grades.",
    ),
    "MTEB": (
        False,
        "The mean is over the four ranked queries. Values are rounded to five decimals.",
    ),
}
"""For each tool, whether missing queries count, and a note on all its names."""


def _rows() -> Iterator[tuple[str, Row]]:
    """Yield each row of the file with its tool; the options of a row are flags and numbers."""
    with Path(__file__).with_name("name_rows.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            options = dict(option.partition("=")[::2] for option in line.pop("options").split())
            tool = line.pop("tool")
            yield tool, Row(**line, **{name: int(value or 1) for name, value in options.items()})


ROWS = {
    tool: tuple(row for _, row in rows) for tool, rows in groupby(_rows(), lambda pair: pair[0])
}
