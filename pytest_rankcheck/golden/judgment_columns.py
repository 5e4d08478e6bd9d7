"""The columns of a table with one row per judgment: their meanings, and those that it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import (
    Role,
    index_of_roles,
    lacks,
    looks_meant_for,
    normalised_name,
)
from pytest_rankcheck.golden.column_marks import GRADE
from pytest_rankcheck.golden.golden_contents import SCALE, Contents

__all__ = [
    "DOC_ID",
    "QUERY_ID",
    "ROLES",
    "TEXT",
    "may_have_judgments",
    "places_of_roles",
    "refuse_misspelt_text",
]

QUERY_ID = Role("query_id", ("query_id", "qid", "queryid", "q_id", "topic_id", "topic"))
DOC_ID = Role(
    "doc_id",
    (
        *("doc_id", "docid", "docno", "document_id", "documentid", "doc"),
        *("corpus_id", "passage_id", "pid", "product_id", "item_id"),
    ),
)
TEXT = Role("query", ("query", "query_text", "keywords", "search_term", "text"))
ROLES = (
    QUERY_ID,
    TEXT,
    DOC_ID,
    GRADE,
    Role("title", ("title", "doc_title", "document_title", "product_title")),
    Role("candidate", ("is_candidate",)),
    Role(SCALE, ()),
)
"""The column roles of a golden set, with their usual names (also written like ``query-id``).

A row that is marked as a candidate needs no grade: it may be unjudged.
"""


def may_have_judgments(header: Sequence[str]) -> bool:
    """Whether a header of normalised names is that of a golden set, perhaps with wrong names."""
    return looks_meant_for(header, ROLES[:4])


def places_of_roles(contents: Contents, header: Sequence[str]) -> Mapping[str, int]:
    """Return the column of each role in a table of judgments, which must have those it needs."""
    where = contents.places.file
    place = index_of_roles(header, ROLES, contents.source.columns, where, GoldenSetError)
    _require(place, header, contents)
    if "query" not in place and not contents.queries:
        others = [name for index, name in enumerate(header) if index not in place.values()]
        refuse_misspelt_text(others, where)
    return place


def _require(place: Mapping[str, int], header: Sequence[str], contents: Contents) -> None:
    where = contents.places.file
    _refuse_run(place, header, contents)
    contents.reader = contents.source.reader(has_grades="relevance" in place)
    if contents.reader.has_one_grade and "relevance" in place:
        column = quoted(header[place["relevance"]])
        raise GoldenSetError(
            f"{where} has grades in the column '{column}', but grades= is one number, for a table "
            "without grades; omit it, or map the values, grades={...}"
        )
    needed = [DOC_ID] if contents.reader.has_one_grade else [DOC_ID, GRADE]
    if "query" not in place:
        needed.insert(0, QUERY_ID)
    missing = [role for role in needed if role.name not in place]
    index = contents.places.numbering.index_names
    in_index = [role.name for role in missing if index and role.among(index)]
    if in_index:
        raise GoldenSetError(
            f"{where}: {in_index[0]} is in the index of the DataFrame; call reset_index()"
        )
    if missing:
        hint = ". If each row is a relevant document (a click, a purchase), give grades=1"
        raise GoldenSetError(
            f"{where} {lacks(header, place.values(), missing)}{hint if GRADE in missing else ''}"
        )


def _refuse_run(place: Mapping[str, int], header: Sequence[str], contents: Contents) -> None:
    """Check that a table is not a run, with a rank and a score: its scores would become grades."""
    ranks = [name for name in header if normalised_name(name) in ("rank", "position", "pos")]
    grade = header[place["relevance"]] if "relevance" in place else ""
    is_score = normalised_name(grade) in GRADE.otherwise
    if ranks and is_score and GRADE.name not in contents.source.columns:
        reader = "Run.from_frame" if contents.source.path is None else "Run.load"
        raise GoldenSetError(
            f"{contents.places.file} has the columns '{quoted(ranks[0])}' and '{quoted(grade)}' of "
            f"a run, and no grades; read a run with {reader}. If '{quoted(grade)}' is the grade, "
            f"give columns={{'{GRADE.name}': '{quoted(grade)}'}}"
        )


def refuse_misspelt_text(names: Sequence[str], where: str, *, can_map: bool = True) -> None:
    """Check that no column of a table without texts has a name that is nearly ``query``."""
    near = Role(TEXT.name, ()).near(names)
    if near is not None:
        raise GoldenSetError(f"{where} {lacks(names, (), [TEXT], can_map=can_map)}")
