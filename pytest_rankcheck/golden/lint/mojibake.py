"""Text whose UTF-8 bytes were read in another encoding, so that ``café`` became ``cafÃ©``.

Encoding such text in the wrong encoding and decoding it as UTF-8 restores the original. Natural
text rarely decodes that way: the test is strict about the result, and a single pair of characters
that could be a letter before a closing quote does not count.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["repaired_text"]

_RUN = re.compile(r"[^\x00-\x7f]+")
_LOST = "\ufffd"
"""The character that decoders put in place of invalid bytes."""


def _bytes_of(encoding: str) -> dict[str, int]:
    """Return the byte of each character; undefined bytes are control characters, as in browsers."""
    table = {}
    for byte in range(0x80, 0x100):
        try:
            table[bytes([byte]).decode(encoding)] = byte
        except UnicodeDecodeError:
            table[chr(byte)] = byte
    return table


_WESTERN = {**{chr(byte): byte for byte in range(0x80, 0x100)}, **_bytes_of("cp1252")}
_CYRILLIC = _bytes_of("cp1251")
_FROM_CONTROL = {
    ord(bytes([byte]).decode("latin-1")): char
    for char, byte in _bytes_of("cp1252").items()
    if byte < 0xA0 and ord(char) != byte
}
"""Control characters that come from Windows quotes and dashes, read as Latin-1."""
_ENOUGH = 2
"""How strong the evidence must be, in the units of `_strength`."""
_LEAST_CYRILLIC = 3
"""How many characters in a row Cyrillic letters must decode to."""
_LAST_LATIN, _FIRST_GREEK = "\u017f", "\u0370"
"""The last letter of the two European Latin blocks, and the first of the scripts after Latin."""
_CLOSING = frozenset({"Pi", "Pf", "Ps", "Pe", "Zs"})
"""Categories of characters that may follow a word: quotes, brackets and spaces."""


def repaired_text(text: str) -> str | None:
    """Return a damaged text as far as it can be restored; None if the text looks sound."""
    if text.isascii():
        return None
    is_damaged = _LOST in text or any(ord(char) in _FROM_CONTROL for char in text)
    strength = 0
    pieces, end = [], 0
    for run in _RUN.finditer(text):
        found = _decoded(run[0])
        if found is not None:
            strength += _strength(run[0], found, is_inside=text[run.end() :][:1].isalpha())
            pieces += [text[end : run.start()], found]
            end = run.end()
    if strength >= _ENOUGH:
        return "".join([*pieces, text[end:]])
    return text.translate(_FROM_CONTROL) if is_damaged else None


def _decoded(run: str) -> str | None:
    """Return a run of non-ASCII characters decoded as UTF-8; None if that is impossible."""
    for table, least in ((_WESTERN, 1), (_CYRILLIC, _LEAST_CYRILLIC)):
        if all(char in table for char in run):
            try:
                text = bytes(table[char] for char in run).decode("utf-8")
            except UnicodeDecodeError:
                continue
            if len(text) >= least and all(map(_is_text, text)):
                return text
    return None


def _is_text(char: str) -> bool:
    """Whether a character may occur in a text, possibly one that was damaged twice."""
    return "\x80" <= char <= "\x9f" or char.isprintable() or char.isspace()


def _strength(run: str, decoded: str, *, is_inside: bool) -> int:
    """Return 2 if a run can only be damaged text, 1 if that is likely, 0 if it may be natural.

    Args:
        run: non-ASCII characters.
        decoded: these characters, decoded as UTF-8.
        is_inside: whether a letter follows, so that the last one is not punctuation.
    """
    if len(decoded) > 1:  # several sequences in a row
        is_one_script = len({_script(char) for char in decoded if char.isalpha()}) <= 1
        return 2 if is_one_script or not decoded.isalpha() or len(run) - len(decoded) > 2 else 0
    is_sign = unicodedata.category(decoded)[0] in "PS"
    if len(run) > 3 or (len(run) > 2 and (is_inside or is_sign)):
        return 2  # an emoji; a letter within a word; a quote, a dash or a sign
    if decoded <= _LAST_LATIN:  # from Ã, Â, Ä or Å and a second character
        may_be_quote = unicodedata.category(run[-1]) in _CLOSING or run[-1] in "…™®"
        return 1 if may_be_quote and not is_inside and run[0] not in "ÃÂ" else 2
    return 1 if is_inside and decoded >= _FIRST_GREEK and len(run) < 3 else 0


def _script(char: str) -> str:
    return unicodedata.name(char, "?").partition(" ")[0]
