"""Merging the rows of one search into one event, in logs with a row per impression or click."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.files.id_runs import starts_of
from pytest_rankcheck.sessions.event_columns import Events
from pytest_rankcheck.sessions.log_lists import Lists
from pytest_rankcheck.sessions.log_problems import Problems
from pytest_rankcheck.sessions.selections import Problem, not_shown

__all__ = ["RowItems", "merged"]


class RowItems(NamedTuple):
    """What each of N rows is about."""

    search: IntArray
    """``[N]`` the code of its search; -1 if the row does not say."""
    document: IntArray
    """``[N]`` the code of its document; -1 without one."""
    rank: IntArray
    """``[N]`` the rank of its document, from 1; 0 without one."""
    is_selection: BoolArray
    """``[N]`` whether the row is a selection."""

    def taken(self, rows: IntArray) -> RowItems:
        """Return some rows, in this order."""
        return RowItems(
            self.search[rows], self.document[rows], self.rank[rows], self.is_selection[rows]
        )

    @staticmethod
    def joined(parts: Sequence[RowItems]) -> RowItems:
        """Return the rows of several parts, one after the other."""
        return RowItems(
            np.concatenate([part.search for part in parts]),
            np.concatenate([part.document for part in parts]),
            np.concatenate([part.rank for part in parts]),
            np.concatenate([part.is_selection for part in parts]),
        )


def merged(
    events: Events,
    items: RowItems,
    session_ids: Sequence[str],
    documents: Sequence[str],
    problems: Problems,
) -> Events:
    """Return one event for each search, from one event for each row.

    Rows of a session belong to one search if they have the same search id; without a search id, if
    they have the same event index. An event has the first query, the first list of results and the
    first time of its rows, and all their selections. Without a list, it showed what its rows are
    about, if these have the ranks from 1 on without a gap and the log has rows that are not
    selections; otherwise what was shown is unknown.

    Args:
        events: one per row, by session, and there in order.
        items: what the rows are about.
        session_ids: the sessions, for messages.
        documents: the ids of documents, for messages.
        problems: collects searches that contradict themselves.
    """
    groups = _Groups.of(events, items.search)
    count = len(groups.first)
    shown, clashes = _shown(groups, events, items)
    counts = np.full(count, -1, dtype=np.int64)
    np.maximum.at(counts, groups.of_row, events.count)
    counts = np.where(shown.lengths >= 0, shown.lengths, counts)
    order = np.argsort(groups.of_row, kind="stable")
    selections = events.taken(order)
    rows = order.repeat(selections.selections)
    ranks = _ranks(selections.selected_rank, rows, groups, items, shown)
    check = _Check(events, items, groups, shown, counts, session_ids, documents, problems)
    check.note(clashes, check.clash)
    check.note_selections(rows, ranks)
    return replace(
        events.taken(groups.first),
        event=groups.least(events.event),
        time=groups.least(events.time),
        end=-groups.least(-events.end),
        start=groups.least(events.start),
        query=_or_unknown(events.query, groups.first_with(events.query >= 0)),
        count=counts,
        has_list=shown.lengths >= 0,
        is_finish=np.bincount(groups.of_row, events.is_finish, count) > 0,
        shown_starts=shown.starts,
        shown=shown.items,
        selected_starts=starts_of(np.bincount(groups.of_row[rows], minlength=count)),
        selected_rank=ranks,
        selected_time=_times(events, selections.selected_time, rows, groups),
        selected_grade=selections.selected_grade,
    )


@dataclass(frozen=True, slots=True)
class _Groups:
    """The searches that N rows belong to."""

    of_row: IntArray
    """``[N]`` the index of the search, in the order of their first rows."""
    first: IntArray
    """The first row of each search."""

    @classmethod
    def of(cls, events: Events, search: IntArray) -> _Groups:
        rows = np.arange(len(events))
        kinds = np.where(search >= 0, 0, np.where(np.isnan(events.event), 2, 1))
        values = np.choose(kinds, (search, np.nan_to_num(events.event), rows))
        keys = np.lexsort((rows, values, kinds, events.session))
        columns = (events.session[keys], kinds[keys], values[keys])
        is_new = np.ones(len(rows), dtype=bool)
        is_new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
        first = keys[is_new]
        by_first = np.argsort(first)
        numbers = np.empty_like(by_first)
        numbers[by_first] = np.arange(len(first))
        of_row = np.empty_like(rows)
        of_row[keys] = numbers[np.cumsum(is_new) - 1]
        return cls(of_row, first[by_first])

    def first_with(self, has: BoolArray) -> IntArray:
        """Return the first row of each search that has something, -1 without one."""
        found: IntArray = np.full(len(self.first), -1, dtype=np.int64)
        rows = np.flatnonzero(has)[::-1]
        found[self.of_row[rows]] = rows  # the last assignment wins
        return found

    def least(self, values: FloatArray) -> FloatArray:
        """Return the least value of the rows of each search, NaN without one."""
        least = np.full(len(self.first), np.nan)
        np.fmin.at(least, self.of_row, values)
        return least


def _shown(groups: _Groups, events: Events, items: RowItems) -> tuple[Lists, IntArray]:
    """Return what each search showed, and the rows with two documents at a rank."""
    listed = groups.first_with(events.has_list)
    impressions, clashes = _impressions(groups, items)
    pool = np.concatenate((events.shown, impressions.items))
    begins = len(events.shown) + impressions.starts[:-1]
    begins = np.where(listed >= 0, events.shown_starts[listed], begins)
    lengths = np.where(listed >= 0, np.diff(events.shown_starts)[listed], impressions.lengths)
    starts = starts_of(np.maximum(lengths, 0))
    shift = np.repeat(begins - starts[:-1], np.maximum(lengths, 0))
    return Lists(lengths, pool[np.arange(starts[-1]) + shift], {}), clashes


def _impressions(groups: _Groups, items: RowItems) -> tuple[Lists, IntArray]:
    """Return what each search showed, from its rows, and the rows with two documents at a rank.

    There is no list where the ranks have a gap, or where only selections are logged.
    """
    count = len(groups.first)
    is_known = (items.document >= 0) & (items.rank > 0)
    if not (is_known & ~items.is_selection).any():
        return Lists(np.full(count, -1, dtype=np.int64), items.rank[:0], {}), items.rank[:0]
    rows = np.flatnonzero(is_known)
    rows = rows[np.lexsort((rows, items.rank[rows], groups.of_row[rows]))]
    group, rank, document = groups.of_row[rows], items.rank[rows], items.document[rows]
    is_same = (group[1:] == group[:-1]) & (rank[1:] == rank[:-1])
    is_clash = np.append(False, is_same & (document[1:] != document[:-1]))
    is_new = np.append(True, ~is_same)
    lengths = np.bincount(group[is_new], minlength=count)
    highest = np.zeros(count, dtype=np.int64)
    np.maximum.at(highest, group, rank)
    is_whole = (lengths == highest) & (lengths > 0)
    kept = is_new & is_whole[group]
    return Lists(np.where(is_whole, lengths, -1), document[kept], {}), rows[is_clash]


def _or_unknown(values: IntArray, rows: IntArray) -> IntArray:
    found: IntArray = np.where(rows >= 0, values[rows], -1)
    return found


def _ranks(
    ranks: IntArray, rows: IntArray, groups: _Groups, items: RowItems, shown: Lists
) -> IntArray:
    """Return the ranks of selections; 0 becomes the rank of the row's document, if it was shown."""
    unknown = np.flatnonzero(ranks == 0)
    found = shown.places_of(groups.of_row[rows[unknown]], items.document[rows[unknown]])
    known = ranks.copy()
    known[unknown] = found + 1
    return known


