"""Make the tables of this example: ``python -m books.make_data``.

A reader likes a few genres, and buys books at random: the more often, the better the genre fits
and the more popular the book is. The last two books of each reader are the test, the others the
training. So the split is by time, and no book of the test is in the training of its reader.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
READERS, BOOKS, LEFT_OUT = 2000, 600, 2
GENRES = ["art", "crime", "cooking", "fantasy", "history", "poetry", "romance", "travel"]
SELLERS = ["atlas", "bolt", "corner", "delta", "elm"]


def main() -> None:
    """Draw the books and the readers, and write the tables."""
    draw = random.Random(1)
    books = [(f"b{n}", draw.choice(GENRES), draw.choice(SELLERS)) for n in range(BOOKS)]
    appeal = [draw.paretovariate(1.2) for _ in books]
    train, test = [], []
    for number in range(READERS):
        reader, bought = f"r{number}", purchases(books, appeal, draw)
        history = "short" if len(bought) - LEFT_OUT < 8 else "long"
        train += [(reader, book) for book in bought[:-LEFT_OUT]]
        test += [(reader, book, 1, history) for book in bought[-LEFT_OUT:]]
    write("data/books.csv", ["doc_id", "genre", "seller"], books)
    write("data/train.csv", ["user", "item"], train)
    write("golden/readers.csv", ["query_id", "doc_id", "relevance", "history"], test)


def purchases(
    books: list[tuple[str, str, str]], appeal: list[float], draw: random.Random
) -> list[str]:
    """Return the books that one reader buys, in order."""
    likes = {genre: draw.expovariate(1) ** 3 for genre in GENRES}
    weights = [likes[genre] * much for (_, genre, _), much in zip(books, appeal, strict=True)]
    count, bought = LEFT_OUT + draw.randint(4, 14), dict[str, None]()
    while len(bought) < count:
        ((book, _, _),) = draw.choices(books, weights)
        bought[book] = None
    return list(bought)


def write(name: str, header: list[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Write a table."""
    with (ROOT / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
