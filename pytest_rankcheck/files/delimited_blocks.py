"""Large delimited tables, read by polars in blocks of lines.

A block is ordinary if every line has as many cells as the header, and quotation marks only around
cells and doubled within; then polars and the csv module give the same cells. Any other block is
read by the csv module, which names the line that is wrong. Only modules that have found polars
installed import this one.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.delimited_rows import DelimitedTable
from pytest_rankcheck.files.polars_columns import PolarsColumn
from pytest_rankcheck.files.table_batches import Batch, batches_of_rows
from pytest_rankcheck.files.text_files import blocks_of_lines, lines_of_block

__all__ = ["Blocks"]

BLOCK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Blocks:
    """The lines of a file in blocks, each read by the reader that suits it."""

    path: Path
    table: DelimitedTable
    error: type[RankcheckError]

    def batches(self) -> Iterator[Batch]:
        """Yield the rows of the table in columns of polars.

        Raises:
            RankcheckError: as in `table_of`.
        """
        blocks = self._after_header()
        for number, block in blocks:
            columns = self._columns_of(block)
            if columns is not None:
                numbers = range(number, number + columns.height)
                yield Batch(self.table.header, numbers, partial(_column, columns))
            elif b'"' in block:  # a quoted cell may continue in the next block
                yield from self._row_by_row(number, chain([(number, block)], blocks))
            else:
                yield from self._row_by_row(number, iter([(number, block)]))

    def _row_by_row(self, number: int, blocks: Iterator[tuple[int, bytes]]) -> Iterator[Batch]:
        lines = (lines_of_block(self.path, *block, self.error) for block in blocks)
        rows = self.table.rows_of(number, chain.from_iterable(lines))
        for batch in batches_of_rows(self.table.header, rows):
            yield Batch(batch.header, batch.numbers, partial(_text_column, batch))

    def _after_header(self) -> Iterator[tuple[int, bytes]]:
        """Yield blocks without the header, each with the number of its first line."""
        for number, block in blocks_of_lines(self.path, self.error, BLOCK_BYTES):
            begin, start = 0, number
            while start < self.table.first_line and begin < len(block):
                begin, start = block.find(b"\n", begin) + 1, start + 1
            if begin < len(block):
                yield start, block[begin:] if begin else block

    def _columns_of(self, block: bytes) -> pl.DataFrame | None:
        """Return a block in columns; None if it is not ordinary."""
        text = block.replace(b"\r\n", b"\n") if b"\r" in block else block
        if b"\r" in text or b"\0" in text or text.startswith(codecs.BOM_UTF8):
            return None
        count, lines = len(self.table.header), text.count(b"\n")
        is_quoted = b'"' in text
        if not is_quoted and text.count(self.table.delimiter.encode()) != lines * (count - 1):
            return None
        try:
            # Polars refuses a line with too many cells. With the right number of separators in
            # all, no line has too few cells then.
            if is_quoted and not self._has_whole_cells(text):
                return None
            columns = pl.read_csv(
                text,
                has_header=False,
                separator=self.table.delimiter,
                quote_char='"' if is_quoted else None,
                schema={str(index): pl.String for index in range(count)},
            )
        except (pl.exceptions.PolarsError, UnicodeDecodeError):
            return None
        return columns if columns.height == lines else None

    def _has_whole_cells(self, text: bytes) -> bool:
        """Whether each line consists of cells that are plain or quoted, as many as in the header.

        Raises:
            UnicodeDecodeError: the text is not UTF-8.
        """
        delimiter = f"\\x{ord(self.table.delimiter):02x}"  # may have a meaning in the pattern
        cell = rf'(?:[^"{delimiter}]*|"(?:[^"]|"")*")'
        lines = pl.Series([text.decode().removesuffix("\n")]).str.split("\n").explode()
        others = len(self.table.header) - 1
        return bool(lines.str.contains(f"^{cell}(?:{delimiter}{cell}){{{others}}}$").all())


def _column(columns: pl.DataFrame, index: int) -> PolarsColumn:
    return PolarsColumn(columns.to_series(index).fill_null(""))


def _text_column(batch: Batch, index: int) -> PolarsColumn:
    """Return a column of texts in polars, so that all batches of a table have the same kind."""
    return PolarsColumn(pl.Series(batch.column(index).cells(), dtype=pl.String))
