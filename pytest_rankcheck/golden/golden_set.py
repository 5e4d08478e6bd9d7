"""The golden set: queries, and judgments of the documents that answer them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import GoldenSetError, listed, plural, quoted, suggestion
from pytest_rankcheck.files.formats import Formats
from pytest_rankcheck.files.packed import shown_name, unpacked_suffix
from pytest_rankcheck.golden import formats
from pytest_rankcheck.golden.content import Contents, checked_id
from pytest_rankcheck.golden.fingerprint import fingerprint_of, query_fingerprint
from pytest_rankcheck.golden.lint import Finding, lint
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.selection import merged, restricted, sampled_ids
from pytest_rankcheck.golden.source import (
    Contradictions,
    GradeMap,
    Source,
    checked_contradictions,
)

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
        self._contents = contents
        self._grades: Mapping[str, Mapping[str, float]] = contents.grades
        self._queries = contents.complete_queries()

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        name: str | None = None,
        grades: Mapping[Any, float] | None = None,
        columns: Mapping[str, str] | None = None,
        split: str | None = None,
        contradictions: Contradictions = "error",
    ) -> GoldenSet:
        """Read a golden set from a file or a folder; a file may be packed with gzip or Zstandard.

        Args:
            path: the file. A file of TREC qrels takes the texts and attributes of its queries
                from the file of the same name with the ending ``.queries.tsv``, if there is one.
            format: ``"jsonl"``, ``"trec"``, ``"csv"``, ``"tsv"``, ``"parquet"``, ``"beir"``,
                ``"quepid"``, ``"rre"``, ``"elasticsearch"``, ``"opensearch"`` or ``"letor"``;
                without it, the content decides.
            name: what messages and records call the set; without it, the file's name up to the
                first dot.
            grades: what the codes of the file mean, ``{1: 4, 2: 3, "irrelevant": 0}``; then a code
                that is not in it is an error.
            columns: which columns of a table are ``query_id``, ``query``, ``doc_id``,
                ``relevance`` and ``title``, where they have other names than usual.
            split: which of several sets of judgments, in a BEIR folder.
            contradictions: what counts of two grades for one document: ``"first"``, ``"last"``,
                ``"highest"``, or that is an ``"error"``.

        Raises:
            GoldenSetError: the file is absent, empty, in an unknown format, or has a line that
                is malformed or contradicts another; the message names the file and the line.
        """
        file = Path(path)
        source = Source(
            file,
            GradeMap(grades) if grades is not None else None,
            dict(columns or {}),
            split,
            checked_contradictions(contradictions),
        )
        chosen = GOLDEN_FORMATS.named(format) if format else GOLDEN_FORMATS.detected(file)
        contents = chosen.read(source)
        if not contents.grades:
            raise GoldenSetError(f"{file} is empty; a golden set has at least one judged query")
        return cls(contents, name or shown_name(file))

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
                contents.add_judgment(key, doc_id, grade, where)
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
        grades: Mapping[Any, float] | None = None,
        columns: Mapping[str, str] | None = None,
        contradictions: Contradictions = "error",
    ) -> GoldenSet:
        """Make a golden set from DataFrames.

        Args:
            judgments: columns ``query_id``, ``doc_id``, ``relevance``, or other usual names; one
                row a judgment. Of further columns those that are the same for all rows of a query
                are its attributes, the others belong to the candidates.
            queries: columns ``query_id`` and ``query``; further columns are attributes.
            name: what messages and records call the set.
            grades: as in `load`, and so are ``columns`` and ``contradictions``.
            columns: which columns of ``judgments`` are which.
            contradictions: what counts of two grades for one document.

        Raises:
            GoldenSetError: a column is missing, or a row has no id, no number for a grade, or
                contradicts another; the message names the row.
        """
        from pytest_rankcheck.golden.frames import contents_from_frames

        source = Source(
            None,
            GradeMap(grades) if grades is not None else None,
            dict(columns or {}),
            contradictions=checked_contradictions(contradictions),
        )
        return cls(contents_from_frames(judgments, queries, source), name)

    @classmethod
    def from_ir_datasets(
        cls, dataset: Any, *, name: str | None = None, grades: Mapping[Any, float] | None = None
    ) -> GoldenSet:
        """Make a golden set of the judged queries of a dataset of ir_datasets.

        Args:
            dataset: its name, such as ``"beir/scifact/test"``, which ir_datasets may download; or
                a dataset that it loaded.
            name: what messages and records call the set; without it, the dataset's name.
            grades: what the relevance codes mean, as in `load`.

        Raises:
            GoldenSetError: ir_datasets is not installed or does not know the name, or the dataset
                has no judgments.
        """
        from pytest_rankcheck.golden.datasets import contents_of_dataset, loaded

        called = dataset if isinstance(dataset, str) else "dataset"
        source = Source(None, GradeMap(grades) if grades is not None else None)
        found = loaded(dataset) if isinstance(dataset, str) else dataset
        return cls(contents_of_dataset(found, called, source), name or called)

    def save(self, path: str | PathLike[str], format: str | None = None) -> None:
        """Write the golden set to a file, whole or not at all.

        Args:
            path: the file; packed if its name ends with ``.gz`` or ``.zst``. TREC qrels hold no
                texts and attributes: these go to a second file with the ending ``.queries.tsv``.
            format: ``"jsonl"``, ``"trec"``, ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"beir"`` (a
                folder); without it, the name decides: ``.qrels`` and ``.txt`` are TREC, and what
                has no known ending is JSON lines.

        Raises:
            GoldenSetError: the format cannot hold this set, such as TREC an id with a space.
        """
        file = Path(path)
        chosen = GOLDEN_FORMATS.to_write(format, unpacked_suffix(file), "jsonl")
        assert chosen.write is not None
        chosen.write(self._contents, file)

    def subset(
        self, query_ids: Iterable[str] | None = None, *, name: str | None = None, **attributes: Any
    ) -> GoldenSet:
        """Return the part of the set with these queries, and with these attributes.

        Args:
            query_ids: the queries; without them, all.
            name: what messages and records call the part; without it, as the whole.
            attributes: the values that attributes have, ``locale="de"``, as slices show them.

        Raises:
            GoldenSetError: a query or an attribute is not there, or no query is left.
        """
        chosen = set(self.query_ids if query_ids is None else query_ids)
        unknown = sorted(chosen.difference(self._queries))
        if unknown:
            raise GoldenSetError(
                f"golden set '{quoted(self.name)}' has no query {listed(unknown)}"
                f"{suggestion(unknown[0], self._queries)}"
            )
        for attribute, value in attributes.items():
            chosen &= set(self.slices(attribute).get(_label(value), ()))
        if not chosen:
            asked = ", ".join(f"{key}={quoted(value)}" for key, value in attributes.items())
            raise GoldenSetError(
                f"golden set '{quoted(self.name)}' has no query with {asked or 'no id'}"
            )
        return GoldenSet(restricted(self._contents, chosen), name or self.name)

    def sample(self, count: int, seed: int = 0, *, name: str | None = None) -> GoldenSet:
        """Return ``count`` queries of the set, drawn at random; the same for the same ``seed``.

        The draw does not depend on the order of the queries or the version of anything.

        Raises:
            GoldenSetError: there are not so many queries, or ``count`` is less than 1.
        """
        if not 1 <= count <= len(self):
            raise GoldenSetError(
                f"a sample of {count:,} queries cannot be drawn from the {len(self):,} of golden "
                f"set '{quoted(self.name)}'"
            )
        chosen = sampled_ids(self.query_ids, count, seed)
        return GoldenSet(restricted(self._contents, set(chosen)), name or self.name)

    def merge(
        self, *others: GoldenSet, contradictions: Contradictions = "error", name: str | None = None
    ) -> GoldenSet:
        """Return this set and others as one; a query of several has the judgments of all.

        Args:
            others: the other sets.
            contradictions: what counts where two of them judge a document differently.
            name: what messages and records call the whole; without it, as this one.

        Raises:
            GoldenSetError: a query has two texts, or a document two grades.
        """
        parts = [golden._contents for golden in (self, *others)]
        return GoldenSet(merged(parts, checked_contradictions(contradictions)), name or self.name)

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
        candidates = self._contents.candidates
        return {
            query.id: query_fingerprint(query, self._grades[query.id], candidates) for query in self
        }

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of all queries and judgments.

        It follows the content alone: the order of lines, the file format and the set's name do
        not matter, and neither do attributes and titles, which slice and describe a measurement
        but do not change it. Candidates, which a reranker sees, do.
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

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """A row a document to rerank: ``query_id``, ``doc_id`` and columns such as features.

        Without candidates of its own, the set's judged documents are the candidates.
        """
        from pytest_rankcheck.golden.frames import candidates_frame, judgments_frame

        if self.has_candidates:
            return candidates_frame(self._contents.candidates, self.query_ids)
        return judgments_frame(self._grades)[["query_id", "doc_id"]]

    @property
    def has_candidates(self) -> bool:
        """Whether the set says which documents a reranker is given."""
        return bool(self._contents.candidates)

    def candidates_of(self, query_id: str) -> Sequence[str]:
        """Return the documents to rerank for a query: its candidates, else the judged ones."""
        if self.has_candidates:
            return self._contents.candidates.of(query_id)
        return tuple(self._grades[query_id])

    def title(self, doc_id: str) -> str | None:
        """Return the title of a document, where the set has one."""
        return self._contents.titles.get(doc_id)

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
