"""Golden sets as tables with one row per judgment: reading and writing their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.delimited_tables import (
    Role,
    index_of_roles,
    lacks,
    looks_meant_for,
    normalised_name,
)
from pytest_rankcheck.files.plain_values import as_flag, is_missing
from pytest_rankcheck.golden.checked_values import checked_id
from pytest_rankcheck.golden.extra_columns import GRADE, ExtraColumns, is_index, marked_names
from pytest_rankcheck.golden.golden_contents import SCALE, Contents
from pytest_rankcheck.golden.grade_reader import GradeReader
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.source_places import Numbering

__all__ = [
    "DOC_ID",
    "QUERY_ID",
    "TEXT",
    "Row",
    "add_queries",
    "add_table",
    "may_have_judgments",
    "only_judgments",
    "table_of_contents",
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

Row = tuple[int, Sequence[object]]
"""A line or row number, and the cells."""


def may_have_judgments(header: Sequence[str]) -> bool:
    """Whether a header of normalised names is that of a golden set, perhaps with wrong names."""
    return looks_meant_for(header, ROLES[:4])


def add_table(contents: Contents, header: Sequence[str], rows: Iterable[Row]) -> None:
    """Add the rows of a table to the contents.

    Args:
        contents: filled here; its source names the file and columns with unusual names.
        header: the column names.
        rows: the numbered rows. Empty text and None are empty cells.

    Raises:
        GoldenSetError: a column is missing, or a row lacks an id or grade or contradicts another.
    """
    where = contents.places.file
    place = index_of_roles(header, ROLES, contents.source.columns, where, GoldenSetError)
    _require(place, header, contents)
    others = [index for index in range(len(header)) if index not in place.values()]
    if "query" not in place and not contents.queries:
        _refuse_misspelt_text([header[index] for index in others], where)
    mark_at = place.get("candidate")
    ids_at = min(place.get("query_id", place["doc_id"]), place["doc_id"])
    names = [header[index] for index in others]
    extras = ExtraColumns(contents, names, header[:ids_at], is_marked=mark_at is not None)
    query_at, text_at = place.get("query_id"), place.get("query")
    doc_at, grade_at, title_at = place["doc_id"], place.get("relevance"), place.get("title")
    scale_at = place.get(SCALE)
    for number, row in rows:
        if scale_at is not None and _cell(row[scale_at]) is not None:
            contents.set_scale(row[scale_at], number)
        text = None if text_at is None else _cell(row[text_at])
        value = _cell(row[query_at]) if query_at is not None else text
        key = checked_id(value, "query_id", number, contents.places)
        if text is not None or key not in contents.queries:
            contents.see_query(Query(key, None if text is None else str(text)), number)
        doc, grade = _cell(row[doc_at]), None if grade_at is None else _cell(row[grade_at])
        is_candidate = mark_at is None or _is_marked(row[mark_at], contents, number)
        if doc is not None or grade is not None:
            doc = checked_id(doc, "doc_id", number, contents.places)
            if grade is not None or mark_at is None or not is_candidate:
                contents.add_judgment(key, doc, grade, number)
            else:
                contents.add_judged_query(key)
            if title_at is not None and _cell(row[title_at]) is not None:
                contents.titles[doc] = str(row[title_at])
        extras.add(number, key, doc if is_candidate else None, [row[index] for index in others])
    extras.assign()


def only_judgments(contents: Contents, header: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the columns of query, document and grade if a table has only these, otherwise None.

    Raises:
        GoldenSetError: as in `add_table`.
    """
    where = contents.places.file
    place = index_of_roles(header, ROLES, contents.source.columns, where, GoldenSetError)
    _require(place, header, contents)
    if len(header) > 3 or not {"query_id", "relevance"} <= place.keys():
        return None
    return header[place["query_id"]], header[place["doc_id"]], header[place["relevance"]]


def add_queries(
    contents: Contents, header: Sequence[str], rows: Iterable[Row], numbering: Numbering
) -> None:
    """Add the rows of a table of queries: their ids, maybe their texts, and attributes.

    Args:
        contents: filled here.
        header: the column names.
        rows: the numbered rows. Empty text and None are empty cells.
        numbering: the places of the rows.

    Raises:
        GoldenSetError: the column of ids is missing, an id is invalid, or a query is a duplicate.
    """
    exact = {role.name: role.name for role in (QUERY_ID, TEXT) if role.name in header}
    place = index_of_roles(header, (QUERY_ID, TEXT), exact, numbering.source, GoldenSetError)
    if "query_id" not in place:
        problem = lacks(header, place.values(), [QUERY_ID], can_map=False)
        raise GoldenSetError(f"{numbering.source} {problem}")
    numbered = list(rows)
    others = {
        index: name
        for index, name in enumerate(header)
        if index not in place.values() and not is_index(name, [row[index] for _, row in numbered])
    }
    if "query" not in place:
        _refuse_misspelt_text(list(others.values()), numbering.source, can_map=False)
    for number, row in numbered:
        where = numbering.place(number)
        query_id = checked_id(_cell(row[place["query_id"]]), "query_id", where)
        text = _cell(row[place["query"]]) if "query" in place else None
        cells = {name: _cell(row[index]) for index, name in others.items()}
        attributes = {name: cell for name, cell in cells.items() if cell is not None}
        contents.add_query(Query(query_id, None if text is None else str(text), attributes), where)


