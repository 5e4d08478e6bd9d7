"""TREC runs: ``query_id Q0 doc_id rank score tag`` a line, separated by any white space.

As in trec_eval the score decides, the rank column is not read. Lines that begin with ``#`` are
comments.
"""

from __future__ import annotations

from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.trec_columns import columns_of, line_of
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.rankers.query_hits import Reading
from pytest_rankcheck.rankers.ranking_rows import Listing, Listings, rows_of
from pytest_rankcheck.rankers.scanning.query_blocks import blocks_of_queries
from pytest_rankcheck.rankers.scanning.text_scan import BLOCK_BYTES, scanned
from pytest_rankcheck.rankers.scanning.trec_lines import COLUMNS, lines_of_block, queries_of_block

__all__ = ["FORMAT"]


def read(reading: Reading) -> Listings:
    """Read a run.

    Raises:
        RunError: a line has not six columns, or its score is not a finite number; file and line
            are named.
    """
    listings: Listings = {}
    for block in blocks_of_queries(reading.path, BLOCK_BYTES):
        lines = lines_of_block(block)
        for query, start, end in queries_of_block(lines):
            query_id = query.decode()
            listing = listings.get(query_id)
            if listing is None:
                listing = listings[query_id] = Listing(score_decides=True, scores=[])
            listing.doc_ids.extend(doc.decode() for doc in lines.docs[start:end])
            assert listing.scores is not None
            listing.scores.extend(lines.scores[start:end])
    return listings


def write(listings: Listings, path: Path) -> None:
    """Write a run so that every evaluator reads the same order from it.

    Scores are kept where they, with ties by document id, give the ranking's order; else the
    scores count down from the number of documents.

    Raises:
        RunError: an id has white space or would read as a comment.
    """
    write_whole(
        path,
        "".join(
            line_of((query_id, "Q0", doc_id, str(rank), repr(score), "rankcheck"), RunError)
            for query_id, doc_id, rank, score in rows_of(listings)
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
    scan=scanned,
    endings=(".run", ".txt"),
    is_vague=True,
)
