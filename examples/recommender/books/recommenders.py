"""The recommender in production, one that may replace it, and two broken ones.

The matrix has a row for each reader and a column for each book: 1 where the reader bought it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pytest_rankcheck import Query

DATA = Path(__file__).parent.parent / "data"
Recommender = Callable[[Query, int], list[str]]
"""Returns this number of books, best first."""


class Purchases:
    """The training data: who bought what."""

    def __init__(self) -> None:
        self.books = [row["doc_id"] for row in rows("books.csv")]
        place = {book: number for number, book in enumerate(self.books)}
        pairs = [(row["user"], place[row["item"]]) for row in rows("train.csv")]
        self.readers = {reader: n for n, reader in enumerate(dict.fromkeys(r for r, _ in pairs))}
        self.matrix = np.zeros((len(self.readers), len(self.books)))
        for reader, book in pairs:
            self.matrix[self.readers[reader], book] = 1

    def recommender(self, scores: np.ndarray, *, leave_out_bought: bool = True) -> Recommender:
        """Return a recommender of the books with the highest scores, ``[readers, books]``."""
        if leave_out_bought:
            scores = np.where(self.matrix > 0, -np.inf, scores)

        def recommend(query: Query, depth: int) -> list[str]:
            # Rounded, so that no other sum of the same numbers changes the order.
            order = np.argsort(-scores[self.readers[query.id]].round(9), kind="stable")
            return [self.books[place] for place in order[:depth]]

        return recommend


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def neighbours(matrix: np.ndarray, count: int) -> np.ndarray:
    """Return the cosine similarity of each book and its nearest neighbours; 0 for all others."""
    together = matrix.T @ matrix
    length = np.sqrt(np.maximum(together.diagonal(), 1))
    cosine = (together / length / length[:, np.newaxis]).round(12)
    np.fill_diagonal(cosine, 0)
    least = np.sort(cosine, axis=0)[-count]
    return np.where(cosine >= least, cosine, 0)


def current() -> Recommender:
    """Return the one in production, item-kNN: books that are bought by the same readers."""
    return nearest(40)


def fewer_neighbours() -> Recommender:
    """Return the same with ten neighbours of each book."""
    return nearest(10)


def nearest(count: int) -> Recommender:
    """Return item-kNN with this number of neighbours."""
    bought = Purchases()
    return bought.recommender(bought.matrix @ neighbours(bought.matrix, count))


def popularity() -> Recommender:
    """Return a recommender of what most readers bought, the same to everybody."""
    bought = Purchases()
    return bought.recommender(np.broadcast_to(bought.matrix.sum(axis=0), bought.matrix.shape))


def popular_neighbours() -> Recommender:
    """Return the one in production with popular books pushed up, which nDCG does not show."""
    bought = Purchases()
    scores = bought.matrix @ neighbours(bought.matrix, 40)
    return bought.recommender(scores * bought.matrix.sum(axis=0) ** 0.5)


def forgetful() -> Recommender:
    """Return the one in production, but recommending books that the reader already has."""
    bought = Purchases()
    scores = bought.matrix @ neighbours(bought.matrix, 40)
    return bought.recommender(scores, leave_out_bought=False)
