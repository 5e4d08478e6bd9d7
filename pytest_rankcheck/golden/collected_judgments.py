"""The judgments of a golden set while they are added: rows in columns, settled when asked for."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter

import numpy as np

from pytest_rankcheck.array_types import BoolArray, FloatArray, IntArray
from pytest_rankcheck.files.id_columns import HeldIds, IdColumn
from pytest_rankcheck.files.id_runs import joined_ids, run_starts, starts_of
from pytest_rankcheck.golden.golden_source import Contradictions
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.repeated_judgments import Repeat, without_repeats
from pytest_rankcheck.golden.source_places import Place, Places

__all__ = ["CollectedJudgments"]


@dataclass(frozen=True, slots=True)
class _Part:
    """Some rows that were added together."""

    runs: IntArray
    """The place of the query of each run of rows."""
    lengths: IntArray
    """The rows of each run."""
    documents: IdColumn
    grades: FloatArray
    lines: range | IntArray
    """The line or row of the source of each row; 0 where it is unknown."""

    @classmethod
    def of(cls, judgments: Judgments, runs: IntArray) -> _Part:
        """Return judgments as a part, given the places of their queries."""
        lines = np.zeros(len(judgments), np.int64) if judgments.lines is None else judgments.lines
        lengths = np.diff(judgments.starts)
        return cls(runs, lengths, judgments.documents, judgments.grades, lines)


class CollectedJudgments:
    """Judgments in the order in which they are added, by columns, by query or one by one."""

    def __init__(self, contradictions: Contradictions, places: Places) -> None:
        self._rule = contradictions
        self._places = places
        self._columns: Judgments | None = None
        """The judgments when they were asked for last."""
        self._codes: dict[str, int] = {}
        """The place of each query; empty if nothing was added since then."""
        self._parts: list[_Part] = []
        self._start_singles()
        self._count = 0
        """How many rows there are in all."""
        self._words: list[tuple[int, str | Callable[[int], str]]] = []
        """Where rows are, in words: from which row on, and where, or what says it of each."""
        self.repeats: list[Repeat] = []
        """All repeated judgments, with the same or another grade, of those in `columns`."""

    def _start_singles(self) -> None:
        """Forget what was added by query or one by one since the last part."""
        self._single_runs, self._single_lengths, self._single_lines = (array("q") for _ in range(3))
        self._single_documents: list[str] = []
        self._single_grades = array("d")

    def __contains__(self, query_id: object) -> bool:
        if self._codes or self._columns is None:
            return query_id in self._codes
        return query_id in self._columns.codes

    @property
    def columns(self) -> Judgments:
        """All judgments in columns, each document once for each query."""
        if self._columns is None or self._codes:
            self._columns = self._settled()
            self._count, self._words, self._codes = len(self._columns), [], {}
        return self._columns

    def take(self, judgments: Judgments) -> None:
        """Start with judgments, which have been checked."""
        self._columns, self._count = judgments, len(judgments)

    def add_query(self, query_id: str) -> None:
        """Add a query that may have no judgments."""
        if query_id not in self:
            self.add_all(query_id, {})

    def add(self, query_id: str, doc_id: str, grade: float, where: Place) -> None:
        """Add a judgment, which may repeat another."""
        if isinstance(where, str):
            self._places.of_queries.setdefault(query_id, where)
            if not self._words or self._words[-1][1] != where:
                self._words.append((self._count, where))
        self.add_all(query_id, {doc_id: grade}, where if isinstance(where, int) else 0)

    def add_all(self, query_id: str, grades: Mapping[str, float], line: int = 0) -> None:
        """Add judgments of a query, all of one line."""
        codes, count = self._open_codes(), len(grades)
        self._single_runs.append(codes.setdefault(query_id, len(codes)))
        self._single_lengths.append(count)
        self._single_lines.append(line)
        self._single_documents.extend(grades)
        self._single_grades.extend(grades.values())
        self._count += count

    def add_rows(
        self,
        queries: IdColumn,
        documents: IdColumn,
        grades: FloatArray,
        lines: Sequence[int] | IntArray,
        is_judged: BoolArray,
    ) -> None:
        """Add some rows: the query, document, grade and line or row number of each.

        Those that are not judged only name their query.
        """
        starts = run_starts(queries)
        ids, lengths = queries.texts(starts), np.diff(starts, append=len(queries))
        if not is_judged.all():
            for query_id, start in zip(ids, starts.tolist(), strict=True):
                if query_id not in self:
                    self._places.of_queries.setdefault(query_id, int(lines[start]))
            lengths = np.add.reduceat(is_judged, starts, dtype=np.int64)
            rows = np.flatnonzero(is_judged)
            documents, grades = documents.reordered(rows), grades[rows]
            lines = np.asarray(lines, np.int64)[rows]
        held = lines if isinstance(lines, range) else np.asarray(lines, np.int64)
        self._add_part(_Part(self._codes_of(ids), lengths, documents, grades, held))

    def add_columns(self, judgments: Judgments, where: Callable[[int], str]) -> None:
        """Add the judgments of another golden set, whose rows are at ``where``."""
        self._words.append((self._count, where))
        codes = self._codes_of(judgments.query_ids)
        self._add_part(_Part.of(replace(judgments, lines=None), codes))

    def _add_part(self, part: _Part) -> None:
        self._end_singles()
        self._parts.append(part)
        self._count += len(part.grades)

    def _codes_of(self, query_ids: Sequence[str]) -> IntArray:
        """Return the places of queries, of which some may be new."""
        codes = self._open_codes()
        found = (codes.setdefault(query_id, len(codes)) for query_id in query_ids)
        return np.fromiter(found, np.int64, len(query_ids))

    def _open_codes(self) -> dict[str, int]:
        """Return the places of all queries, to which new ones can be added."""
        if not self._codes and self._columns is not None:
            self._codes = dict(self._columns.codes)
        return self._codes

    def _end_singles(self) -> None:
        """Make a part of the rows that were added by query or one by one."""
        if self._single_documents:
            runs, lengths, lines = map(
                np.array, (self._single_runs, self._single_lengths, self._single_lines)
            )
            documents, grades = HeldIds(self._single_documents), np.array(self._single_grades)
            part = _Part(runs, lengths, documents, grades, np.repeat(lines, lengths))
            self._parts.append(part)
        self._start_singles()

    def _settled(self) -> Judgments:
        """Return what was added before and after the columns were made; repeats are noted."""
        self._end_singles()
        parts, self._parts = self._parts, []
        ids = tuple(self._codes)
        before = Judgments.of_dicts({}) if self._columns is None else self._columns
        if not parts:
            return before.arranged(ids)
        if len(before):
            parts.insert(0, _Part.of(before, np.arange(len(before.query_ids))))
        judgments, order = _joined(ids, parts)

        def where(row: int) -> str:
            assert judgments.lines is not None
            at = row if order is None else int(order[row])
            return self._places.shown(int(judgments.lines[row]) or self._place_of(at))

        settled, repeats = without_repeats(judgments, self._rule, where, order)
        self.repeats += repeats
        return settled

    def _place_of(self, row: int) -> str:
        """Return the place of a row that was added with words; empty if it is unknown."""
        index = bisect_right(self._words, row, key=itemgetter(0)) - 1
        start, where = self._words[index] if index >= 0 else (0, "")
        return where if isinstance(where, str) else where(row - start)


def _joined(query_ids: Sequence[str], parts: list[_Part]) -> tuple[Judgments, IntArray | None]:
    """Return the rows of all parts, those of a query together, and their order before that.

    The order is None if it has not changed. The parts are dropped on the way.
    """
    runs = np.concatenate([part.runs for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    starts = starts_of(np.bincount(runs, lengths, len(query_ids)).astype(np.int64))
    documents = joined_ids([part.documents for part in parts])
    grades = np.concatenate([part.grades for part in parts]) + 0.0
    lines = _joined_lines([part.lines for part in parts])
    parts.clear()
    judgments = Judgments(query_ids, starts, documents, grades, lines)
    if (np.diff(runs) >= 0).all():
        return judgments, None
    order = np.argsort(np.repeat(runs, lengths), kind="stable")
    return judgments.of_rows(query_ids, starts, order), order


def _joined_lines(lines: Sequence[range | IntArray]) -> range | IntArray:
    ranges = [part for part in lines if isinstance(part, range)]
    follow = all(part.stop == after.start for part, after in pairwise(ranges))
    if len(ranges) == len(lines) and follow:
        return range(ranges[0].start, ranges[-1].stop)
    return np.concatenate([np.asarray(part, np.int64) for part in lines])
