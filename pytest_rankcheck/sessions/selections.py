"""The selections of events, given as ranks, documents or clicks, checked and made 1-based."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import FloatArray, IntArray
from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.files.table_columns import Column
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import id_list_of, number_of, rank_list_of
from pytest_rankcheck.sessions.plain_selections import NOTHING, UNUSUAL, usual_ranks
from pytest_rankcheck.sessions.shown_lists import DocumentCodes, ShownLists

__all__ = ["Reading", "Selection", "Selections", "UnusableError", "selections_of"]


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
    documents: DocumentCodes,
    rows: IntArray,
    reading: Reading,
) -> Selections:
    """Return the selections of some events.

    Args:
        columns: the columns of the events, by role.
        shown: what they showed.
        documents: the code of each document.
        rows: the rows to read.
        reading: how to read ranks and times.

    Raises:
        SessionLogError: there are ranks, and ``first_rank`` is not given.
    """
    usual = usual_ranks(columns, shown, documents, reading.first_rank or 0)[rows]
    reader = _RowReader(columns, shown, reading)
    if reading.first_rank is None and reader.has_ranks:
        usual[usual != NOTHING] = UNUSUAL  # perhaps an error
    plain = rows[usual > 0]
    found: list[tuple[int, Selection]] = []
    problems: dict[int, UnusableError] = {}
    for row in rows[usual == UNUSUAL].tolist():
        try:
            found += [(row, selection) for selection in reader.of(row)]
        except UnusableError as error:
            problems[row] = error
    others = np.array([(row, item.rank, item.time) for row, item in found]).reshape(-1, 3)
    all_rows = np.concatenate((plain, others[:, 0].astype(np.int64)))
    ranks = np.concatenate((usual[usual > 0], others[:, 1].astype(np.int64)))
    times = np.concatenate((np.full(len(plain), np.nan), others[:, 2]))
    order = np.argsort(all_rows, kind="stable")
    return Selections(all_rows[order], ranks[order], times[order], problems)


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read the ranks and the times of selections."""

    numbers: IntArray
    """``[N]`` the number of each row, for messages."""
    first_rank: int | None
    """The rank of the first result, 0 or 1; None if not given."""
    clock: Clock


class _RowReader:
    """Reads selections row by row."""

    def __init__(self, columns: Mapping[str, Column], shown: ShownLists, reading: Reading) -> None:
        self._columns, self._shown, self._reading = columns, shown, reading
        self._first_rank = reading.first_rank

    @property
    def has_ranks(self) -> bool:
        """Whether the events have a column of ranks."""
        return "selected_rank" in self._columns

    def _cell(self, role: str, row: int) -> object:
        return self._columns[role].cell(row) if role in self._columns else None

    def of(self, row: int) -> Sequence[Selection]:
        """Return the selections of a row.

        Raises:
            UnusableError: a rank or document was not shown, or ranks and documents disagree.
            SessionLogError: there are ranks, and it is unknown whether they count from 0 or 1.
        """
        count = int(self._shown.lengths[row])
        known = None if count < 0 else count
        clicks = self._cell("clicks", row)
        if clicks:
            first = 1 if self._first_rank is None else self._first_rank
            return _clicked(
                clicks, known, first, self._reading.clock, int(self._reading.numbers[row])
            )
        try:
            ranks = rank_list_of(self._cell("selected_rank", row))
            documents = id_list_of(self._cell("selected", row))
        except ValueError as error:
            raise UnusableError("bad selection", f"the selection: {error}") from None
        return self._checked(ranks, documents, self._shown.of(row), known)

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
