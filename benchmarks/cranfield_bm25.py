"""A small BM25 over the Cranfield abstracts, with the settings that people change."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from pytest_rankcheck import GoldenSet, Run

DEPTH = 50
CODES = {1: 4, 2: 3, 3: 2, 4: 1, -1: 0}
"""The collection's codes run from 1, a complete answer, to 4, of minimum interest."""
_WORDS = """a about above after all also an and any are as at be been between both but by can could
do does for from had has have how if in into is it its made may more most must no not of on one or
other over same should so some such than that the their then there these they this those to two
under up upon was were what when where which who will with would"""
STOP_WORDS = frozenset(_WORDS.split())


@dataclass(frozen=True)
class Settings:
    """How one variant reads and scores."""

    k1: float = 1.2
    b: float = 0.75
    has_stop_words: bool = True
    """Whether stop words count as words."""
    letters: int | None = None
    """Terms are sequences of so many letters; None: words."""
    stem: int | None = None
    """Words are cut after so many letters; None: never."""
    dropped: int | None = None
    """Every so many-th term of a query is dropped; None: none is."""
    has_titles: bool = True
    """Whether the titles of documents are indexed beside the abstracts, which repeat them."""


@cache
def golden_set(folder: Path) -> GoldenSet:
    """Return the judgments with the queries that they are for."""
    return GoldenSet.load(folder / "cran.qrels", grades=CODES)


def ranked(folder: Path, settings: Settings, depth: int = DEPTH) -> Run:
    """Rank the abstracts for every query."""
    run = {}
    for query, of_query in enumerate(scored(folder, settings), 1):
        run[str(query)] = {str(1 + doc): float(of_query[doc]) for doc in _best(of_query, depth)}
    return Run.from_dict(run)


def scored(folder: Path, settings: Settings) -> np.ndarray:
    """Return the scores of queries and abstracts by BM25 (Robertson et al. 1995), ``[Q, D]``."""
    titles, abstracts = _documents(folder)
    if settings.has_titles:
        abstracts = [f"{title} {text}" for title, text in zip(titles, abstracts, strict=True)]
    counted = [Counter(_terms(text, settings)) for text in abstracts]
    places = {term: place for place, term in enumerate({term for doc in counted for term in doc})}
    counts = _matrix(counted, places)
    lengths = counts.sum(axis=1)
    is_there = counts.copy()
    is_there.data[:] = 1
    frequency = is_there.sum(axis=0)
    idf = np.log1p((len(abstracts) - frequency + 0.5) / (frequency + 0.5))
    norm = settings.k1 * (1 - settings.b + settings.b * lengths / lengths.mean())
    rows = np.repeat(np.arange(len(abstracts)), np.diff(counts.indptr))
    counts.data *= (settings.k1 + 1) / (counts.data + norm[rows]) * idf[counts.indices]
    asked = [Counter(_kept(_terms(text, settings), settings.dropped)) for text in queries(folder)]
    return (_matrix(asked, places) @ counts.T).toarray()


def _best(scores: np.ndarray, depth: int = DEPTH) -> list[int]:
    """Return the documents with the highest scores above 0, best first."""
    best = np.argsort(-scores, kind="stable")[:depth]
    return [int(doc) for doc in best if scores[doc] > 0]


def _matrix(counted: list[Counter[str]], places: dict[str, int]) -> csr_array:
    """Return counts of terms as a matrix; unknown terms are left out."""
    known = [[(places[t], n) for t, n in counts.items() if t in places] for counts in counted]
    indptr = np.cumsum([0, *map(len, known)])
    indices = np.array([place for row in known for place, _ in row], dtype=np.int64)
    data = np.array([number for row in known for _, number in row], dtype=np.float64)
    return csr_array((data, indices, indptr), shape=(len(counted), len(places)))


def _terms(text: str, settings: Settings) -> list[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    if not settings.has_stop_words:
        words = [word for word in words if word not in STOP_WORDS]
    if settings.stem is not None:
        words = [word[: settings.stem] for word in words]
    if settings.letters is None:
        return words
    joined, size = f" {' '.join(words)} ", settings.letters
    return [joined[start : start + size] for start in range(len(joined) - size + 1)]


def _kept(terms: list[str], dropped: int | None) -> list[str]:
    return [term for place, term in enumerate(terms, 1) if not dropped or place % dropped]


@cache
def _documents(folder: Path) -> tuple[list[str], list[str]]:
    """Return the titles and the abstracts, in the order of their ids 1, 2, ..."""
    records = re.split(r"^\.I .*\n", (folder / "cran.all.1400").read_text("latin-1"), flags=re.M)
    titles, abstracts = [], []
    for record in records[1:]:
        title, _, rest = record.partition("\n.A\n")
        titles.append(title.removeprefix(".T\n"))
        abstracts.append(rest.partition("\n.W\n")[2])
    return titles, abstracts


@cache
def queries(folder: Path) -> list[str]:
    """Return the queries; judgments name them by their place, not by their number in the file."""
    records = re.split(r"^\.I .*\n", (folder / "cran.qry").read_text("latin-1"), flags=re.M)
    return [record.partition(".W\n")[2] for record in records[1:]]
