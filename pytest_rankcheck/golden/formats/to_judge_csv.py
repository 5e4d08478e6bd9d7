"""Judging lists with grades filled in: the CSV of ``--rankcheck-unjudged``.

    query_id,query,doc_id,title,relevance,rank,metric,influence

Rows without a grade are not judged yet, and are skipped. A cell that a spreadsheet would take for a
formula is written with a leading apostrophe, which is removed again.
"""

from __future__ import annotations

from pytest_rankcheck.errors import GoldenSetError, listed
from pytest_rankcheck.files.delimited_tables import normalised_name, table_of
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.golden.checked_values import checked_id
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.query import Query

__all__ = ["COLUMNS", "FORMAT", "guarded"]

COLUMNS = ("query_id", "query", "doc_id", "title", "relevance", "rank", "metric", "influence")
_NEEDED = COLUMNS[:5]
"""Those that are read again."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""Characters that start a spreadsheet formula, and the guard itself."""


def guarded(text: str) -> str:
    """Return a text, guarded with an apostrophe if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def read(source: Source) -> Contents:
    """Read the judgments that were filled in.

    Raises:
        GoldenSetError: a row has no id, or a grade is not a number; the message names file and
            line.
    """
    contents = Contents(source)
    table = table_of(source.file, GoldenSetError)
    place = {normalised_name(name): index for index, name in enumerate(table.header)}
    missing = [name for name in _NEEDED if name not in place]
    if missing:
        raise GoldenSetError(
            f"{source.file} has no column {listed(missing)}; keep the columns as they were written"
        )
    for number, row in table.rows:
        cells = {name: row[place[name]].removeprefix("'") for name in _NEEDED}
        if not cells["relevance"].strip():
            continue
        query_id = checked_id(cells["query_id"], "query_id", number, contents.places)
        contents.see_query(Query(query_id, cells["query"] or None), number)
        contents.add_judgment(query_id, cells["doc_id"], cells["relevance"], number)
        if cells["title"]:
            contents.titles[cells["doc_id"]] = cells["title"]
    if not contents.grades:
        raise GoldenSetError(
            f"{source.file}: no row has a grade in the column relevance yet; fill it in first"
        )
    return contents


def _recognises(sample: FileSample) -> bool:
    return {"relevance", "metric", "influence"} <= set(sample.header)


FORMAT = Format(
    name="to_judge",
    description="the CSV of `--rankcheck-unjudged`, once grades are filled in",
    recognises=_recognises,
    read=read,
)
