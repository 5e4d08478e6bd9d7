"""The document ids of a corpus, streamed: a corpus may be far larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from pytest_rankcheck.argument_kinds import library_of_frame
from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.checked_cells import id_text
from pytest_rankcheck.files.delimited_tables import Role, header_of, normalised_name
from pytest_rankcheck.files.file_patterns import is_pattern, matching_files
from pytest_rankcheck.files.packed_files import first_bytes, unpacked_suffix
from pytest_rankcheck.files.parquet_files import is_arrow, is_parquet
from pytest_rankcheck.files.table_batches import Table
from pytest_rankcheck.files.tables import read_table
from pytest_rankcheck.files.text_files import begins_object, blocks_of_lines, decode_utf8, lines_of
from pytest_rankcheck.golden.judgment_columns import DOC_ID

if TYPE_CHECKING:
    from pytest_rankcheck.files.frame_tables import Frame

__all__ = ["BEIR_CORPUS", "Corpus", "CorpusSource"]

CorpusSource: TypeAlias = "str | PathLike[str] | Iterable[str] | Frame"
"""A file or folder with a corpus, a table of its documents, or their ids."""

BEIR_CORPUS = "corpus.jsonl"
"""The file with the documents in a BEIR folder."""

_ENDINGS = {
    *(".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt"),
    *(".ids", ".parquet", ".arrow", ".feather"),
}
"""The files in a folder that are parts of the corpus."""
_ROLE = Role("doc_id", DOC_ID.names, otherwise=("id",))
_START_BYTES = 16
_BATCH = 1 << 16

Batches: TypeAlias = Iterator[Sequence[str]]


class Corpus:
    """A corpus whose document ids can be read once."""

    def __init__(
        self, name: str, read: Callable[[], Batches], *, is_iterator: bool = False
    ) -> None:
        self.name = name
        """What messages call it: ``the corpus``, followed by the path if it is in files."""
        self._read = read
        self._is_iterator = is_iterator

    @classmethod
    def of(cls, source: CorpusSource, columns: Mapping[str, str] | None = None) -> Corpus:
        """Return the corpus in a file or folder, a table, or an iterable of ids.

        A folder is a BEIR collection, or contains the parts of the corpus. A file is a table with
        a column of ids (JSON lines, CSV, TSV, Parquet, Arrow), a tab-separated table whose first
        column has the ids, or a list with one id per line. It may be packed.

        Args:
            source: the source of the ids.
            columns: ``{"doc_id": column}`` if the column of ids has an unusual name.
        """
        named = (columns or {}).get("doc_id")
        if isinstance(source, (str, PathLike)):
            path = Path(source)
            return cls(f"the corpus {quoted(path, 300)}", lambda: _of_files(_files(path), named))
        if library_of_frame(source) is not None:
            table = read_table(source, GoldenSetError, name="the corpus")
            return cls("the corpus", lambda: _of_table(table, named))
        ids = cast("Iterable[object]", source)
        return cls("the corpus", lambda: _of_ids(ids), is_iterator=isinstance(ids, Iterator))

    def batches(self) -> Batches:
        """Yield the ids in order, some thousands at a time, including duplicates.

        Raises:
            GoldenSetError: a file is missing, damaged or empty, has no column of ids, or has a row
                without an id; the message names the file and the line.
        """
        batches = self._read()
        first = next(batches, None)
        if first is None:
            hint = "; an iterator can be read only once" if self._is_iterator else ""
            raise GoldenSetError(f"{self.name} has no documents{hint}")
        return chain([first], batches)


def _files(path: Path) -> Sequence[Path]:
    """Return the files of a path, a pattern or a folder, in the order of their names."""
    if is_pattern(path) or not path.is_dir():
        return matching_files([path], GoldenSetError)
    if (path / BEIR_CORPUS).exists():
        return [path / BEIR_CORPUS]
    files = [
        file
        for file in path.iterdir()
        if unpacked_suffix(file).lower() in _ENDINGS and not file.name.startswith((".", "_"))
    ]
    if not files:
        raise GoldenSetError(
            f"corpus: the folder {path} has no file that ends with {listed(sorted(_ENDINGS), 20)}; "
            "give the path of the file with the documents"
        )
    return matching_files(files, GoldenSetError)


def _of_files(files: Sequence[Path], named: str | None) -> Batches:
    for file in files:
        yield from _of_file(file, named)


def _of_file(file: Path, named: str | None) -> Batches:
    start = first_bytes(file, _START_BYTES, GoldenSetError)
    if is_parquet(start) or is_arrow(start):
        return _of_table(read_table(file, GoldenSetError, name="the corpus"), named)
    lines = lines_of(file, GoldenSetError)
    number, line = next((each for each in lines if not each[1].startswith("#")), (0, ""))
    if line.startswith("["):
        raise GoldenSetError(
            f"{file}:{number}: the corpus is a JSON array, which cannot be read in parts; write "
            "one object or id per line"
        )
    header = [] if begins_object(line) else header_of(line)
    is_named = named is not None and normalised_name(named) in header
    if begins_object(line) or (len(header) > 1 and (is_named or _ROLE.among(header))):
        return _of_table(read_table(file, GoldenSetError, name="the corpus"), named)
    if len(header) > 1 and "\t" not in line:
        raise _no_column(f"{file}:{number}", header)
    return _of_lines(file, skipped=number if is_named or _ROLE.among(header) else 0)


def _of_lines(file: Path, skipped: int) -> Batches:
    """Yield the first column of a file without a header, or the lines of a list."""
    for number, block in blocks_of_lines(file, GoldenSetError):
        text = decode_utf8(block, f"{file}:{number}", GoldenSetError).replace("\r\n", "\n")
        lines = text.split("\n")
        if number <= skipped < number + len(lines):
            lines = lines[skipped - number + 1 :]
        ids = [line.partition("\t")[0] for line in lines if not line.isspace()]
        if some := list(filter(None, ids)):
            yield some


def _of_table(table: Table, named: str | None) -> Batches:
    index = _id_column(table, named)
    for batch in table.batches([index]):
        column = batch.column(index)
        cells = column.ids()
        for row in cells.invalid[:1].tolist():
            where = table.numbering.place(int(batch.numbers[row]))
            raise GoldenSetError(
                f"{where}: the {quoted(table.header[index])} of a document in the corpus is "
                f"{quoted(repr(column.cell(row)), 60)}; an id is a text or a whole number"
            )
        if len(cells.ids):
            yield cells.ids.texts()


def _id_column(table: Table, named: str | None) -> int:
    """Return the index of the column with the ids."""
    if named in table.header:
        return table.header.index(named)
    names = list(map(normalised_name, table.header))
    places = _ROLE.among(names)
    if len(places) > 1:
        raise GoldenSetError(
            f"{table.numbering.source}: the columns "
            f"{listed([table.header[place] for place in places])} of the corpus could both be the "
            "ids; choose one with columns={'doc_id': ...} (rankcheck_columns)"
        )
    if not places:
        raise _no_column(table.numbering.source, table.header)
    return places[0]


def _no_column(where: str, header: Sequence[str]) -> GoldenSetError:
    return GoldenSetError(
        f"{where}: the corpus has no column of ids, such as doc_id, _id or id; it has "
        f"{listed(header, 10)}. Rename the column, or name it with columns={{'doc_id': ...}} "
        "(rankcheck_columns)"
    )


def _of_ids(source: Iterable[object]) -> Batches:
    iterator, number = iter(source), 0
    while some := list(islice(iterator, _BATCH)):
        ids = [id_text(each) for each in some]
        if None in ids:
            wrong = ids.index(None)
            raise GoldenSetError(
                f"corpus=: element {number + wrong + 1:,} is {quoted(repr(some[wrong]), 60)}; an "
                "id is a text or a whole number"
            )
        yield ids  # type: ignore[misc]
        number += len(some)
