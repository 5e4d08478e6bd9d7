"""A query of a golden set: what a ranker is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Query"]


@dataclass(frozen=True, slots=True)
class Query:
    """A query: its id, its text if it has one, and the attributes it can be sliced by."""

    id: str
    text: str | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)
