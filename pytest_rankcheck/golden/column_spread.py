"""How the values of a column vary within queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_rankcheck.golden.query import label_of

__all__ = ["Spread", "repeated_rows", "spread_of"]

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Spread(Generic[Key]):
    """How the values of a column vary within queries; of queries with several values."""

    steady: int
    """Queries in which all values are equal."""
    unusual: int
    """Those of them whose value is not the commonest."""
    varying: tuple[Key, ...]
    """Queries in which the values differ."""

    def is_nearly_steady(self, one_of: int) -> bool:
        """Whether a column looks like an attribute, but varies in at most 1 of so many queries.

        A rare feature of documents also varies in few queries only, but then nearly all others
        have the same value. An attribute differs between queries.
        """
        count = len(self.varying)
        return 0 < count * one_of <= count + self.steady and self.unusual > count


def repeated_rows(keys: Iterable[Key]) -> dict[Key, list[int]]:
    """Return the rows of each key, such as a query, that has several; from the key of each row."""
    rows: dict[Key, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    return {key: places for key, places in rows.items() if len(places) > 1}


def spread_of(rows: Mapping[Key, Sequence[int]], cells: Sequence[object]) -> Spread[Key]:
    """Return how the values of a column vary.

    Args:
        rows: the rows of each query, or of another key, that has several.
        cells: the cell of each row; None if it is empty.
    """
    steady: Counter[str] = Counter()
    varying = []
    for key, places in rows.items():
        values = [cells[row] for row in places]
        if values.count(values[0]) < len(values):
            varying.append(key)
        elif values[0] is not None:
            steady[label_of(values[0])] += 1
    total = sum(steady.values())
    return Spread(total, total - max(steady.values(), default=0), tuple(varying))
