"""The selections of events, given as ranks, documents or clicks, checked and made 1-based."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.files.table_columns import CellColumn, Column
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import LARGEST, Errors, numbers
from pytest_rankcheck.sessions.log_lists import DocumentCodes, Lists, id_lists, rank_lists

__all__ = ["Items", "Problem", "SelectionReader", "Selections", "not_shown"]


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
    grades: FloatArray
    """``[M]`` how good each selection is; NaN where the log does not say."""
    problems: Mapping[int, Problem]
    """By row, why its selections cannot be used."""

    def of(self, is_chosen: BoolArray) -> Selections:
        """Return the selections of some events."""
        chosen = is_chosen[self.rows]
        return replace(
            self,
            rows=self.rows[chosen],
            ranks=self.ranks[chosen],
            times=self.times[chosen],
            grades=self.grades[chosen],
        )

    def of_row(self, row: int) -> IntArray:
        """Return the ranks of one event."""
        start, end = np.searchsorted(self.rows, (row, row + 1)).tolist()
        return self.ranks[start:end]


@dataclass(frozen=True, slots=True)
class Items:
    """The document that each of N rows is about, in a log with a row per impression or click."""

    documents: IntArray
    """``[N]`` its code; -1 if the row has no document, or several."""
    ranks: IntArray
    """``[N]`` its rank from 1; 0 if the row has no rank, or several."""
    is_selection: BoolArray
    """``[N]`` whether the row is a selection."""

    @classmethod
    def unknown(cls, size: int) -> Items:
        """Return N rows whose documents are unknown so far."""
        ranks = np.zeros(size, dtype=np.int64)
        return cls(ranks - 1, ranks, np.ones(size, dtype=bool))


@dataclass(frozen=True, slots=True)
class SelectionReader:
    """Reads the selections of N rows."""

    columns: Mapping[str, Column]
    """The columns of the rows, by role."""
    shown: Lists
    """The documents that they showed."""
    counts: IntArray
    """``[N]`` how many results were shown; -1 where unknown."""
    documents: DocumentCodes
    first_rank: int | None
    """The rank of the first result, 0 or 1; None if not given."""
    clock: Clock
    positions: IntArray
    """``[N]`` where the rows are, for messages."""
    is_selection: BoolArray
    """``[N]`` which rows are selections, if they have a rank or a document."""
    items: Items | None
    """Filled with the document and the rank of each row; None if no rows are merged."""

    def read(self, is_used: BoolArray) -> Selections:
        """Return the selections of some rows, ``[N]``.

        Raises:
            SessionLogError: there are ranks, and it is unknown whether they count from 0 or 1.
        """
        clicks = self._clicks(is_used & self.is_selection)
        is_used = is_used & ~_mask(len(is_used), clicks)
        ranks = self._ranks(is_used)
        documents = self._documents(is_used, _mask(len(is_used), ranks))
        ranks = ranks.of(self.is_selection)
        problems = {
            **self._disagreements(ranks, documents),
            **documents.problems,
            **ranks.problems,
            **clicks.problems,
        }
        found = (clicks, documents, ranks.of(~_mask(len(is_used), documents)))
        rows = np.concatenate([part.rows for part in found])
        order = np.argsort(rows, kind="stable")
        numbers, times, grades = (
            np.concatenate([getattr(part, name) for part in found])[order]
            for name in ("ranks", "times", "grades")
        )
        return Selections(rows[order], numbers, times, grades, problems)

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
        grades, grade_errors = numbers(CellColumn([click.get("grade") for click in fields]))
        first = 1 if self.first_rank is None else self.first_rank
        is_whole = (ranks == np.floor(ranks)) & (np.abs(ranks) <= LARGEST)
        is_bad = ~is_whole | self._is_beyond(rows, ranks, first)
        is_bad[[*time_errors, *grade_errors]] = True
        for item in np.flatnonzero(is_bad).tolist():
            error = errors.get(item) or time_errors.get(item) or grade_errors.get(item)
            if error:
                problem = _bad(f"a click: {error}")
            elif not is_whole[item]:
                problem = _bad(f"the click '{quoted(clicks[item], 60)}' has no rank")
            else:
                problem = self._beyond(int(rows[item]), int(ranks[item]), first)
            problems.setdefault(int(rows[item]), problem)
        ranks[~is_whole] = 0
        return Selections(rows, ranks.astype(np.int64) - first + 1, times, grades, problems)

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
        if self.items:
            chosen = np.bincount(rows, minlength=len(is_used))[rows] == 1
            self.items.ranks[rows[chosen]] = ranks[chosen] - first + 1
        return _plain(rows, ranks - first + 1, problems)

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

    def _documents(self, is_used: BoolArray, has_rank: BoolArray) -> Selections:
        """Return the selections that are given by document.

        The rank is 0 where it becomes known only when rows are merged.
        """
        if "selected" not in self.columns:
            return _NO_SELECTIONS
        lists = id_lists(self.columns["selected"], self.documents)
        is_listed = self.shown.lengths >= 0
        single = np.flatnonzero(is_used & (lists.lengths == 1)) if self.items else _NO_ROWS
        if self.items:
            self.items.documents[single] = lists.items[lists.starts[single]]
        is_used = is_used & self.is_selection & (is_listed | ~has_rank)
        later = single[(is_used & ~is_listed)[single]]
        is_used[later] = False
        chosen = is_used[lists.rows]
        rows, codes = lists.rows[chosen], lists.items[chosen]
        problems = _invalid(lists.errors, is_used)
        ranks = self.shown.places_of(rows, codes) + 1
        unknown = np.flatnonzero(ranks == 0).tolist()
        names = list(self.documents) if unknown else []
        for item in unknown:
            row = int(rows[item])
            problems.setdefault(row, not_shown(names[codes[item]], int(self.shown.lengths[row])))
        unranked = np.zeros(len(later), dtype=np.int64)
        return _plain(np.append(rows, later), np.append(ranks, unranked), problems)

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


def not_shown(document: str, count: int) -> Problem:
    """Return what is wrong with a selected document; -1 results are unknown ones."""
    if count < 0:
        return Problem(
            "unknown rank",
            f"'{quoted(document)}' was selected, but the results shown are unknown; add the "
            "results or the selected rank",
        )
    return Problem(
        "document not shown",
        f"'{quoted(document)}' was selected, but is not among the {plural(count, 'result')} shown",
    )


def _plain(rows: IntArray, ranks: IntArray, problems: Mapping[int, Problem]) -> Selections:
    """Return selections without times and grades of their own."""
    unknown = np.full(len(rows), np.nan)
    return Selections(rows, ranks, unknown, unknown, problems)


_NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)
_NO_SELECTIONS = _plain(_NO_ROWS, _NO_ROWS, {})


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
