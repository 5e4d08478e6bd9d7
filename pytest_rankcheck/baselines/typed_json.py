"""Dataclasses as JSON and back, by the types of their fields; anyone can edit the files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pytest_rankcheck.errors import quoted

_LARGEST_COUNT = 2**53
"""The largest whole number up to which floats are exact; no count is larger."""

_NAMES = {str: "a text", bool: "true or false", dict: "an object", list: "an array"}
"""The types that JSON has too, with their names in messages."""


def encoded(value: Any) -> Any:
    """Return a value in JSON's types; fields with their default are left out."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {
            field.name: encoded(getattr(value, field.name))
            for field in fields(value)
            if getattr(value, field.name) != _default_of(field)
        }
    if isinstance(value, Mapping):
        return {name: encoded(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [encoded(each) for each in value]
    return value


def decoded(kind: Any, data: Any) -> Any:
    """Return a value of this type from what `encoded` made of it.

    Raises:
        ValueError: the data is of another type.
        KeyError: a field without a default is missing.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return data
    if isinstance(kind, UnionType):
        if (data is None and NoneType in arguments) or (isinstance(data, str) and str in arguments):
            return data
        others = [each for each in arguments if each not in (NoneType, str)]
        return decoded(others[0] if others else str, data)
    if origin is tuple:
        entries = _checked(data, list)
        if arguments[0] in _NAMES and set(map(type, entries)) <= {arguments[0]}:
            return tuple(entries)  # at once: a record has hundreds of thousands of texts
        return tuple(decoded(arguments[0], each) for each in entries)
    if origin is not None:
        entry = _checked(data, dict)
        return {name: decoded(arguments[1], each) for name, each in entry.items()}
    if hasattr(kind, "from_dict"):
        return kind.from_dict(_checked(data, dict))
    if is_dataclass(kind):
        return decoded_fields(kind, _checked(data, dict))
    if kind is float:  # a whole number, such as a count, stays whole
        is_finite = type(data) in (int, float) and abs(data) <= sys.float_info.max
        return data if is_finite else refuse(data, "a finite number")
    if kind is int:
        is_count = type(data) is int and 0 <= data <= _LARGEST_COUNT
        return data if is_count else refuse(data, "a whole number from 0 on")
    return _checked(data, kind)


def decoded_fields(kind: Any, entry: Mapping[str, Any], **given: object) -> Any:
    """Return a dataclass from the fields in an object, except those that are given.

    Raises:
        ValueError: a field is of another type.
        KeyError: a field without a default is missing.
    """
    hints = get_type_hints(kind)
    for field in fields(kind):
        if field.name not in given and (field.name in entry or _default_of(field) is MISSING):
            given[field.name] = decoded(hints[field.name], entry[field.name])
    return kind(**given)


def refuse(value: object, expected: str) -> Any:
    """Refuse a value.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"'{quoted(value, 60)}' is not {expected}")


def _checked(data: Any, kind: type) -> Any:
    return data if isinstance(data, kind) else refuse(data, _NAMES[kind])


def _default_of(field: Any) -> Any:
    if field.default_factory is MISSING:
        return field.default
    return field.default_factory()
