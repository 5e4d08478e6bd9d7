"""Reading the cells and columns of a log: ids, lists of ids, numbers, and times.

Times are ISO 8601 text, with or without a zone, or numbers since an epoch or a start.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import SessionLogError, quoted
from pytest_rankcheck.files.json_files import json_value
from pytest_rankcheck.files.plain_values import finite_number, is_blank
from pytest_rankcheck.files.table_batches import Column

Cells = NDArray[np.object_]
Errors = Mapping[int, str]
"""For each invalid cell, by row, the reason."""

_EXACT = 2**53
"""From here on, a float may stand for a different whole number, because of rounding."""
_ONE_ID = re.compile(r"[\w.:/-]+")
"""A text that is surely one id."""
_NOTHING = frozenset({"", "null", "none", "nan", "[]", "n/a", "na"})
_PLACEHOLDERS = _NOTHING | {
    *("nil", "nat", "undefined", "unknown", "anonymous", "anon", "guest", "not set", "missing"),
    *("-", "--", "?", "00000000-0000-0000-0000-000000000000"),
}


def is_absent(value: object) -> bool:
    """Whether a cell is empty: None, NaN, or a text such as "null" or "n/a"."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and value.strip().lower() in _NOTHING


def is_placeholder(text: str) -> bool:
    """Whether an id is a placeholder for a missing one: "null", "unknown", "anonymous", ...

    "0" is not one: it is also an ordinary number of a session.
    """
    if "1" <= text[-1:] <= "9":  # a quick answer for most ids
        return False
    return text.strip().strip("()<>[]#").casefold() in _PLACEHOLDERS


