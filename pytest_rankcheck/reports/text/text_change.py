"""Show two versions of a text so that their differences are visible."""

from __future__ import annotations

import unicodedata
from itertools import takewhile

from pytest_rankcheck.errors import quoted

__all__ = ["shown_change"]

_LIMIT = 80
_LEAD = 24
"""How many characters to show before the first difference."""
_CUT = "..."
_INVISIBLE = frozenset("\u034f\u3164\uffa0")


def shown_change(before: str, after: str, limit: int = _LIMIT) -> tuple[str, str]:
    r"""Return two versions of a text as escaped single lines in which the difference is visible.

    Long texts are cut to the part that differs, with a little context; ``...`` stands for the rest.
    Invisible differences are escaped: white space other than a space, and different characters that
    look the same (``\u0301`` in a decomposed *é*).

    Args:
        before: a text.
        after: the same text after a change.
        limit: how many characters of each to show.
    """
    is_long = max(len(before), len(after)) > limit
    start, end = _common(before, after, limit) if is_long else (0, 0)
    return _shown(before, after, start, end, limit), _shown(after, before, start, end, limit)


def _common(before: str, after: str, limit: int) -> tuple[int, int]:
    """Return how many characters to leave out at the start and the end of both texts."""
    first = _same(before, after)
    last = _same(before[first:][::-1], after[first:][::-1])
    differing = max(len(before), len(after)) - first - last
    # The difference and its context fill the window; the context before it comes first.
    free = max(0, limit - 2 * len(_CUT) - differing)
    tail = min(last, max(0, free - min(first, _LEAD)))
    start, end = max(0, first - max(_LEAD, free - tail)), last - tail
    while start < first and _continues(before, start):
        start += 1
    return (start if start > len(_CUT) else 0), (end if end > len(_CUT) else 0)


def _same(before: str, after: str) -> int:
    """Return the length of the common beginning of two texts."""
    pairs = zip(before, after, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _continues(text: str, place: int) -> bool:
    """Whether the character at a place combines with the one before it."""
    return unicodedata.category(text[place])[0] == "M" or "\u200d" in text[place - 1 : place + 1]


def _shown(text: str, other: str, start: int, end: int, limit: int) -> str:
    """Return a text without its first ``start`` and last ``end`` characters, cut at ``limit``."""
    middle = text[start : len(text) - end]
    room = limit - len(_CUT) * bool(start)
    if len(middle) + len(_CUT) * bool(end) > room:
        middle, end = middle[: room - len(_CUT)], 1
    escaped = _hidden_characters(text, other)
    visible = "".join(_escaped(char) if char in escaped else quoted(char) for char in middle)
    return f"{_CUT if start else ''}{visible}{_CUT if end else ''}"


def _hidden_characters(text: str, other: str) -> frozenset[str]:
    """Return the characters of a text that are invisible or look like others."""
    if text.isascii() and other.isascii():
        return frozenset()
    found = {char for char in text if char != " " and _is_invisible(char)}
    if unicodedata.normalize("NFKC", text) == unicodedata.normalize("NFKC", other):
        found |= {char for char in set(text) - set(other) if not char.isascii()}
    return frozenset(found)


def _is_invisible(char: str) -> bool:
    """Whether a character is white space, a variation selector or otherwise blank."""
    is_selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return unicodedata.category(char) == "Zs" or is_selector or char in _INVISIBLE


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")
