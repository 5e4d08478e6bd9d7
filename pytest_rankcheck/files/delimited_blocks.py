"""Large delimited tables, read by polars in blocks of lines.

Polars reads a block if it finds the cells there that the row reader would: each line has as many
as the header, and quotation marks are only around cells and doubled within. The row reader reads
any other block, and names the line that is wrong. Only where polars is installed, this module is
imported.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.delimited_rows import DelimitedTable
from pytest_rankcheck.files.polars_columns import PolarsColumn, frame_of_lines
from pytest_rankcheck.files.table_batches import Batch, batches_of_rows
from pytest_rankcheck.files.text_files import blocks_of_lines, lines_of_block

_BLOCK = 8 << 20


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
            yield Batch(table.header, numbers, partial(_column, frame))
            continue
        # A quoted cell may continue in the next block.
        rest = blocks if b'"' in text else iter(())
        lines = (lines_of_block(path, *each, error) for each in chain([(number, text)], rest))
        yield from batches_of_rows(table.header, table.rows_of(chain.from_iterable(lines)))


def _frame_of(block: bytes, table: DelimitedTable) -> pl.DataFrame | None:
    """Return a block in columns; None if polars might find other cells than the row reader."""
    text, separator, count = block.replace(b"\r\n", b"\n"), table.separator, len(table.header)
    if count < 2 or len(separator) > 1:
        return None
    if b"\r" in text or b"\0" in text or text.startswith(codecs.BOM_UTF8):
        return None
    if b'"' in text:
        are_whole = _have_whole_cells(text, separator, count)
        return frame_of_lines(text, separator, count, '"') if are_whole else None
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


def _column(frame: pl.DataFrame, index: int) -> PolarsColumn:
    return PolarsColumn(frame.to_series(index).fill_null(""))
