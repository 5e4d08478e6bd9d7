r"""Judging lists with grades filled in: the CSV of ``--rankcheck-unjudged`` and of ``pool``.

    query_id,query,doc_id,title,relevance,rank,metric,influence

Rows without a grade are not judged yet, and are skipped. A cell that a spreadsheet would take for a
formula is written with a leading apostrophe, which is removed again. A cell with control characters
is written as a JSON string, ``"two\nlines"``, which is read back.
"""

from __future__ import annotations

import json
import re

from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.delimited_tables import normalised_name, table_of
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.whole_files import readable_json
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source, checked_id
from pytest_rankcheck.golden.query import Query

COLUMNS = ("query_id", "query", "doc_id", "title", "relevance", "rank", "metric", "influence")
_NEEDED = COLUMNS[:5]
"""The columns that are read back."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""Characters that start a spreadsheet formula, and the guard itself."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, line and paragraph ends, marks that reorder text, and what UTF-8 cannot encode."""
_QUOTE = '"'


def guarded(text: str) -> str:
    """Return a text, guarded with an apostrophe if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def shown(text: str) -> str:
    """Return a text as a cell: guarded, or as a JSON string if it has control characters.

    What begins with a quotation mark is a JSON string too, so that each cell is read as one text.
    """
    is_plain = not _CONTROL.search(text) and not text.startswith(_QUOTE)
    return guarded(text) if is_plain else readable_json(text)


def _read_cell(cell: str, where: str) -> str:
    """Return the text of a cell, which is a JSON string if it begins with a quotation mark."""
    if not cell.startswith(_QUOTE):
        return cell.removeprefix("'")
    try:
        return str(json.loads(cell))
    except ValueError:
        raise GoldenSetError(
            f"{where}: '{quoted(cell, 60)}' begins with a quotation mark, but is not a JSON "
            "string; keep ids and texts as they were written"
        ) from None


def read(source: Source) -> Contents:
    """Read the judgments that were filled in."""
    builder = ContentsBuilder(source)
    table = table_of(source.file, GoldenSetError)
    place = {normalised_name(name): index for index, name in enumerate(table.header)}
    missing = [name for name in _NEEDED if name not in place]
    if missing:
        raise GoldenSetError(
            f"{source.file} has no column {listed(missing)}; keep the columns as they were written"
        )
    for number, row in table.rows:
        if not row[place["relevance"]].strip():
            continue
        where = f"{source.file}:{number}"
        cells = {name: _read_cell(row[place[name]], where) for name in _NEEDED}
        query_id = checked_id(cells["query_id"], "query_id", number, builder.places)
        builder.see_query(Query(query_id, cells["query"] or None), number)
        builder.add_judgment(query_id, cells["doc_id"], cells["relevance"], number)
        if cells["title"]:
            builder.titles[cells["doc_id"]] = cells["title"]
    if not len(builder.collected.judgments):
        raise GoldenSetError(
            f"{source.file}: no row has a grade in the column relevance yet; fill it in first"
        )
    return builder.built()


FORMAT = Format(
    name="to_judge",
    description="the CSV of `--rankcheck-unjudged` or `pool`, once grades are filled in",
    recognises=lambda sample: {"relevance", "metric", "influence"} <= set(sample.header),
    read=read,
)
