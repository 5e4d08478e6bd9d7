"""The seal of a golden set: its records have a hash in place of each query's id, and no documents.

The hash is salted with the text of the query and the name of the golden set, so that only whoever
has the golden set can tell which query a line is about, and the same query has the same hash in
every record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.golden.judged_queries import JudgedQueries

_DIGITS = 20


class Seal:
    """Names the queries of one golden set in its records, and recognises them there.

    Args:
        golden: the sealed golden set.
    """

    def __init__(self, golden: JudgedQueries) -> None:
        self._hashes = {query.id: _hash(golden.name, query.text, query.id) for query in golden}
        self._ids = {hashed: query_id for query_id, hashed in self._hashes.items()}

    def closed(self, record: Record) -> Record:
        """Return a record as it is written."""
        return _renamed(record, self._hashes)

    def opened(self, record: Record) -> Record:
        """Return a record that was read, with the ids of the queries that are still there."""
        return _renamed(record, self._ids)


def _renamed(record: Record, names: Mapping[str, str]) -> Record:
    """Return a record whose queries have other ids; one without another keeps its own."""
    ids = [names.get(query_id, query_id) for query_id in record.queries.ids]
    return replace(record, queries=record.queries.renamed(ids))


def _hash(*parts: str | None) -> str:
    text = "\0".join("" if part is None else part for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