def _require(place: Mapping[str, int], header: Sequence[str], contents: Contents) -> None:
    where = contents.places.file
    _refuse_run(place, header, contents)
    contents.reader = GradeReader(contents.source.grade_map(has_grades="relevance" in place))
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
    """Check that a table is not a run: its scores would become grades.

    Raises:
        GoldenSetError: it has a rank beside a score, and no grade.
    """
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


def _refuse_misspelt_text(names: Sequence[str], where: str, *, can_map: bool = True) -> None:
    """Check that no column of a table without texts seems to hold the texts.

    Raises:
        GoldenSetError: the name of a column is nearly ``query``.
    """
    near = Role(TEXT.name, ()).near(names)
    if near is not None:
        raise GoldenSetError(f"{where} {lacks(names, (), [TEXT], can_map=can_map)}")


def _is_marked(value: object, contents: Contents, number: int) -> bool:
    """Return whether a row is marked as a candidate; an empty cell means no.

    Raises:
        GoldenSetError: the mark is neither yes nor no.
    """
    mark = _cell(value)
    flag = False if mark is None else as_flag(mark)
    if flag is None:
        raise GoldenSetError(
            f"{contents.places.shown(number)}: the candidate mark '{quoted(mark, 40)}' is invalid; "
            "write 1, true or yes for a candidate, and 0, false, no or nothing for another document"
        )
    return flag


def _cell(value: object) -> object:
    """Return None for empty cells: None, empty text or NaN."""
    return None if is_missing(value) or (isinstance(value, str) and not value) else value


def table_of_contents(contents: Contents) -> tuple[list[str], list[list[object]]]:
    """Return a golden set as a table: the header, and one row per judgment or candidate.

    A query without judgments has a row without a document, so that nothing is lost.

    Raises:
        GoldenSetError: an attribute has the name of a column with another role.
    """
    queries = contents.complete_queries()
    attributes = list({name: None for query in queries.values() for name in query.attributes})
    features = list(contents.candidates.columns)
    has_marks = _has_unjudged(contents)
    has_text = any(query.text is not None for query in queries.values())
    own = ["query_id", *(["query"] if has_text else []), "doc_id", "relevance"]
    own += ["title"] if contents.titles else []
    own += ["candidate"] if has_marks else []
    own += [SCALE] if contents.stored_scale is not None else []
    header = [*own, *attributes, *features]
    names = [normalised_name(name) for name in header]
    meant = {place for role in ROLES for place in role.among(names)}
    taken = [header[place] for place in sorted(meant) if place >= len(own)]
    taken += [name for name in header if header.count(name) > 1]
    if taken:
        raise GoldenSetError(
            f"an attribute or feature is named {listed(sorted(set(taken)))}, which is reserved in "
            "tables; rename it, or save as jsonl"
        )
    rows = list(_rows_of(contents, own, attributes, features))
    others = {
        name: [row[place] for row in rows] for place, name in enumerate(header) if place >= len(own)
    }
    shown = marked_names(
        [str(row[0]) for row in rows],
        {name: others[name] for name in attributes},
        {name: others[name] for name in features},
    )
    return [*own, *shown], rows


def _has_unjudged(contents: Contents) -> bool:
    """Whether there are candidates without a judgment or without columns, which need a mark."""
    candidates = contents.candidates
    return bool(candidates) and (
        not candidates.columns
        or any(
            doc_id not in contents.grades[query_id]
            for query_id in candidates.query_ids
            for doc_id in candidates.of(query_id)
        )
    )


def _rows_of(
    contents: Contents, own: Sequence[str], attributes: Sequence[str], features: Sequence[str]
) -> Iterator[list[object]]:
    has_text, has_marks = "query" in own, "candidate" in own
    candidates, titles = contents.candidates, contents.titles
    scale = [contents.stored_scale] if SCALE in own else []
    for query_id, query in contents.complete_queries().items():
        grades = contents.grades[query_id]
        row_of = {candidates.doc_ids[row]: row for row in candidates.rows(query_id)}
        values = [query.attributes.get(name) for name in attributes]
        start: list[object] = [query_id, query.text] if has_text else [query_id]
        for doc_id in list(dict.fromkeys([*row_of, *grades])) or [""]:
            title = [titles.get(doc_id)] if titles else []
            row = row_of.get(doc_id)
            mark = [None if row is None else 1] if has_marks else []
            cells = [None if row is None else candidates.columns[name][row] for name in features]
            cells = [None if is_missing(cell) else cell for cell in cells]
            judgment = [*start, doc_id or None, grades.get(doc_id)]
            yield [*judgment, *title, *mark, *scale, *values, *cells]
