"""The contents of a golden set, collected and checked piece by piece."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.files.checked_cells import checked_number
from pytest_rankcheck.golden.checked_values import checked_id, kind_of
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates
from pytest_rankcheck.golden.source_places import Place, Places

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_rankcheck.document_ids import DocIdMap
    from pytest_rankcheck.golden.expectation import Expectation
    from pytest_rankcheck.golden.judgments import Judgments
    from pytest_rankcheck.golden.repeated_judgments import Repeat

__all__ = ["SCALE", "Contents"]

SCALE = "grade_scale"
"""The key or column of a file that holds the golden set's scale."""


class Contents:
    """The queries and grades of a golden set, in the order in which they are added.

    Filled by the formats and constructors. Invalid ids and grades, contradictions and all else
    that is wrong are a GoldenSetError that names the place given by the caller: a line of the file,
    or words.
    """

    def __init__(self, source: Source | None = None, places: Places | None = None) -> None:
        self.source = source or Source()
        self.reader = self.source.reader(has_grades=True)
        self.places = places or Places(str(self.source.path or "judgments"))
        self.queries: dict[str, Query] = {}
        from pytest_rankcheck.golden.collected_judgments import CollectedJudgments  # loads numpy

        self.collected = CollectedJudgments(self.source.contradictions, self.places)
        """The judgments, while they are added."""
        self.titles: dict[str, str] = {}
        """The titles of documents, for messages."""
        self.candidates = Candidates()
        self.weight_by: str | None = None
        """The attribute with the weight of a query; None if all count the same."""
        self.cluster_by: str | None = None
        """The attribute whose values are the independent units, such as sessions or users; None if
        each query is a unit."""
        self.scale: float | None = None
        """The highest grade that a document could get; None if it is the highest one present."""
        if self.source.scale is not None:
            self.set_scale(self.source.scale, "scale=")
        self.expectations: dict[str, list[Expectation]] = {}
        """The expectations on single queries, by query id."""
        self.judges: Mapping[int, str] = {}
        """The judge of each line's judgment; empty if the source does not say."""
        self.known_attributes: Sequence[str] = ()
        """The attributes of the whole set, if this is a part of it, even if no query has them."""
        self.merged_ids: tuple[int, int] | None = None
        """How many different documents are judged, before and after ``doc_id=``."""
        self.doc_id: DocIdMap | None = None
        """The rules with which ``doc_id=`` mapped the ids of the documents."""
        self.corpus: Path | None = None
        """The file with all documents, if the golden set has one."""

    @property
    def grades(self) -> Mapping[str, Mapping[str, float]]:
        """The grade of each judged document of each query."""
        return self.judgments.by_query

    @property
    def judgments(self) -> Judgments:
        """All judgments in columns; an error if two contradict each other (see the source)."""
        return self.collected.columns

    @property
    def repeats(self) -> list[Repeat]:
        """All repeated judgments, with the same or another grade."""
        return self.collected.repeats

    def query_place(self, query_id: str) -> str:
        """Return the place of a query or its first judgment; empty if unknown."""
        return self.places.query(query_id, self.judgments.first_line(query_id))

    def place_at(self, row: int) -> str:
        """Return the place of the judgment in a row, or else of its query; empty if unknown."""
        line = self.judgments.line(row)
        return self.places.shown(line) if line else self.query_place(self.judgments.query_at(row))

    def shown_place(self, row: int) -> str:
        """Return the place of the judgment in a row; the id of its query if it is unknown."""
        return self.place_at(row) or f"query '{quoted(self.judgments.query_at(row))}'"

    def add_query(self, query: Query, where: Place) -> None:
        """Add a query, which must be new; its judgments may have been added before."""
        if query.attributes:
            query = replace(query, attributes=self._attributes(query, where))
        if query.id in self.queries:
            raise GoldenSetError(
                f"{self.places.shown(where)}: duplicate query '{quoted(query.id)}'; put all its "
                "judgments into one place, or give the second another id"
            )
        self.queries[query.id] = query
        self.collected.add_query(query.id)
        self.places.of_queries[query.id] = where

    def _attributes(self, query: Query, where: Place) -> dict[str, object]:
        """Return the attributes of a query as plain values, without the scale, which is set."""
        from pytest_rankcheck.files.plain_values import plain_value  # only for attributes

        given, wanted = dict(query.attributes), self.source.attributes
        if SCALE in given:
            self.set_scale(given.pop(SCALE), where)
        attributes = {}
        for name, value in given.items():
            if wanted is None or name in wanted:
                try:
                    attributes[name] = plain_value(value)
                except TypeError as failure:
                    raise GoldenSetError(
                        f"{self.places.shown(where)}: attribute '{quoted(name)}': {failure}"
                    ) from None
        return attributes

    @property
    def attributes(self) -> Sequence[str]:
        """The names of the attributes that queries have."""
        names = (name for query in self.queries.values() for name in query.attributes)
        return tuple(dict.fromkeys((*self.known_attributes, *names)))

    def check_attributes(self, elsewhere: Collection[str] = ()) -> None:
        """Check that each attribute that was asked for exists, here or ``elsewhere``."""
        present = self.attributes
        for name in self.source.attributes or ():
            if name not in present and name not in elsewhere:
                others = [*present, *self.candidates.columns]
                raise GoldenSetError(
                    f"{self.places.file}: no query has an attribute "
                    f"'{quoted(name)}'{suggestion(name, others)}; its attributes and other "
                    f"columns: {listed(others, 10) or 'none'}"
                )

    def see_query(self, query: Query, where: Place) -> None:
        """Add a query if it is new, for formats in which each judgment names its query.

        A query has the same text wherever it is given.
        """
        before = self.queries.get(query.id)
        if before is None:
            self.add_query(query, where)
        elif query.text is not None and before.text != query.text:
            if before.text is not None:
                raise GoldenSetError(
                    f"{self.places.shown(where)}: query '{quoted(query.id)}' is "
                    f'"{quoted(query.text)}", but before it was "{quoted(before.text)}"; '
                    "give one of them another id"
                )
            self.queries[query.id] = replace(before, text=query.text)

    def add_judgment(self, query_id: object, doc_id: object, value: object, where: Place) -> None:
        """Add a judgment, whose grade is a number, its text or a code of the grade map.

        Repeating the same judgment has no effect. One that contradicts another is found when
        `judgments` are asked for.
        """
        doc = checked_id(doc_id, "a document id", where, self.places)
        grade = self.grade(value, doc, where)
        key = checked_id(query_id, "the query id", where, self.places)
        self.collected.add(key, doc, grade, where)

    def add_judgments(self, query_id: str, grades: Mapping[str, object], where: Place) -> None:
        """Add all judgments of a query that has none so far, ordinary ones at once."""
        if not self.reader.has_map and _are_ordinary(grades):
            self.collected.add_all(query_id, grades)  # type: ignore[arg-type]
            return
        for doc_id, value in grades.items():
            self.add_judgment(query_id, doc_id, value, where)

    def grade(self, value: object, doc_id: str, where: Place) -> float:
        """Return the grade for a value: a finite number, or a code of the grade map."""
        grade = self.reader.grade(value)
        if grade is None:
            _ = self.judgments  # those before it are the first error
            why = self.reader.refusal(value, is_frame=self.places.numbering.is_frame)
            raise GoldenSetError(
                f"{self.places.shown(where)}: the grade of document '{quoted(doc_id)}' is "
                f"{kind_of(value)}, {why}"
            )
        return grade

    def set_scale(self, value: object, where: Place) -> None:
        """Set the highest grade that a document could get, the same wherever it is given."""
        scale, shown = checked_number(value), self.places.shown(where)
        if scale is None or scale <= 0:
            raise GoldenSetError(
                f"{shown}: the scale is {kind_of(value)}; it must be the highest grade that a "
                "document could get, a number above 0"
            )
        if self.scale is not None and self.scale != scale:
            if self.scale == checked_number(self.source.scale):
                raise GoldenSetError(
                    f"{shown}: the file gives the scale {scale:g}, but scale={self.scale:g} "
                    "(rankcheck_scale) was given; drop one of them"
                )
            raise GoldenSetError(
                f"{shown}: the scale is {scale:g}, but before it was {self.scale:g}; a golden set "
                "has one scale"
            )
        self.scale = scale

    def check_scale(self) -> None:
        """Check that no grade is above the scale."""
        if self.scale is None or self.judgments.highest <= self.scale:
            return
        (rows,) = (self.judgments.grades > self.scale).nonzero()
        _, doc_id, grade = next(self.judgments.rows_at(rows[:1]))
        raise GoldenSetError(
            f"{self.shown_place(int(rows[0]))}: document '{quoted(doc_id)}' has the grade "
            f"{grade:g}, above the scale {self.scale:g}; correct the grade, or raise the scale"
        )

    def add_expectation(self, expectation: Expectation, where: Place) -> None:
        """Add an expectation on a known query. Repeating the same one has no effect.

        Some ranking must meet it together with those before it.
        """
        from pytest_rankcheck.golden.expectation import Expectation  # rarely needed
        from pytest_rankcheck.golden.expectation_conflicts import conflict_in

        if not isinstance(expectation, Expectation):
            raise GoldenSetError(
                f"{self.places.shown(where)}: {quoted(repr(expectation), 60)} is not an "
                'Expectation, such as Expectation.in_top(3, "d1", query="q1")'
            )
        query_id = expectation.query
        if query_id not in self.collected:
            raise GoldenSetError(
                f"{self.places.shown(where)}: {expectation} is expected of the unknown query "
                f"'{quoted(query_id)}'{suggestion(query_id, self.grades)}"
            )
        expectations = self.expectations.setdefault(query_id, [])
        if expectation in expectations:
            return
        conflict = conflict_in([*expectations, expectation])
        if conflict:
            raise GoldenSetError(
                f"{self.places.shown(where)}: query '{quoted(query_id)}': {conflict}; keep one of "
                "them"
            )
        expectations.append(expectation)

    def complete_queries(self) -> Mapping[str, Query]:
        """Return a query for every judged id, in the order of the judgments."""
        return {query_id: self.queries.get(query_id) or Query(query_id) for query_id in self.grades}

    @property
    def stored_scale(self) -> float | None:
        """The scale if a file must hold it, because no judgment has that grade; else None."""
        return None if self.scale in (None, self.judgments.highest) else self.scale

    def stored_queries(self) -> Mapping[str, Query]:
        """Return `complete_queries` for a file: each also has the scale, if it must be stored."""
        scale, queries = self.stored_scale, self.complete_queries()
        if scale is None:
            return queries
        return {
            query.id: replace(query, attributes={**query.attributes, SCALE: scale})
            for query in queries.values()
        }


def _are_ordinary(grades: Mapping[str, object]) -> bool:
    """Whether all documents are texts, and all grades finite numbers of Python."""
    if "" in grades or not set(map(type, grades)) <= {str}:
        return False
    try:
        kinds = set(map(type, grades.values()))
        return kinds <= {int, float} and all(map(isfinite, grades.values()))  # type: ignore[arg-type]
    except OverflowError:
        return False
