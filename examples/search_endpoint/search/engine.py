"""The engine: scores documents by the rarity of the words that they share with the query."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from pathlib import Path

WORDS = re.compile(r"\w+")
TITLE_WEIGHT = 2.0


class Engine:
    """Finds HTTP status codes by their titles and descriptions."""

    def __init__(self, title_weight: float = TITLE_WEIGHT) -> None:
        with (Path(__file__).parent / "documents.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.documents = {
            row["id"]: (words(f"{row['id']} {row['title']}"), words(row["text"])) for row in rows
        }
        self.title_weight = title_weight
        count = Counter(word for title, text in self.documents.values() for word in {*title, *text})
        self.rarity = {word: math.log(1 + len(rows) / number) for word, number in count.items()}

    def search(self, query: str, size: int) -> list[tuple[str, float]]:
        """Return the ids and scores of the best documents."""
        query_words = words(query)
        scores = {
            doc_id: self.score(query_words, *fields) for doc_id, fields in self.documents.items()
        }
        hits = [(doc_id, score) for doc_id, score in scores.items() if score > 0]
        return sorted(hits, key=lambda pair: (-pair[1], pair[0]))[:size]

    def score(self, query_words: list[str], title: list[str], text: list[str]) -> float:
        """Return how well a document answers."""
        return sum(
            self.rarity.get(word, 0.0) * (self.title_weight * (word in title) + (word in text))
            for word in query_words
        ) / math.sqrt(2 + len(title) + len(text))


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without the s of a plural."""
    return [word.removesuffix("s") for word in WORDS.findall(text.lower())]
