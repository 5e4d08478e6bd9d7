"""Findings as built-in types: for workers of pytest-xdist, and for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = ["encoded", "to_builtin"]


def encoded(finding: ReportedFinding) -> dict[str, Any]:
    """Return a finding in built-in types, with the name of its class."""
    return {"finding": type(finding).__name__, **to_builtin(finding)}


def to_builtin(value: Any) -> Any:
    """Return a value of dataclasses, enums and collections as dicts, lists, strings, numbers."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_builtin(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): to_builtin(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_builtin(item) for item in value]
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass."""
    return tuple(field.name for field in fields(kind))
