"""Runs in Parquet: columns ``query_id``, ``doc_id``, and ``score`` or ``rank``. Extra ``[fast]``.

With ``score`` the highest is best, with ``rank`` alone the lowest. Ids may be text or whole
numbers; other columns are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files import Format
from pytest_rankcheck.rankers.listing import Listing, Listings

if TYPE_CHECKING:
    from pytest_rankcheck.rankers.found import Found, Reading, Wanted

__all__ = ["FORMAT"]


def read(path: Path) -> Listings:
    """Read a run.

    Raises:
        RunError: polars is not installed, the file is no Parquet file, lacks a column, or has a
            row without an id or a finite score.
    """
    _require_polars(path)
    from pytest_rankcheck.rankers.scanning.parquet_rows import batches_of

    listings: Listings = {}
    for rows in batches_of(path):
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
    _require_polars(reading.path)
    from pytest_rankcheck.rankers.scanning.parquet_rows import scanned

    return scanned(reading, wanted)


def _require_polars(path: Path) -> None:
    if find_spec("polars") is None:
        raise RunError(
            f"{path} is a Parquet file, which is read with polars: "
            "pip install 'pytest-rankcheck[fast]'"
        )


FORMAT = Format(
    name="parquet",
    description="Parquet with the columns query_id, doc_id, and score or rank",
    recognises=lambda line: False,
    read=read,
    scan=scan,
    magic=b"PAR1",
)
