"""The selections of events, given as ranks, documents or clicks, checked and made 1-based."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.files.table_columns import CellColumn, Column
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import LARGEST, id_list_of, number_of, rank_list_of
from pytest_rankcheck.sessions.shown_lists import ShownLists

__all__ = ["Selection", "Selections", "UnusableError", "selections_of"]


class UnusableError(Exception):
    """A row cannot be used; ``reason`` is the kind of problem."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Selection:
    """A document that the user selected."""

    rank: int
    """Its 1-based rank in the list that was shown."""
    time: float = math.nan
    """When it was selected, in seconds; NaN where only the event's time is known."""


@dataclass(frozen=True, slots=True)
class Selections:
    """The selections of some events, sorted by event; those of an event are in their order."""

    rows: IntArray
    """``[M]`` the event of each."""
    ranks: IntArray
    """``[M]`` from 1."""
    times: FloatArray
    """``[M]`` seconds; NaN where only the event's time is known."""
    problems: Mapping[int, UnusableError]
    """By row, why its selections cannot be used."""


def selections_of(
    columns: Mapping[str, Column],
    shown: ShownLists,
    rows: IntArray,
    numbers: IntArray,
    *,
    first_rank: int | None,
    clock: Clock,
) -> Selections:
    """Return the selections of some events.

    Args:
        columns: the columns of the events, by role.
        shown: what they showed.
        rows: the rows to read.
        numbers: the number of each row, for messages, ``[N]``.
        first_rank: the rank of the first result, 0 or 1; None if not given.
        clock: parses the times of clicks.

    Raises:
        SessionLogError: there are ranks, and ``first_rank`` is not given.
    """
    reader = _RowReader(columns, shown, numbers, first_rank, clock)
    plain, ranks = reader.plain_ranks(rows)
    others = reader.filled(np.setdiff1d(rows, plain, assume_unique=True))
    plain, ranks = plain[ranks >= 0], ranks[ranks >= 0]
    found: list[tuple[int, Selection]] = []
    problems: dict[int, UnusableError] = {}
    for row in others:
        try:
            found += [(row, selection) for selection in reader.of(row)]
        except UnusableError as error:
            problems[row] = error
    odd_rows = np.array([row for row, _ in found], dtype=np.int64)
    all_rows = np.concatenate((plain, odd_rows))
    order = np.argsort(all_rows, kind="stable")
    all_ranks = np.concatenate((ranks, [selection.rank for _, selection in found]))
    times = np.concatenate(
        (np.full(len(plain), np.nan), [selection.time for _, selection in found])
    )
    return Selections(
        all_rows[order], all_ranks[order].astype(np.int64), times[order].astype(float), problems
    )


