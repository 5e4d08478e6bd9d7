"""The selections of rows: given as ranks, documents or clicks, checked and made 1-based."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import SessionLogError, plural, quoted
from pytest_rankcheck.files.table_batches import Column
from pytest_rankcheck.sessions.event_times import Clock
from pytest_rankcheck.sessions.log_cells import Cells, Errors, id_lists, numbers, rank_lists
from pytest_rankcheck.sessions.log_sources import Problems

LARGEST = 2**31
"""A bound above any number of results."""


@dataclass(slots=True)
class UsableRows:
    """Which of N rows can be used so far. Only the first problem of a row is noted."""

    ids: Cells
    """``[N]`` the session of each row; None without one."""
    positions: IntArray
    problems: Problems
    mask: BoolArray

    def refuse(self, wrong: BoolArray | Errors, reason: str, text: str = "") -> None:
        """Note rows that cannot be used, if nothing is wrong with them yet.

        Args:
            wrong: a mask of the rows, or what is wrong with each.
            reason: the kind of problem, in a few fixed words.
            text: what is wrong with the rows of a mask; otherwise the beginning of each error.
        """
        if not isinstance(wrong, Mapping):
            wrong = dict.fromkeys(np.flatnonzero(wrong).tolist(), "")
        for row, error in wrong.items():
            if self.mask[row]:
                self.mask[row] = False
                place = int(self.positions[row])
                self.problems.add(place, self.ids[row], reason, f"{text}{error}")


@dataclass(slots=True)
class SelectionReader:
    """Reads the selections of N rows: given as ranks, as documents or as clicks."""

    columns: Mapping[str, Column]
    shown: Cells
    """The documents that the rows showed."""
    counts: IntArray
    """``[N]`` how many results were shown; -1 where unknown."""
    is_selection: BoolArray
    """``[N]`` which rows are selections, if they have a rank or a document."""
    usable: UsableRows
    first_rank: int | None
    """The rank of the first result, 0 or 1; None if not given."""
    clock: Clock
    documents: Cells | None = None
    """Filled with the document that each row is about; None if no rows are merged."""
    ranks: IntArray | None = None
    """Filled with the rank of that document, from 1."""

    def read(self) -> Any:
        """Return the selections of the usable rows, by row, as in `Events.selections`.

        Clicks come before documents, and documents before ranks.

        Raises:
            SessionLogError: there are ranks, and it is unknown whether they count from 0 or 1.
        """
        size = len(self.counts)
        clicks = self._clicks()
        is_open = self.usable.mask & ~np.isin(np.arange(size), clicks["event"])
        ranks = self._ranks(is_open)
        has_rank = np.bincount(ranks["event"], minlength=size) > 0
        documents = self._documents(is_open, has_rank)
        ranks = ranks[self.is_selection[ranks["event"].to_numpy()]]
        others = ranks[~ranks["event"].isin(documents["event"])]
        found = pd.concat([clicks, documents, others], ignore_index=True)
        found["rank"] = found["rank"].astype(np.int64)
        found = found[self.usable.mask[found["event"].to_numpy()]]
        return found.sort_values("event", kind="stable", ignore_index=True)

    def _clicks(self) -> Any:
        """Return the clicks in the lists of rows."""
        owners: list[int] = []
        clicks: list[object] = []
        wrong: dict[int, str] = {}
        cells = self.columns["clicks"].cells() if "clicks" in self.columns else ()
        used = self.usable.mask & self.is_selection
        for row in np.flatnonzero(used).tolist() if len(cells) else ():
            cell = cells[row]
            if isinstance(cell, (list, tuple)):
                owners += [row] * len(cell)
                clicks += cell
            elif hasattr(cell, "ndim") or cell:
                wrong[row] = f"clicks is '{quoted(cell, 60)}', not a list"
        self.usable.refuse(wrong, "bad selection")
        at: IntArray = np.array(owners, dtype=np.int64)
        fields = [click if isinstance(click, Mapping) else {} for click in clicks]
        ranks, rank_errors = numbers(Column([click.get("rank") for click in fields]))
        moments = Column([click.get("start", click.get("time")) for click in fields])
        times, time_errors = self.clock.column(
            moments, self.usable.positions[at], self.usable.mask[at]
        )
        grades, grade_errors = numbers(Column([click.get("grade") for click in fields]))
        is_odd = ~((ranks == np.floor(ranks)) & (abs(ranks) <= LARGEST))
        odd = {
            item: f"'{quoted(clicks[item], 60)}' has no rank"
            for item in np.flatnonzero(is_odd).tolist()
        }
        for errors in (rank_errors, time_errors, grade_errors, odd):
            of_rows = {owners[item]: text for item, text in errors.items()}
            self.usable.refuse(of_rows, "bad selection", "a click: ")
        first = 1 if self.first_rank is None else self.first_rank
        return _frame(at, self._from_1(at, ranks, first), times, grades)

    def _ranks(self, is_open: BoolArray) -> Any:
        """Return the ranks of rows, whether these are selections or not."""
        if "selected_rank" not in self.columns:
            return _frame([], [])
        rows, ranks, errors = rank_lists(self.columns["selected_rank"])
        rows, ranks = rows[is_open[rows]], ranks[is_open[rows]]
        if self.first_rank is None and len(rows):
            raise SessionLogError(
                "the log has ranks of selections; specify whether the first result has rank 0 or "
                "1: first_rank=0 or first_rank=1"
            )
        odd = np.flatnonzero((ranks != np.floor(ranks)) | (abs(ranks) > LARGEST)).tolist()
        text = "'{:g}' is not a rank; ranks are whole numbers".format
        wrong = {int(rows[item]): text(ranks[item]) for item in odd}
        wrong |= {row: text for row, text in errors.items() if is_open[row]}
        self.usable.refuse(wrong, "bad selection", "the selection: ")
        from_1 = self._from_1(rows, ranks, self.first_rank or 0)
        if self.ranks is not None:
            single = np.bincount(rows, minlength=len(is_open))[rows] == 1
            self.ranks[rows[single]] = from_1[single]
        return _frame(rows, from_1)

    def _from_1(self, rows: IntArray, ranks: FloatArray, first: int) -> IntArray:
        """Return ranks counted from 1; refuse those beyond the results of their rows."""
        given: IntArray = np.nan_to_num(ranks).clip(-LARGEST, LARGEST).astype(np.int64)
        counts = self.counts[rows]
        wrong = {}
        for item in np.flatnonzero(given < first).tolist():
            wrong[int(rows[item])] = (
                f"the selected rank is {given[item]}, counted from {first}; leave it empty if "
                "nothing was selected"
            )
        self.usable.refuse(wrong, "rank too small")
        beyond = {}
        for item in np.flatnonzero((counts >= 0) & (given - first >= counts)).tolist():
            rank, count = int(given[item]), int(counts[item])
            beyond[int(rows[item])] = (
                f"the selected rank is {rank}, counted from {first}, but "
                f"{plural(count, 'result was', 'results were')} shown"
            )
        self.usable.refuse(beyond, "rank beyond the results")
        return given - first + 1

    def _documents(self, is_open: BoolArray, has_rank: BoolArray) -> Any:
        """Return the ranks of the selected documents.

        The rank is 0 if it becomes known only when rows are merged.
        """
        if "selected" not in self.columns:
            return _frame([], [])
        lists, errors = id_lists(self.columns["selected"])
        is_listed = np.array([each is not None for each in self.shown], dtype=bool)
        lengths = np.array([len(each or ()) for each in lists], dtype=np.int64)
        chosen = is_open & self.is_selection & (is_listed | ~has_rank)
        single = np.zeros(len(is_open), dtype=bool)
        if self.documents is not None:
            single = is_open & (lengths == 1)
            self.documents[single] = [each[0] for each in lists[single]]
        errors = {row: text for row, text in errors.items() if chosen[row]}
        self.usable.refuse(errors, "bad selection", "the selection: ")
        is_pending = single & ~is_listed
        rows: list[int] = []
        ranks: list[int] = []
        for row in np.flatnonzero(chosen & (lengths > 0)).tolist():
            shown, found = self.shown[row] or (), [0] * bool(is_pending[row])
            missing = next((each for each in lists[row] if each not in shown), None)
            if missing is None:
                found = [shown.index(each) + 1 for each in lists[row]]
            elif not found:
                self.usable.refuse({row: not_shown(missing, self.shown[row])}, "unknown rank")
            rows += [row] * len(found)
            ranks += found
        return _frame(rows, ranks)


def _frame(rows: Any, ranks: Any, times: Any = np.nan, grades: Any = np.nan) -> Any:
    """Return selections as a frame."""
    columns = {"event": np.asarray(rows, np.int64), "rank": np.asarray(ranks, np.int64)}
    return pd.DataFrame(columns).assign(time=times, grade=grades)


def not_shown(document: str, shown: Sequence[str] | None) -> str:
    """Return the problem that a selected document is not among the results; None: unknown."""
    why = "but the results shown are unknown; add the results or the selected rank"
    if shown is not None:
        why = f"but is not among the {plural(len(shown), 'result')} shown"
    return f"'{quoted(document)}' was selected, {why}"
