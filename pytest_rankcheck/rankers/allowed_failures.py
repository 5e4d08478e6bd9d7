"""How many queries a ranker may fail on: a number such as 2, or a share of them such as 1%."""

from __future__ import annotations

import re

from pytest_rankcheck.errors import ConfigurationError, quoted

_ALLOWED = re.compile(r"[0-9]{1,12}|(?:[0-9]{1,2}|100)(?:\.[0-9]{1,9})?%")
"""A number or a share."""


def most_failures(allowed: int | str, queries: int, name: str = "failures") -> int:
    """Return how many of this many queries may fail; a share is rounded down.

    Args:
        allowed: the number or the share.
        queries: how many queries there are.
        name: what messages call ``allowed``.

    Raises:
        ConfigurationError: it is neither a number nor a share.
    """
    text = str(allowed).strip()
    if not _ALLOWED.fullmatch(text):
        words = f"'{quoted(allowed)}' is not a number such as 2, or a share such as 1%"
        raise ConfigurationError(f"{name}: {words}")
    is_share = text.endswith("%")
    most = float(text[:-1]) * queries / 100 + 1e-9 if is_share else int(text)
    return min(int(most), queries)


def allows_more(allowed: int | str, other: int | str) -> bool:
    """Return whether more queries may fail than by another number or share, for any set size.

    Raises:
        ConfigurationError: one of the two is neither a number nor a share.
    """
    # If more may fail in any set, more may fail in a set of one query, or of very many.
    return any(most_failures(allowed, n) > most_failures(other, n) for n in (1, 10**12))