def _times(events: Events, times: FloatArray, rows: IntArray, groups: _Groups) -> FloatArray:
    """Return the times of selections: in a search of several rows, those of their rows."""
    is_single = np.bincount(groups.of_row)[groups.of_row[rows]] == 1
    return np.where(np.isnan(times) & ~is_single, events.time[rows], times)


@dataclass(frozen=True, slots=True)
class _Check:
    """Notes the rows of searches that contradict themselves."""

    events: Events
    items: RowItems
    groups: _Groups
    shown: Lists
    counts: IntArray
    session_ids: Sequence[str]
    documents: Sequence[str]
    problems: Problems

    def note(self, rows: IntArray, describe: Callable[[int], Problem]) -> None:
        """Note some rows as problems."""
        for row in rows.tolist():
            session = self.session_ids[self.events.session[row]]
            reason, text = describe(row)
            text = f"session '{quoted(session)}': {text}"
            self.problems.add(self.events.position[row], session, reason, text, is_read=True)

    def note_selections(self, rows: IntArray, ranks: IntArray) -> None:
        """Note the rows of selections that what their search showed does not have there.

        Args:
            rows: ``[M]`` the row of each selection.
            ranks: ``[M]`` its rank from 1; 0 where unknown.
        """
        self.note(np.unique(rows[ranks == 0]), self.unknown)
        group, rank, document = self.groups.of_row, self.items.rank, self.items.document
        is_known = (document >= 0) & (rank > 0)
        counts = self.counts[group[rows]]
        beyond = (counts >= 0) & (ranks > counts) & ~is_known[rows]
        self.note(np.unique(rows[beyond]), self.beyond)
        both = np.unique(rows[is_known[rows] & (self.shown.lengths[group[rows]] >= 0)])
        is_shown = rank[both] <= self.shown.lengths[group[both]]
        place = np.where(is_shown, self.shown.starts[group[both]] + rank[both] - 1, -1)
        is_same = np.append(self.shown.items, -1)[place] == document[both]
        self.note(both[~is_same], self.disagreement)

    def clash(self, row: int) -> Problem:
        """Say that the search of a row shows two documents at one rank."""
        same = self.groups.of_row == self.groups.of_row[row]
        first = int(np.flatnonzero(same & (self.items.rank == self.items.rank[row]))[0])
        return Problem(
            "two documents at one rank",
            f"'{self._name(first)}' and '{self._name(row)}' have the same rank in one search; name "
            "the column with the id of the search: columns={'search': ...}",
        )

    def unknown(self, row: int) -> Problem:
        """Say that the selected document of a row has no rank."""
        return not_shown(self._name(row), int(self.shown.lengths[self.groups.of_row[row]]))

    def beyond(self, row: int) -> Problem:
        """Say that a selected rank of a row is beyond what its search showed."""
        count = int(self.counts[self.groups.of_row[row]])
        return Problem(
            "rank beyond the results",
            f"the search showed {plural(count, 'result')}, fewer than the selected rank needs; is "
            "first_rank right?",
        )

    def disagreement(self, row: int) -> Problem:
        """Say that a row has another rank than its document."""
        start, end = self.shown.starts[self.groups.of_row[row] :][:2].tolist()
        results = self.shown.items[start:end].tolist()
        document, rank = int(self.items.document[row]), int(self.items.rank[row])
        place = results.index(document) + 1 if document in results else None
        where = f"result {place}" if place else "not among the results shown"
        hint = "; is first_rank right?" if place and abs(place - rank) == 1 else ""
        return Problem(
            "rank and document disagree",
            f"the selected document '{self._name(row)}' is {where}, but its rank is that of result "
            f"{rank}{hint}",
        )

    def _name(self, row: int) -> str:
        return quoted(self.documents[self.items.document[row]])
