"""Loading golden sets from ir_datasets, the catalogue of test collections."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.remedies import install

_TEXTS = ("text", "title", "query", "description")
"""Fields with the text of a query, in order of preference."""


def loaded(name: str) -> Any:
    """Return the ir_datasets dataset with this name."""
    try:
        ir_datasets = import_module("ir_datasets")
    except ModuleNotFoundError as missing:
        if missing.name != "ir_datasets":
            raise
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
