"""The builder of a golden set: what formats and constructors add, checked piece by piece.

Dicts become whole columns at once, or are added one by one where something is unusual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.plain_values import checked_number, flat, is_missing, plain_value
from pytest_rankcheck.golden.collected_judgments import CollectedJudgments
from pytest_rankcheck.golden.expectation import Expectation, add_expectation
from pytest_rankcheck.golden.expected_text import BOTH, Passage, unit_of
from pytest_rankcheck.golden.golden_contents import SCALE, Contents
from pytest_rankcheck.golden.golden_source import Place, Places, Source, checked_id, kind_of
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates

if TYPE_CHECKING:
    from pathlib import Path


class ContentsBuilder:
    """Collects the queries and judgments of a golden set, in the order in which they are added.

    Invalid ids and grades, contradictions and other faults raise a GoldenSetError that names the
    place given by the caller: a line of the file, or words.
    """

    def __init__(self, source: Source | None = None) -> None:
        self.source = source or Source()
        self.reader = self.source.reader(has_grades=True)
        self.places = Places(str(self.source.path or "judgments"))
        self.queries: dict[str, Query] = {}
        self.columns_of_queries: Mapping[str, str] = {}
        """The columns of the source that a table of queries has."""
        self.collected = CollectedJudgments(self.source.contradictions, self.places)
        self.by_subtopic = CollectedJudgments(self.source.contradictions, self.places)
        """The judgments of each ``query<tab>subtopic``."""
        self.by_text: set[str] = set()
        self.titles: dict[str, str] = {}
        self.candidates = Candidates()
        self.expectations: dict[str, list[Expectation]] = {}
        self.corpus: Path | None = None
        self.scale: float | None = None
        if self.source.scale is not None:
            self.set_scale(self.source.scale, "scale=")

    def built(self, **others: Any) -> Contents:
        """Return the contents; an error if two judgments contradict each other (see the source).

        Args:
            others: further fields of the contents.
        """
        subtopics = self.by_subtopic.judgments
        keys = [*compress(subtopics.query_ids, np.diff(subtopics.starts))]
        has_several = len(keys) > len({key.rpartition("\t")[0] for key in keys})
        return Contents(
            judgments=self.collected.judgments,
            by_subtopic=subtopics if has_several else None,
            queries=self.queries,
            source=self.source,
            places=self.places,
            has_grade_map=self.reader.has_map,
            repeats=() if has_several else self.collected.repeats,
            by_text=frozenset(self.by_text),
            titles=self.titles,
            candidates=self.candidates,
            expectations=self.expectations,
            scale=self.scale,
            corpus=self.corpus,
            **others,
        )

    def add_query(self, query: Query, where: Place) -> None:
        """Add a query, which must be new; its judgments may have been added before."""
        if query.attributes:
            query = replace(query, attributes=self._attributes(query, where))
        if query.id in self.queries:
            raise GoldenSetError(
                f"{self.places.shown(where)}: duplicate query '{quoted(query.id)}'; keep "
                "one line of it, with all its judgments, or give the second another id"
            )
        self.queries[query.id] = query
        self.collected.add_query(query.id)
        self.places.of_queries[query.id] = where

    def _attributes(self, query: Query, where: Place) -> dict[str, object]:
        """Return the attributes of a query as plain values; the scale is set and left out."""
        given, wanted = flat(query.attributes), self.source.attributes
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
        return {name: value for name, value in attributes.items() if value is not None}

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

        Repeating the same judgment has no effect. One that contradicts another is found when the
        collected judgments are asked for.
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

    def add_expected(self, query_id: str, value: object, where: Place, judged: object = ()) -> None:
        """Add the expected text of a query, or a list of them; it must not be judged otherwise."""
        texts: Any = value if isinstance(value, (list, tuple)) and value else [value]
        wrong = [text for text in texts if not isinstance(text, str) or not text.strip()]
        if judged or wrong:
            problem = BOTH if judged else f"the expected text is {kind_of(wrong[0])}; give a text"
            raise GoldenSetError(f"{self.places.shown(where)}: {problem}")
        units = {Passage(text).text: unit_of(text) for text in texts}  # equal texts count once
        self.collected.add_all(query_id, dict.fromkeys(units.values(), 1))
        self.by_text.add(query_id)

    def grade(self, value: object, doc_id: str, where: Place) -> float:
        """Return the grade for a value: a finite number, or a code of the grade map."""
        grade = self.reader.grade(value)
        if grade is None:
            raise GoldenSetError(
                f"{self.places.shown(where)}: the grade of document '{quoted(doc_id)}' is "
                f"{kind_of(value)}, {self.reader.refusal()}"
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
            raise GoldenSetError(
                f"{shown}: the scale is {scale:g}, but before it was {self.scale:g}, in the file "
                "or as scale= (rankcheck_scale); a golden set has one scale"
            )
        self.scale = scale

    def add_expectation(self, expectation: Expectation, where: Place) -> None:
        """Add an expectation on a known query. Repeating the same one has no effect."""
        shown = self.places.shown(where)
        add_expectation(self.expectations, expectation, self.collected.query_ids, shown)


def _are_ordinary(grades: Mapping[str, object]) -> bool:
    """Whether all documents are texts, and all grades finite numbers of Python."""
    if "" in grades or not set(map(type, grades)) <= {str}:
        return False
    try:
        kinds = set(map(type, grades.values()))
        return kinds <= {int, float} and all(map(isfinite, grades.values()))  # type: ignore[arg-type]
    except OverflowError:
        return False


def contents_from_dict(
    judgments: Mapping[str, Mapping[str, float] | Sequence[str]],
    texts: Mapping[str, str],
    attributes: Mapping[str, Mapping[str, object]],
    source: Source,
) -> Contents:
    """Return the contents of a golden set from ``{query_id: {doc_id: grade}}``, or from texts."""
    builder = ContentsBuilder(source)
    builder.places.are_ids = True
    columns = _columns_of(judgments)
    if columns is not None:
        builder.collected.take(columns)
    given = dict(attributes)
    is_bare = columns is not None and not texts and not attributes
    for query_id in () if is_bare else {**judgments, **texts}:
        of_query = _mapping(given.pop(query_id, {}), "attributes", query_id)
        where = f"query '{quoted(query_id)}'"
        key = checked_id(query_id, "the query id", where)
        builder.add_query(Query(key, _text(texts.get(query_id), query_id), of_query), where)
        judged = judgments.get(query_id, {}) if columns is None else {}
        if isinstance(judged, (str, list, tuple)):
            builder.add_expected(key, judged, where)
        else:
            builder.add_judgments(key, _mapping(judged, "judgments", query_id), where)
    if given:
        raise GoldenSetError(f"attributes for unknown queries: {listed(list(given))}")
    return builder.built()


def _text(value: object, query_id: object) -> str | None:
    """Return the text of a query; None if it is missing, an error if it is something else."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    raise GoldenSetError(
        f"query '{quoted(query_id)}': its text is {quoted(repr(value), 60)} "
        f"({type(value).__name__}), not a str"
    )


def _mapping(value: object, what: str, query_id: object) -> dict[Any, Any]:
    """Return a dict that is given for a query; an error if it is something else."""
    if isinstance(value, Mapping):
        return dict(value)
    raise GoldenSetError(
        f"query '{quoted(query_id)}': its {what} are {quoted(repr(value), 60)}, not a dict"
    )


def _columns_of(judgments: Mapping[str, Any]) -> Judgments | None:
    """Return dicts as columns; None if an id is not a text, or a grade not a finite number."""
    judged = judgments.values()
    if not set(map(type, judged)) <= {dict}:
        return None
    if any("" in ids for ids in (judgments, *judged)):
        return None
    doc_ids = chain.from_iterable(judged)
    if not {*map(type, judgments), *map(type, doc_ids)} <= {str}:
        return None
    kinds = set(map(type, chain.from_iterable(each.values() for each in judged)))
    if not all(issubclass(kind, Real) for kind in kinds):
        return None
    try:
        columns = Judgments.of_dicts(judgments)
    except OverflowError:
        return None
    if not np.isfinite(columns.grades).all():
        return None
    if kinds == {int}:  # as the view shows whole grades
        columns.remember(judgments)
    return columns
