"""The columns of a table with one row per judgment: their meanings, and those that it needs."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import (
    DOC_ID,
    Role,
    index_of_roles,
    lacks,
    looks_meant_for,
    normalised_name,
)
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import SCALE

QUERY_ID = Role("query_id", ("query_id", "qid", "queryid", "q_id", "topic_id", "topic"))
GRADE = Role(
    "relevance",
    (
        *("relevance", "rel", "label", "rating", "grade", "gain"),
        *("judgment", "judgement", "relevance_label", "esci_label"),
    ),
    otherwise=("score",),
)
"""The column of grades."""

NO_FEATURES = frozenset({GRADE.name, *GRADE.names} - {"rating"}) | {
    *("judge", "judge_id", "judged_by", "rater", "annotator", "assessor"),
    *("subtopic", "subtopic_id"),
}
"""Names of columns that are grades, or say who judged what; but a product may have a rating."""
SUBTOPIC = Role("subtopic", ("subtopic_id",))
"""If a query has several subtopics, a document may be judged for each of them."""
TEXT = Role("query", ("query", "query_text", "keywords", "search_term", "text"))
ROLES = (
    QUERY_ID,
    TEXT,
    DOC_ID,
    GRADE,
    Role("title", ("title", "doc_title", "document_title", "product_title")),
    Role("candidate", ("is_candidate",)),
    SUBTOPIC,
    Role(SCALE, ()),
)
"""The column roles of a golden set, with their usual names (also written like ``query-id``).

A row that is marked as a candidate needs no grade: it may be unjudged.
"""

ROLE_NAMES = frozenset(role.name for role in ROLES)

ATTRIBUTE, CANDIDATE = "attribute:", "candidate:"
"""The prefixes of column names that say what the column is."""
_INDEX_NAME = re.compile(
    r"|Unnamed: \d+(_level_\d+)?(\.\d+)*|__index_level_\d+__|index|level_0", re.ASCII
)
Key = TypeVar("Key", bound=Hashable)


def may_have_judgments(header: Sequence[str]) -> bool:
    """Whether a header of normalised names is that of a golden set, perhaps with wrong names."""
    return looks_meant_for(header, ROLES[:4])


def places_of_roles(builder: ContentsBuilder, header: Sequence[str]) -> Mapping[str, int]:
    """Return the column of each role in a table of judgments, which must have those it needs."""
    where = builder.places.file
    given, source = builder.source.columns.items(), builder.source
    elsewhere = ROLE_NAMES - {*source.needed} if source.is_shared else builder.columns_of_queries
    columns = {role: name for role, name in given if name in header or role not in elsewhere}
    place = index_of_roles(header, ROLES, columns, where, GoldenSetError)
    _require(place, header, builder)
    if "query" not in place and not builder.queries:
        others = [name for index, name in enumerate(header) if index not in place.values()]
        refuse_misspelt_text(others, where)
    return place


def _require(place: Mapping[str, int], header: Sequence[str], builder: ContentsBuilder) -> None:
    where = builder.places.file
    _refuse_run(place, header, builder)
    builder.reader = builder.source.reader(has_grades="relevance" in place)
    if builder.reader.has_one_grade and "relevance" in place:
        column = quoted(header[place["relevance"]])
        raise GoldenSetError(
            f"{where} has grades in the column '{column}', but grades= is one number, for a table "
            "without grades; omit it, or map the values, grades={...} (rankcheck_grades)"
        )
    needed = [DOC_ID] if builder.reader.has_one_grade else [DOC_ID, GRADE]
    if "query" not in place:
        needed.insert(0, QUERY_ID)
    missing = [role for role in needed if role.name not in place]
    if missing:
        hint = ""
        if GRADE in missing:
            hint = (
                ". If each row is relevant (a click, a purchase), give grades=1 (rankcheck_grades)"
            )
        raise GoldenSetError(f"{where} {lacks(header, place.values(), missing)}{hint}")


def _refuse_run(place: Mapping[str, int], header: Sequence[str], builder: ContentsBuilder) -> None:
    """Check that a table is not a run, with a rank and a score: its scores would become grades."""
    ranks = [name for name in header if normalised_name(name) in ("rank", "position", "pos")]
    grade = header[place["relevance"]] if "relevance" in place else ""
    is_score = normalised_name(grade) in GRADE.otherwise
    if ranks and is_score and GRADE.name not in builder.source.columns:
        reader = "Run.from_frame" if builder.source.path is None else "Run.load"
        raise GoldenSetError(
            f"{builder.places.file} has the columns '{quoted(ranks[0])}' and '{quoted(grade)}' of "
            f"a run, and no grades; read a run with {reader}. If people gave '{quoted(grade)}', "
            f"rename the column: '{GRADE.name}'"
        )


def refuse_misspelt_text(names: Sequence[str], where: str) -> None:
    """Check that no column of a table without texts has a name that is nearly ``query``."""
    near = Role(TEXT.name, ()).near(names)
    if near is not None:
        raise GoldenSetError(f"{where} {lacks(names, (), [TEXT])}")


def is_index(name: str) -> bool:
    """Whether a column is the index of a DataFrame, left by ``to_csv``, ``reset_index`` or others.

    Such a column has no name, or a name that pandas or Arrow made up.
    """
    return _INDEX_NAME.fullmatch(name) is not None


def repeated_rows(keys: Iterable[Key]) -> dict[Key, list[int]]:
    """Return the rows of each key, such as a query, that has several rows."""
    rows: dict[Key, list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key, []).append(row)
    return {key: places for key, places in rows.items() if len(places) > 1}


def first_varying(rows: Mapping[Key, Sequence[int]], cells: Sequence[object]) -> Key | None:
    """Return the first key with several rows whose cells differ; None without one."""
    for key, (first, *others) in rows.items():
        if any(cells[row] != cells[first] for row in others):
            return key
    return None