class _RowReader:
    """Reads selections: ranks that are numbers by the column, everything else row by row."""

    def __init__(
        self,
        columns: Mapping[str, Column],
        shown: ShownLists,
        numbers: IntArray,
        first_rank: int | None,
        clock: Clock,
    ) -> None:
        self._cells = {
            role: columns[role].cells() for role in ("clicks", "selected") if role in columns
        }
        self._ranks = columns.get("selected_rank")
        self._shown, self._numbers = shown, numbers
        self._first_rank, self._clock = first_rank, clock

    def plain_ranks(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows that have at most one valid rank and nothing else.

        Returns:
            These rows, and the 1-based rank in each, -1 without one.

        Raises:
            SessionLogError: there are ranks, and it is unknown whether they count from 0 or 1.
        """
        if self._ranks is None:
            return rows[:0], rows[:0]
        found = _without_lists_of_one(self._ranks).numbers()
        is_plain = np.ones(len(found.values), dtype=bool)
        is_plain[found.invalid] = False
        for cells in self._cells.values():
            is_plain[[row for row, cell in enumerate(cells) if _is_filled(cell)]] = False
        values = found.values[rows]
        has_rank = ~np.isnan(values)
        if self._first_rank is None and (has_rank & is_plain[rows]).any():
            raise _unknown_first_rank()
        first, counts = self._first_rank or 0, self._shown.lengths[rows]
        with np.errstate(invalid="ignore"):
            is_valid = (values >= first) & (values <= LARGEST) & (values == np.floor(values))
            is_valid &= (counts < 0) | (values - first < counts)
        is_plain[rows[has_rank & ~is_valid]] = False
        chosen = is_plain[rows]
        ranks = np.where(has_rank & is_valid, values, first - 2) - first + 1
        return rows[chosen], ranks[chosen].astype(np.int64)

    def filled(self, rows: IntArray) -> list[int]:
        """Return the rows that may have a selection."""
        if self._ranks is not None:
            return rows.tolist()  # type: ignore[no-any-return]
        columns = list(self._cells.values())
        return [row for row in rows.tolist() if any(_is_filled(cells[row]) for cells in columns)]

    def of(self, row: int) -> Sequence[Selection]:
        """Return the selections of a row.

        Raises:
            UnusableError: a rank or document was not shown, or ranks and documents disagree.
            SessionLogError: there are ranks, and it is unknown whether they count from 0 or 1.
        """
        count = int(self._shown.lengths[row])
        known = None if count < 0 else count
        clicks = self._cells["clicks"][row] if "clicks" in self._cells else None
        if clicks:
            first = 1 if self._first_rank is None else self._first_rank
            return _clicked(clicks, known, first, self._clock, int(self._numbers[row]))
        document = self._cells["selected"][row] if "selected" in self._cells else None
        results = self._shown.of(row)
        is_one = isinstance(document, str) and document.isalnum()  # otherwise perhaps a list
        if is_one and self._ranks is None and results is not None and document in results:
            return (Selection(results.index(document) + 1),)
        try:
            ranks = rank_list_of(None if self._ranks is None else self._ranks.cell(row))
            documents = id_list_of(document)
        except ValueError as error:
            raise UnusableError("bad selection", f"the selection: {error}") from None
        return self._checked(ranks, documents, results, known)

    def _checked(
        self,
        ranks: Sequence[int] | None,
        documents: Sequence[str] | None,
        results: Sequence[str] | None,
        count: int | None,
    ) -> Sequence[Selection]:
        if ranks and self._first_rank is None:
            raise _unknown_first_rank()
        first = self._first_rank or 0
        checked = [_rank(rank, count, first) for rank in ranks or ()]
        if not documents:
            return tuple(map(Selection, checked))
        places = [_place(document, results) for document in documents]
        if ranks and sorted(checked) != sorted(places):
            hint = ""
            if [rank + 1 for rank in checked] == places or [rank - 1 for rank in checked] == places:
                hint = f"; are ranks counted from {1 - first}?"
            raise UnusableError(
                "rank and document disagree",
                f"the selected document '{quoted(documents[0])}' is result {places[0]}, but the "
                f"selected rank {ranks[0]} is result {checked[0]}{hint}",
            )
        return tuple(map(Selection, places))


def _without_lists_of_one(column: Column) -> Column:
    """Return a column in which a list of one number is that number, and an empty list is empty."""
    cells = column.cells()
    if list not in set(map(type, cells)):
        return column
    return CellColumn([_unwrapped(cell) for cell in cells])


def _unwrapped(cell: object) -> object:
    if isinstance(cell, list) and len(cell) < 2:
        if not cell:
            return None
        return cell[0] if type(cell[0]) is int else cell
    return cell


def _is_filled(cell: object) -> bool:
    return cell is not None and not (isinstance(cell, (str, list)) and not cell)


def _unknown_first_rank() -> SessionLogError:
    return SessionLogError(
        "the log has ranks of selections; specify whether the first result has rank 0 or 1: "
        "first_rank=0 or first_rank=1"
    )


def _clicked(
    clicks: object, count: int | None, first_rank: int, clock: Clock, row: int
) -> Sequence[Selection]:
    """Return the selections in a list of clicks with ranks and times."""
    if not isinstance(clicks, Sequence) or isinstance(clicks, str):
        raise UnusableError("bad selection", f"clicks is '{quoted(clicks, 60)}', not a list")
    selections = []
    for click in clicks:
        fields = click if isinstance(click, Mapping) else {}
        try:
            rank = number_of(fields.get("rank"))
            time = clock.seconds(fields.get("start", fields.get("time")), row)
        except ValueError as error:
            raise UnusableError("bad selection", f"a click: {error}") from None
        if rank is None or not rank.is_integer():
            raise UnusableError("bad selection", f"the click '{quoted(click, 60)}' has no rank")
        selections.append(Selection(_rank(int(rank), count, first_rank), time))
    return tuple(selections)


def _rank(rank: int, count: int | None, first_rank: int) -> int:
    """Return a rank counted from 1."""
    if rank < first_rank:
        hint = "; are ranks counted from 0?" if rank == 0 else ""
        problem = (
            "negative; leave it empty if nothing was selected"
            if rank < 0
            else "0, although ranks count from 1"
        )
        raise UnusableError("rank too small", f"the selected rank is {problem}{hint}")
    place = rank - first_rank + 1
    if count is not None and place > count:
        hint = "; are ranks counted from 1?" if rank == count and first_rank == 0 else ""
        raise UnusableError(
            "rank beyond the results",
            f"the selected rank is {rank}, counted from {first_rank}, but "
            f"{plural(count, 'result was', 'results were')} shown{hint}",
        )
    return place


def _place(document: str, results: Sequence[str] | None) -> int:
    if results is None:
        raise UnusableError(
            "unknown rank",
            f"'{quoted(document)}' was selected, but the results shown are unknown; add the "
            "results or the selected rank",
        )
    if document not in results:
        raise UnusableError(
            "document not shown",
            f"'{quoted(document)}' was selected, but is not among the "
            f"{plural(len(results), 'result')} shown",
        )
    return results.index(document) + 1
