"""The columns of a log, converted as a whole: numbers, ids and flags.

Each cell follows the rules of ``log_cells``; they are applied to the column or to its distinct
values where that gives the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.log_cells import number_of

__all__ = ["Errors", "numbers", "per_distinct_value"]

T = TypeVar("T")

Errors = Mapping[int, str]
"""By row, why its cell is invalid."""


def numbers(column: Column) -> tuple[FloatArray, Errors]:
    """Return a column of numbers, NaN where a cell is empty or invalid, ``[N]``."""
    found = column.numbers()
    errors: dict[int, str] = {}
    for row in found.invalid.tolist():  # perhaps "n/a", or a spelling that only a log may have
        try:
            number = number_of(column.cell(row))
        except ValueError as error:
            errors[row] = str(error)
        else:
            found.values[row] = np.nan if number is None else number
    return found.values, errors


def per_distinct_value(
    column: Column, convert: Callable[[object], T]
) -> tuple[Sequence[T | None], IntArray, Errors]:
    """Convert the distinct values of a column.

    Returns:
        The converted values, None for an invalid one; which one each row has, ``[N]``; and the
        errors.
    """
    coded = column.coded()
    values: list[T | None] = []
    problems: dict[int, str] = {}
    for code, value in enumerate(coded.values):
        try:
            values.append(convert(value))
        except ValueError as error:
            values.append(None)
            problems[code] = str(error)
    errors: Errors = {}
    if problems:
        rows = np.flatnonzero(np.isin(coded.codes, list(problems)))
        codes = coded.codes[rows].tolist()
        errors = {row: problems[code] for row, code in zip(rows.tolist(), codes, strict=True)}
    return values, coded.codes, errors
