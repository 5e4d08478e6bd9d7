"""Which rows of a log are selections, and their grades: ``selections_where`` and ``grades``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from pytest_rankcheck.argument_checks import is_number
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import (
    ConfigurationError,
    SessionLogError,
    listed,
    plural,
    quoted,
    suggestion,
)
from pytest_rankcheck.files.plain_values import as_flag, is_missing
from pytest_rankcheck.files.table_batches import Column

SelectionsWhere = Mapping[str, Sequence[object]] | Literal["all"]
"""``{column: values}`` of the rows that are selections, or ``"all"``."""

_SHOWN = 6
"""How many values of a column a message lists."""


def value_key(value: object) -> str:
    """Return a value in the form in which values are compared; empty for a missing one.

    Case and surrounding spaces do not matter; True, 1, "yes" and "true" are equal, as are False, 0,
    "no" and "false".
    """
    if is_missing(value):
        return ""
    flag = as_flag(value)
    return str(value).strip().casefold() if flag is None else str(flag).casefold()


class SelectionRule:
    """Finds the rows that are selections, and counts the values that make them selections.

    Args:
        wanted: by column, the keys of the values that mean a selection: see `value_key`. A row is a
            selection if every column has one of its values; without columns, all rows are.
        grades: the grade of a selection, by the key of a value; 1 for all others.
    """

    def __init__(self, wanted: Mapping[str, frozenset[str]], grades: Mapping[str, float]) -> None:
        self.wanted, self._grades = wanted, grades
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in wanted}
        self._has_selections = False

    def read(self, columns: Mapping[str, Column], size: int) -> tuple[BoolArray, FloatArray]:
        """Return which of N rows are selections, and the highest grade of a value of each, ``[N]``.

        If a column is missing, no row is a selection. The grade is NaN if no value has one.
        """
        chosen = np.full(size, self.wanted.keys() <= columns.keys())
        highest = np.full(size, np.nan)
        for name in self.wanted.keys() & columns.keys():
            coded = columns[name].coded()
            keys = [*map(value_key, coded.values)]
            chosen &= np.array([key in self.wanted[name] for key in keys], dtype=bool)[coded.codes]
            found = np.array([self._grades.get(key, np.nan) for key in keys], dtype=np.float64)
            highest = np.fmax(highest, found[coded.codes])
            rows = np.bincount(coded.codes, minlength=len(keys)).tolist()
            for value, key, count in zip(coded.values, keys, rows, strict=True):
                if key:
                    self._counts[name][str(value)] += count
        self._has_selections |= bool(chosen.any())
        return chosen, highest

    def unmet(self, source: str) -> Sequence[str]:
        """Return the wanted values that never occur, because they may be misspelt.

        Raises:
            SessionLogError: no row is a selection.
        """
        texts = []
        for name, counts in self._counts.items():
            missing = sorted(self.wanted[name] - set(map(value_key, counts)))
            if missing:
                values = ", ".join(
                    f"'{quoted(value)}' ({plural(count, 'row')})"
                    for value, count in counts.most_common(_SHOWN)
                )
                more = f" and {len(counts) - _SHOWN:,} more" if len(counts) > _SHOWN else ""
                texts.append(
                    f"'{quoted(name)}' is never {listed(missing)}"
                    f"{suggestion(missing[0], counts) or ';'} its values are "
                    f"{values or 'all empty'}{more}"
                )
        if self.wanted and not self._has_selections:
            why = texts[0] if texts else "no row has a value of each of the columns"
            raise SessionLogError(
                f"{source}: no row is a selection: {why}. Correct selections_where"
            )
        return texts


def selection_rule(
    where: SelectionsWhere | None, grades: Mapping[str, float] | None
) -> SelectionRule | None:
    """Return which rows are selections.

    Raises:
        ConfigurationError: an argument is invalid.
    """
    if where is None or where == "all":
        if grades is not None:
            raise ConfigurationError(
                "grades needs the column that has these values: give selections_where as well, "
                'such as selections_where={"action_name": ["click"]}'
            )
        return None if where is None else SelectionRule({}, {})
    if not isinstance(where, Mapping) or not where:
        raise ConfigurationError(
            f"selections_where={quoted(where, 60)} is invalid; give {{column: values}}, such as "
            'selections_where={"action_name": ["click"]}, or "all"'
        )
    wanted = {str(column): _keys(column, values) for column, values in where.items()}
    by_key = {
        value_key(value): checked_grade(value, grade) for value, grade in (grades or {}).items()
    }
    unknown = set(by_key).difference(*wanted.values())
    if unknown and len(wanted) > 1:
        raise ConfigurationError(
            f"grades: {listed(sorted(unknown))} does not occur in selections_where; add it to the "
            "values of its column"
        )
    if unknown:  # a value with a grade is a selection
        wanted = {column: keys | unknown for column, keys in wanted.items()}
    return SelectionRule(wanted, by_key)


def _keys(column: object, values: object) -> frozenset[str]:
    """Return the values that mean a selection, in the form in which they are compared."""
    several = values if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    keys = frozenset(map(value_key, several))
    if not keys or "" in keys:
        raise ConfigurationError(
            f"selections_where: the column '{quoted(column)}' has no value or an empty one; give "
            "the values that mean a selection"
        )
    return keys


def checked_grade(value: object, grade: object) -> float:
    """Return the grade of a selection.

    Raises:
        ConfigurationError: it is not a number from 0 on.
    """
    if not (is_number(grade) and 0 <= grade < math.inf):
        raise ConfigurationError(
            f"grades: the grade {quoted(grade, 60)} of '{quoted(value)}' is invalid; give a number "
            "from 0 on"
        )
    return float(grade)
