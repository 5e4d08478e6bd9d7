"""A golden set as plain data, complete, for a ranker in another process.

The formats of files leave something out: JSON lines hold no candidates, tables no attributes that
are lists. Attributes and the cells of candidates are plain values already, and JSON keeps them.
"""

from __future__ import annotations

from typing import Any

from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.query import Query

__all__ = ["golden_from_data", "golden_to_data"]


def golden_to_data(golden: GoldenSet) -> dict[str, Any]:
    """Return all that a ranker can see of a golden set, and the grades, as data for JSON.

    Expectations are left out: no ranker sees them.
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
    """Return the golden set that `golden_to_data` was given."""
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
