"""Perturbations: changes to the text of a query that keep its meaning.

Each is a function from a text to texts. They do not depend on a language unless they say so.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pytest_rankcheck.errors import ConfigurationError, quoted, suggestion

__all__ = ["Perturbation", "perturbation_named", "perturbations"]


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A built-in perturbation."""

    name: str
    make: Callable[..., Iterator[str]]
    takes_seed: bool = False

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (self.make.__doc__ or "").partition("\n")[0]

    def __call__(self, text: str, seed: int = 0) -> list[str]:
        """Return the perturbed texts, without duplicates, blank texts and the text itself.

        Args:
            text: the text to perturb.
            seed: the seed of random perturbations; the same seed gives the same texts.
        """
        made = self.make(text, seed) if self.takes_seed else self.make(text)
        return [other for other in dict.fromkeys(made) if other != text and other.strip()]


def perturbations() -> Mapping[str, Perturbation]:
    """Return all built-in perturbations by name."""
    return dict(_BUILT_IN)


def perturbation_named(name: str) -> Perturbation:
    """Return the perturbation with a name.

    Raises:
        ConfigurationError: the name is unknown.
    """
    if name not in _BUILT_IN:
        raise ConfigurationError(
            f"unknown perturbation '{quoted(name)}'{suggestion(name, _BUILT_IN)}; give one of "
            f"{', '.join(_BUILT_IN)}, or a function that takes a text and returns another"
        )
    return _BUILT_IN[name]


def _case(text: str) -> Iterator[str]:
    """All lower case, all upper case, and each word with a capital."""
    yield from (text.lower(), text.upper(), text.title())


def _white_space(text: str) -> Iterator[str]:
    """Blanks around the text; two blanks, a tab or a no-break space between its words."""
    yield f"  {text} "
    for gap in ("  ", "\t", "\u00a0"):
        yield gap.join(text.split(" "))


def _unicode(text: str) -> Iterator[str]:
    """The normal forms of Unicode: NFC, NFD, NFKC and NFKD."""
    yield from (unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD"))


def _accents(text: str) -> Iterator[str]:
    """Without accents and other marks: café becomes cafe. Letters such as ø and ß stay."""
    apart = unicodedata.normalize("NFD", text)
    plain = "".join(char for char in apart if unicodedata.category(char) != "Mn")
    # The result keeps the normal form of the text.
    yield unicodedata.normalize("NFD" if text == apart else "NFC", plain)


def _punctuation(text: str) -> Iterator[str]:
    """Blanks for punctuation; a question mark or a full stop at the end."""
    yield (
        " ".join("".join(" " if _is_punctuation(char) else char for char in text).split())
        if any(map(_is_punctuation, text))
        else text
    )
    if text and not _is_punctuation(text[-1]):
        yield from (f"{text}?", f"{text}.")


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char).startswith("P")


_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_LONG_ENOUGH = 4
"""The shortest word to mistype; shorter ones would become other words."""


def _typo(text: str, seed: int) -> Iterator[str]:
    """One slip on a QWERTY keyboard: the key beside, two letters swapped, one lost or doubled.

    It is in one word of four letters or more, but not in its first letter. It depends only on the
    seed and the text, not on the position of the query.
    """
    words = [match for match in re.finditer(r"[^\W\d_]+", text) if len(match[0]) >= _LONG_ENOUGH]
    if not words:
        return
    # Only random() is guaranteed to stay the same in later versions of Python.
    drawn = random.Random(f"{seed} {text}".encode("utf-8", "surrogatepass"))
    word = words[int(drawn.random() * len(words))]
    place = word.start() + 1 + int(drawn.random() * (len(word[0]) - 1))
    slips = [slip(text, place, drawn) for slip in _SLIPS]
    first = int(drawn.random() * len(slips))
    # Not every slip changes the text: a doubled letter swapped, or a letter not on the keyboard.
    yield next(other for other in (*slips[first:], *slips[:first]) if other != text)


def _beside(text: str, place: int, drawn: random.Random) -> str:
    """Return the text with a letter replaced by its neighbour on the keyboard, if it has one."""
    char = text[place]
    near = _neighbours().get(char.lower(), "")
    if not near:
        return text
    other = near[int(drawn.random() * len(near))]
    return text[:place] + (other.upper() if char.isupper() else other) + text[place + 1 :]


def _swapped_letters(text: str, place: int, drawn: random.Random) -> str:
    """Return the text with a letter and the one before it swapped; never the first of a word."""
    before = place - 1 if place > 1 and text[place - 2].isalpha() else place
    after = before + 1
    if after >= len(text) or not text[after].isalpha():
        return text
    return text[:before] + text[after] + text[before] + text[after + 1 :]


def _lost(text: str, place: int, drawn: random.Random) -> str:
    return text[:place] + text[place + 1 :]


def _doubled(text: str, place: int, drawn: random.Random) -> str:
    return text[:place] + text[place] + text[place:]


_SLIPS = (_beside, _swapped_letters, _lost, _doubled)


def _neighbours() -> dict[str, str]:
    """Return the keys that touch each key: in its row, and in the rows above and below."""
    near: dict[str, str] = {}
    for row, keys in enumerate(_ROWS):
        for place, key in enumerate(keys):
            above = _ROWS[row - 1][place : place + 2] if row else ""
            below = _ROWS[row + 1][max(0, place - 1) : place + 1] if row + 1 < len(_ROWS) else ""
            beside = keys[max(0, place - 1) : place] + keys[place + 1 : place + 2]
            near[key] = beside + above + below
    return near


def _plural(text: str) -> Iterator[str]:
    """English: the last word in the plural, or in the singular where it seems to be a plural."""
    last_word = re.search(r"[A-Za-z]{3,}$", text)
    if last_word:
        start, word = text[: last_word.start()], last_word[0]
        yield start + (_singular_of(word) or _plural_of(word))


def _singular_of(word: str) -> str | None:
    """Return the singular of a word that looks like a plural, or None."""
    lower = word.lower()
    if not lower.endswith("s") or lower.endswith(("ss", "us", "is")):
        return None
    if lower.endswith("ies") and len(word) > 4:
        return word[:-3] + ("Y" if word.isupper() else "y")
    if lower.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def _plural_of(word: str) -> str:
    lower = word.lower()
    if lower.endswith("y") and lower[-2] not in "aeiou":
        start, end = word[:-1], "ies"
    else:
        hisses = lower.endswith(("s", "x", "z", "ch", "sh"))
        start, end = word, "es" if hisses else "s"
    return start + (end.upper() if word.isupper() else end)


def _word_order(text: str) -> Iterator[str]:
    """The words from last to first; the last word first; the first word last."""
    words = text.split()
    if len(words) > 1:
        orders = (words[::-1], [words[-1], *words[:-1]], [*words[1:], words[0]])
        yield from (" ".join(order) for order in orders)


_SHORTEST_PREFIX = 3


def _prefix(text: str) -> Iterator[str]:
    """The text as it is typed: one, two and three characters before its end, of three at least."""
    for missing in (1, 2, 3):
        typed = text[: len(text) - missing].rstrip()
        if len(typed) >= _SHORTEST_PREFIX:
            yield typed


_BUILT_IN = {
    perturbation.name: perturbation
    for perturbation in (
        Perturbation("case", _case),
        Perturbation("white_space", _white_space),
        Perturbation("unicode", _unicode),
        Perturbation("accents", _accents),
        Perturbation("punctuation", _punctuation),
        Perturbation("typo", _typo, takes_seed=True),
        Perturbation("plural", _plural),
        Perturbation("word_order", _word_order),
        Perturbation("prefix", _prefix),
    )
}
