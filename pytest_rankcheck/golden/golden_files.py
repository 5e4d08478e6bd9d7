"""Reading and writing golden sets, in the format that is named or detected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.format_registry import Format, Formats
from pytest_rankcheck.files.packed_files import require_packer, unpacked_suffix
from pytest_rankcheck.golden import formats
from pytest_rankcheck.golden.derived_contents import with_mapped_ids
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source

if TYPE_CHECKING:
    from pytest_rankcheck.document_ids import DocIdRule


GOLDEN_FORMATS: Formats[Contents] = Formats(formats, "golden sets", GoldenSetError)


def contents_of_file(
    source: Source, format: str | None = None, doc_id: DocIdRule | None = None
) -> Contents:
    """Return the contents of a file or folder; without a ``format``, its content decides.

    Errors are those of ``GoldenSet.load``.
    """
    file, columns = source.file, source.columns
    chosen = GOLDEN_FORMATS.named(format) if format else GOLDEN_FORMATS.detected(file, columns)
    contents = chosen.read(source)
    if not contents.grades:
        raise GoldenSetError(f"{file} is empty; a golden set has at least one judged query")
    if not source.is_shared:
        contents.check_attributes()
    return with_mapped_ids(contents, doc_id)


def write_contents(contents: Contents, path: Path, format: str | None) -> None:
    """Write a golden set to a file, completely or not at all."""
    require_packer(path, GoldenSetError)
    chosen = GOLDEN_FORMATS.to_write(format, unpacked_suffix(path), "jsonl")
    assert chosen.write is not None
    contents.refuse_subtopics("saved; keep its file")
    _refuse_loss(contents, chosen)
    chosen.write(contents, path)


def _refuse_loss(contents: Contents, format: Format[Contents]) -> None:
    """Reject a set with candidates, expectations or lists if the format cannot hold them.

    A text format would read a list in an attribute or a candidate column back as text.
    """
    lost = what = other = None
    if contents.by_text and format.name != "jsonl":
        lost, what, other = "this golden set", "expected texts", "jsonl"
    elif "candidates" in format.cannot_hold and contents.candidates:
        lost, what, other = "this golden set", "candidates", "csv, tsv or parquet"
    elif "expectations" in format.cannot_hold and any(contents.expectations.values()):
        lost, what, other = "this golden set", "expectations", "jsonl"
    elif "lists" in format.cannot_hold:
        name = _with_lists(contents)
        lost = None if name is None else f"'{quoted(name)}'"
        what = "lists"
        other = "parquet" if contents.candidates else "jsonl or parquet"
    if lost is not None:
        raise GoldenSetError(f"{lost} has {what}, which {format.name} cannot hold; save as {other}")


def _with_lists(contents: Contents) -> str | None:
    """Return an attribute, or a column of the candidates, with a list or an object in a cell."""
    for query in contents.queries.values():
        for name, value in query.attributes.items():
            if isinstance(value, (list, dict)):
                return name
    for name, cells in contents.candidates.compact().columns.items():
        if any(isinstance(cell, (list, dict)) for cell in cells):
            return name
    return None
