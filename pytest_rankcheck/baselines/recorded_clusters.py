"""The independent units of recorded sessions, such as users: numbers that reveal no id.

A record must not reveal who somebody is. An id can be looked up in a list of ids, and so can its
hash: whoever has the list hashes every id in it. So a record numbers its units, in the order of
their first sessions. Such numbers mean nothing in the next log, so the units of two logs cannot be
matched. With a secret key in the environment variable ``RANKCHECK_CLUSTER_KEY``, a record keeps
keyed hashes instead (HMAC-SHA256), which only those who have the key can match with ids.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_rankcheck.errors import ConfigurationError

__all__ = ["KEY_VARIABLE", "RecordedClusters", "keyed_hashes", "numbered", "secret_key"]

KEY_VARIABLE = "RANKCHECK_CLUSTER_KEY"
_SHORTEST_KEY = 16
_CHECKED = b"pytest-rankcheck: is this the key of the record?"
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class RecordedClusters:
    """What the independent units of a record are."""

    by: str
    """The attribute whose values they are."""
    key: str | None = None
    """Identifies the secret key that the record was made with; None: its units are numbers."""

    @classmethod
    def of(cls, by: str, key: bytes | None) -> RecordedClusters:
        """Return what a record says of its units if it is made with a secret key, or without."""
        return cls(by, None if key is None else _keyed(key, _CHECKED))

    def hashes(self, names: Sequence[str]) -> Sequence[str] | None:
        """Return the keyed hash of each name; None without the key of the record."""
        key = secret_key()
        if (
            key is None
            or self.key is None
            or not hmac.compare_digest(_keyed(key, _CHECKED), self.key)
        ):
            return None
        return keyed_hashes(names, key)


def secret_key() -> bytes | None:
    """Return the secret key from the environment; None without one.

    Raises:
        ConfigurationError: it is too short to be secret.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        return None
    if len(key) < _SHORTEST_KEY:
        raise ConfigurationError(
            f"{KEY_VARIABLE} is too short to be secret: it has {len(key)} characters, and needs "
            f"{_SHORTEST_KEY}. Make one with: python -c 'import secrets; "
            "print(secrets.token_hex(32))'"
        )
    return key.encode("utf-8", "surrogateescape")


def numbered(names: Sequence[str]) -> Sequence[int]:
    """Return a number for each name, from 0 on, in the order of appearance."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]


def keyed_hashes(names: Sequence[str], key: bytes) -> Sequence[str]:
    """Return the keyed hash of each name, 16 hexadecimal digits."""
    known: dict[str, str] = {}
    for name in names:
        if name not in known:
            known[name] = _keyed(key, b"unit:" + name.encode("utf-8", "surrogatepass"))
    return [known[name] for name in names]


def _keyed(key: bytes, message: bytes) -> str:
    return hmac.new(key, message, hashlib.sha256).hexdigest()[:_DIGITS]