def id_of(value: object) -> str | None:
    """Return an id as text; None for an empty cell.

    Raises:
        ValueError: the value is neither text nor a whole number.
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if is_absent(value):
        return None
    if type(value) is int:
        return str(value)
    number = finite_number(value)
    if number is None or not number.is_integer() or abs(number) >= _EXACT:
        raise ValueError(f"'{quoted(value, 60)}' is not an id; ids are text or whole numbers")
    return str(int(number))


def id_list_of(value: object) -> tuple[str, ...] | None:
    """Return a list of ids; None for an empty cell.

    A text is a JSON list, or ids separated by bars, semicolons, commas or white space: the first
    of these that occurs.

    Raises:
        ValueError: an item is not an id.
    """
    if isinstance(value, str) and _ONE_ID.fullmatch(value):  # the quick way
        return None if value.lower() in _NOTHING else (value,)
    ids = items_of(value)
    if ids is None:
        return None
    if not isinstance(value, str) or value.lstrip().startswith("["):  # others are stripped text
        ids = [id_of(item) or "" for item in ids]
    if "" in ids:
        raise ValueError(f"the list '{quoted(value, 60)}' has an empty id")
    return tuple(map(sys.intern, ids))  # type: ignore[arg-type]


def items_of(value: object) -> Sequence[object] | None:
    """Return the items of a list, which `id_list_of` describes; None for an empty cell.

    Raises:
        ValueError: a text begins like a JSON list and is not one.
    """
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            return _json_list(text)
        for separator in "|;,":
            if separator in text:
                return [part.strip() for part in text.split(separator)]
        return None if text.lower() in _NOTHING else text.split()
    if isinstance(value, (list, tuple)):
        return value
    if hasattr(value, "ndim"):  # a numpy array or a polars series
        return list(value.tolist())  # type: ignore[attr-defined]
    return None if is_absent(value) else [value]


def _json_list(text: str) -> list[object]:
    try:
        items = json_value(text)
    except ValueError:
        items = None
    if not isinstance(items, list):
        raise ValueError(f"'{quoted(text, 60)}' is not a JSON list")
    return items


# --- columns --------------------------------------------------------------------------------------


def objects(values: Sequence[object]) -> Cells:
    """Return values as an array of objects, even if they are lists."""
    return np.fromiter(values, dtype=object, count=len(values))


def converted(column: Column, convert: Callable[[object], object]) -> tuple[Cells, Errors]:
    """Return each cell converted, ``[N]``, and why a cell is invalid; such a cell is None.

    Each distinct value is converted once.
    """
    coded = column.coded()
    values: list[object] = []
    problems: dict[int, str] = {}
    for code, value in enumerate(coded.values):
        try:
            values.append(convert(value))
        except ValueError as error:
            values.append(None)
            problems[code] = str(error)
    rows = np.flatnonzero(np.isin(coded.codes, list(problems))).tolist() if problems else []
    return objects(values)[coded.codes], {row: problems[int(coded.codes[row])] for row in rows}


def numbers(column: Column) -> tuple[FloatArray, Errors]:
    """Return a column of numbers, NaN where a cell is empty or invalid, ``[N]``."""
    found = column.numbers()
    values = found.values.copy()
    values[found.invalid] = np.nan
    wrong = {row: column.cell(row) for row in found.invalid.tolist()}
    return values, {
        row: f"'{quoted(cell, 60)}' is not a number"
        for row, cell in wrong.items()
        if not is_absent(cell)
    }


def id_lists(column: Column, *, empty_text_is_list: bool = False) -> tuple[Cells, Errors]:
    """Return a column of lists of ids, ``[N]`` tuples; None where there is no list.

    Args:
        column: the column: of lists, or of texts as `id_list_of` reads them.
        empty_text_is_list: whether an empty text is an empty list, instead of an unknown one.
    """
    shared = None if column.kind else _shared_lists(column.cells())
    if shared is not None:
        return shared, {}
    lists = column.lists()
    if lists is not None:
        coded = lists.items.coded()
        if all(isinstance(each, str) and each.strip() for each in coded.values):
            ids = objects(coded.values)[coded.codes].tolist()
            ends = np.cumsum(np.maximum(lists.lengths, 0)).tolist()
            pairs = zip(lists.lengths.tolist(), ends, strict=True)
            found = [
                None if length < 0 else tuple(ids[end - length : end]) for length, end in pairs
            ]
            return objects(found), {}

    def convert(cell: object) -> tuple[str, ...] | None:
        is_empty = empty_text_is_list and isinstance(cell, str) and not cell
        return () if is_empty else id_list_of(cell)

    return converted(column, convert)


def _shared_lists(cells: Sequence[Any]) -> Cells | None:
    """Return lists of texts as tuples that share equal texts; None if any other cell occurs."""
    if not set(map(type, cells)) <= {list, type(None)}:
        return None
    known: dict[object, object] = {}
    share = known.setdefault
    try:
        found = [None if cell is None else tuple(map(share, cell, cell)) for cell in cells]
    except TypeError:  # an item is not hashable
        return None
    are_ids = all(isinstance(each, str) and each.strip() for each in known)
    return objects(found) if are_ids else None


def rank_lists(column: Column) -> tuple[IntArray, FloatArray, Errors]:
    """Return the row of each rank in a column of ranks or of lists of them, and the rank."""
    if column.lists() is None:
        single = column.numbers()
        if not len(single.invalid):
            rows: IntArray = np.flatnonzero(~np.isnan(single.values))
            return rows, single.values[rows], {}
    lists, errors = converted(column, items_of)
    lengths = [len(each or ()) for each in lists]
    owners: IntArray = np.repeat(np.arange(len(lists)), lengths)
    ranks, wrong = numbers(Column([item for each in lists for item in each or ()]))
    unknown = np.flatnonzero(np.isnan(ranks)).tolist()
    wrong = {int(owners[item]): wrong.get(item, "a rank is empty") for item in unknown}
    return np.delete(owners, unknown), np.delete(ranks, unknown), {**wrong, **errors}


# --- times -------------------------------------------------------------------------------------

TimeUnit = Literal["s", "ms", "us", "ns"]
"""The unit of times that are numbers."""

EPOCH = {"s": (3e8, 1e10), "ms": (3e11, 1e13), "us": (3e14, 1e16), "ns": (3e17, 1e19)}
"""Per unit, the range of numbers that are times since 1970, between 1979 and 2286."""
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_WORDS = {
    "zoned": "text with a time zone",
    "local": "text without a time zone",
    "relative": "a number that is not a time since 1970",
    "s": "seconds since 1970",
    "ms": "milliseconds since 1970",
    "us": "microseconds since 1970",
    "ns": "nanoseconds since 1970",
}
_KINDS = tuple(_WORDS)
_ZONED, _LOCAL, _RELATIVE = range(3)
_MISSING = -1
"""The kind of an empty cell."""


class Clock:
    """Converts the times of a log to seconds, and checks that all are of one kind."""

    def __init__(self, unit: str | None) -> None:
        self._unit = unit
        given = _SECONDS.get(str(unit))
        factors = [given or 1.0, *(given or seconds for seconds in _SECONDS.values())]
        self._factors = np.array([1.0, 1.0, *factors, math.nan])
        """The seconds per unit, by kind; the last is for empty cells."""
        self._first: dict[str, int] = {}
        """The first position of each kind of time."""

    def column(
        self, column: Column, positions: IntArray, is_used: BoolArray
    ) -> tuple[FloatArray, Errors]:
        """Return a column in seconds, NaN where a cell is empty, and why a cell is not a time.

        Each row has a position in the log; only the kinds of times in usable rows count.
        """
        values, kinds, others = _values_and_kinds(column)
        errors: dict[int, str] = {}
        for row in others:
            try:
                values[row], kinds[row] = _value_and_kind(column.cell(row))
            except ValueError as error:
                errors[row] = str(error)
        for kind in set(np.unique(kinds[is_used]).tolist()) - {_MISSING}:
            first = int(positions[is_used & (kinds == kind)].min())
            self._first[_KINDS[kind]] = min(first, self._first.get(_KINDS[kind], first))
        return values * self._factors[kinds], errors

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of times so far: of text with or without a zone, of numbers since 1970."""
        return self._first.keys()

    def refuse_mixture(self, place: Callable[[int], str], *, are_seconds: bool = False) -> None:
        """Check that all times are of one kind, and that the kind matches ``time_unit``.

        Args:
            place: returns the place of a position, for messages.
            are_seconds: whether numbers are known to be seconds since a start.

        Raises:
            SessionLogError: times are of several kinds (a row of each is named), contradict
                ``time_unit``, or are numbers whose unit is unknown.
        """
        kinds = sorted(self._first.items(), key=lambda item: item[1])
        if len(kinds) > 1:
            (kind, first), (other_kind, other) = kinds[:2]
            raise SessionLogError(
                f"{place(first)}: the time is {_WORDS[kind]}, but in "
                f"{place(other)} it is {_WORDS[other_kind]}; write all times "
                "in the same way"
            )
        wrong = next((kind for kind, _ in kinds if kind in EPOCH), self._unit)
        if self._unit is not None and wrong != self._unit:
            raise SessionLogError(
                f"{place(self._first[str(wrong)])}: time_unit={self._unit} was "
                f"given, but the time is {_WORDS[str(wrong)]}; omit time_unit, or give {wrong}"
            )
        if self._unit is None and "relative" in self._first and not are_seconds:
            raise SessionLogError(
                f"{place(self._first['relative'])}: the time is a number that is not a time since "
                '1970; give its unit: time_unit="s", "ms", "us" or "ns"'
            )


