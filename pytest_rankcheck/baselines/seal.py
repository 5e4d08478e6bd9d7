"""The seal of a golden set: its records have hashes instead of ids of queries and documents.

A hash is salted with the text of the query, so that only whoever has the golden set can tell which
query a line is about. The same query has the same hash in every record: also in one that takes the
place of another, since its test or its golden set has got another name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.evaluation.evaluation import Evaluation

_DIGITS = 20
_DEEPEST = 100
"""How far down rankings documents are recognised."""

Rename = Callable[[str, str], str]
"""Returns the new id of a document of a query."""


class Seal:
    """Renames queries and documents in the records of one golden set, and recognises them there.

    Args:
        evaluation: what is measured on the sealed golden set.
    """

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._salts = {query.id: _hash(query.text or "", query.id) for query in evaluation.golden}
        self._ids = {salt: query_id for query_id, salt in self._salts.items()}

    def closed(self, record: Record) -> Record:
        """Return a record in the sealed form, as it is written."""

        def hashed(query_id: str, doc: str) -> str:
            return _hash(self._salts[query_id], doc) if query_id in self._salts else doc

        return _renamed(record, self._salts, hashed)

    def opened(self, record: Record) -> Record:
        """Return a record that was read, with the real ids of what is still there."""
        known: dict[str, Mapping[str, str]] = {}

        def opened(salt: str, hashed: str) -> str:
            if salt in self._ids and salt not in known:
                known[salt] = {_hash(salt, doc): doc for doc in self._documents(self._ids[salt])}
            return known.get(salt, {}).get(hashed, hashed)

        return _renamed(record, self._ids, opened)

    def _documents(self, query_id: str) -> Iterable[str]:
        """Return the documents of a query that are judged or ranked now."""
        ranking = self._evaluation.ranking(query_id)[:_DEEPEST]
        return (*self._evaluation.golden.grades(query_id), *ranking)


def _renamed(record: Record, names: Mapping[str, str], rename: Rename) -> Record:
    """Return a record with other ids of queries and documents."""
    queries = record.queries
    tops = [
        [rename(query_id, doc) for doc in top]
        for query_id, top in zip(queries.ids, queries.tops, strict=True)
    ]
    below = queries.below and [
        {rename(query_id, doc): rank for doc, rank in ranks.items()}
        for query_id, ranks in zip(queries.ids, queries.below, strict=True)
    ]
    ids = [names.get(query_id, query_id) for query_id in queries.ids]
    return replace(record, queries=replace(queries, tops=tops, below=below).renamed(ids))


def _hash(*parts: str) -> str:
    text = "\0".join(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
