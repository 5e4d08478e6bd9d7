"""Comma- or tab-separated tables with a header: ``query_id,doc_id,score``, or ``rank``.

With ``score`` the highest is best, with ``rank`` alone the lowest. The separator (comma, tab,
semicolon or bar) is told from the header; usual other names of columns are known (``qid``,
``docno``, ``position``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.delimited_tables import table_of, table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.whole_files import check_encodable, write_whole
from pytest_rankcheck.rankers.query_hits import Found, Reading, Wanted, found_by_score
from pytest_rankcheck.rankers.ranking_rows import Listing, Listings, rows_of
from pytest_rankcheck.rankers.run_columns import has_ranking, run_columns

__all__ = ["FORMATS"]


def read(reading: Reading) -> Listings:
    """Read a run.

    Raises:
        RunError: a column is missing, or a row has no id or no finite score; file and line are
            named.
    """
    table = table_of(reading.path, RunError)
    place = run_columns(table.header, reading)
    order = "score" if "score" in place else "rank"
    sign = 1.0 if order == "score" else -1.0
    listings: Listings = {}
    for number, row in table.rows:
        where = f"{reading.path}:{number}"
        query_id, doc_id = row[place["query_id"]], row[place["doc_id"]]
        if not query_id or not doc_id:
            raise RunError(f"{where}: {'doc_id' if query_id else 'query_id'} is empty")
        listing = listings.get(query_id)
        if listing is None:
            listing = listings[query_id] = Listing(score_decides=True, scores=[])
        assert listing.scores is not None
        listing.doc_ids.append(doc_id)
        listing.scores.append(sign * _number(row[place[order]], order, doc_id, where))
    return listings


def scan(reading: Reading, wanted: Wanted) -> Iterator[tuple[str, Found | None]]:
    """Yield each query with what was found of it; None for one that is not wanted.

    Raises:
        RunError: as in `read`; or a document stands twice.
    """
    for query_id, listing in read(reading).items():
        judged, scores = wanted(query_id), listing.scores or []
        found = found_by_score(reading, query_id, listing.doc_ids, scores, judged or ())
        yield query_id, None if judged is None else found


def _number(text: str, what: str, doc_id: str, where: str) -> float:
    number = math.nan
    if "_" not in text:  # Python would read 1_000 as a number
        with suppress(ValueError):
            number = float(text)
    if not math.isfinite(number):
        raise RunError(
            f"{where}: the {what} of document '{quoted(doc_id)}' is '{quoted(text, 40)}', not a "
            "finite number"
        )
    return number


def write(listings: Listings, path: Path, *, delimiter: str) -> None:
    """Write a run, with ranks, and scores that give the same order.

    Raises:
        RunError: an id cannot be encoded.
    """
    rows = [
        [query_id, doc_id, rank, repr(score)] for query_id, doc_id, rank, score in rows_of(listings)
    ]
    text = table_text(["query_id", "doc_id", "rank", "score"], rows, delimiter)
    check_encodable(text, RunError)
    write_whole(path, text)


def _recognises(sample: FileSample, delimiter: str) -> bool:
    return has_ranking(sample.header) and ("\t" in sample.line) == (delimiter == "\t")


FORMATS = (
    Format(
        name="csv",
        description="comma-separated with a header such as query_id,doc_id,score",
        recognises=partial(_recognises, delimiter=","),
        read=read,
        write=partial(write, delimiter=","),
        scan=scan,
        endings=(".csv",),
    ),
    Format(
        name="tsv",
        description="the same, tab-separated",
        recognises=partial(_recognises, delimiter="\t"),
        read=read,
        write=partial(write, delimiter="\t"),
        scan=scan,
        endings=(".tsv",),
    ),
)
