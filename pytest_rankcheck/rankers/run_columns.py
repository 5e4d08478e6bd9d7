"""The column roles of runs that are tables, with their usual names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pytest_rankcheck.errors import RunError, listed, quoted
from pytest_rankcheck.files.delimited_tables import (
    DOC_ID,
    Role,
    index_of_roles,
    lacks,
    looks_meant_for,
)
from pytest_rankcheck.golden.judgment_columns import QUERY_ID, is_index

RANK = Role("rank", ("rank", "position", "pos"))
"""The place of a document in its ranking."""

_ROLES = (
    Role(QUERY_ID.name, QUERY_ID.names, otherwise=("query",)),
    DOC_ID,
    Role("score", ("score", "similarity", "sim")),
    RANK,
)
_ORDER = Role("score or rank", (*_ROLES[2].names, *RANK.names))
"""What decides the order, if a run lacks both columns."""


def may_have_ranking(header: Sequence[str]) -> bool:
    """Whether a header of normalised names is that of a run, perhaps with wrong names."""
    return looks_meant_for(header, _ROLES)


def run_columns(
    header: Sequence[str],
    columns: Mapping[str, str],
    where: str,
    *,
    in_order: bool | None = None,
) -> dict[str, int]:
    """Return the indexes of ``query_id``, ``doc_id``, ``score`` and ``rank`` in a header.

    Args:
        header: the names of all columns.
        columns: ``{meaning: column}`` for columns with unusual names.
        where: what messages call the run.
        in_order: whether rows without scores and ranks are in order; None: they cannot be.

    Raises:
        RunError: a column is missing, or two columns match the same role.
    """
    place = index_of_roles(header, _ROLES, columns, where, RunError)
    missing = [role for role in _ROLES[:2] if role.name not in place]
    if not in_order and "score" not in place and "rank" not in place:
        missing.append(_ORDER)
    if missing == [_ORDER]:
        problem = _lacks_order(header, place.values())
        if in_order is not None:
            problem += ". If the rows are in order, say so: Run.from_frame(frame, in_order=True)"
        raise RunError(f"{where} {problem}")
    if missing:
        needed = "query_id and doc_id" if in_order else "query_id, doc_id, and score or rank"
        raise RunError(f"{where} {lacks(header, place.values(), missing)}. A run needs {needed}")
    return place


def _lacks_order(header: Sequence[str], taken: Collection[int]) -> str:
    """Return a clause about a missing score or rank, with both meanings of the column for it."""
    others = (name for index, name in enumerate(header) if index not in taken)
    free = [name for name in others if not is_index(name)]
    column = _ORDER.near(free)
    if column is None and len(free) == 1:
        column = free[0]
    has = f"has no column score or rank; it has {listed(header, 10)}"
    if not free:
        return f"{has}. Add the score or the rank of each document"
    subject = f"'{quoted(column)}'" if column else "the column that gives the order"
    key = repr(quoted(column)) if column else "..."
    return (
        f"{has}. Rename {subject} to rank if it is 1, 2, 3, ..., or to score if the highest is "
        f"best (negate distances); or pass columns={{'rank': {key}}} or "
        f"columns={{'score': {key}}} (rankcheck_columns)"
    )
