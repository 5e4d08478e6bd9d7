"""What the name and the cells of a column without a role say about it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from pytest_rankcheck.files.delimited_tables import Role
from pytest_rankcheck.golden.checked_values import checked_number

__all__ = ["ATTRIBUTE", "CANDIDATE", "GRADE", "GRADES", "RARE", "as_numbers", "is_index"]

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
