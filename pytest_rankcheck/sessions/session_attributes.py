"""The attributes of sessions: the values of columns that are constant within each session."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.files.plain_values import plain_value
from pytest_rankcheck.sessions.event_columns import Codes
from pytest_rankcheck.sessions.log_cells import is_absent

__all__ = ["Described", "SessionAttributes", "description"]

MISSING = -1


def description(cell: object) -> object:
    """Return a cell as a plain value; None if it is empty or cannot describe a session."""
    with suppress(TypeError, ValueError, OverflowError):
        value = plain_value(cell)
        if isinstance(value, (str, int, float, bool)) and not is_absent(value):
            return value
    return None


class _Attribute:
    """The values of one column."""

    def __init__(self) -> None:
        self._indexes = Codes[tuple[type, object]]()
        self.parts: dict[int, IntArray] = {}
        """By part of the log, the index of each event's value; -1 without one."""

    @property
    def values(self) -> Sequence[object]:
        """The distinct values; 1 and True differ."""
        return [value for _, value in self._indexes]

    def index(self, value: object) -> int:
        """Return the index of a value; -1 for None."""
        return MISSING if value is None else self._indexes[type(value), value]

    def first(self, indexes: IntArray, sessions: IntArray) -> tuple[IntArray, int | None]:
        """Return the first value of each session, and the first event that has another one."""
        has_value: IntArray = np.flatnonzero(indexes != MISSING)
        first: IntArray = np.full(int(sessions.max(initial=0)) + 1, MISSING, dtype=np.int64)
        first[sessions[has_value[::-1]]] = indexes[has_value[::-1]]  # the last assignment wins
        equal: dict[object, int] = {}  # here 1 and True are one value
        first_equal = (equal.setdefault(value, index) for index, value in enumerate(self.values))
        classes = np.array([*first_equal, MISSING])
        is_other = classes[indexes[has_value]] != classes[first[sessions[has_value]]]
        return first, int(has_value[np.argmax(is_other)]) if is_other.any() else None


class SessionAttributes:
    """Collects the attributes of sessions from their events."""

    def __init__(self, requested: Collection[str], *, is_split: bool = False) -> None:
        self._requested = requested
        self._is_split = is_split
        """Whether the sessions of events are split when all are known."""
        self._attributes: dict[str, _Attribute | None] = {}
        """None for a column that changes within a session."""
        self._sizes: list[int] = []

    def add(
        self, columns: Mapping[str, tuple[Sequence[object], IntArray]], sessions: IntArray
    ) -> None:
        """Add columns of some events: the distinct values (or None), and which one each has."""
        for name, (values, places) in columns.items():
            attribute = self._attributes.setdefault(name, _Attribute())
            if attribute is None:
                continue
            known = np.array([attribute.index(value) for value in values], dtype=np.int64)
            attribute.parts[len(self._sizes)] = indexes = known[places]
            is_final = name not in self._requested and not self._is_split
            if is_final and attribute.first(indexes, sessions)[1] is not None:
                self._attributes[name] = None  # it may have as many values as there are events
        self._sizes.append(len(sessions))

    def settled(
        self, order: IntArray, sessions: IntArray
    ) -> tuple[Described, Mapping[str, int | None]]:
        """Return the attributes of sessions, and the columns that change within a session.

        For a requested column, its first event with a change is returned too. Events are in the
        given order of all events that were added, and have these sessions.
        """
        columns = {}
        varying: dict[str, int | None] = {}
        for name, attribute in self._attributes.items():
            change = None
            if attribute is not None:
                first, change = attribute.first(self._joined(attribute)[order], sessions)
            if attribute is None or change is not None:
                varying[name] = change if name in self._requested else None
            else:
                columns[name] = attribute.values, first
        return Described(columns, int(sessions.max()) + 1), varying

    def _joined(self, attribute: _Attribute) -> IntArray:
        missing = (np.full(size, MISSING, dtype=np.int64) for size in self._sizes)
        return np.concatenate([attribute.parts.get(part, no) for part, no in enumerate(missing)])


class Described(Sequence[Mapping[str, object]]):
    """The attributes of sessions; each dict is made when someone asks for it."""

    def __init__(
        self, columns: Mapping[str, tuple[Sequence[object], IntArray]], count: int
    ) -> None:
        self._columns, self._count = columns, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> Mapping[str, object]:  # type: ignore[override]
        if not -self._count <= place < self._count:
            raise IndexError(place)
        return {
            name: values[indexes[place]]
            for name, (values, indexes) in self._columns.items()
            if indexes[place] != MISSING
        }

    @classmethod
    def joined(cls, parts: Sequence[Described], without: Collection[str] = ()) -> Described:
        """Return the attributes of the sessions of several logs, one after the other.

        Args:
            parts: the attributes of each log.
            without: the attributes to leave out.
        """
        names = dict.fromkeys(name for part in parts for name in part._columns)
        columns: dict[str, tuple[Sequence[object], IntArray]] = {}
        for name in names:
            if name in without:
                continue
            attribute, indexes = _Attribute(), list[IntArray]()
            for part in parts:
                missing = np.full(len(part), MISSING, dtype=np.int64)
                values, at = part._columns.get(name, ((), missing))
                known = [*(attribute.index(value) for value in values), MISSING]
                indexes.append(np.array(known, dtype=np.int64)[at])
            columns[name] = attribute.values, np.concatenate(indexes)
        return cls(columns, sum(map(len, parts)))

    def taken(self, sessions: IntArray) -> Described:
        """Return the attributes of some sessions."""
        columns = {name: (values, at[sessions]) for name, (values, at) in self._columns.items()}
        return Described(columns, len(sessions))
