"""The rows of one very long ranking, sorted in temporary files to bound the memory.

An external merge sort: each piece is sorted in memory and written to a file, and the files are
merged. Pieces that are already in order, as from a sorted table, need no merging.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.evaluation.ranking_digests import encoded_texts
from pytest_rankcheck.rankers.ranking import Ties

__all__ = ["RowChunk", "SpilledRows"]

_CHUNK = 1 << 15
"""How many rows of each file are in memory at a time."""
_BUCKETS = 64
"""The number of files over which ids are spread, by hash, to find duplicates."""


@dataclass(frozen=True, slots=True)
class RowChunk:
    """Some rows of a ranking, in order."""

    doc_ids: Sequence[str]
    scores: FloatArray
    """The scores, or negated ranks."""


class SpilledRows:
    """The rows of one ranking, in temporary files.

    Args:
        folder: the folder of the files; the caller removes it.
        ties: the order of equal scores; the caller raises the error for ``"error"``.
    """

    def __init__(self, folder: Path, ties: Ties) -> None:
        self._folder, self._by_id = folder, ties != "input"
        self._ends: list[tuple[tuple[float, str], tuple[float, str]]] = []
        """The first and the last row of each sorted file."""

    def add(self, doc_ids: Sequence[str], scores: FloatArray) -> None:
        """Sort a piece of the rows and write it to a file of its own."""
        pairs = list(zip(scores.tolist(), doc_ids, strict=True))
        if self._by_id:
            pairs.sort(reverse=True)
        else:
            pairs.sort(key=_score, reverse=True)  # stable
        with self._file(len(self._ends)).open("wb") as file:
            for start in range(0, len(pairs), _CHUNK):
                _write(file, pairs[start : start + _CHUNK])
        self._ends.append((pairs[0], pairs[-1]))

    def chunks(self) -> Iterator[RowChunk]:
        """Yield all rows in the order of the ranking."""
        files = [self._read(number) for number in range(len(self._ends))]
        if all(self._in_order(last, first) for (_, last), (first, _) in pairwise(self._ends)):
            for file in files:
                yield from file
            return
        key = None if self._by_id else _score
        merged = heapq.merge(*map(_pairs, files), key=key, reverse=True)
        while some := list(islice(merged, _CHUNK)):
            scores, doc_ids = zip(*some, strict=True)
            yield RowChunk(doc_ids, np.array(scores))

    def _in_order(self, last: tuple[float, str], first: tuple[float, str]) -> bool:
        return last >= first if self._by_id else last[0] >= first[0]

    def _file(self, number: int) -> Path:
        return self._folder / f"rows-{number}"

    def _read(self, number: int) -> Iterator[RowChunk]:
        with self._file(number).open("rb") as file:
            while head := file.read(16):
                count, size = np.frombuffer(head, np.int64).tolist()
                scores = np.frombuffer(file.read(8 * count), np.float64)
                lengths = np.frombuffer(file.read(8 * count), np.int64)
                blob, ends = file.read(size), np.cumsum(lengths).tolist()
                texts = [
                    blob[start:end].decode("utf-8", "surrogatepass")
                    for start, end in pairwise([0, *ends])
                ]
                yield RowChunk(texts, scores)

    def repeated(self) -> tuple[str, int, int] | None:
        """Return a document that is ranked twice, and both ranks; None without duplicates."""
        doubtful = self._repeated_hashes()
        if not doubtful:
            return None
        rank, first = 0, dict[str, int]()
        for chunk in self.chunks():
            for doc_id in chunk.doc_ids:
                rank += 1
                if hash(doc_id) in doubtful and first.setdefault(doc_id, rank) != rank:
                    return doc_id, first[doc_id], rank
        return None

    def _repeated_hashes(self) -> set[int]:
        """Return the hashes that several rows have."""
        buckets = [self._folder / f"bucket-{number}" for number in range(_BUCKETS)]
        for number in range(len(self._ends)):
            for chunk in self._read(number):
                hashes: IntArray = np.fromiter(map(hash, chunk.doc_ids), np.int64)
                which = hashes % _BUCKETS
                for bucket in np.unique(which).tolist():
                    with buckets[bucket].open("ab") as file:
                        file.write(hashes[which == bucket].tobytes())
        found = set[int]()
        for bucket in buckets:
            if bucket.exists():
                hashes = np.sort(np.fromfile(bucket, np.int64))
                found.update(hashes[1:][hashes[1:] == hashes[:-1]].tolist())
        return found


def _score(row: tuple[float, str]) -> float:
    return row[0]


def _pairs(chunks: Iterator[RowChunk]) -> Iterator[tuple[float, str]]:
    for chunk in chunks:
        yield from zip(chunk.scores.tolist(), chunk.doc_ids, strict=True)


def _write(file: BinaryIO, rows: Sequence[tuple[float, str]]) -> None:
    scores, doc_ids = zip(*rows, strict=True)
    lengths, blob = encoded_texts(doc_ids)
    file.write(np.array([len(rows), len(blob)], np.int64).tobytes())
    file.write(np.array(scores, np.float64).tobytes())
    file.write(lengths.tobytes())
    file.write(blob)
