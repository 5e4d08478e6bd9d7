"""What the columns of a run mean that is a table, with the names that are met."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rankcheck.errors import RunError, listed
from pytest_rankcheck.files.delimited_tables import Role, index_of_roles
from pytest_rankcheck.golden.judgment_columns import DOC_ID, QUERY_ID
from pytest_rankcheck.rankers.query_hits import Reading

__all__ = ["has_ranking", "run_columns"]

_ROLES = (
    Role(QUERY_ID.name, QUERY_ID.names, otherwise=("query",)),
    DOC_ID,
    Role("score", ("score", "similarity", "sim")),
    Role("rank", ("rank", "position", "pos")),
)


def has_ranking(header: Sequence[str]) -> bool:
    """Whether normalised names of columns are those of a run."""
    query, doc, score, rank = (role.among(header) for role in _ROLES)
    return bool(query and doc and (score or rank))


def run_columns(header: Sequence[str], reading: Reading) -> dict[str, int]:
    """Return where ``query_id``, ``doc_id``, and ``score`` or else ``rank`` are.

    Raises:
        RunError: one is missing, or two may mean the same.
    """
    where = str(reading.path)
    place = index_of_roles(header, _ROLES, reading.columns, where, RunError)
    missing = [name for name in ("query_id", "doc_id") if name not in place]
    if "score" not in place and "rank" not in place:
        missing.append("score or rank")
    if missing:
        raise RunError(
            f"{where}: no column {listed(missing)}; it has {listed(list(header), 10)}. A run has "
            "query_id, doc_id, and score or rank"
        )
    return place
