"""Reading and writing golden sets: files in a named or detected format, and ir_datasets."""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.format_registry import Format, Formats
from pytest_rankcheck.files.packed_files import require_packer, unpacked_suffix
from pytest_rankcheck.golden import formats
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.derived_contents import with_mapped_ids
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.remedies import install

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
    has = {
        "expected texts": bool(contents.by_text),
        "candidates": bool(contents.candidates),
        "expectations": any(contents.expectations.values()),
        "lists": "lists" in format.cannot_hold and _has_lists(contents),
    }
    for what in format.cannot_hold:
        if has[what]:
            raise GoldenSetError(
                f"this golden set has {what}, which {format.name} cannot hold; save as jsonl, or "
                "as parquet if it has candidates"
            )


def _has_lists(contents: Contents) -> bool:
    """Whether an attribute, or a column of the candidates, has a list or an object in a cell."""
    attributes = (query.attributes.values() for query in contents.queries.values())
    columns = contents.candidates.compact().columns.values()
    return any(isinstance(cell, (list, dict)) for cell in chain(*attributes, *columns))


# --- ir_datasets ---------------------------------------------------------------------------------

_TEXTS = ("text", "title", "query", "description")
"""Fields with the text of a query, in order of preference."""


def loaded(name: str) -> Any:
    """Return the ir_datasets dataset with this name."""
    try:
        ir_datasets = import_module("ir_datasets")
    except ModuleNotFoundError:
        raise GoldenSetError(
            f"reading the dataset '{quoted(name)}' needs ir_datasets: {install('datasets')}"
        ) from None
    try:
        return ir_datasets.load(name)
    except KeyError:
        raise GoldenSetError(f"ir_datasets has no dataset '{quoted(name)}'") from None


def contents_of_dataset(dataset: Any, name: str, source: Source) -> Contents:
    """Return the judged queries of a dataset, with their judgments.

    Queries without judgments are left out: collections have many of them, and they would count as
    failures.
    """
    for what in ("qrels", "queries"):
        has = getattr(dataset, f"has_{what}", None)
        if not hasattr(dataset, f"{what}_iter") or (has is not None and not has()):
            raise GoldenSetError(f"the dataset '{quoted(name)}' has no {what}")
    builder = ContentsBuilder(source)
    for qrel in dataset.qrels_iter():
        where = f"{name}, query '{quoted(qrel.query_id)}'"
        builder.add_judgment(qrel.query_id, qrel.doc_id, qrel.relevance, where)
    for query in dataset.queries_iter():
        if query.query_id in builder.collected:
            builder.add_query(_query(query), f"{name}, query '{quoted(query.query_id)}'")
    return builder.built()


def _query(record: Any) -> Query:
    fields = {key: getattr(record, key) for key in record._fields if key != "query_id"}
    texts = [key for key in _TEXTS if isinstance(fields.get(key), str)]
    text = fields.pop(texts[0]) if texts else None
    plain = {key: value for key, value in fields.items() if isinstance(value, (str, int, float))}
    attributes = {key: value for key, value in plain.items() if value != ""}
    return Query(record.query_id, text, attributes)
