"""Our own format of runs: one JSON object a line, one a query.

    {"query_id": "q1", "ranking": ["d7", "d3"]}
    {"query_id": "q2", "ranking": ["d1", "d9"], "scores": [12.5, 3.25]}

The ranking is in order, best first, whatever the scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.text_files import lines_of
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.rankers.query_hits import Found, Reading, Wanted, found_in_order
from pytest_rankcheck.rankers.ranking import ranking_as_given, without_duplicates
from pytest_rankcheck.rankers.ranking_rows import Listing, Listings

__all__ = ["FORMAT", "lines_to_write", "listings_of"]


def read(reading: Reading) -> Listings:
    """Read a run.

    Raises:
        RunError: a line is not such an object; file and line are named.
    """
    return listings_of(_numbered(reading.path))


def listings_of(numbered: Iterable[tuple[str, str]]) -> Listings:
    """Return what lines say, each given with where it stands.

    Raises:
        RunError: a line is not such an object, or a query is given twice.
    """
    return dict(_listings(numbered))


def _listings(numbered: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Listing]]:
    seen: set[str] = set()
    for where, line in numbered:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as failure:
            raise RunError(f"{where}: not JSON: {failure}; each line is one object") from None
        query_id = entry.get("query_id") if isinstance(entry, dict) else None
        if not isinstance(query_id, str) or not isinstance(entry.get("ranking"), list):
            raise RunError(
                f'{where}: not of the form {{"query_id": "q1", "ranking": ["d7", "d3"]}}'
            )
        if query_id in seen:
            raise RunError(f"{where}: query '{quoted(query_id)}' is given twice")
        seen.add(query_id)
        try:
            listing = _ranked(entry, query_id)
        except RunError as error:
            raise RunError(f"{where}: {error}") from None
        yield query_id, listing


def scan(reading: Reading, wanted: Wanted) -> Iterator[tuple[str, Found | None]]:
    """Yield each query with what was found of it; None for one that is not wanted.

    Raises:
        RunError: as in `read`; or a document stands twice.
    """
    for query_id, listing in _listings(_numbered(reading.path)):
        ranking = listing.ranking(query_id, reading.ties)
        ranking = without_duplicates(ranking, query_id, reading.duplicates)
        judged = wanted(query_id)
        yield query_id, None if judged is None else found_in_order(ranking.doc_ids, judged)


def _numbered(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in lines_of(path, RunError):
        if not line.startswith("#"):
            yield f"{path}:{number}", line


def _ranked(entry: dict[str, object], query_id: str) -> Listing:
    ranking, scores = entry["ranking"], entry.get("scores")
    assert isinstance(ranking, list)
    if scores is None:
        return Listing.of(ranking_as_given(ranking, query_id))
    if not isinstance(scores, list) or len(scores) != len(ranking):
        raise RunError(f"query '{quoted(query_id)}': \"scores\" is not one number a document")
    return Listing.of(ranking_as_given(list(zip(ranking, scores, strict=True)), query_id))


def write(lines: Listings, path: Path) -> None:
    """Write a run, a line a query, in the run's order."""
    write_whole(path, "".join(f"{line}\n" for line in lines_to_write(lines)))


def lines_to_write(lines: Listings) -> Iterator[str]:
    """Yield a line a query."""
    for query_id, listing in lines.items():
        entry: dict[str, object] = {"query_id": query_id, "ranking": listing.doc_ids}
        if listing.scores is not None:
            entry["scores"] = listing.scores
        yield readable_json(entry)


def _recognises(sample: FileSample) -> bool:
    return sample.line.lstrip().startswith("{")


FORMAT = Format(
    name="jsonl",
    description='JSON lines such as {"query_id": "q1", "ranking": ["d7", "d3"]}',
    recognises=_recognises,
    read=read,
    write=write,
    scan=scan,
    endings=(".jsonl",),
    is_vague=True,
)
