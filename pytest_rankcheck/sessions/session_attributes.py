"""The attributes of sessions: the values of columns that are constant within each session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.files.plain_values import plain_value
from pytest_rankcheck.sessions.log_cells import is_absent

__all__ = ["SessionAttributes", "description"]

MISSING = -1


def description(cell: object) -> object:
    """Return a cell as a plain value; None if it is empty or cannot describe a session."""
    with suppress(TypeError, ValueError, OverflowError):
        value = plain_value(cell)
        if isinstance(value, (str, int, float, bool)) and not is_absent(value):
            return value
    return None


class _Attribute:
    """The first value of each session in one column."""

    def __init__(self) -> None:
        self.values: list[object] = []
        self._codes: dict[tuple[type, object], int] = {}
        self._equal: dict[object, int] = {}
        """The code of the first of several equal values, such as 1 and True."""
        self._class: list[int] = []
        """For each code, the code of the first equal value."""
        self.first: IntArray = np.zeros(0, dtype=np.int64)
        """The code of the first value of each session; -1 without one."""
        self.varies: tuple[int, int] | None = None
        """The first row that changes the value of its session, and the session."""
        self.pending: list[tuple[IntArray, IntArray, IntArray]] = []
        """The codes, the sessions and the places of events that are not settled yet."""

    def code(self, value: object) -> int:
        """Return the code of a value; -1 for None."""
        if value is None:
            return MISSING
        code = self._codes.setdefault((type(value), value), len(self._codes))
        if code == len(self.values):
            self.values.append(value)
            self._class.append(self._equal.setdefault(value, code))
        return code

    def settle(self) -> None:
        """Take the pending events into account, in the order of the file."""
        if not self.pending or self.varies is not None:
            return
        codes, sessions, places = (np.concatenate(part) for part in zip(*self.pending, strict=True))
        if len(self.pending) > 1:
            order = np.lexsort(places.T[::-1])
            codes, sessions, places = codes[order], sessions[order], places[order]
        self.pending = []
        count = int(sessions.max()) + 1
        if count > len(self.first):
            self.first = np.append(self.first, np.full(count - len(self.first), MISSING))
        is_new = self.first[sessions] == MISSING
        new, place = np.unique(sessions[is_new], return_index=True)
        self.first[new] = codes[is_new][place]
        classes = np.array(self._class)
        differs = np.flatnonzero(classes[self.first[sessions]] != classes[codes])
        if len(differs):
            self.varies = int(places[differs[0], 0]), int(sessions[differs[0]])
            self.values, self._codes, self._equal = [], {}, {}


class SessionAttributes:
    """Collects the attributes of sessions from their events."""

    def __init__(self) -> None:
        self._attributes: dict[str, _Attribute] = {}

    def add(
        self,
        name: str,
        values: Sequence[object],
        codes: IntArray,
        sessions: IntArray,
        places: IntArray,
    ) -> None:
        """Add a column of some events; `settle` must follow when no earlier events are to come.

        Args:
            name: the column.
            values: its distinct values as plain values; None for a missing one.
            codes: which one each event has, ``[n]``.
            sessions: the session of each event, ``[n]``.
            places: the row of each event, and its place in the row, ``[n, 2]``.
        """
        attribute = self._attributes.setdefault(name, _Attribute())
        if attribute.varies is not None:
            return
        shared = np.array([attribute.code(value) for value in values], dtype=np.int64)
        found = shared[codes] if len(shared) else codes
        has_value = found != MISSING
        if has_value.any():
            attribute.pending.append((found[has_value], sessions[has_value], places[has_value]))

    def settle(self) -> None:
        """Take all events that were added into account, in the order of the file."""
        for attribute in self._attributes.values():
            attribute.settle()

    @property
    def varying(self) -> Mapping[str, tuple[int, int]]:
        """The columns that change within a session: the first such row, and its session."""
        found = {
            name: attribute.varies
            for name, attribute in self._attributes.items()
            if attribute.varies is not None
        }
        return dict(sorted(found.items(), key=lambda item: item[1]))

    def of_sessions(self, sessions: IntArray) -> Sequence[Mapping[str, object]]:
        """Return the attributes of some sessions, without columns that change within one."""
        return _Described(
            {
                name: (attribute.values, _padded(attribute.first, sessions))
                for name, attribute in self._attributes.items()
                if attribute.varies is None
            },
            len(sessions),
        )


def _padded(first: IntArray, sessions: IntArray) -> IntArray:
    is_known: BoolArray = sessions < len(first)
    found: IntArray = np.full(len(sessions), MISSING, dtype=np.int64)
    found[is_known] = first[sessions[is_known]]
    return found


class _Described(Sequence[Mapping[str, object]]):
    """The attributes of sessions; each dict is made when someone asks for it."""

    def __init__(
        self, columns: Mapping[str, tuple[Sequence[object], IntArray]], count: int
    ) -> None:
        self._columns = columns
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> Mapping[str, object]:  # type: ignore[override]
        if not -self._count <= place < self._count:
            raise IndexError(place)
        return {
            name: values[codes[place]]
            for name, (values, codes) in self._columns.items()
            if codes[place] != MISSING
        }
