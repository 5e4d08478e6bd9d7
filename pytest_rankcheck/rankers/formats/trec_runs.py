"""TREC runs: lines of ``query_id Q0 doc_id rank score tag``, separated by any white space.

As in trec_eval, the score decides and the rank column is ignored. Lines that begin with ``#`` are
comments.
"""

from __future__ import annotations

from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.trec_columns import columns_of, line_of
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.rankers.query_hits import RunSource
from pytest_rankcheck.rankers.ranking_rows import FileRanking, FileRankings, ranked_rows
from pytest_rankcheck.rankers.scanning.query_blocks import blocks_of_queries
from pytest_rankcheck.rankers.scanning.text_scan import BLOCK_BYTES, scan_trec
from pytest_rankcheck.rankers.scanning.trec_lines import COLUMNS, lines_of_block, queries_of_block

__all__ = ["FORMAT"]


def read(source: RunSource) -> FileRankings:
    """Read a run.

    Raises:
        RunError: a line does not have six columns, or its score is not a finite number; the
            message names file and line.
    """
    rankings: FileRankings = {}
    for block in blocks_of_queries(source.path, BLOCK_BYTES):
        lines = lines_of_block(block)
        for query, start, end in queries_of_block(lines):
            query_id = query.decode()
            file_ranking = rankings.get(query_id)
            if file_ranking is None:
                file_ranking = rankings[query_id] = FileRanking(score_decides=True, scores=[])
            file_ranking.doc_ids.extend(doc.decode() for doc in lines.docs[start:end])
            assert file_ranking.scores is not None
            file_ranking.scores.extend(lines.scores[start:end])
    return rankings


def write(rankings: FileRankings, path: Path) -> None:
    """Write a run from which every evaluator reads the same order.

    Scores are kept if, with ties by document id, they give the ranking's order; otherwise the
    scores written count down from the number of documents.

    Raises:
        RunError: an id has white space or would be read as a comment.
    """
    write_whole(
        path,
        "".join(
            line_of((query_id, "Q0", doc_id, str(rank), repr(score), "rankcheck"), RunError)
            for query_id, doc_id, rank, score in ranked_rows(rankings)
        ),
    )


def _recognises(sample: FileSample) -> bool:
    return len(columns_of(sample.line)) >= COLUMNS


FORMAT = Format(
    name="trec",
    description="TREC runs, lines of: query_id Q0 doc_id rank score tag",
    recognises=_recognises,
    read=read,
    write=write,
    scan=scan_trec,
    endings=(".run", ".txt"),
    is_vague=True,
)
