"""Runs in Parquet: columns ``query_id``, ``doc_id``, and ``score`` or ``rank``. Extra ``[fast]``.

With ``score`` the highest is best, with ``rank`` alone the lowest. Ids may be text or whole
numbers; other columns are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.parquet_files import is_parquet, require_polars, write_table
from pytest_rankcheck.rankers.ranking_rows import Listing, Listings, rows_of

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.query_hits import Found, Reading, Wanted

__all__ = ["FORMAT"]


def read(reading: Reading) -> Listings:
    """Read a run.

    Raises:
        RunError: polars is not installed, the file is no Parquet file, lacks a column, or has a
            row without an id or a finite score.
    """
    require_polars(reading.path, RunError)
    from pytest_rankcheck.rankers.scanning.parquet_scan import batches_of

    listings: Listings = {}
    for rows in batches_of(reading):
        for query_id, doc_id, score in rows.iter_rows():
            listing = listings.get(query_id)
            if listing is None:
                listing = listings[query_id] = Listing(score_decides=True, scores=[])
            assert listing.scores is not None
            listing.doc_ids.append(doc_id)
            listing.scores.append(score)
    return listings


def scan(reading: Reading, wanted: Wanted) -> Iterator[tuple[str, Found | None]]:
    """Yield each query with what was found of it; None for one that is not wanted.

    Raises:
        RunError: as in `read`; or a document stands twice.
    """
    require_polars(reading.path, RunError)
    from pytest_rankcheck.rankers.scanning.parquet_scan import scanned

    return scanned(reading, wanted)


def write(listings: Listings, path: Path) -> None:
    """Write a run, with ranks, and scores that give the same order.

    Raises:
        RunError: polars is not installed, or an id cannot be encoded.
    """
    require_polars(path, RunError)
    import polars as pl

    schema = {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64, "score": pl.Float64}
    try:
        table = pl.DataFrame(list(rows_of(listings)), schema=schema, orient="row")
    except UnicodeEncodeError:
        raise RunError("an id cannot be written as UTF-8; save as jsonl") from None
    write_table(table, path)


def _recognises(sample: FileSample) -> bool:
    return is_parquet(sample.start)


FORMAT = Format(
    name="parquet",
    description="Parquet with the columns query_id, doc_id, and score or rank",
    recognises=_recognises,
    read=read,
    write=write,
    scan=scan,
    endings=(".parquet", ".pq"),
    is_binary=True,
)
