"""What the name and the cells of a column without a role say about it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_rankcheck.files.checked_cells import checked_number
from pytest_rankcheck.files.delimited_tables import Role
from pytest_rankcheck.golden.query import label_of

__all__ = [
    "ATTRIBUTE",
    "CANDIDATE",
    "GRADE",
    "GRADES",
    "JUDGES",
    "RARE",
    "Spread",
    "as_numbers",
    "is_index",
    "repeated_rows",
    "spread_of",
]

Key = TypeVar("Key", bound=Hashable)

GRADE = Role(
    "relevance",
    (
        *("relevance", "rel", "label", "rating", "grade", "gain"),
        *("judgment", "judgement", "relevance_label", "esci_label"),
    ),
    otherwise=("score",),
)
"""The column of grades."""

GRADES = frozenset({GRADE.name, *GRADE.names} - {"rating"})
"""Names of columns that are grades, not features. A product may have a rating."""

JUDGES = frozenset(
    f"{name}{end}"
    for name in ("judge", "rater", "annotator", "assessor", "labeler", "labeller", "grader")
    for end in ("", "_id", "_name")
) | {"judged_by", "rated_by", "annotated_by", "assessed_by", "labeled_by", "labelled_by"}
"""Names of columns that name the judge."""

ATTRIBUTE, CANDIDATE = "attribute:", "candidate:"
_INDEX_NAME = re.compile(r"|Unnamed: \d+(_level_\d+)?(\.\d+)*|__index_level_\d+__")
_RESET_INDEX = ("index", "level_0")
"""How ``reset_index`` names the column of an index without a name."""
_NAN = ("nan", "NaN")
"""How other tools write a missing number."""
RARE = 20
"""A column that varies in at most 1 of this many queries is probably an attribute with an error."""


def is_index(name: str, cells: Sequence[object], *, is_before_ids: bool = False) -> bool:
    """Whether a column is the index of a DataFrame, left by ``to_csv``, ``to_parquet`` or others.

    Such a column has no name, or a name that pandas or Arrow made up; or it is named ``index`` or
    ``level_0`` and holds the numbers of the rows. Before the ids, where ``reset_index`` puts it,
    they may have any order: the rows may have been sorted.
    """
    if _INDEX_NAME.fullmatch(name):
        return True
    if name not in _RESET_INDEX or len(cells) < 2:
        return False
    numbers = [str(cell) for cell in cells]
    for start in (0, 1):
        rows = [str(start + row) for row in range(len(cells))]
        if numbers == rows or (is_before_ids and sorted(numbers) == sorted(rows)):
            return True
    return False


def as_numbers(cells: Iterable[object]) -> list[float | None] | None:
    """Return a column of numbers, or of texts of numbers; None if another cell occurs."""
    numbers: list[float | None] = []
    for cell in cells:
        is_empty = cell is None or cell in _NAN
        number = None if is_empty else _number(cell)
        if number is None and not is_empty:
            return None
        numbers.append(number)
    return numbers


def _number(cell: object) -> float | None:
    """Return a cell as a number, which may be infinite; None if it is not a number."""
    if isinstance(cell, float):
        return cell
    if isinstance(cell, str) and cell in ("inf", "-inf"):
        return math.inf if cell == "inf" else -math.inf
    number = checked_number(cell)
    return None if number is None else float(number)


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
    """Return how a column varies in the rows of each key that has several. Empty cells are None."""
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