def _values_and_kinds(column: Column) -> tuple[FloatArray, IntArray, Sequence[int]]:
    """Return times as numbers of their units, their kinds, and the rows left to read."""
    moments = column.moments()
    if moments is not None:
        known = np.where(moments.is_missing, _MISSING, _ZONED if moments.is_zoned else _LOCAL)
        return moments.microseconds / 1_000_000, known, ()
    first = column.cell(0) if len(column) else None
    if not (isinstance(first, str) and ":" in first):
        numbers = column.numbers()
        return numbers.values.copy(), _kinds_of(numbers.values), numbers.invalid.tolist()
    with suppress(TypeError, ValueError):
        found = [_of_moment(datetime.fromisoformat(cell)) for cell in column.cells()]  # type: ignore[arg-type]
        seconds, kinds = zip(*found, strict=True)
        return np.array(seconds), np.array(kinds), ()
    return np.full(len(column), np.nan), np.full(len(column), _MISSING), range(len(column))


def _kinds_of(values: FloatArray) -> IntArray:
    """Return the kinds of times that are numbers, and of NaN."""
    kinds: IntArray = np.where(np.isnan(values), _MISSING, _RELATIVE)
    for kind, (low, high) in enumerate(EPOCH.values(), start=_RELATIVE + 1):
        kinds[(values >= low) & (values < high)] = kind
    return kinds


def _value_and_kind(value: object) -> tuple[float, int]:
    """Return a time, as a number of its unit, and its kind; NaN for an empty cell, NaN or NaT.

    Raises:
        ValueError: the value is not a time; the message says why.
    """
    if isinstance(value, np.datetime64):
        value = None if np.isnat(value) else value.astype("M8[us]").item()
    if is_blank(value):
        return math.nan, _MISSING
    if isinstance(value, str) and finite_number(value) is None:
        with suppress(ValueError):
            return _of_moment(datetime.fromisoformat(value.strip()))
        raise ValueError(
            f"'{quoted(value, 60)}' is not a time, such as 2026-11-21T14:30:05Z or a number"
        )
    if hasattr(value, "timestamp"):  # pandas timestamps too
        return _of_moment(value)
    number = finite_number(value)
    if number is None:
        raise ValueError(f"'{quoted(value, 60)}' is not a time")
    return number, int(_kinds_of(np.array([number]))[0])


def _of_moment(moment: Any) -> tuple[float, int]:
    if moment.tzinfo is not None:
        return float(moment.timestamp()), _ZONED
    if isinstance(moment, datetime):  # one zone for all, so differences are right
        moment = moment.replace(tzinfo=UTC)
    return float(moment.timestamp()), _LOCAL
