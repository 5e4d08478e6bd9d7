"""The queries of a golden set, the grades of their documents, their slices and candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import GoldenSetError, plural, quoted, suggestion, unknown_id
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.query import Query, slices_of

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.golden.expectation import Expectation
    from pytest_rankcheck.golden.judgments import Judgments

__all__ = ["JudgedQueries"]

T = TypeVar("T")


class JudgedQueries:
    """Queries and the grades of their judged documents. It does not change after it is made."""

    kind = "golden set"
    """What messages call it."""

    def __init__(self, contents: Contents, name: str = "golden set") -> None:
        if not contents.grades:
            called = f"golden set '{quoted(name)}'" if name != "golden set" else "the golden set"
            raise GoldenSetError(f"{called} has no queries; add judged queries")
        contents.check_scale()
        self.name = name
        self._contents = contents
        self._slices: dict[str, Mapping[str, Sequence[str]]] = {}

    @cached_property
    def _queries(self) -> Mapping[str, Query]:
        return self._contents.complete_queries()

    @cached_property
    def query_ids(self) -> Sequence[str]:
        """The ids of all queries, in the set's own order."""
        return tuple(self._contents.grades)

    def query(self, query_id: str) -> Query:
        """Return the query with this id.

        Raises:
            UnknownIdError: the set has no such query; a KeyError.
        """
        return self._found(self._queries, query_id)

    def grades(self, query_id: str) -> Mapping[str, float]:
        """Return the grade of each judged document of a query.

        Raises:
            UnknownIdError: the set has no such query; a KeyError.
        """
        return self._found(self._contents.grades, query_id)

    def _found(self, by_id: Mapping[str, T], query_id: str) -> T:
        if query_id in by_id:
            return by_id[query_id]
        raise unknown_id(f"{self.kind} '{quoted(self.name)}'", "query", query_id, by_id)

    @property
    def columns(self) -> Judgments:
        """All judgments in columns."""
        return self._contents.judgments

    @property
    def expectations(self) -> Sequence[Expectation]:
        """The expectations of single queries, in the set's own order."""
        by_query = self._contents.expectations
        return tuple(
            expectation for query_id in self._queries for expectation in by_query.get(query_id, ())
        )

    def place(self, query_id: str) -> str:
        """Return where a query is defined, as ``file:line``; empty if that is unknown."""
        place = self._contents.query_place(query_id)
        return "" if place == f"query '{quoted(query_id)}'" else place

    def __len__(self) -> int:
        return len(self._contents.grades)

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries.values())

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._contents.grades

    @cached_property
    def judgment_count(self) -> int:
        """The number of judgments."""
        return len(self.columns)

    @property
    def has_merged_ids(self) -> bool:
        """Whether ``doc_id=`` maps the judged documents to less than half as many ids."""
        before, after = self._contents.merged_ids or (0, 0)
        return 2 * after < before

    @cached_property
    def max_grade(self) -> float:
        """The highest grade that occurs in the set; 0 without judgments."""
        return self._contents.judgments.highest

    @cached_property
    def scale(self) -> float:
        """The highest grade that a document could get; by default, the highest one that occurs.

        ERR, nERR and graded RBP divide by it. Subsets and samples keep the scale of the whole.
        """
        return self.max_grade if self._contents.scale is None else self._contents.scale

    @cached_property
    def positive_grades(self) -> frozenset[float]:
        """The grades above 0 that occur."""
        return frozenset(grade for grade in self.columns.distinct_grades if grade > 0)

    @cached_property
    def attributes(self) -> Sequence[str]:
        """The attributes of the queries, in order of appearance."""
        return self._contents.attributes

    @checked_arguments
    def slices(self, attribute: str) -> Mapping[str, Sequence[str]]:
        """Return the ids of the queries that have each value of an attribute.

        A query whose attribute is a list belongs to the slice of each item; one without the
        attribute to the slice ``(none)``. Values are shown as text.

        Raises:
            GoldenSetError: no query has this attribute.
        """
        self.check_no_feature(attribute)
        if attribute not in self.attributes:
            names = ", ".join(map(quoted, self.attributes)) or "none"
            raise GoldenSetError(
                f"{self.kind} '{quoted(self.name)}' has no attribute '{quoted(attribute)}'"
                f"{suggestion(attribute, self.attributes)}; its attributes: {names}"
            )
        if attribute not in self._slices:
            self._slices[attribute] = slices_of(self, attribute)
        return self._slices[attribute]

    def check_no_feature(self, attribute: str) -> None:
        """Check that a name that should be an attribute is not a column of the candidates."""
        if attribute in self._contents.candidates.columns and attribute not in self.attributes:
            raise GoldenSetError(
                f"{self.kind} '{quoted(self.name)}' has no attribute '{quoted(attribute)}': it is "
                "a column of the candidates, because it varies within a query or has numbers like "
                "other columns of the candidates. Correct the column, or name it in attributes= "
                "(rankcheck_attributes)"
            )

    @cached_property
    def queries(self) -> pd.DataFrame:
        """One row per query: ``query_id``, ``query`` and the attributes."""
        from pytest_rankcheck.golden.golden_frames import queries_frame

        return queries_frame(self._queries.values(), self.attributes)

    @cached_property
    def judgments(self) -> pd.DataFrame:
        """One row per judgment: ``query_id``, ``doc_id``, ``relevance``."""
        from pytest_rankcheck.golden.golden_frames import judgments_frame

        return judgments_frame(self.columns)

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """One row per document to rerank: ``query_id``, ``doc_id`` and columns such as features.

        If the set has no candidates, its judged documents are the candidates.
        """
        return self.candidates_frame(self.query_ids)

    def candidates_frame(self, query_ids: Sequence[str]) -> pd.DataFrame:
        """Return the candidates of some queries, as in `candidates`."""
        from pytest_rankcheck.golden.golden_frames import candidates_frame, judgments_frame

        if self.has_candidates:
            return candidates_frame(self._contents.candidates, query_ids)
        return judgments_frame(self.columns.arranged(query_ids))[["query_id", "doc_id"]]

    @property
    def has_numbered_features(self) -> bool:
        """Whether features have numbers, and those that a line leaves out are 0 (LETOR)."""
        return self._contents.candidates.is_sparse

    @property
    def first_feature(self) -> int | None:
        """The number from which features are counted, 0 or 1; None if the file does not say."""
        return self._contents.candidates.first_feature

    @property
    def has_candidates(self) -> bool:
        """Whether the set defines which documents a reranker gets."""
        return bool(self._contents.candidates)

    def candidates_of(self, query_id: str) -> Sequence[str]:
        """Return the documents to rerank for a query: its candidates, or the judged ones.

        Raises:
            UnknownIdError: the set has no candidates, and no such query.
        """
        if self.has_candidates:
            return list(self._contents.candidates.rows(query_id))
        return tuple(self.grades(query_id))

    def title(self, doc_id: str) -> str | None:
        """Return the title of a document, or None if it is unknown."""
        return self._contents.titles.get(doc_id)

    @checked_arguments
    def ceiling(self, k: int = 10) -> float:
        """Return the mean nDCG at ``k`` that a perfect ranker reaches on this set, in [0, 1].

        It is below 1 if queries have no relevant document, or if queries with the same text have
        different judgments: a ranker that sees only the text cannot serve both.

        Args:
            k: the cutoff of nDCG.
        """
        from pytest_rankcheck.golden.text_ceiling import ceiling_of

        ceilings = ceiling_of(self._queries, self._contents.grades, self._contents.candidates, k)
        return sum(ceilings.values()) / len(ceilings)

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'query', 'queries')}, {plural(self.judgment_count, 'judgment')}"
        return f"GoldenSet({self.name!r}, {size})"
