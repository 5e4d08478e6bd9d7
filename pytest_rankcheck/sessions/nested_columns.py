"""Columns within columns: ``event_attributes.object.object_id`` is in an object in each row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress

from pytest_rankcheck.files.table_columns import Column

ABSENT = object()
"""What an object has at a path that it does not have."""


def with_nested(columns: dict[str, Column], wanted: Iterable[str]) -> dict[str, Column]:
    """Return columns with those of the wanted dotted names that a row has.

    A column whose own name has the dots takes precedence. An object may also be JSON text. A row
    without the name has an empty cell.
    """
    found = dict(columns)
    for name in wanted:
        column = None if name in columns else _column_at(columns, name)
        if column is not None:
            found[name] = column
    return found


def _column_at(columns: Mapping[str, Column], name: str) -> Column | None:
    """Return the column with a dotted name; None if no row has it."""
    parts = name.split(".")
    for size in range(len(parts) - 1, 0, -1):
        outer = columns.get(".".join(parts[:size]))
        if outer is not None:
            path = ".".join(parts[size:])
            cells = [value_at(cell, path) for cell in outer.cells()]
            if any(cell is not ABSENT for cell in cells):
                return Column([None if cell is ABSENT else cell for cell in cells])
    return None


def value_at(cell: object, path: str) -> object:
    """Return what an object has at a path, such as ``object.object_id``; `ABSENT` without it.

    The keys of the object may have dots too; the longest key counts.
    """
    inner = object_in(cell)
    if inner is None:
        return ABSENT
    if path in inner:
        return inner[path]
    parts = path.split(".")
    for size in range(len(parts) - 1, 0, -1):
        key = ".".join(parts[:size])
        found = value_at(inner[key], ".".join(parts[size:])) if key in inner else ABSENT
        if found is not ABSENT:
            return found
    return ABSENT


def object_in(cell: object) -> Mapping[str, object] | None:
    """Return a cell that is an object, or the JSON text of one; None for anything else."""
    if isinstance(cell, str) and cell.startswith("{"):
        with suppress(ValueError, RecursionError):
            cell = json.loads(cell)
    return cell if isinstance(cell, Mapping) else None
