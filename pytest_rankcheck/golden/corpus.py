"""The document ids of a corpus, streamed, and which judged documents it contains.

A corpus may be far larger than memory. A judged document may be there under another spelling, as
spreadsheets, data frames and other tools change ids: other case, white space or Unicode
normalisation, ``.0`` at the end, lost zeros.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_rankcheck.argument_checks import library_of_frame
from pytest_rankcheck.document_ids import DocIdMap
from pytest_rankcheck.errors import GoldenSetError, listed, plural, quoted
from pytest_rankcheck.files.delimited_tables import (
    DOC_ID,
    Role,
    header_of,
    index_of_roles,
    normalised_name,
)
from pytest_rankcheck.files.file_patterns import is_pattern, matching_files
from pytest_rankcheck.files.packed_files import unpacked_suffix
from pytest_rankcheck.files.plain_values import id_text
from pytest_rankcheck.files.table_batches import Batch, Table
from pytest_rankcheck.files.tables import kind_of_table, read_table
from pytest_rankcheck.files.text_files import blocks_of_lines, decode_utf8, first_line

if TYPE_CHECKING:
    from pytest_rankcheck.files.frame_tables import Frame


CorpusSource: TypeAlias = "str | PathLike[str] | Iterable[str] | Frame"
"""A file or folder with a corpus, a table of its documents, or their ids."""

BEIR_CORPUS = "corpus.jsonl"
"""The file with the documents in a BEIR folder."""

_ENDINGS = {
    *(".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt"),
    *(".ids", ".parquet", ".arrow", ".feather"),
}
"""The files in a folder that are parts of the catalogue."""
_ROLE = Role("doc_id", DOC_ID.names, otherwise=("id",))
_BATCH = 1 << 16

_SHOWN = 3
"""How many ids of the catalogue are kept for messages."""
_MOST = 0.5
"""If a corpus distinguishes documents by spelling, such as by the case of short ids, a missing id
often resembles another one by chance. Then at least this share of the missing ids must have another
spelling in the catalogue to count as misspelt."""
_DECIMALS = re.compile(r"(?<=\d)\.0+$")

Batches: TypeAlias = Iterator[Sequence[str]]
Rows: TypeAlias = Iterator[tuple[Sequence[str], Batch | None]]
"""Some ids, and the rows of the table that they come from, if any."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus whose document ids can be read once."""

    name: str
    """What messages call it: ``the catalogue``, followed by the path if it is in files."""
    _read: Callable[[bool], Rows]
    """Reads the ids and, on request, the other columns."""

    @classmethod
    def of(cls, source: CorpusSource, columns: Mapping[str, str] | None = None) -> Corpus:
        """Return the catalogue in a file or folder, a table, or an iterable of ids.

        A folder is a BEIR collection, or contains its parts. A file is a table with a column of
        ids (JSON lines, CSV, TSV, Parquet, Arrow), a tab-separated table whose first column has
        the ids, or a list with one id per line. It may be packed.

        Args:
            source: the source of the ids.
            columns: ``{"doc_id": column}`` if the column of ids has an unusual name.
        """
        named = (columns or {}).get("doc_id")
        if isinstance(source, (str, PathLike)):
            path = Path(source)
            return cls(f"the catalogue {quoted(path, 300)}", partial(_of_path, path, named))
        of_source: Any = _of_ids if library_of_frame(source) is None else _of_frame
        return cls("the catalogue", partial(of_source, source, named))

    def batches(self) -> Batches:
        """Yield the ids in order, some thousands at a time, including duplicates.

        Raises:
            GoldenSetError: a file is missing, damaged or empty, has no column of ids, or has a row
                without an id; the message names the file and the line.
        """
        return (ids for ids, _ in self.rows(whole=False))

    def rows(self, *, whole: bool = True) -> Rows:
        """Yield the ids as `batches` does, with the rows that they come from."""
        rows = self._read(whole)
        first = next(rows, None)
        if first is None:
            raise GoldenSetError(f"{self.name} has no documents")
        return chain([first], rows)


@dataclass(frozen=True)
class CorpusMatch:
    """The judged documents, looked up in a corpus."""

    name: str
    """What messages call the catalogue."""
    size: int
    """How many ids it has, including duplicates."""
    examples: Sequence[str]
    """Its first ids."""
    judged: int
    """How many different documents are judged."""
    absent: Sequence[str]
    """The judged documents that it lacks under any spelling."""
    misspelt: Mapping[str, str]
    """The judged documents that it has under one other spelling."""
    unknown: Collection[str]
    """The unjudged documents of expectations that it lacks."""

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        judged: Iterable[str],
        to_id: DocIdMap | None,
        expected: Iterable[str] = (),
    ) -> CorpusMatch:
        """Look up judged documents; the catalogue is read once and not kept.

        Args:
            corpus: its ids.
            judged: the ids of judged documents, possibly repeated.
            to_id: maps the ids of the catalogue, as the ids of the judgments were mapped.
            expected: the ids of documents in expectations.
        """
        is_judged = dict.fromkeys(judged)
        others = set(expected).difference(is_judged)
        form_of = {doc_id: _loose_form(doc_id) for doc_id in is_judged}
        spellings: dict[str, set[str]] = {form: set() for form in form_of.values()}
        found: set[str] = set()
        examples: list[str] = []
        size = 0
        for ids in corpus.batches():
            batch = ids if to_id is None else list(map(to_id, ids))
            size += len(batch)
            examples += batch[: _SHOWN - len(examples)]
            found |= form_of.keys() & batch
            others.difference_update(batch)
            for doc_id, form in zip(batch, map(_loose_form, batch), strict=True):
                if form in spellings and len(spellings[form]) < 2:
                    spellings[form].add(doc_id)
        missing = {each: spellings[form_of[each]] for each in is_judged if each not in found}
        misspelt = {doc_id: min(ids) for doc_id, ids in missing.items() if len(ids) == 1}
        is_ambiguous = any(len(ids) > 1 for ids in spellings.values())
        if is_ambiguous and len(misspelt) < _MOST * len(missing):
            misspelt = {}
        absent = [doc_id for doc_id in missing if doc_id not in misspelt]
        return cls(corpus.name, size, examples, len(is_judged), absent, misspelt, others)

    def lacks(self, count: int) -> str:
        """Return in words that the catalogue lacks this many of the judged documents."""
        verb = "is" if count == 1 else "are"
        return f"{count:,} of {plural(self.judged, 'judged document')} {verb} not in {self.name}"


