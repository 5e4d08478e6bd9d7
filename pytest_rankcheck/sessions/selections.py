"""The selections of events, given as ranks, documents or clicks, checked and made 1-based."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.files.table_columns import CellColumn, Column
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import LARGEST, Errors, numbers
from pytest_rankcheck.sessions.log_lists import DocumentCodes, Lists, id_lists, rank_lists

__all__ = ["SelectionReader", "Selections"]


class Problem(NamedTuple):
    """Why a row cannot be used."""

    reason: str
    """The kind of problem, in a few fixed words."""
    text: str


@dataclass(frozen=True, slots=True)
class Selections:
    """The selections of some events, in the order of the log."""

    rows: IntArray
    """``[M]`` the event of each, ascending."""
    ranks: IntArray
    """``[M]`` from 1."""
    times: FloatArray
    """``[M]`` seconds; NaN where only the event's time is known."""
    problems: Mapping[int, Problem]
    """By row, why its selections cannot be used."""

    def of(self, is_chosen: BoolArray) -> Selections:
        """Return the selections of some events."""
        chosen = is_chosen[self.rows]
        rows, ranks, times = self.rows[chosen], self.ranks[chosen], self.times[chosen]
        return Selections(rows, ranks, times, self.problems)

    def of_row(self, row: int) -> IntArray:
        """Return the ranks of one event."""
        start, end = np.searchsorted(self.rows, (row, row + 1)).tolist()
        return self.ranks[start:end]


