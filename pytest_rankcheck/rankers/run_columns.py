"""The column roles of runs that are tables, with their usual names."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rankcheck.errors import RunError
from pytest_rankcheck.files.delimited_tables import Role, index_of_roles, lacks, looks_meant_for
from pytest_rankcheck.golden.judgment_columns import DOC_ID, QUERY_ID
from pytest_rankcheck.rankers.query_hits import RunSource

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


def run_columns(header: Sequence[str], source: RunSource) -> dict[str, int]:
    """Return the indexes of ``query_id``, ``doc_id``, and ``score`` or ``rank``.

    Raises:
        RunError: a column is missing, or two columns match the same role.
    """
    where = str(source.path)
    place = index_of_roles(header, _ROLES, source.columns, where, RunError)
    missing = [role for role in _ROLES[:2] if role.name not in place]
    if "score" not in place and "rank" not in place:
        missing.append(_ORDER)
    if missing:
        raise RunError(
            f"{where} {lacks(header, place.values(), missing)}. A run needs query_id, doc_id, and "
            "score or rank"
        )
    return place
