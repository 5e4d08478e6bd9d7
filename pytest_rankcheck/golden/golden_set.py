"""The golden set: queries, and judgments of the documents that answer them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, listed, plural, quoted, suggestion
from pytest_rankcheck.files import Formats
from pytest_rankcheck.golden import formats
from pytest_rankcheck.golden.content import (
    Contents,
    checked_grade,
    checked_id,
    fingerprint_of,
    query_fingerprint,
)
from pytest_rankcheck.golden.lint import Finding, lint
from pytest_rankcheck.golden.query import Query

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GoldenSet"]

GOLDEN_FORMATS: Formats[Contents] = Formats(formats, "golden sets", GoldenSetError)


class GoldenSet:
    """Judged queries to measure a ranker on.

    Build one with `load`, `from_dict` or `from_frames`. It does not change afterwards.
    """

    def __init__(self, contents: Contents, name: str = "golden set") -> None:
        if not contents.grades:
            raise GoldenSetError(
                f"golden set '{quoted(name)}' has no query; add judged queries to it"
            )
        self.name = name
        self._grades: Mapping[str, Mapping[str, float]] = contents.grades
        self._queries = {
            query_id: contents.queries.get(query_id) or Query(query_id)
            for query_id in contents.grades
        }

    @classmethod
    def load(
        cls, path: str | PathLike[str], format: str | None = None, *, name: str | None = None
    ) -> GoldenSet:
        """Read a golden set from a file.

        Args:
            path: the file. A file of TREC qrels takes the texts and attributes of its queries
                from the file of the same name with the ending ``.queries.tsv``, if there is one.
            format: ``"jsonl"`` or ``"trec"``; without it, the content decides.
            name: what messages and records call the set; without it, the file's name up to the
                first dot.

        Raises:
            GoldenSetError: the file is absent, empty, in an unknown format, or has a line that
                is malformed or contradicts another; the message names the file and the line.
        """
        file = Path(path)
        chosen = GOLDEN_FORMATS.named(format) if format else GOLDEN_FORMATS.detected(file)
        contents = chosen.read(file)
        if not contents.grades:
            raise GoldenSetError(f"{file} is empty; a golden set has at least one judged query")
        return cls(contents, name or file.name.partition(".")[0] or file.name)

    @classmethod
    def from_dict(
        cls,
        judgments: Mapping[str, Mapping[str, float]],
        queries: Mapping[str, str] | None = None,
        *,
        attributes: Mapping[str, Mapping[str, object]] | None = None,
        name: str = "golden set",
    ) -> GoldenSet:
        """Make a golden set from ``{query_id: {doc_id: grade}}``.

        Args:
            judgments: the grade of each judged document of each query.
            queries: the text of each query; queries that only stand here have no judgments.
            attributes: ``{query_id: {attribute: value}}``, to slice by.
            name: what messages and records call the set.

        Raises:
            GoldenSetError: no query, an id or a grade that is none, or attributes of a query
                that is not there.
        """
        contents, texts = Contents(), dict(queries or {})
        given = dict(attributes or {})
        for query_id in {**judgments, **texts}:
            where = f"query '{quoted(query_id)}'"
            key = checked_id(query_id, "the query id", where)
            contents.add_query(
                Query(key, texts.get(query_id), dict(given.pop(query_id, {}))), where
            )
            for doc_id, grade in judgments.get(query_id, {}).items():
                doc = checked_id(doc_id, "a document id", where)
                contents.add_judgment(key, doc, checked_grade(grade, doc, where), where)
        if given:
            raise GoldenSetError(f"attributes of queries that are not there: {listed(list(given))}")
        return cls(contents, name)

    @classmethod
    def from_frames(
        cls,
        judgments: pd.DataFrame,
        queries: pd.DataFrame | None = None,
        *,
        name: str = "golden set",
    ) -> GoldenSet:
        """Make a golden set from DataFrames.

        Args:
            judgments: columns ``query_id``, ``doc_id``, ``relevance``; one row a judgment.
            queries: columns ``query_id`` and ``query``; further columns are attributes.
            name: what messages and records call the set.

        Raises:
            GoldenSetError: a column is missing, or a row has no id, no number for a grade, or
                contradicts another; the message names the row.
        """
        from pytest_rankcheck.golden.frames import contents_from_frames

        return cls(contents_from_frames(judgments, queries), name)

    def save(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write the golden set to a file, whole or not at all.

        Args:
            path: the file. TREC qrels hold no texts and attributes: these go to a second file
                with the ending ``.queries.tsv``.
            format: ``"jsonl"`` or ``"trec"``; without it, TREC if the file's name ends with
                ``.qrels`` or ``.txt``, else JSON lines.

        Raises:
            GoldenSetError: the format cannot hold this set, such as TREC an id with a space.
        """
        file = Path(path)
        chosen = format or ("trec" if file.suffix in {".qrels", ".txt"} else "jsonl")
        write = GOLDEN_FORMATS.named(chosen).write
        if write is None:
            raise GoldenSetError(f"golden sets cannot be written as '{quoted(chosen)}'")
        contents = Contents()
        contents.queries = dict(self._queries)
        contents.grades = {query_id: dict(grades) for query_id, grades in self._grades.items()}
        write(contents, file)

    @property
    def query_ids(self) -> Sequence[str]:
        """The ids of all queries, in the set's own order."""
        return tuple(self._queries)

    def query(self, query_id: str) -> Query:
        """Return the query with this id (KeyError if there is none)."""
        return self._queries[query_id]

    def grades(self, query_id: str) -> Mapping[str, float]:
        """Return the grade of each judged document of a query (KeyError if there is none)."""
        return self._grades[query_id]

    def __len__(self) -> int:
        return len(self._queries)

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries.values())

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._queries

    @cached_property
    def judgment_count(self) -> int:
        """How many judgments the set has."""
        return sum(map(len, self._grades.values()))

    @cached_property
    def max_grade(self) -> float:
        """The highest grade of the set; 0 if nothing is judged."""
        return max((max(grades.values()) for grades in self._grades.values() if grades), default=0)

    @cached_property
    def positive_grades(self) -> frozenset[float]:
        """The grades above 0 that occur."""
        return frozenset(
            grade for grades in self._grades.values() for grade in grades.values() if grade > 0
        )

    @cached_property
    def attributes(self) -> Sequence[str]:
        """The attributes that queries of this set have, in order of appearance."""
        return tuple({name: None for query in self for name in query.attributes})

    def slices(self, attribute: str) -> Mapping[str, Sequence[str]]:
        """Return the ids of the queries that have each value of an attribute.

        A query whose attribute is a list belongs to the slice of each item; one without the
        attribute to the slice ``(none)``. Values are shown as text.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        if attribute not in self.attributes:
            known = ", ".join(map(quoted, self.attributes)) or "none"
            raise GoldenSetError(
                f"golden set '{quoted(self.name)}' has no attribute '{quoted(attribute)}'"
                f"{suggestion(attribute, self.attributes)}; its attributes: {known}"
            )
        found: dict[str, list[str]] = {}
        for query in self:
            value = query.attributes.get(attribute)
            items = value if isinstance(value, (list, tuple)) else [value]
            for label in dict.fromkeys(_label(item) for item in items):
                found.setdefault(label, []).append(query.id)
        return dict(sorted(found.items()))

    @cached_property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments, by query id."""
        return {query.id: query_fingerprint(query, self._grades[query.id]) for query in self}

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of all queries and judgments.

        It follows the content alone: the order of lines, the file format and the set's name do
        not matter, and neither do attributes, which slice a measurement but do not change it.
        """
        return fingerprint_of(self.query_fingerprints.values())

    @cached_property
    def queries(self) -> pd.DataFrame:
        """A row a query: ``query_id``, ``query`` and the attributes."""
        from pytest_rankcheck.golden.frames import queries_frame

        return queries_frame(self._queries.values(), self.attributes)

    @cached_property
    def judgments(self) -> pd.DataFrame:
        """A row a judgment: ``query_id``, ``doc_id``, ``relevance``."""
        from pytest_rankcheck.golden.frames import judgments_frame

        return judgments_frame(self._grades)

    def lint(self) -> list[Finding]:
        """Return what a gate on this set would stumble over: queries that cannot score."""
        return lint(self._queries.values(), self._grades)

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'query', 'queries')}, {plural(self.judgment_count, 'judgment')}"
        return f"GoldenSet({self.name!r}, {size})"


def _label(value: object) -> str:
    if value is None:
        return "(none)"
    return str(value).lower() if isinstance(value, bool) else str(value)
