"""The exceptions of the public interface, and the quoting of untrusted text in messages.

An error is a ``ValueError`` if the input is invalid: a file, an option, an argument.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Sequence


class RankcheckError(Exception):
    """The base class of every error that pytest-rankcheck raises on purpose."""


class ConfigurationError(RankcheckError, ValueError):
    """An option, an ini value, an argument or a fixture is missing or invalid."""


class GoldenSetError(RankcheckError, ValueError):
    """A golden set is invalid: it cannot be read, or it contradicts itself."""


class RunError(RankcheckError, ValueError):
    """A run is invalid: it cannot be read, or is not a ranking of documents."""


class SessionLogError(RankcheckError, ValueError):
    """A session log is invalid: it cannot be read, or it contradicts itself."""


class RankerError(RankcheckError):
    """The ranker under test raised, or answered with something that is not a ranking.

    It is not a ``ValueError``, because the ranker failed, not its input.
    """


class MetricError(RankcheckError, ValueError):
    """A metric's name, parameter or cutoff is invalid, or does not fit the data."""


class MetricWarning(UserWarning):
    """A metric is computed, but says little or nothing on this golden set."""


class BaselineError(RankcheckError, ValueError):
    """A baseline record is missing, cannot be read or cannot be written."""


class GitError(Exception):
    """Git is missing or failed; the text is its error message."""


class UnknownIdError(RankcheckError, KeyError):
    """An id is not in a run, a golden set or a session log."""

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError shows the repr of its message


# Bidirectional controls reorder what a reader sees; the categories below move the cursor,
# start escape sequences, cannot be encoded or break the line.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_LONGEST_QUOTE = 120
# What Markdown knows: anywhere, before a tag, at the start of a line, at one end of a word.
_PUNCTUATION = re.compile(r"([\\`*\[|~$&]|<(?=[a-z/!?])|^[#>+-]|(?<![^\W_])_|_(?![^\W_]))", re.I)
# What GitHub turns into links though no character of it is Markdown's, and numbers of a list.
# The @ of a metric, such as nDCG@10, is not a mention.
_BROKEN = re.compile(
    r"(?<![\w)])@|@(?!\d{1,5}(?![\w.-]))|www(?=\.)|:(?=//)|#(?=\d)|^\d+(?=[.)](?:\s|$))", re.I
)


def quoted(text: object, limit: int = _LONGEST_QUOTE) -> str:
    """Return untrusted text as one harmless line: control characters escaped, cut at ``limit``.

    Ids and queries come from other people's files. Shown as they are, they could clear the
    terminal, reorder a line or break a message into two.
    """
    raw = str(text)
    cut = raw if len(raw) <= limit else raw[: limit - 3] + "..."
    if cut.isascii() and cut.isprintable():
        return cut
    import unicodedata  # an extension module, loaded only for unusual characters

    return "".join(
        _escaped(char) if unicodedata.category(char) in _HIDDEN_CATEGORIES else char for char in cut
    )


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")


def markdown_text(text: object, limit: int = _LONGEST_QUOTE) -> str:
    """Return foreign text as one line of Markdown that renders as plain text.

    Markup is escaped. Mentions, addresses and issue numbers are broken by an empty comment, so that
    nobody is notified and nothing is linked.
    """
    shown = _PUNCTUATION.sub(r"\\\1", quoted(text, limit).strip())
    return _BROKEN.sub(r"\g<0><!-- -->", shown)


def plural(count: int, singular: str, many: str | None = None) -> str:
    """Return ``count`` with its noun: ``plural(2, "query", "queries")`` is ``"2 queries"``."""
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


def listed(items: Sequence[object], limit: int = 5) -> str:
    """Return the first ``limit`` items, quoted, and how many more there are."""
    shown = ", ".join(quoted(item) for item in items[:limit])
    if len(items) <= limit:
        return shown
    return f"{shown} and {len(items) - limit:,} more"


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known word nearest to ``word``, or an empty text."""
    import difflib

    spellings = {name.casefold(): name for name in known}
    nearest = difflib.get_close_matches(word.casefold(), spellings, n=1, cutoff=0.6)
    return f"; did you mean '{spellings[nearest[0]]}'?" if nearest else ""


def unknown_id(owner: str, kind: str, wanted: object, known: Iterable[str]) -> UnknownIdError:
    """Return the error that ``owner`` has no query or session with the id ``wanted``."""
    hint = suggestion(str(wanted), known)
    return UnknownIdError(f"{owner} has no {kind} '{quoted(wanted)}'{hint}")


_PACKAGE = __file__.removesuffix("errors.py")


def warn_caller(text: str) -> None:
    """Warn with a `MetricWarning` that names the line outside this package that led here.

    From Python 3.12 on, ``skip_file_prefixes`` of ``warnings.warn`` would do that.
    """
    level, frame = 1, sys._getframe()
    while frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, MetricWarning, stacklevel=level)
