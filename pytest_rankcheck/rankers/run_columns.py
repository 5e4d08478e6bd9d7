"""The column roles of runs that are tables, with their usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.delimited_tables import Role, index_of_roles, lacks, looks_meant_for
from pytest_rankcheck.golden.judgment_columns import DOC_ID, QUERY_ID

__all__ = ["may_have_ranking", "run_columns"]

_ROLES = (
    Role(QUERY_ID.name, QUERY_ID.names, otherwise=("query",)),
    DOC_ID,
    Role("score", ("score", "similarity", "sim")),
    Role("rank", ("rank", "position", "pos")),
)
_ORDER = Role("score", (*_ROLES[2].names, *_ROLES[3].names))
"""What decides the order, if a run lacks both columns."""


def may_have_ranking(header: Sequence[str]) -> bool:
    """Whether a header of normalised names is that of a run, perhaps with wrong names."""
    return looks_meant_for(header, _ROLES)


def run_columns(
    header: Sequence[str], columns: Mapping[str, str], where: str, *, in_order: bool = False
) -> dict[str, int]:
    """Return the indexes of ``query_id``, ``doc_id``, ``score`` and ``rank``.

    Args:
        header: the column names of a table.
        columns: ``{role: column}`` for columns with unusual names.
        where: the table, for messages.
        in_order: whether the rows may be in order without a score or a rank.

    Raises:
        RunError: a column is missing, or two columns match the same role.
    """
    place = index_of_roles(header, _ROLES, columns, where, RunError)
    missing = [role for role in _ROLES[:2] if role.name not in place]
    if not in_order and "score" not in place and "rank" not in place:
        missing.append(_ORDER)
    if missing:
        needed = "query_id and doc_id" if in_order else "query_id, doc_id, and score or rank"
        raise RunError(f"{where} {lacks(header, place.values(), missing)}. A run needs {needed}")
    return place
