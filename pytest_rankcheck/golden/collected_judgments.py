"""The judgments of a golden set while they are added, one by one or whole columns at once."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.golden.golden_source import Contradictions
from pytest_rankcheck.golden.source_places import Place, Places

if TYPE_CHECKING:
    from pytest_rankcheck.golden.judgments import Judgments

__all__ = ["CollectedJudgments", "Repeat", "grade_of_two"]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repeated judgment of a document for the same query."""

    query_id: str
    doc_id: str
    before: float
    again: float
    where: str


class CollectedJudgments:
    """Judgments in the order in which they are added.

    Those added one by one are in dicts until somebody asks for columns.
    """

    def __init__(self, contradictions: Contradictions, places: Places) -> None:
        self._rule = contradictions
        self._places = places
        self._added: dict[str, dict[str, float]] = {}
        """Added since the columns were made."""
        self._lines: dict[str, array[int]] = {}
        """The line of each of these judgments."""
        self._columns: Judgments | None = None
        self.repeats: list[Repeat] = []
        """All repeated judgments, with the same or another grade."""

    @property
    def by_query(self) -> Mapping[str, Mapping[str, float]]:
        """The grade of each judged document of each query."""
        return self._added if self._columns is None else self.columns.by_query

    @property
    def highest(self) -> float:
        """The highest grade; 0 without judgments."""
        if self._columns is not None:
            return self._columns.highest
        return max((max(grades.values()) for grades in self._added.values() if grades), default=0)

    @property
    def columns(self) -> Judgments:
        """All judgments in columns."""
        if self._columns is None:
            from pytest_rankcheck.golden.judgments import Judgments

            self._columns = Judgments.of_dicts(self._added, self._lines)
        elif self._added:  # queries without judgments
            self._columns = self._columns.arranged([*self._columns.query_ids, *self._added])
        self._added, self._lines = {}, {}
        return self._columns

    def add_query(self, query_id: str) -> None:
        """Add a query that may have no judgments."""
        if self._columns is None or query_id not in self._columns.codes:
            self._added.setdefault(query_id, {})

    def set(self, query_id: str, grades: Mapping[str, float]) -> None:
        """Set the judgments of a query that has none so far."""
        self._open()
        self._added[query_id] = dict(grades)

    def add(self, query_id: str, doc_id: str, grade: float, where: Place) -> None:
        """Add a judgment. Repeating the same judgment has no effect.

        Raises:
            GoldenSetError: the document was judged before with another grade, and contradictions
                are errors.
        """
        self._open()
        judged = self._added.setdefault(query_id, {})
        before = judged.get(doc_id)
        if before is not None:
            again = Repeat(query_id, doc_id, before, grade, self._places.shown(where))
            self.repeats.append(again)
            judged[doc_id] = grade_of_two(again, self._rule)
            return
        judged[doc_id] = grade
        if isinstance(where, int):
            self._lines.setdefault(query_id, array("q")).append(where)
        else:
            self._places.note_first(query_id, where)

    def _open(self) -> None:
        """Turn columns back into dicts, to which judgments can be added."""
        if self._columns is None:
            return
        columns, self._columns = self.columns, None
        self._added = {query_id: dict(judged) for query_id, judged in columns}
        if columns.lines is not None:
            pairs = zip(columns.query_ids, pairwise(columns.starts.tolist()), strict=True)
            self._lines = {each: array("q", columns.lines[slice(*rows)]) for each, rows in pairs}

    def take(self, judgments: Judgments) -> None:
        """Add all judgments, after queries that have none so far."""
        ids = dict.fromkeys([*self.by_query, *judgments.query_ids])
        self._columns, self._added, self._lines = judgments.arranged(tuple(ids)), {}, {}

    def line(self, query_id: str, index: int) -> int:
        """Return the line or row with the judgment at ``index`` of a query; 0 if it is unknown."""
        if self._columns is None:
            lines: Sequence[int] = self._lines.get(query_id, ())
            return lines[index] if index < len(lines) else 0
        code = self.columns.codes.get(query_id)
        return 0 if code is None else self.columns.line(code, index)


def grade_of_two(repeat: Repeat, rule: Contradictions) -> float:
    """Return which grade of a repeated judgment counts.

    Raises:
        GoldenSetError: the grades differ, and contradictions are errors.
    """
    if repeat.before != repeat.again and rule == "error":
        raise GoldenSetError(
            f"{repeat.where}: document '{quoted(repeat.doc_id)}' of query "
            f"'{quoted(repeat.query_id)}' is judged twice, {repeat.before:g} and "
            f"{repeat.again:g}; keep one of them"
        )
    if rule == "last" or (rule == "highest" and repeat.again > repeat.before):
        return repeat.again
    return repeat.before
