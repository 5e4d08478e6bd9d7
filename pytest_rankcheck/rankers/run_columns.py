"""The column roles of runs that are tables, with their usual names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal

from pytest_rankcheck.errors import RunError, listed, quoted
from pytest_rankcheck.files.delimited_tables import (
    Role,
    index_of_roles,
    lacks,
    looks_meant_for,
    normalised_name,
)
from pytest_rankcheck.files.plain_values import checked_number, is_missing
from pytest_rankcheck.golden.judgment_columns import (
    DOC_ID,
    QUERY_ID,
    first_varying,
    is_index,
    repeated_rows,
)

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

_IDS = frozenset((*QUERY_ID.names, *DOC_ID.names))


def may_have_ranking(header: Sequence[str]) -> bool:
    """Whether a header of normalised names is that of a run, perhaps with wrong names."""
    return looks_meant_for(header, _ROLES)


def run_columns(
    header: Sequence[str], columns: Mapping[str, str], where: str, *, in_order: bool = False
) -> dict[str, int]:
    """Return the indexes of ``query_id``, ``doc_id``, ``score`` and ``rank`` in a header.

    Without scores and ranks, the rows of a frame may be ``in_order``.

    Raises:
        RunError: a column is missing, or two columns match the same role.
    """
    place = index_of_roles(header, _ROLES, columns, where, RunError)
    missing = [role for role in _ROLES[:2] if role.name not in place]
    if not in_order and "score" not in place and "rank" not in place:
        missing.append(_ORDER)
    if missing == [_ORDER]:
        raise RunError(f"{where} {_lacks_order(header, place.values())}")
    if missing:
        needed = "query_id and doc_id" if in_order else "query_id, doc_id, and score or rank"
        raise RunError(f"{where} {lacks(header, place.values(), missing)}. A run needs {needed}")
    return place


def refuse_unused_numbers(
    header: Sequence[str],
    place: Mapping[str, int],
    cells: Callable[[int], Sequence[object]],
    where: str = "the run",
    *,
    can_map: bool = True,
) -> None:
    """Check that rows which are in order have no column that may be a misspelt score or rank.

    Any column of numbers may be one, except an index, ids, and numbers that are equal within each
    query. If its reader takes ``columns``, it ``can_map`` them.
    """
    free = {index: name for index, name in enumerate(header) if index not in place.values()}
    near = _ORDER.near(list(free.values()))
    queries = repeated_rows(map(str, cells(place["query_id"]))) if free else {}
    for index, name in sorted(free.items(), key=lambda item: item[1] != near):
        column = [None if is_missing(cell) else cell for cell in cells(index)]
        numbers = [cell for cell in column if cell is not None]
        if not numbers or is_index(name) or normalised_name(name) in _IDS:
            continue
        are_numbers = all(
            isinstance(cell, Decimal) or checked_number(cell) is not None for cell in numbers
        )
        if are_numbers and (name == near or first_varying(queries, column) is not None):
            problem = _lacks_order(header, place.values(), name, can_map=can_map)
            raise RunError(
                f"{where} {problem}. If the rows are in order, best first, drop the column"
            )


def _lacks_order(
    header: Sequence[str],
    taken: Collection[int],
    column: str | None = None,
    *,
    can_map: bool = True,
) -> str:
    """Return a clause about a missing score or rank, with both meanings of the column for it."""
    others = (name for index, name in enumerate(header) if index not in taken)
    free = [name for name in others if not is_index(name)]
    column = column or _ORDER.near(free)
    if column is None and len(free) == 1:
        column = free[0]
    has = f"has no column score or rank; it has {listed(header, 10)}"
    if not free:
        return f"{has}. Add the score or the rank of each document"
    subject = f"'{quoted(column)}'" if column else "the column that gives the order"
    key = repr(quoted(column)) if column else "..."
    mapping = f"; or pass columns={{'rank': {key}}} or columns={{'score': {key}}}"
    return (
        f"{has}. Rename {subject} to rank if the lowest number is best, or to score if the highest "
        f"is best{mapping if can_map else ''}"
    )
