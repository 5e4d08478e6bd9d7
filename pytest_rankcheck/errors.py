"""The exceptions that users meet, and how a message quotes foreign text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

__all__ = [
    "BaselineError",
    "ConfigurationError",
    "GoldenSetError",
    "MetricError",
    "MetricWarning",
    "RankcheckError",
    "RankerError",
    "RunError",
    "SessionLogError",
    "listed",
    "plural",
    "quoted",
    "suggestion",
]


class RankcheckError(Exception):
    """The root of every error that pytest-rankcheck raises on purpose."""


class ConfigurationError(RankcheckError):
    """An option, an ini value or a fixture is missing or wrong."""


class GoldenSetError(RankcheckError, ValueError):
    """A golden set cannot be read, or contradicts itself."""


class RunError(RankcheckError, ValueError):
    """A run cannot be read, or is not a ranking of documents."""


class SessionLogError(RankcheckError, ValueError):
    """A session log cannot be read, or contradicts itself."""


class RankerError(RankcheckError):
    """The ranker under test raised, or answered with something that is not a ranking."""


class MetricError(RankcheckError, ValueError):
    """A metric's name, parameter or cutoff is not one that exists, or does not fit the data."""


class MetricWarning(UserWarning):
    """A metric is computed, but can say little or nothing on this golden set."""


class BaselineError(RankcheckError):
    """A baseline record cannot be read or written."""


# Bidirectional controls reorder what a reader sees; the categories below move the cursor,
# start escape sequences, cannot be encoded or break the line.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_LONGEST_QUOTE = 120


def quoted(text: object, limit: int = _LONGEST_QUOTE) -> str:
    """Return foreign text as one harmless line: control characters escaped, cut at ``limit``.

    Ids and queries come from other people's files. Shown as they are, they could clear the
    terminal, reorder a line or break a message into two.
    """
    raw = str(text)
    cut = raw if len(raw) <= limit else raw[: limit - 3] + "..."
    if cut.isascii() and cut.isprintable():
        return cut
    return "".join(
        _escaped(char) if unicodedata.category(char) in _HIDDEN_CATEGORIES else char for char in cut
    )


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return ``count`` with its noun: ``plural(2, "query", "queries")`` is ``"2 queries"``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(items: Sequence[object], limit: int = 5) -> str:
    """Return the first ``limit`` items, quoted, and how many more there are."""
    shown = ", ".join(quoted(item) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit:,} more"


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known word nearest to ``word``, or nothing."""
    import difflib

    spellings = {name.casefold(): name for name in known}
    nearest = difflib.get_close_matches(word.casefold(), spellings, n=1, cutoff=0.6)
    return f"; did you mean '{spellings[nearest[0]]}'?" if nearest else ""
