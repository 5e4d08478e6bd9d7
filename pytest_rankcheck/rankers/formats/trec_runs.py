"""TREC runs: lines of ``query_id Q0 doc_id rank score tag``, separated by any white space.

As in trec_eval, the score decides and the rank column is ignored. Lines that begin with ``#`` are
comments.
"""

from __future__ import annotations

from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.trec_columns import columns_of, trec_text
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.rankers.ranking_rows import Rankings, ranked_rows
from pytest_rankcheck.rankers.scanning.trec_blocks import trec_blocks
from pytest_rankcheck.rankers.scanning.trec_lines import COLUMNS

__all__ = ["FORMAT"]


def write(rankings: Rankings, path: Path) -> None:
    """Write a run from which every evaluator reads the same order.

    Scores are kept if, with ties by document id, they give the ranking's order; otherwise the
    scores written count down from the number of documents.
    """
    rows = (
        (query_id, "Q0", doc_id, str(rank), repr(score), "rankcheck")
        for query_id, doc_id, rank, score in ranked_rows(rankings)
    )
    write_whole(path, trec_text(rows, RunError))


FORMAT = Format(
    name="trec",
    description="TREC runs, lines of: query_id Q0 doc_id rank score tag",
    recognises=lambda sample: len(columns_of(sample.line)) >= COLUMNS,
    read=trec_blocks,
    write=write,
    endings=(".run", ".txt"),
    is_vague=True,
)
