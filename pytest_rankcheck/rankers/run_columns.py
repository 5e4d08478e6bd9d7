"""The column roles of runs that are tables, with their usual names."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rankcheck.errors import RunError, listed
from pytest_rankcheck.files.delimited_tables import Role, index_of_roles
from pytest_rankcheck.golden.judgment_columns import DOC_ID, QUERY_ID
from pytest_rankcheck.rankers.query_hits import RunSource

__all__ = ["has_ranking", "run_columns"]

_ROLES = (
    Role(QUERY_ID.name, QUERY_ID.names, otherwise=("query",)),
    DOC_ID,
    Role("score", ("score", "similarity", "sim")),
    Role("rank", ("rank", "position", "pos")),
)


def has_ranking(header: Sequence[str]) -> bool:
    """Whether a header of normalised names is that of a run."""
    query, doc, score, rank = (role.among(header) for role in _ROLES)
    return bool(query and doc and (score or rank))


def run_columns(header: Sequence[str], source: RunSource) -> dict[str, int]:
    """Return the indexes of ``query_id``, ``doc_id``, and ``score`` or ``rank``.

    Raises:
        RunError: a column is missing, or two columns match the same role.
    """
    where = str(source.path)
    place = index_of_roles(header, _ROLES, source.columns, where, RunError)
    missing = [name for name in ("query_id", "doc_id") if name not in place]
    if "score" not in place and "rank" not in place:
        missing.append("score or rank")
    if missing:
        raise RunError(
            f"{where}: no column {listed(missing)}; it has {listed(list(header), 10)}. A run "
            "needs query_id, doc_id, and score or rank"
        )
    return place
