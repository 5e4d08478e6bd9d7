"""Lint rule for columns of candidates that may be attributes with a wrong cell."""

from __future__ import annotations

from array import array

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.files.plain_values import is_missing
from pytest_rankcheck.golden.column_marks import spread_of
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule

_FEW = 4
"""A column that varies in at most 1 of this many queries may be an attribute with an error."""


@rule("warning")
def mixed_column(linted: Linted) -> RuleResult | None:
    """A column with one value in most queries, as attributes have, but several in a few."""
    candidates = linted.contents.candidates
    if linted.contents.source.attributes is not None:
        return None
    of_query = {query_id: candidates.rows(query_id).values() for query_id in candidates.query_ids}
    rows = {query_id: list(places) for query_id, places in of_query.items() if len(places) > 1}
    mixed = {}
    has_features = False
    for name, column in candidates.columns.items():
        cells = [None if is_missing(cell) else cell for cell in column]
        spread = spread_of(rows, cells)
        if spread.is_nearly_steady(_FEW):
            mixed[name] = spread, cells
        elif isinstance(column, array) and spread.varying:
            has_features = True
    if has_features:  # numbers that are nearly constant within queries are features beside features
        mixed = {
            name: column
            for name, column in mixed.items()
            if not isinstance(candidates.columns[name], array)
        }
    if not mixed:
        return None
    name, (spread, cells) = next(iter(mixed.items()))
    query_ids = tuple(dict.fromkeys(owner for each, _ in mixed.values() for owner in each.varying))
    first, *others = rows[spread.varying[0]]
    other = next(row for row in others if cells[row] != cells[first])
    shown = " and ".join(
        f"{_shown(cells[row])} for document '{quoted(candidates.doc_ids[row])}'"
        for row in (first, other)
    )
    steady, varying = spread.steady, len(spread.varying)
    return RuleResult(
        query_ids=query_ids,
        what=f"{plural(len(mixed), 'column varies', 'columns vary')} in few queries only: "
        f"'{quoted(name)}' has one value in {steady:,} of {steady + varying:,} queries, but in "
        f"query '{quoted(spread.varying[0])}' {shown}",
        why="It is not an attribute, so nothing can be sliced by it, and a reranker gets it as a "
        "feature",
        remedy="correct the cell, or choose the attributes with attributes= (rankcheck_attributes)",
    )


def _shown(cell: object) -> str:
    return "nothing" if cell is None else f"'{quoted(cell, 40)}'"
