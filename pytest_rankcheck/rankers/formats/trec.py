"""TREC runs: ``query_id Q0 doc_id rank score tag`` a line, separated by any white space.

As in trec_eval the score decides, the rank column is not read. Lines that begin with ``#`` are
comments.
"""

from __future__ import annotations

from array import array
from pathlib import Path

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files import Format, columns_of, line_of, write_whole
from pytest_rankcheck.rankers.listing import Listing, Listings
from pytest_rankcheck.rankers.ranking import by_score
from pytest_rankcheck.rankers.scanning.blocks import blocks_of_queries
from pytest_rankcheck.rankers.scanning.lines import COLUMNS, lines_of_block, queries_of_block
from pytest_rankcheck.rankers.scanning.text import BLOCK_BYTES, scanned

__all__ = ["FORMAT"]


def read(path: Path) -> Listings:
    """Read a run.

    Raises:
        RunError: a line has not six columns, or its score is not a finite number; file and line
            are named.
    """
    listings: Listings = {}
    for block in blocks_of_queries(path, BLOCK_BYTES):
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


def write(lines: Listings, path: Path) -> None:
    """Write a run so that every evaluator reads the same order from it.

    Scores are kept where they, with ties by document id, give the ranking's order; else the
    scores count down from the number of documents.

    Raises:
        RunError: an id has white space or would read as a comment.
    """
    texts = []
    for query_id, listing in lines.items():
        pairs = zip(listing.doc_ids, _ordering_scores(listing, query_id), strict=True)
        for rank, (doc_id, score) in enumerate(pairs, start=1):
            columns = (query_id, "Q0", doc_id, str(rank), repr(score), "rankcheck")
            texts.append(line_of(columns, RunError))
    write_whole(path, "".join(texts))


def _as(precision: str, scores: list[float] | None) -> list[float] | None:
    """Return scores at a precision of C, or None where one is too large for it."""
    try:
        return scores and list(array(precision, scores))
    except OverflowError:
        return None


def _ordering_scores(listing: Listing, query_id: str) -> list[float]:
    doc_ids, scores = listing.doc_ids, listing.scores
    # Some evaluators compare scores as float32, where close ones are tied.
    for precision in ("d", "f"):
        rounded = _as(precision, scores)
        if rounded is None or by_score(doc_ids, rounded, query_id).doc_ids != tuple(doc_ids):
            break
    else:
        return scores or []
    return [float(len(doc_ids) - index) for index in range(len(doc_ids))]


FORMAT = Format(
    name="trec",
    description="TREC runs, lines of: query_id Q0 doc_id rank score tag",
    recognises=lambda line: len(columns_of(line)) >= COLUMNS,
    read=read,
    write=write,
    scan=scanned,
)
