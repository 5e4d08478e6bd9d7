"""A golden set as complete plain data, for a ranker in another process.

The file formats each leave something out: JSON lines cannot hold candidates, and tables cannot hold
attributes that are lists. Attributes and cells of candidates are plain values, which JSON can hold.
Executors pickle what they send (`golden_chunks`), but nothing in this package unpickles.
"""

from __future__ import annotations

from typing import Any

from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query

__all__ = ["golden_from_data", "golden_to_data"]


def golden_to_data(golden: GoldenSet) -> dict[str, Any]:
    """Return the grades, and everything that a ranker can see, as data for JSON.

    Expectations are left out, because no ranker sees them.
    """
    candidates = golden._contents.candidates
    return {
        "name": golden.name,
        "scale": golden.scale if golden.judgment_count else None,
        "queries": [
            [query.id, query.text, dict(query.attributes), dict(golden.grades(query.id))]
            for query in golden
        ],
        "candidates": {
            "absent": candidates.absent,
            "first_feature": candidates.first_feature,
            "columns": [
                [name, not isinstance(column, list)] for name, column in candidates.columns.items()
            ],
            "rows": [
                [query_id, doc_id, candidates.row(row)]
                for query_id in candidates.query_ids
                for doc_id, row in candidates.rows(query_id).items()
            ],
        },
    }


def golden_from_data(data: dict[str, Any]) -> GoldenSet:
    """Return the golden set from which `golden_to_data` made the data."""
    contents = Contents()
    contents.scale = data["scale"]
    for query_id, text, attributes, grades in data["queries"]:
        contents.add_query(Query(query_id, text, attributes), f"query {query_id!r}")
        contents.add_judgments(query_id, grades, f"query {query_id!r}")
    given, candidates = data["candidates"], contents.candidates
    candidates.absent, candidates.first_feature = given["absent"], given["first_feature"]
    for name, is_number in given["columns"]:
        candidates.declare(name, is_number=is_number)
    for query_id, doc_id, cells in given["rows"]:
        candidates.add(query_id, doc_id, cells)
    candidates.complete()
    return GoldenSet(contents, data["name"])
