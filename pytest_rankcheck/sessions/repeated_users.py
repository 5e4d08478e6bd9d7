"""Attributes that name users: sessions with the same value are not independent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_rankcheck.files.delimited_tables import normalised_name

__all__ = ["USER_NAMES", "RepeatedUsers", "repeated_users"]

_WHO = ("user", "client", "visitor", "customer", "account", "member", "cookie", "device")
_FEWEST = 10
"""Fewer values are kinds of users, such as web and app, rather than users."""
USER_NAMES = frozenset(
    (
        *(who for who in _WHO if who != "device"),
        *(f"{who}{end}" for who in _WHO for end in ("id", "_id", "_uuid", "_hash", "_name")),
        *("uid", "uuid", "username", "anonymous_id", "anonymousid", "person", "person_id"),
    )
)
"""The names of attributes that are taken for users, normalised."""


@dataclass(frozen=True, slots=True)
class RepeatedUsers:
    """An attribute that names users, some of whom have several sessions."""

    attribute: str
    users: int
    sessions: int
    """How many sessions have the attribute."""
    most: int
    """How many sessions the user with the most sessions has."""


def repeated_users(attributes: Sequence[Mapping[str, object]]) -> Sequence[RepeatedUsers]:
    """Return the attributes that name users with several sessions; the fewest users first."""
    counts: dict[str, Counter[object]] = {}
    for session in attributes:
        for name, value in session.items():
            if normalised_name(name) in USER_NAMES:
                counts.setdefault(name, Counter())[value] += 1
    found = [
        RepeatedUsers(name, len(of), of.total(), max(of.values()))
        for name, of in counts.items()
        if _FEWEST <= len(of) < of.total()
    ]
    return sorted(found, key=lambda each: each.users)
