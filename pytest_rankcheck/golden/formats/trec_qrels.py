"""TREC qrels: lines of ``query_id iteration doc_id grade``, separated by any white space.

Lines that begin with ``#`` are comments. Qrels cannot hold texts and attributes of queries; these
are in a file beside it: ``web.queries.tsv`` for ``web.qrels``, tab-separated with the header
``query_id  query  [attribute ...]``; without texts, ``query_id  [attribute ...]``.

The second column is ignored, since most collections have a constant or a round of judging there.
With ``columns={"subtopic": "iteration"}`` it is the subtopic that a document is judged for.
"""

from __future__ import annotations

from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.packed_files import unpacked_suffix
from pytest_rankcheck.files.trec_columns import columns_of, trec_table, trec_text
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import SCALE, Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.query import attribute_names

_COLUMNS = ("query_id", "0", "doc_id", "grade")
_PLACES = {"query_id": 0, "iteration": 1, "doc_id": 2, "relevance": 3}
"""The column of each role."""


def read(source: Source) -> Contents:
    """Read qrels, and the file of queries beside them if it exists."""
    from pytest_rankcheck.golden.judgment_batches import add_queries, add_table

    builder = ContentsBuilder(source)
    table = trec_table(source.file, _COLUMNS, "qrels", GoldenSetError)
    also = {"subtopic": 1} if source.columns.get("subtopic") == "iteration" else {}
    add_table(builder, table, {**_PLACES, **also})
    companion = queries_file(source.file)
    if companion.exists():
        from pytest_rankcheck.files.tables import read_table

        add_queries(builder, read_table(companion, GoldenSetError, kind="delimited"))
    return builder.built()


def write(contents: Contents, path: Path) -> None:
    """Write qrels, and the texts and attributes of the queries in a file beside them.

    No id may have white space or be read as a comment.
    """
    rows = (
        (query_id, "0", doc_id, repr(grade))
        for query_id, doc_id, grade in contents.judgments.rows_at()
    )
    qrels, queries = trec_text(rows, GoldenSetError), _queries_text(contents)
    write_whole(path, qrels)
    if queries:
        write_whole(queries_file(path), queries)
    else:  # remove the queries of a set that was saved here before
        queries_file(path).unlink(missing_ok=True)


def _queries_text(contents: Contents) -> str:
    """Return the text of the file of queries; empty if qrels alone can hold the set."""
    queries = list(contents.complete_queries().values())
    attributes, scale = attribute_names(queries), contents.stored_scale
    is_in_qrels = all(query.text is None and contents.grades[query.id] for query in queries)
    if is_in_qrels and not attributes and scale is None:
        return ""
    own = {} if scale is None else {SCALE: scale}
    rows = []
    for query in queries:
        values = map(query.attributes.get, attributes)
        rows.append([query.id, query.text, *values, *own.values()])
    return table_text(["query_id", "query", *attributes, *own], rows, GoldenSetError, "\t")


def queries_file(path: Path) -> Path:
    """Return ``web.queries.tsv`` for ``web.qrels`` or ``web.qrels.gz``."""
    is_packed = unpacked_suffix(path) != path.suffix
    unpacked = path.with_suffix("") if is_packed else path
    return unpacked.with_suffix(".queries.tsv")


def _recognises(sample: FileSample) -> bool:
    if not sample.numbered_line[0]:  # no judgments, only queries
        return not sample.is_folder and queries_file(sample.path).exists()
    return len(columns_of(sample.line)) == len(_COLUMNS)


FORMAT = Format(
    name="trec",
    description="TREC qrels, lines of: query_id 0 doc_id grade",
    recognises=_recognises,
    read=read,
    write=write,
    endings=(".qrels", ".txt"),
    cannot_hold=("expected texts", "candidates", "expectations", "lists"),
    is_vague=True,
)
