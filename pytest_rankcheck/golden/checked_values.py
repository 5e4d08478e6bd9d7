"""Single values of golden sets, checked: numbers, grades and ids."""

from __future__ import annotations

from decimal import Decimal

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.checked_cells import checked_number, id_text
from pytest_rankcheck.golden.source_places import Place, Places

__all__ = ["checked_grade", "checked_id", "kind_of"]

_BOOLEANS = {"true": 1, "false": 0}
_BOOLEAN_TYPES = ("bool", "bool_")
"""The names of Python's and numpy's types."""


def checked_grade(value: object) -> float | None:
    """Return a grade as a number; booleans, also as text, are 1 and 0. None if it is neither."""
    number = checked_number(value)
    if number is None and (isinstance(value, str) or type(value).__name__ in _BOOLEAN_TYPES):
        return _BOOLEANS.get(str(value).strip().lower())
    return number


def checked_id(value: object, what: str, where: Place, places: Places | None = None) -> str:
    """Return an id as text: a text that is not empty, or a whole number; all else is an error."""
    if (checked := id_text(value)) is not None:
        return checked
    shown = places.shown(where) if places else where
    if isinstance(value, (float, Decimal)):
        text = f"{value:.0f}" if value == value // 1 else str(value)
        pandas = " (pandas: dtype=str)" if places and places.numbering.is_frame else ""
        raise GoldenSetError(
            f'{shown}: {what} is the number {value}, not an id; write it as text, "{text}"{pandas}'
        )
    raise GoldenSetError(f"{shown}: {what} is {kind_of(value)}, not an id")


def kind_of(value: object) -> str:
    """Return a value and its type, for a message about an invalid value."""
    if value is None or (isinstance(value, str) and not value):  # an array has no truth value
        return "empty"
    return f"'{quoted(value, 60)}' ({type(value).__name__})"
