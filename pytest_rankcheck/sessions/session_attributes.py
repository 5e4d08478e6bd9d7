"""The attributes of sessions: the values of columns that are constant within each session."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.files.plain_values import plain_value
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
        self.values: list[object] = []
        self._classes: list[int] = []
        """For each value the index of the first equal one, such as 1 for True."""
        self._indexes: dict[tuple[type, object], int] = {}
        self._equal: dict[object, int] = {}
        self.parts: dict[int, IntArray] = {}
        """By part of the log, the index of each event's value; -1 without one."""

    def index(self, value: object) -> int:
        """Return the index of a value; -1 for None."""
        if value is None:
            return MISSING
        index = self._indexes.setdefault((type(value), value), len(self.values))
        if index == len(self.values):
            self.values.append(value)
            self._classes.append(self._equal.setdefault(value, index))
        return index

    def first(self, indexes: IntArray, sessions: IntArray) -> tuple[IntArray, int | None]:
        """Return the first value of each session, and the first event that has another one."""
        has_value: IntArray = np.flatnonzero(indexes != MISSING)
        first: IntArray = np.full(int(sessions.max(initial=0)) + 1, MISSING, dtype=np.int64)
        first[sessions[has_value[::-1]]] = indexes[has_value[::-1]]  # the last assignment wins
        classes = np.array([*self._classes, MISSING])
        is_other = classes[indexes[has_value]] != classes[first[sessions[has_value]]]
        return first, int(has_value[np.argmax(is_other)]) if is_other.any() else None


class SessionAttributes:
    """Collects the attributes of sessions from their events."""

    def __init__(self, requested: Collection[str]) -> None:
        self._requested = requested
        self._attributes: dict[str, _Attribute | None] = {}
        """None for a column that changes within a session."""
        self._sizes: list[int] = []

    def add(
        self, columns: Mapping[str, tuple[Sequence[object], IntArray]], sessions: IntArray
    ) -> None:
        """Add a part of the log.

        Args:
            columns: by name, the distinct values as plain values, None for a missing one; and
                which one each event has, ``[n]``.
            sessions: the session of each event, ``[n]``.
        """
        for name, (values, places) in columns.items():
            attribute = self._attributes.setdefault(name, _Attribute())
            if attribute is None:
                continue
            known = np.array([attribute.index(value) for value in values], dtype=np.int64)
            attribute.parts[len(self._sizes)] = indexes = known[places]
            if name not in self._requested and attribute.first(indexes, sessions)[1] is not None:
                self._attributes[name] = None  # it may have as many values as there are events
        self._sizes.append(len(sessions))

    def settled(
        self, order: IntArray, sessions: IntArray
    ) -> tuple[Described, Mapping[str, int | None]]:
        """Return the attributes of sessions, and the columns that change within a session.

        Args:
            order: the order of all events that were added, ``[N]``.
            sessions: their sessions in that order, ``[N]``.

        Returns:
            The attributes; and by column the first event with a change, if it was requested.
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

    def taken(self, sessions: IntArray) -> Described:
        """Return the attributes of some sessions."""
        columns = {name: (values, at[sessions]) for name, (values, at) in self._columns.items()}
        return Described(columns, len(sessions))
