"""LETOR and SVMlight, for learning to rank: lines of ``grade qid:N feature:value ... # doc_id``.

The features become columns of the candidates, named and ordered by their numbers; missing features
are 0. The document id is the first word of the comment (or the word after ``docid =``); without a
comment, it is the row number. The text of a query is that of its header line ``# qid:1: deep
sea*1``, without the weight, as the Elasticsearch and OpenSearch plugins write it. Without ``qid:``,
the sizes of the queries are in a file beside it: for ``rank.test``, in LightGBM's
``rank.test.query`` or in XGBoost's ``rank.test.group``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, plural, quoted
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.plain_values import checked_number
from pytest_rankcheck.files.text_files import lines_of
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import SparseRows, is_feature_number

_LINE = re.compile(
    r"\s*(?:[-+.,\d]+|[^\s:#,;|]+)"  # a grade: a number, or a word without table separators
    r"\s+(?:qid:\S+(?:\s|$)|\d+:\S)"
)
_SIZES = (".query", ".group")
"""The endings that LightGBM and XGBoost add to a file's name for its file of query sizes."""
_QUERY_HEADER = re.compile(r"#\s*qid:(\S+?):\s+(.*?)(?:\*[\d.]+)?\s*$")
"""The header line of a query in the judgment lists of Elasticsearch's and OpenSearch's plugins."""
_NAMED_DOCUMENT = re.compile(r"docid\s*=\s*(\S+)")


def read(source: Source) -> Contents:
    """Read candidates with features and grades."""
    builder = ContentsBuilder(source)
    candidates = SparseRows()
    headers: dict[str, str] = {}
    sizes = [source.file.with_name(f"{source.file.name}{ending}") for ending in _SIZES]
    beside = next(filter(Path.exists, sizes), sizes[0])
    queries: Sequence[str] = ()
    rows = 0
    for number, line in lines_of(source.file, GoldenSetError):
        if line.lstrip().startswith("#"):
            if header := _QUERY_HEADER.match(line.strip()):
                headers[header[1]] = header[2]
            continue
        rows += 1
        where = f"{source.file}:{number}"
        data, _, comment = line.partition("#")
        grade, *pairs = data.split()
        query_id = _query_id(pairs)
        if query_id is None:
            queries = queries or _queries_beside(beside, where)
            if rows > len(queries):
                continue  # counted for the error
            query_id = queries[rows - 1]
        named = _NAMED_DOCUMENT.search(comment)
        doc = named[1] if named else next(iter(comment.split()), str(rows))
        features = _features(pairs, where)
        if doc in candidates.rows_of.get(query_id, {}):
            raise GoldenSetError(
                f"{where}: document '{quoted(doc)}' of query '{quoted(query_id)}' has two lines; "
                "keep one. If the first word of a comment is not the document, write "
                "'# docid = ...', or remove all comments"
            )
        candidates.add(query_id, doc, features)
        builder.see_query(Query(query_id), number)
        builder.add_judgment(query_id, doc, grade, number)
    if queries and len(queries) != rows:
        raise GoldenSetError(
            f"{beside} covers {plural(len(queries), 'row')}, but there are {rows:,}; is one of the "
            "files truncated?"
        )
    builder.candidates = candidates.built()
    for query_id in builder.queries:
        if text := headers.get(query_id):
            builder.queries[query_id] = Query(query_id, text)
    return builder.built()


def _query_id(pairs: list[str]) -> str | None:
    """Remove the query id from the pairs of a line and return it; None without one."""
    if pairs and pairs[0].startswith("qid:"):
        return pairs.pop(0).removeprefix("qid:") or None
    return None


def _features(pairs: list[str], where: str) -> dict[str, float]:
    features: dict[str, float] = {}
    for pair in pairs:
        name, colon, text = pair.partition(":")
        value = checked_number(text)
        if not colon or not is_feature_number(name) or value is None:
            raise GoldenSetError(
                f"{where}: '{quoted(pair, 60)}' is not feature:value; a "
                "line has the form: grade qid:1 1:0.5 2:0.25 # doc_id"
            )
        name = name.lstrip("0") or "0"
        if name in features:
            raise GoldenSetError(f"{where}: duplicate feature '{quoted(name)}'; keep one of them")
        features[name] = float(value)
    return features


def _queries_beside(path: Path, where: str) -> Sequence[str]:
    """Return the query of each row, from a file beside the rows with the sizes of the queries."""
    if not path.exists():
        raise GoldenSetError(
            f"{where}: no qid:, and no file {path.name} or {_SIZES[1]} with the sizes of queries"
        )
    queries: list[str] = []
    for query, (number, line) in enumerate(lines_of(path, GoldenSetError), 1):
        size = checked_number(line.strip())
        if not isinstance(size, int) or size < 0:
            raise GoldenSetError(
                f"{path}:{number}: '{quoted(line, 40)}' is not a size; sizes are whole numbers "
                "from 0 on"
            )
        queries += [str(query)] * size
    return queries


FORMAT = Format(
    name="letor",
    description="LETOR or SVMlight, lines of: grade qid:1 1:0.5 2:0.25 # doc_id",
    recognises=lambda sample: _LINE.match(sample.line) is not None,
    read=read,
)
