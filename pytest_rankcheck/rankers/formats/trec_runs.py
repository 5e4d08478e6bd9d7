"""TREC runs: lines of ``query_id Q0 doc_id rank score tag``, separated by any white space.

As in trec_eval, the score decides, but ranks that oppose it in all queries are refused. The tag may
have several words.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.trec_columns import columns_of, trec_table, trec_text
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.rankers.formats.table_runs import columns_of_files
from pytest_rankcheck.rankers.ranked_columns import RankedColumns
from pytest_rankcheck.rankers.ranking import Rankings, ranked_rows

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.run_files import RunFiles

_COLUMNS = ("query_id", "Q0", "doc_id", "rank", "score", "tag")


def read(run: RunFiles, *, together: bool = False) -> Iterator[RankedColumns]:
    """Yield the rankings of a TREC run."""

    def opened(file: Path) -> Table:
        return trec_table(file, _COLUMNS, "a run", RunError)

    return columns_of_files(run, opened, {}, together=together)


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
    recognises=lambda sample: len(columns_of(sample.line)) >= len(_COLUMNS),
    read=read,
    write=write,
    endings=(".run", ".txt"),
    is_vague=True,
)
