"""Which rows of a log are selections, where some are impressions or other actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.files.plain_values import as_flag, is_missing
from pytest_rankcheck.files.table_columns import Column

__all__ = ["SelectionRule", "SelectionsWhere", "value_key"]

SelectionsWhere = Mapping[str, Sequence[object]] | Literal["all"]
"""``{column: values}`` of the rows that are selections, or ``"all"``."""


def value_key(value: object) -> str:
    """Return a value in the form in which values are compared; empty for a missing one.

    Case and surrounding spaces do not matter; True, 1, "yes" and "true" are equal, as are False, 0,
    "no" and "false".
    """
    if is_missing(value):
        return ""
    flag = as_flag(value)
    return str(value).strip().casefold() if flag is None else str(flag).casefold()


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """Tells the rows that are selections from all others."""

    wanted: Mapping[str, frozenset[str]]
    """By column, the keys of the values that mean a selection: see `value_key`. A row is a
    selection if every column has one of its values; without columns, all rows are."""
    grades: Mapping[str, float]
    """The grade of a selection, by the key of a value; 1 for all others."""

    def mask(self, columns: Mapping[str, Column], size: int) -> BoolArray:
        """Return which of N rows are selections, ``[N]``; a row without a column is not one."""
        chosen = np.full(size, self.wanted.keys() <= columns.keys())
        for name in self.wanted.keys() & columns.keys():
            coded = columns[name].coded()
            is_wanted = [value_key(value) in self.wanted[name] for value in coded.values]
            chosen &= np.array(is_wanted, dtype=bool)[coded.codes]
        return chosen

    def grades_of(self, columns: Mapping[str, Column], size: int) -> FloatArray:
        """Return the highest grade of a value of each row, NaN without one, ``[N]``."""
        highest = np.full(size, np.nan)
        for name in (self.wanted.keys() & columns.keys()) if self.grades else ():
            coded = columns[name].coded()
            found = [self.grades.get(value_key(value), np.nan) for value in coded.values]
            highest = np.fmax(highest, np.array(found, dtype=np.float64)[coded.codes])
        return highest