@dataclass(frozen=True, slots=True)
class SelectionReader:
    """Reads the selections of N events."""

    columns: Mapping[str, Column]
    """The columns of the events, by role."""
    shown: Lists
    """The documents that they showed."""
    counts: IntArray
    """``[N]`` how many results were shown; -1 where unknown."""
    documents: DocumentCodes
    first_rank: int | None
    """The rank of the first result, 0 or 1; None if not given."""
    clock: Clock
    positions: IntArray
    """``[N]`` where the events are, for messages."""

    def read(self, is_used: BoolArray) -> Selections:
        """Return the selections of some events, ``[N]``.

        Raises:
            SessionLogError: there are ranks, and it is unknown whether they count from 0 or 1.
        """
        clicks = self._clicks(is_used)
        is_used = is_used & ~_mask(len(is_used), clicks)
        ranks, documents = self._ranks(is_used), self._documents(is_used)
        problems = {
            **self._disagreements(ranks, documents),
            **documents.problems,
            **ranks.problems,
            **clicks.problems,
        }
        found = (clicks, documents, ranks.of(~_mask(len(is_used), documents)))
        rows = np.concatenate([part.rows for part in found])
        order = np.argsort(rows, kind="stable")
        numbers = np.concatenate([part.ranks for part in found])[order]
        times = np.concatenate([part.times for part in found])[order]
        return Selections(rows[order], numbers, times, problems)

    def _clicks(self, is_used: BoolArray) -> Selections:
        """Return the selections in lists of clicks with ranks and times."""
        if "clicks" not in self.columns:
            return _NO_SELECTIONS
        problems: dict[int, Problem] = {}
        places: list[int] = []
        clicks: list[object] = []
        cells = self.columns["clicks"].cells()
        for row in np.flatnonzero(is_used).tolist():
            cell = cells[row]
            if isinstance(cell, (list, tuple)):
                places += [row] * len(cell)
                clicks += cell
            elif hasattr(cell, "ndim") or cell:
                problems[row] = _bad(f"clicks is '{quoted(cell, 60)}', not a list")
        rows = np.array(places, dtype=np.int64)
        fields = [click if isinstance(click, Mapping) else {} for click in clicks]
        ranks, errors = numbers(CellColumn([click.get("rank") for click in fields]))
        moments = CellColumn([click.get("start", click.get("time")) for click in fields])
        every = np.arange(len(rows))
        times, time_errors = self.clock.column(moments, self.positions[rows], every)
        first = 1 if self.first_rank is None else self.first_rank
        is_whole = (ranks == np.floor(ranks)) & (np.abs(ranks) <= LARGEST)
        is_bad = ~is_whole | self._is_beyond(rows, ranks, first)
        is_bad[list(time_errors)] = True
        for item in np.flatnonzero(is_bad).tolist():
            error = errors.get(item) or time_errors.get(item)
            if error:
                problem = _bad(f"a click: {error}")
            elif not is_whole[item]:
                problem = _bad(f"the click '{quoted(clicks[item], 60)}' has no rank")
            else:
                problem = self._beyond(int(rows[item]), int(ranks[item]), first)
            problems.setdefault(int(rows[item]), problem)
        ranks[~is_whole] = 0
        return Selections(rows, ranks.astype(np.int64) - first + 1, times, problems)

    def _ranks(self, is_used: BoolArray) -> Selections:
        """Return the selections that are given by rank."""
        if "selected_rank" not in self.columns:
            return _NO_SELECTIONS
        lists = rank_lists(self.columns["selected_rank"])
        chosen = is_used[lists.rows]
        rows, ranks = lists.rows[chosen], lists.items[chosen]
        if self.first_rank is None and len(rows):
            raise SessionLogError(
                "the log has ranks of selections; specify whether the first result has rank 0 or "
                "1: first_rank=0 or first_rank=1"
            )
        first = self.first_rank or 0
        problems = _invalid(lists.errors, is_used)
        for item in np.flatnonzero(self._is_beyond(rows, ranks, first)).tolist():
            row = int(rows[item])
            problems.setdefault(row, self._beyond(row, int(ranks[item]), first))
        return Selections(rows, ranks - first + 1, np.full(len(rows), np.nan), problems)

    def _is_beyond(self, rows: IntArray, ranks: IntArray | FloatArray, first: int) -> BoolArray:
        """Return which ranks no result of their rows has."""
        counts = self.counts[rows]
        is_beyond: BoolArray = (ranks < first) | ((counts >= 0) & (ranks - first >= counts))
        return is_beyond

    def _beyond(self, row: int, rank: int, first: int) -> Problem:
        """Return what is wrong with a rank that no result of its row has."""
        if rank >= first:
            count = int(self.counts[row])
            hint = "; are ranks counted from 1?" if rank == count and first == 0 else ""
            return Problem(
                "rank beyond the results",
                f"the selected rank is {rank}, counted from {first}, but "
                f"{plural(count, 'result was', 'results were')} shown{hint}",
            )
        problem, hint = "negative; leave it empty if nothing was selected", ""
        if rank == 0:
            problem, hint = "0, although ranks count from 1", "; are ranks counted from 0?"
        return Problem("rank too small", f"the selected rank is {problem}{hint}")

    def _documents(self, is_used: BoolArray) -> Selections:
        """Return the selections that are given by document."""
        if "selected" not in self.columns:
            return _NO_SELECTIONS
        lists = id_lists(self.columns["selected"], self.documents)
        chosen = is_used[lists.rows]
        rows, codes = lists.rows[chosen], lists.items[chosen]
        problems = _invalid(lists.errors, is_used)
        ranks = self.shown.places_of(rows, codes) + 1
        unknown = np.flatnonzero(ranks == 0).tolist()
        names = list(self.documents) if unknown else []
        for item in unknown:
            row = int(rows[item])
            problems.setdefault(row, self._not_shown(row, names[codes[item]]))
        return Selections(rows, ranks, np.full(len(rows), np.nan), problems)

    def _not_shown(self, row: int, document: str) -> Problem:
        """Return what is wrong with a document that was selected."""
        count = int(self.shown.lengths[row])
        if count < 0:
            return Problem(
                "unknown rank",
                f"'{quoted(document)}' was selected, but the results shown are unknown; add the "
                "results or the selected rank",
            )
        return Problem(
            "document not shown",
            f"'{quoted(document)}' was selected, but is not among the "
            f"{plural(count, 'result')} shown",
        )

    def _disagreements(self, ranks: Selections, documents: Selections) -> Mapping[int, Problem]:
        """Return the problems of events whose ranks are not those of their documents."""
        size = len(self.counts)
        is_both = _mask(size, ranks) & _mask(size, documents)
        is_both[[*ranks.problems, *documents.problems]] = False
        ranks, documents = ranks.of(is_both), documents.of(is_both)
        differs = np.bincount(ranks.rows, minlength=size) != np.bincount(
            documents.rows, minlength=size
        )
        first, second = ranks.of(~differs), documents.of(~differs)
        by_rank = np.lexsort((first.ranks, first.rows))
        by_document = np.lexsort((second.ranks, second.rows))
        is_other = first.ranks[by_rank] != second.ranks[by_document]
        differs[first.rows[by_rank[is_other]]] = True
        names = list(self.documents) if differs.any() else []
        problems = {}
        for row in np.flatnonzero(differs).tolist():
            given, places = ranks.of_row(row), documents.of_row(row)
            name = names[self.shown.items[self.shown.starts[row] + places[0] - 1]]
            problems[row] = self._disagreement(name, given, places)
        return problems

    def _disagreement(self, name: str, ranks: IntArray, places: IntArray) -> Problem:
        first, hint = self.first_rank or 0, ""
        if any(np.array_equal(ranks + shift, places) for shift in (1, -1)):
            hint = f"; are ranks counted from {1 - first}?"
        return Problem(
            "rank and document disagree",
            f"the selected document '{quoted(name)}' is result {places[0]}, but the "
            f"selected rank {ranks[0] + first - 1} is result {ranks[0]}{hint}",
        )


_NO_SELECTIONS = Selections(
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), {}
)


def _mask(size: int, selections: Selections) -> BoolArray:
    """Return which of some events have selections, or problems with them, ``[N]``."""
    has_any: BoolArray = np.zeros(size, dtype=bool)
    has_any[selections.rows] = True
    has_any[list(selections.problems)] = True
    return has_any


def _invalid(errors: Errors, is_used: BoolArray) -> dict[int, Problem]:
    """Return the problems of cells that cannot be read."""
    return {row: _bad(f"the selection: {errors[row]}") for row in errors if is_used[row]}


def _bad(text: str) -> Problem:
    return Problem("bad selection", text)
