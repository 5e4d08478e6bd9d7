"""Golden sets as tables with one row per judgment or candidate, for files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_rankcheck.errors import GoldenSetError, listed
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.plain_values import is_missing
from pytest_rankcheck.golden.column_marks import (
    ATTRIBUTE,
    CANDIDATE,
    GRADES,
    RARE,
    as_numbers,
    is_index,
    repeated_rows,
    spread_of,
)
from pytest_rankcheck.golden.golden_contents import SCALE, Contents
from pytest_rankcheck.golden.judgment_columns import ROLES

__all__ = ["table_of_contents"]


def table_of_contents(contents: Contents) -> tuple[list[str], list[list[object]]]:
    """Return a golden set as a table: the header, and one row per judgment or candidate.

    A query without judgments has a row without a document, so that nothing is lost. No attribute
    may have a name that gives a column another role.
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
    shown = _marked_names(
        [str(row[0]) for row in rows],
        {name: others[name] for name in attributes},
        {name: others[name] for name in features},
    )
    return [*own, *shown], rows


def _has_unjudged(contents: Contents) -> bool:
    """Whether there are candidates without a judgment or without columns, which need a mark."""
    candidates, grades = contents.candidates, contents.grades
    return any(
        not candidates.columns or not candidates.rows(query_id).keys() <= grades[query_id].keys()
        for query_id in candidates.query_ids
    )


def _rows_of(
    contents: Contents, own: Sequence[str], attributes: Sequence[str], features: Sequence[str]
) -> Iterator[list[object]]:
    has_text, has_marks = "query" in own, "candidate" in own
    candidates, titles = contents.candidates, contents.titles
    scale = [contents.stored_scale] if SCALE in own else []
    for query_id, query in contents.complete_queries().items():
        grades = contents.grades[query_id]
        row_of = candidates.rows(query_id)
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


def _marked_names(
    query_ids: Iterable[str],
    attributes: Mapping[str, Sequence[object]],
    features: Mapping[str, Sequence[object]],
) -> list[str]:
    """Return the names under which columns are written, so that each is read with its meaning."""
    rows = repeated_rows(query_ids)
    names = [
        f"{ATTRIBUTE}{name}" if (features and as_numbers(cells)) or is_index(name, cells) else name
        for name, cells in attributes.items()
    ]
    for name, cells in features.items():
        spread = spread_of(rows, cells)
        is_plain = spread.varying and not spread.is_nearly_steady(RARE)
        is_plain = is_plain and not is_index(name, cells)
        is_plain = is_plain and normalised_name(name) not in GRADES
        names.append(name if is_plain else f"{CANDIDATE}{name}")
    return names
