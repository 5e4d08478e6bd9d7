"""Large tables of text and files of JSON lines, read by polars in blocks of lines.

Polars reads a block of a table if it finds the cells there that the row reader would: each line has
as many as the header, and quotation marks are only around cells and doubled within. In JSON lines
it would drop a duplicate key or one that is new, and turn some values into text. So it reads only
blocks whose lines a pattern recognises as flat objects, with the keys and types of the first ones.
The row reader reads any other block, and names the line that is wrong. Only where polars is
installed, this module is imported.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.delimited_tables import DelimitedTable
from pytest_rankcheck.files.polars_columns import PolarsColumn, frame_of_lines
from pytest_rankcheck.files.table_batches import Batch, batches_of_rows
from pytest_rankcheck.files.text_files import blocks_of_lines, lines_of_block

_BLOCK = 8 << 20
_TEXT = r'"(?:[^"\\\x00-\x1f]|\\[/bfnrt]|\\u[0-9a-cefA-CEF][0-9a-fA-F]{3})*"'
"""Without escaped quotation marks, which show where keys are, and without surrogates."""
_VALUES: Mapping[pl.DataType, str] = {
    pl.Null(): "null",
    pl.String(): _TEXT,
    pl.Int64(): "-?(?:0|[1-9][0-9]{0,17})",
    pl.Float64(): r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?",
    pl.Boolean(): "true|false",
    pl.List(pl.String()): rf"\[(?:{_TEXT}(?:, ?{_TEXT})*)?\]",
}
"""The pattern of the values in each type of column."""
_ROW = "row of the block\n"
"""Not the name of a column, since no pattern matches a line end in a key."""


def batches_of_blocks(
    path: Path, table: DelimitedTable, error: type[RankcheckError]
) -> Iterator[Batch]:
    """Yield the rows of a file as columns of polars.

    Raises:
        error: as in `table_of`.
    """
    blocks = blocks_of_lines(path, error, _BLOCK)
    for first, block in blocks:
        number = max(first, table.body)
        text = block.split(b"\n", number - first)[-1]
        frame = _frame_of(text, table)
        if frame is not None:
            numbers = range(number, number + frame.height)
            yield Batch(table.header, numbers, partial(_texts, frame))
            continue
        # A quoted cell may continue in the next block.
        rest = blocks if b'"' in text else iter(())
        lines = (lines_of_block(path, *each, error) for each in chain([(number, text)], rest))
        yield from batches_of_rows(table.header, table.rows_of(chain.from_iterable(lines)))


def _texts(frame: pl.DataFrame, index: int) -> PolarsColumn:
    return PolarsColumn(frame.to_series(index).fill_null(""))


def _frame_of(block: bytes, table: DelimitedTable) -> pl.DataFrame | None:
    """Return a block in columns; None if polars might find other cells than the row reader."""
    text = block.replace(b"\r\n", b"\n")
    separator = table.separator
    count = len(table.header)
    if count < 2 or len(separator) > 1:
        return None
    if b"\r" in text or b"\0" in text or text.startswith(codecs.BOM_UTF8):
        return None
    if b'"' in text:
        are_whole = _have_whole_cells(text, separator, count)
        if are_whole:
            return frame_of_lines(text, separator, count, quote='"')
        return None
    # Polars refuses lines with too many cells, so none has too few if all together are right.
    others = text.count(b"\n") * (count - 1)
    is_regular = text.count(separator.encode()) == others
    return frame_of_lines(text, separator, count) if is_regular else None


def _have_whole_cells(text: bytes, separator: str, count: int) -> bool:
    """Whether each line has so many cells, each plain or quoted."""
    between = f"\\x{ord(separator):02x}"  # may have a meaning in the pattern
    cell = rf'(?:[^"{between}]*|"(?:[^"]|"")*")'
    lines = pl.Series([text.decode(errors="replace").removesuffix("\n")]).str.split("\n").explode()
    return bool(lines.str.contains(f"^{cell}(?:{between}{cell}){{{count - 1}}}$").all())


def layouts_of_block(first: int, block: bytes) -> list[Batch] | None:
    """Return lines in batches with the same keys, in the order of their first rows.

    Args:
        first: the number of the first line.
        block: complete lines.

    Returns:
        The batches; None if polars might find other values than the row reader.
    """
    try:
        lines = pl.Series([block.decode().removesuffix("\n")]).str.split("\n").explode()
        frame = pl.read_ndjson(io.BytesIO(block))
        is_ordinary = lines.str.contains(_pattern(frame.schema))
        has = {key: lines.str.contains(f'"{key}":', literal=True) for key in frame.columns}
        keys = pl.DataFrame(has)
        is_once = lines.str.count_matches('":', literal=True) == keys.sum_horizontal()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, LookupError, ValueError):
        return None
    if (is_ordinary & is_once).all():
        return list(_layouts(first, frame, keys))
    return None


def _pattern(schema: pl.Schema) -> str:
    cells = [f'"{re.escape(key)}": ?(?:null|{_VALUES[kind]})' for key, kind in schema.items()]
    cell = f"(?:{'|'.join(cells)})"
    return rf"^\{{{cell}(?:, ?{cell})*\}}$"


def _layouts(first: int, frame: pl.DataFrame, keys: pl.DataFrame) -> Iterator[Batch]:
    for has, part in keys.with_row_index(_ROW).group_by(keys.columns, maintain_order=True):
        rows = part[_ROW]
        header = [key for key, is_there in zip(keys.columns, has, strict=True) if is_there]
        columns = [PolarsColumn(cells) for cells in frame[header][rows]]
        yield Batch(header, (rows + first).to_list(), columns.__getitem__)