def _loose_form(doc_id: str) -> str:
    """Return an id without the features that spreadsheets and tools change."""
    if doc_id.isascii() and doc_id.isalnum():
        if doc_id.isdigit():
            return doc_id.lstrip("0") or "0"
        return doc_id.lower()
    plain = unicodedata.normalize("NFKC", doc_id).casefold()
    plain = _DECIMALS.sub("", "".join(plain.split()))
    if plain.isdecimal():
        return plain.lstrip("0") or "0"
    return plain


def _files(path: Path) -> Sequence[Path]:
    """Return the files of a path, a pattern or a folder, in the order of their names."""
    if is_pattern(path) or not path.is_dir():
        return matching_files([path], GoldenSetError)
    if (path / BEIR_CORPUS).exists():
        return [path / BEIR_CORPUS]
    files = []
    for file in path.iterdir():
        is_hidden = file.name.startswith((".", "_"))
        if unpacked_suffix(file).lower() in _ENDINGS and not is_hidden:
            files.append(file)
    if not files:
        raise GoldenSetError(
            f"corpus: the folder {path} has no file that ends with {listed(sorted(_ENDINGS), 20)}; "
            "give the path of the file with the documents"
        )
    return matching_files(files, GoldenSetError)


def _of_path(path: Path, named: str | None, whole: bool) -> Rows:
    return chain.from_iterable(_of_file(file, named, whole) for file in _files(path))


def _of_frame(frame: Frame, named: str | None, whole: bool) -> Rows:
    return _of_table(read_table(frame, GoldenSetError, name="the catalogue"), named, whole)


def _of_file(file: Path, named: str | None, whole: bool) -> Rows:
    kind = kind_of_table(file, GoldenSetError)
    if kind == "delimited":
        number, line = first_line(file, GoldenSetError)
        header = header_of(line)
        has_ids = bool(_ROLE.among(header)) or normalised_name(named or "") in header
        if len(header) > 1 and not has_ids and "\t" not in line:
            raise _no_column(f"{file}:{number}", header)
        if len(header) < 2 or not has_ids:
            return _of_lines(file, skipped=number if has_ids else 0)
    return _of_table(
        read_table(file, GoldenSetError, name="the catalogue", kind=kind), named, whole
    )


def _of_lines(file: Path, skipped: int) -> Rows:
    """Yield the first column of a file without a header, or the lines of a list."""
    for number, block in blocks_of_lines(file, GoldenSetError):
        text = decode_utf8(block, file, number, GoldenSetError).replace("\r\n", "\n")
        lines = text.split("\n")
        if number <= skipped < number + len(lines):
            lines = lines[skipped - number + 1 :]
        ids = [line.partition("\t")[0] for line in lines if not line.isspace()]
        if some := list(filter(None, ids)):
            yield some, None


def _of_table(table: Table, named: str | None, whole: bool) -> Rows:
    header, numbering = table.header, table.numbering
    wanted = None if whole or not header else [id_column(header, named, numbering.source)]
    for batch in table.batches(wanted):
        index = id_column(batch.header, named, numbering.place(batch.numbers[0]))
        column = batch.column(index)
        cells = column.ids()
        for row in cells.invalid[:1].tolist():
            where = numbering.place(int(batch.numbers[row]))
            raise GoldenSetError(
                f"{where}: the {quoted(batch.header[index])} of a document in the catalogue is "
                f"{quoted(repr(column.cell(row)), 60)}; an id is a text or a whole number"
            )
        if len(cells.ids):
            yield cells.ids.texts(), batch


def id_column(header: Sequence[str], named: str | None, where: str) -> int:
    """Return the index of the column with the ids."""
    columns = {}
    if named is not None and named in header:
        columns["doc_id"] = named
    place = index_of_roles(header, (_ROLE,), columns, where, GoldenSetError)
    if not place:
        raise _no_column(where, header)
    return place["doc_id"]


def _no_column(where: str, header: Sequence[str]) -> GoldenSetError:
    return GoldenSetError(
        f"{where}: the catalogue has no column of ids, such as doc_id, _id or id; it has "
        f"{listed(header, 10)}. Rename the column, or name it with columns={{'doc_id': ...}} "
        "(rankcheck_columns)"
    )


def _of_ids(source: Iterable[object], *_: object) -> Rows:
    iterator, number = iter(source), 0
    while some := list(islice(iterator, _BATCH)):
        ids = [id_text(each) for each in some]
        if None in ids:
            wrong = ids.index(None)
            raise GoldenSetError(
                f"documents=: element {number + wrong + 1:,} is {quoted(repr(some[wrong]), 60)}; "
                "an id is a text or a whole number"
            )
        yield ids, None  # type: ignore[misc]
        number += len(some)
