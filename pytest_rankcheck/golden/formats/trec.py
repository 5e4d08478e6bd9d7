"""TREC qrels: ``query_id iteration doc_id grade`` a line, separated by any white space.

Lines that begin with ``#`` are comments. Texts and attributes of queries, which qrels do not
hold, are in a file beside it: ``web.queries.tsv`` for ``web.qrels``, tab-separated with a header
``query_id  query  [attribute ...]``.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files import (
    Format,
    check_encodable,
    columns_of,
    line_of,
    lines_of,
    text_of,
    write_whole,
)
from pytest_rankcheck.golden.content import Contents, checked_grade, checked_id
from pytest_rankcheck.golden.query import Query

__all__ = ["FORMAT"]

_COLUMNS = 4


def read(path: Path) -> Contents:
    """Read qrels, and the queries beside them if there are any.

    Raises:
        GoldenSetError: a line has not four columns, its grade is no number, or it contradicts
            another; file and line are named.
    """
    contents = Contents()
    for number, line in lines_of(path, GoldenSetError):
        if line.startswith("#"):
            continue
        where, columns = f"{path}:{number}", columns_of(line)
        if len(columns) != _COLUMNS:
            raise GoldenSetError(
                f"{where}: {len(columns)} columns, not {_COLUMNS}: "
                f"'{quoted(line, 60)}'; a line of qrels is: query_id 0 doc_id grade"
            )
        query_id, _, doc_id, grade = columns
        contents.add_judgment(query_id, doc_id, checked_grade(grade, doc_id, where), where)
    companion = _queries_file(path)
    if companion.exists():
        _read_queries(contents, companion)
    return contents


def _read_queries(contents: Contents, path: Path) -> None:
    text = text_of(path, GoldenSetError)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)
    try:
        header = next(rows, [])
        if header[:2] != ["query_id", "query"]:
            raise GoldenSetError(
                f"{path}:1: the header is '{quoted(' '.join(header), 60)}'; it begins with "
                "query_id, a tab, query"
            )
        for row in filter(None, rows):
            where = f"{path}:{rows.line_num}"
            if len(row) != len(header):
                raise GoldenSetError(
                    f"{where}: {len(row)} columns, but the header has {len(header)}"
                )
            query_id, text, *values = row
            checked_id(query_id, "query_id", where)
            pairs = zip(header[2:], values, strict=True)
            attributes = {name: value for name, value in pairs if value}
            contents.add_query(Query(query_id, text or None, attributes), where)
    except csv.Error as failure:
        raise GoldenSetError(f"{path}:{rows.line_num}: {failure}") from None


def write(contents: Contents, path: Path) -> None:
    """Write qrels, and the queries' texts and attributes beside them.

    Raises:
        GoldenSetError: an id has white space or would read as a comment.
    """
    qrels = "".join(
        line_of((query_id, "0", doc_id, repr(grade)), GoldenSetError)
        for query_id, grades in contents.grades.items()
        for doc_id, grade in grades.items()
    )
    queries = _queries_text(contents)
    check_encodable(queries, GoldenSetError)
    write_whole(path, qrels)
    if queries:
        write_whole(_queries_file(path), queries)
    else:  # the texts of a set that stood here before are not those of this one
        _queries_file(path).unlink(missing_ok=True)


def _queries_text(contents: Contents) -> str:
    """Return the file of queries, or nothing where qrels alone hold the whole set."""
    queries = [contents.queries[query_id] for query_id in contents.grades]
    attributes = list({name: None for query in queries for name in query.attributes})
    told_by_qrels = all(query.text is None and contents.grades[query.id] for query in queries)
    if told_by_qrels and not attributes:
        return ""
    rows = [["query_id", "query", *attributes]]
    for query in queries:
        values = (query.attributes.get(name) for name in attributes)
        cells = ("" if value is None else str(value) for value in values)
        rows.append([query.id, query.text or "", *cells])
    # csv leaves a lone carriage return unquoted, and reads it as the end of a line.
    has_returns = any("\r" in cell for row in rows for cell in row)
    buffer = io.StringIO()
    writer = csv.writer(
        buffer,
        delimiter="\t",
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL,
    )
    writer.writerows(rows)
    return buffer.getvalue()


def _queries_file(path: Path) -> Path:
    return path.with_suffix(".queries.tsv")


FORMAT = Format(
    name="trec",
    description="TREC qrels, lines of: query_id 0 doc_id grade",
    recognises=lambda line: len(columns_of(line)) == _COLUMNS,
    read=read,
    write=write,
)
