"""Comma- or tab-separated tables with one row per judgment: ``query_id,doc_id,relevance``.

The separator (comma, tab, semicolon or bar) is detected from the header. Other usual column names
are recognised (``qid``, ``docno``, ``query-id``, ``corpus-id``, ``label``, ``rating``, ``grade``).
Without a ``query_id``, the text of the query, in the column ``query``, is its id.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError
from pytest_rankcheck.files.delimited_tables import table_text
from pytest_rankcheck.files.format_registry import FileSample, Format
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.golden.format_limits import refuse_expectations, refuse_lists
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgment_columns import may_have_judgments

__all__ = ["FORMATS"]


def read(source: Source) -> Contents:
    """Read a table.

    Raises:
        GoldenSetError: a column is missing, or a row is malformed or contradicts another; the
            message names file and line.
    """
    from pytest_rankcheck.files.tables import read_table
    from pytest_rankcheck.golden.judgment_table import add_table

    contents = Contents(source)
    add_table(contents, read_table(source.file, GoldenSetError, kind="delimited"))
    return contents


def write(contents: Contents, path: Path, *, delimiter: str) -> None:
    """Write a table.

    Raises:
        GoldenSetError: an attribute has the name of a column, an id cannot be encoded, or the
            set has expectations or lists.
    """
    from pytest_rankcheck.golden.contents_table import table_of_contents

    name = "tsv" if delimiter == "\t" else "csv"
    refuse_expectations(contents, name)
    refuse_lists(contents, name)
    header, rows = table_of_contents(contents)
    write_whole(path, table_text(header, list(rows), GoldenSetError, delimiter))


def _recognises(sample: FileSample, delimiter: str) -> bool:
    return may_have_judgments(sample.header) and ("\t" in sample.line) == (delimiter == "\t")


FORMATS = (
    Format(
        name="csv",
        description="comma-separated with a header such as query_id,query,doc_id,relevance; other "
        "names are mapped with columns=... (rankcheck_columns)",
        recognises=partial(_recognises, delimiter=","),
        read=read,
        write=partial(write, delimiter=","),
        endings=(".csv",),
        is_vague=True,
    ),
    Format(
        name="tsv",
        description="the same, tab-separated",
        recognises=partial(_recognises, delimiter="\t"),
        read=read,
        write=partial(write, delimiter="\t"),
        endings=(".tsv",),
        is_vague=True,
    ),
)
