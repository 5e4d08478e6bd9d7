"""The queries of a golden set: grades, slices, candidates, weights, units and fingerprints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import GoldenSetError, plural, quoted, suggestion, unknown_id
from pytest_rankcheck.golden.query import (
    REPLAY,
    Query,
    clusters_of,
    slices_of,
    weights_of,
)

if TYPE_CHECKING:
    import pandas as pd

    from pytest_rankcheck.golden.documents import Documents
    from pytest_rankcheck.golden.expectation import Expectation
    from pytest_rankcheck.golden.golden_contents import Contents
    from pytest_rankcheck.golden.judgments import Judgments
    from pytest_rankcheck.golden.log_replay import Replay


T = TypeVar("T")


class JudgedQueries:
    """Queries, the grades of their judged documents, their weights and their independent units.

    It does not change after it is made.
    """

    kind = "golden set"
    """What messages call it."""

    def __init__(self, contents: Contents, name: str = "golden set") -> None:
        if not contents.grades:
            called = f"golden set '{quoted(name)}'" if name != "golden set" else "the golden set"
            raise GoldenSetError(f"{called} has no queries; add judged queries")
        contents.check_scale()
        self.name = name
        self.contents = contents
        """Its contents, including those that only one feature needs: candidates, subtopics,
        users."""
        self.doc_id = contents.doc_id
        """How the ids of its documents were mapped, for ``doc_id=`` of a run; None if they were
        not. It includes the column of ``"attribute:source"``."""
        self.by_text = contents.by_text
        """The queries whose judged documents are expected texts."""
        self._slices: dict[str, Mapping[str, Sequence[str]]] = {}

    @cached_property
    def _queries(self) -> Mapping[str, Query]:
        return self.contents.complete_queries()

    @cached_property
    def query_ids(self) -> Sequence[str]:
        """The ids of all queries, in the set's own order."""
        return tuple(self.contents.grades)

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
        return self._found(self.contents.grades, query_id)

    def _found(self, by_id: Mapping[str, T], query_id: str) -> T:
        if query_id in by_id:
            return by_id[query_id]
        raise unknown_id(f"{self.kind} '{quoted(self.name)}'", "query", query_id, by_id)

    @property
    def columns(self) -> Judgments:
        """All judgments in columns."""
        return self.contents.judgments

    @property
    def expectations(self) -> Sequence[Expectation]:
        """The expectations of single queries, in the set's own order."""
        by_query = self.contents.expectations
        return tuple(chain.from_iterable(by_query.get(each, ()) for each in self._queries))

    def place(self, query_id: str) -> str:
        """Return where a query is defined, as ``file:line``; empty if that is unknown."""
        place = self.contents.query_place(query_id)
        return "" if place == f"query '{quoted(query_id)}'" else place

    def __len__(self) -> int:
        return len(self.contents.grades)

    def __iter__(self) -> Iterator[Query]:
        return iter(self._queries.values())

    def __contains__(self, query_id: object) -> bool:
        return query_id in self.contents.grades

    @cached_property
    def judgment_count(self) -> int:
        """The number of judgments."""
        return len(self.columns)

    @cached_property
    def max_grade(self) -> float:
        """The highest grade that occurs in the set; 0 without judgments."""
        return self.contents.judgments.highest

    @cached_property
    def scale(self) -> float:
        """The highest grade that a document could get; by default, the highest one that occurs.

        ERR, nERR and graded RBP divide by it. Subsets and samples keep the scale of the whole.
        """
        if self.contents.scale is None:
            return self.max_grade
        return self.contents.scale

    @cached_property
    def attributes(self) -> Sequence[str]:
        """The attributes of the queries, in order of appearance."""
        return self.contents.attributes

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
        if attribute in self.contents.candidates.columns and attribute not in self.attributes:
            raise GoldenSetError(
                f"{self.kind} '{quoted(self.name)}' has no attribute '{quoted(attribute)}': it is "
                "a column of the candidates, because it varies within a query or is a number, as "
                "features are. Correct the column, or name it and all other attributes in "
                "attributes= (rankcheck_attributes)"
            )

    @cached_property
    def queries(self) -> pd.DataFrame:
        """One row per query: ``query_id``, ``query`` and the attributes."""
        columns: dict[str, Sequence[object]] = {"query_id": self.query_ids}
        columns["query"] = [query.text for query in self]
        for name in self.attributes:
            columns[name] = [query.attributes.get(name) for query in self]
        return _frame(columns)

    @cached_property
    def judgments(self) -> pd.DataFrame:
        """One row per judgment: ``query_id``, ``doc_id``, ``relevance``."""
        return _judgments_frame(self.columns)

    @cached_property
    def candidates(self) -> pd.DataFrame:
        """One row per document to rerank: ``query_id``, ``doc_id`` and columns such as features.

        If the set has no candidates, its judged documents are the candidates.
        """
        return candidates_frame(self, self.query_ids)

    def candidates_of(self, query_id: str) -> Sequence[str]:
        """Return the documents to rerank for a query: its candidates, or the judged ones.

        Raises:
            UnknownIdError: the set has no candidates, and no such query.
        """
        if self.contents.candidates:
            return list(self.contents.candidates.rows(query_id))
        return tuple(self.grades(query_id))

    @cached_property
    def catalogue(self) -> Documents | None:
        """The table of all documents, or the corpus of a BEIR folder; None if it is unknown."""
        found, corpus = self.contents.documents, self.contents.corpus
        if found is None and corpus is not None:
            from pytest_rankcheck.golden.documents import Documents

            found = Documents(corpus, rule=self.contents.doc_id)
        if found is not None:
            found.may_show(self.columns.documents.texts)
        return found

    @property
    def documents(self) -> pd.DataFrame:
        """One row per document that is judged, or was ranked in an evaluation with attributes.

        ``doc_id`` and the attributes. A catalogue may be larger than memory, so its other rows are
        not kept.

        Raises:
            GoldenSetError: no documents were given, or the table cannot be read.
        """
        if self.catalogue is None:
            raise GoldenSetError(
                f"the documents of {self.kind} '{quoted(self.name)}' are unknown; give documents="
            )
        self.catalogue.has(self.columns.documents.texts())
        return self.catalogue.frame

    def title(self, doc_id: str) -> str | None:
        """Return the title of a document, or None if it is unknown."""
        title = self.contents.titles.get(doc_id)
        if title is not None or self.catalogue is None:
            return title
        with suppress(GoldenSetError):  # the linter says what is wrong with the table
            return self.catalogue.title(doc_id)
        return None

    @checked_arguments
    def ceiling(self, k: int = 10) -> float:
        """Return the mean nDCG at ``k`` that a perfect ranker reaches on this set, in [0, 1].

        It is below 1 if queries have no relevant document, or if queries with the same text have
        different judgments: a ranker that sees only the text cannot serve both.

        Args:
            k: the cutoff of nDCG.
        """
        from pytest_rankcheck.golden.lint.text_rules import ceiling_of

        ceilings = ceiling_of(self._queries, self.contents.grades, self.contents.candidates, k)
        return sum(ceilings.values()) / len(ceilings)

    @cached_property
    def weights(self) -> Sequence[float] | None:
        """The weight of each query in a mean, in the set's order; None if all weigh the same."""
        by = self.contents.weight_by
        return None if by is None else weights_of(self, by, self.name)

    @property
    def cluster_by(self) -> str | None:
        """The attribute whose values are the independent units; None if each query is one."""
        return self.contents.cluster_by

    @cached_property
    def clusters(self) -> Sequence[str] | None:
        """The independent unit that each query belongs to; None if each query is one."""
        by = self.contents.cluster_by
        return None if by is None else clusters_of(self, by, self.name)

    @cached_property
    def replay(self) -> Replay | None:
        """How the set was made from a session log; None if it was not.

        Raises:
            GoldenSetError: its queries come from different replays.
        """
        if REPLAY not in self.attributes:
            return None
        from pytest_rankcheck.golden.log_replay import replay_of

        return replay_of([query.attributes.get(REPLAY) for query in self], self.name)

    @property
    def effective_size(self) -> float:
        """The number of equally weighted queries that would be as informative (Kish 1965).

        Kish, Survey Sampling, 1965: (sum of w)^2 / sum of w^2. It is the number of queries if all
        weigh the same.
        """
        weights = self.weights
        if weights is None:
            return float(len(self))
        squares = math.fsum(weight * weight for weight in weights)
        return math.fsum(weights) ** 2 / squares

    @cached_property
    def query_fingerprints(self) -> Mapping[str, str]:
        """The fingerprint of each query's text and judgments, by query id."""
        from pytest_rankcheck.golden.golden_contents import query_fingerprints

        return query_fingerprints(self.contents, self.weights)

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of all queries and judgments.

        It depends on the content alone. The order of lines, the file format and the set's name do
        not matter, nor do attributes, titles and expectations, which do not change what is
        measured. Candidates, which a reranker sees, weights, and a scale above all grades do.
        """
        from pytest_rankcheck.golden.golden_contents import fingerprint_of

        return fingerprint_of(self.query_fingerprints.values(), self.contents.stored_scale)

    @cached_property
    def visible_fingerprint(self) -> str:
        """The fingerprint of all that a ranker can see, including attributes and features."""
        from pytest_rankcheck.golden.golden_contents import visible_fingerprint

        return visible_fingerprint(self.fingerprint, self, self.contents)

    def __repr__(self) -> str:
        size = f"{plural(len(self), 'query', 'queries')}, {plural(self.judgment_count, 'judgment')}"
        return f"GoldenSet({self.name!r}, {size})"


def candidates_frame(golden: JudgedQueries, query_ids: Sequence[str]) -> pd.DataFrame:
    """Return the candidates of some queries, as in `JudgedQueries.candidates`."""
    if not golden.contents.candidates:
        return _judgments_frame(golden.columns.arranged(query_ids))[["query_id", "doc_id"]]
    part = golden.contents.candidates.take(query_ids).compact()
    return _frame(
        {
            "query_id": [query_id for query_id, rows in part.rows_of.items() for _ in rows],
            "doc_id": [doc_id for rows in part.rows_of.values() for doc_id in rows],
            **part.columns,
        }
    )


def _judgments_frame(judgments: Judgments) -> pd.DataFrame:
    """Return one row per judgment: ``query_id``, ``doc_id``, ``relevance``."""
    columns: dict[str, list[object]] = {"query_id": [], "doc_id": [], "relevance": []}
    for query_id, documents, grades in judgments.walk():
        columns["query_id"] += [query_id] * len(documents)
        columns["doc_id"] += documents
        columns["relevance"] += grades
    return _frame(columns)


def _frame(columns: Mapping[str, Any]) -> pd.DataFrame:
    from pytest_rankcheck.files.frame_tables import frame_of_columns  # loads pandas

    return frame_of_columns(columns)
