"""TREC qrels: lines of ``query_id iteration doc_id grade``, separated by any white space.

Lines that begin with ``#`` are comments. Qrels cannot hold texts and attributes of queries; these
are in a file beside it: ``web.queries.tsv`` for ``web.qrels``, tab-separated with the header
``query_id  query  [attribute ...]``; without texts, ``query_id  [attribute ...]``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.packed_files import unpacked_suffix
from pytest_rankcheck.files.text_files import blocks_of_lines, decode_utf8
from pytest_rankcheck.files.trec_columns import columns_of, columns_of_lines, line_of
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.golden.format_limits import (
    refuse_candidates,
    refuse_expectations,
    refuse_lists,
)
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source

__all__ = ["FORMAT"]

_COLUMNS = 4

LARGE_FILE_BYTES = 4 << 20
"""From this size on, polars is worth its import time."""


def read(source: Source) -> Contents:
    """Read qrels, and the file of queries beside them if it exists.

    Raises:
        GoldenSetError: a line does not have four columns, its grade is not a number, or it
            contradicts another; the message names file and line.
    """
    contents = Contents(source)
    if not _add_columns(contents):
        for first_line, text in blocks_of_lines(source.file, GoldenSetError):
            _add_by_line(contents, text, first_line)
    companion = _queries_file(source.file)
    if companion.exists():
        _read_queries(contents, companion)
    return contents


def _add_columns(contents: Contents) -> bool:
    """Add all lines as columns; False, and nothing is added, if a line is malformed."""
    from pytest_rankcheck.golden.judgment_rows import JudgmentRows, column_of_grades

    rows, path = JudgmentRows(), contents.source.file
    for first_line, text in blocks_of_lines(path, GoldenSetError):
        is_large = path.stat().st_size >= LARGE_FILE_BYTES and find_spec("polars") is not None
        read = columns_of_lines(text, _COLUMNS, first_line, is_large=is_large)
        if read is None:
            return False
        lines, (queries, _, documents, values) = read
        grades = column_of_grades(contents.reader, values)
        if grades is None:
            return False
        rows.add(queries.ids().ids, documents.ids().ids, grades, lines)
    rows.put_into(contents)
    return True


def _add_by_line(contents: Contents, text: bytes, first_line: int) -> None:
    for number, raw in enumerate(text.split(b"\n"), start=first_line):
        if raw.startswith(b"#") or not raw.strip():
            continue
        where = f"{contents.source.path}:{number}"
        line = decode_utf8(raw, where, GoldenSetError)
        columns = columns_of(line)
        if len(columns) != _COLUMNS:
            raise GoldenSetError(
                f"{where}: {len(columns)} columns, not {_COLUMNS}: "
                f"'{quoted(line.rstrip(), 60)}'; a line of qrels is: query_id 0 doc_id grade"
            )
        query_id, _, doc_id, grade = columns
        contents.add_judgment(query_id, doc_id, grade, number)


def _read_queries(contents: Contents, path: Path) -> None:
    """Add the texts and attributes of the queries."""
    from pytest_rankcheck.files.tables import read_table
    from pytest_rankcheck.golden.judgment_table import add_queries

    add_queries(contents, read_table(path, GoldenSetError, kind="delimited"))


def write(contents: Contents, path: Path) -> None:
    """Write qrels, and the texts and attributes of the queries in a file beside them.

    Raises:
        GoldenSetError: an id has white space or would be read as a comment; or the set has
            candidates, expectations or lists, which qrels cannot hold.
    """
    refuse_candidates(contents, "trec")
    refuse_expectations(contents, "trec")
    refuse_lists(contents, "trec")
    qrels = "".join(
        line_of((query_id, "0", doc_id, repr(grade)), GoldenSetError)
        for query_id, grades in contents.grades.items()
        for doc_id, grade in grades.items()
    )
    queries = _queries_text(contents)
    write_whole(path, qrels)
    if queries:
        write_whole(_queries_file(path), queries)
    else:  # remove the queries of a set that was saved here before
        _queries_file(path).unlink(missing_ok=True)


def _queries_text(contents: Contents) -> str:
    """Return the text of the file of queries; empty if qrels alone can hold the set."""
    queries = list(contents.stored_queries().values())
    attributes = list({name: None for query in queries for name in query.attributes})
    is_in_qrels = all(query.text is None and contents.grades[query.id] for query in queries)
    if is_in_qrels and not attributes:
        return ""
    rows = [
        [query.id, query.text, *(query.attributes.get(name) for name in attributes)]
        for query in queries
    ]
    return table_text(["query_id", "query", *attributes], rows, GoldenSetError, "\t")


def _queries_file(path: Path) -> Path:
    """Return ``web.queries.tsv`` for ``web.qrels`` or ``web.qrels.gz``."""
    unpacked = path if unpacked_suffix(path) == path.suffix else path.with_suffix("")
    return unpacked.with_suffix(".queries.tsv")


def _recognises(sample: FileSample) -> bool:
    if not sample.numbered_line[0]:  # no judgments, only queries
        return not sample.is_folder and _queries_file(sample.path).exists()
    return len(columns_of(sample.line)) == _COLUMNS


FORMAT = Format(
    name="trec",
    description="TREC qrels, lines of: query_id 0 doc_id grade",
    recognises=_recognises,
    read=read,
    write=write,
    endings=(".qrels", ".txt"),
    is_vague=True,
)
