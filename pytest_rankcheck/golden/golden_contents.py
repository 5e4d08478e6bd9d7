"""The contents of a golden set: queries, judgments, what is known about them; and fingerprints."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, listed, quoted, suggestion
from pytest_rankcheck.golden.golden_source import Places, Source
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.query import Query, attribute_names
from pytest_rankcheck.golden.reranking_candidates import Candidates

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_rankcheck.document_ids import DocIdMap
    from pytest_rankcheck.golden.collected_judgments import Repeat
    from pytest_rankcheck.golden.documents import Documents, Interactions
    from pytest_rankcheck.golden.expectation import Expectation


SCALE = "grade_scale"
"""The key or column of a file that holds the golden set's scale."""
_LENGTH = 16
"""Hexadecimal digits, 64 bits: with a million contents, a collision has odds of 1 to 37 million."""

_NOT_PLAIN = re.compile(r"[^#-\[\]-~]")
"""Characters that JSON escapes, or that sort before its quotation mark."""


@dataclass(frozen=True)
class Contents:
    """The queries and judgments of a golden set; other sets are derived with ``replace``."""

    judgments: Judgments
    """All judgments in columns, with all queries in their order."""
    by_subtopic: Judgments | None = None
    """The judgments of each ``query<tab>subtopic``; None if no query has several subtopics."""
    queries: Mapping[str, Query] = field(default_factory=dict)
    """The queries with a text or attributes, by their ids."""
    source: Source = field(default_factory=Source)
    places: Places = field(default_factory=Places)
    has_grade_map: bool = False
    """Whether the judgments had codes or no grades, which were mapped to grades."""
    repeats: Sequence[Repeat] = ()
    """All repeated judgments, with the same or another grade."""
    by_text: frozenset[str] = frozenset()
    """The queries whose judged documents are expected texts."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """The titles of documents, for messages."""
    candidates: Candidates = field(default_factory=Candidates)
    expectations: Mapping[str, Sequence[Expectation]] = field(default_factory=dict)
    """The expectations on single queries, by query id."""
    scale: float | None = None
    """The highest grade that a document could get; None if it is the highest one present."""
    weight_by: str | None = None
    """The attribute with the weight of a query; None if all count the same."""
    cluster_by: str | None = None
    """The attribute whose values are the independent units, such as sessions or users; None if each
    query is a unit."""
    known_attributes: Sequence[str] = ()
    """The attributes of the whole set, if this is a part of it, even if no query has them."""
    doc_id: DocIdMap | None = None
    """The rules with which ``doc_id=`` mapped the ids of the documents."""
    corpus: Path | None = None
    """The file with all documents, if the golden set has one."""
    documents: Documents | None = None
    """What is known about the documents; None if nothing was given."""
    interactions: Interactions | None = None
    """What its users, the queries, have interacted with before."""

    @property
    def grades(self) -> Mapping[str, Mapping[str, float]]:
        """The grade of each judged document of each query."""
        return self.judgments.by_query

    def of_queries(self, query_ids: Sequence[str]) -> Contents:
        """Return the part with some of the queries, each once, in this order."""
        chosen = tuple(query_ids)
        among = set(chosen)
        queries, expectations = self.queries, self.expectations
        return replace(
            self,
            judgments=self.judgments.arranged(chosen),
            queries={each: queries[each] for each in chosen if each in queries},
            by_text=self.by_text & among,
            repeats=[repeat for repeat in self.repeats if repeat.query_id in among],
            candidates=self.candidates.take(chosen),
            expectations={each: expectations[each] for each in chosen if each in expectations},
        )

    def query_place(self, query_id: str) -> str:
        """Return the place of a query or its first judgment; empty if unknown."""
        return self.places.query(query_id, self.judgments.first_line(query_id))

    def place_at(self, row: int) -> str:
        """Return the place of the judgment in a row, or else of its query; empty if unknown."""
        line = self.judgments.line(row)
        if line:
            return self.places.shown(line)
        return self.query_place(self.judgments.query_at(row))

    def shown_place(self, row: int) -> str:
        """Return the place of the judgment in a row; the id of its query if it is unknown."""
        return self.place_at(row) or f"query '{quoted(self.judgments.query_at(row))}'"

    def refuse_subtopics(self, what: str) -> None:
        """Refuse a change that would lose the subtopics.

        Raises:
            GoldenSetError: a query has several subtopics.
        """
        if self.by_subtopic is not None:
            raise GoldenSetError(f"{self.places.file} has subtopics, and cannot be {what}")

    @property
    def attributes(self) -> Sequence[str]:
        """The names of the attributes that queries have."""
        names = attribute_names(self.queries.values())
        return tuple(dict.fromkeys((*self.known_attributes, *names)))

    def check_attributes(self) -> None:
        """Check that each requested attribute exists."""
        present = self.attributes
        for name in self.source.attributes or ():
            if name not in present:
                others = [*present, *self.candidates.columns]
                raise GoldenSetError(
                    f"{self.places.file}: no query has an attribute "
                    f"'{quoted(name)}'{suggestion(name, others)}; its attributes and other "
                    f"columns: {listed(others, 10) or 'none'}"
                )

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

    def complete_queries(self) -> Mapping[str, Query]:
        """Return a query for every judged id, in the order of the judgments."""
        known = self.queries
        return {query_id: known.get(query_id) or Query(query_id) for query_id in self.grades}

    @property
    def stored_scale(self) -> float | None:
        """The scale, if a file must hold it because no judgment has that grade; else None."""
        if self.scale in (None, self.judgments.highest):
            return None
        return self.scale


def query_fingerprints(contents: Contents, weights: Sequence[float] | None) -> Mapping[str, str]:
    """Return the fingerprint of each query's id, text, judgments, candidates, weight, subtopics.

    It is the fingerprint of the JSON text ``[id, text, [[document, grade], ...], candidates,
    weight, subtopics]``, without the parts that the query does not have.
    """
    judgments, candidates, fingerprints = contents.judgments, contents.candidates, {}
    subtopics = defaultdict[str, list[str]](list)
    for key, judged in contents.by_subtopic or ():
        subtopics[key.rpartition("\t")[0]].append(json.dumps([key, judged], sort_keys=True))
    endings = {grade: f'", {float(grade)!r}]' for grade in judgments.distinct_grades}
    for place, (query_id, documents, grades) in enumerate(judgments.walk()):
        query = contents.queries.get(query_id)
        parts = [
            encode_basestring_ascii(query_id),
            json.dumps(query.text) if query and query.text else '""',
            _judgments_text(documents, [endings[grade] for grade in grades]),
        ]
        if candidates.rows(query_id):  # without their features, which belong to the world
            parts.append(json.dumps([(doc, "{}") for doc in sorted(candidates.rows(query_id))]))
        if weights is not None:
            parts.append(json.dumps({"weight": weights[place]}))
        parts += sorted(subtopics[query_id])
        fingerprints[query_id] = _digest(f"[{', '.join(parts)}]")
    return fingerprints


def _judgments_text(documents: Sequence[str], endings: Sequence[str]) -> str:
    """Return judgments, sorted by document, as ``json.dumps`` writes them.

    No document is repeated. An ending is the text after an id, from its quotation mark on.
    """
    if not documents:
        return "[]"
    if _NOT_PLAIN.search("".join(documents)):
        pairs = sorted(zip(documents, endings, strict=True))
        texts = (f"[{json.dumps(doc)[:-1]}{ending}" for doc, ending in pairs)
        return f"[{', '.join(texts)}]"
    # No character sorts before the quotation mark, so these sort as the documents do.
    return '[["' + ', ["'.join(sorted(map(str.__add__, documents, endings))) + "]"


def fingerprint_of(fingerprints: Iterable[str], scale: float | None = None) -> str:
    """Return the fingerprint of a golden set, from those of its queries and a scale to store."""
    of_scale = [] if scale is None else [f"scale {float(scale)!r}"]
    return _digest("\n".join([*sorted(fingerprints), *of_scale]))


def visible_fingerprint(fingerprint: str, queries: Iterable[Query], contents: Contents) -> str:
    """Return a fingerprint of everything that a ranker can see, including attributes and features.

    Args:
        fingerprint: the golden set's fingerprint.
        queries: its queries, in any order.
        contents: the contents of the golden set.
    """
    attributes = sorted((query.id, dict(query.attributes)) for query in queries)
    rows = contents.candidates
    features = [sorted(rows.cells(query_id)) for query_id, _ in attributes]
    return f"{fingerprint} {_digest(ascii((attributes, features)))}"


def _digest(text: str) -> str:
    import hashlib  # loads OpenSSL, so only when needed

    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_LENGTH]
