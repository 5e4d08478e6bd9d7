"""Perturbations: changes to the text of a query that keep its meaning.

Each is a function from a text to texts. They do not depend on a language unless they say so.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.errors import ConfigurationError, MetricError, quoted, suggestion
from pytest_rankcheck.metrics.name_grammar import parts_of

_SYNTAX = re.compile(
    r"""["“„«「(\[].*["“”»」)\]]                      # quoted text, a group, a range
      |(?<!\S)(?:AND|OR|NOT|NEAR)(?!\S)
      |(?<!\S)(?:[+\-!]\S|[^\W\d][\w.]*:\S)        # -word, +word, !word, field:value
      |(?<!\S)[!-/:-@\[-`{-~]+(?!\S)               # a sign on its own, such as &
    """,
    re.VERBOSE,
)
"""What queries are written with: such a query is not reordered."""

_LATIN_WORD = re.compile(
    r"(?<![A-Za-zÀ-ÖØ-öø-ɏ\u0300-\u036f])[A-Za-zÀ-ÖØ-öø-ɏ]{4,}+(?![\u0300-\u036f])"
)
"""A run of at least four Latin letters: a slip turns shorter words into other words."""
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")

_MOST_TRIES = 20
"""The most draws for each text; more than needed, as a draw may repeat an earlier one."""


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A built-in perturbation."""

    name: str
    make: Callable[..., Iterator[str]]
    is_random: bool = False
    """Whether its texts are drawn at random: ``make`` then takes a seed and yields without end."""
    samples: int = 1
    """How many different texts are drawn, if it is random."""

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return (self.make.__doc__ or "").partition("\n")[0]

    def __str__(self) -> str:
        if self.samples > 1:
            return f"{self.name}(samples={self.samples})"
        return self.name

    def __call__(self, text: str, seed: int = 0) -> list[str]:
        """Return the perturbed texts, without duplicates, blank texts and the text itself.

        Args:
            text: the text to perturb.
            seed: the seed of random perturbations; the same seed gives the same texts.
        """
        if not self.is_random:
            return list(_others(text, self.make(text)))
        tries = islice(self.make(text, seed), _MOST_TRIES * self.samples)
        return list(islice(_others(text, tries), self.samples))

    def drawn(self, samples: int) -> Perturbation:
        """Return the same random perturbation with several draws for each text.

        Args:
            samples: how many different texts to draw, at least 1; fewer if a text has fewer.

        Raises:
            ConfigurationError: the perturbation is not random, or ``samples`` is invalid.
        """
        if not self.is_random:
            raise ConfigurationError(
                f"perturbation '{self.name}' takes no samples, because it is not random"
            )
        check_whole_number("samples", samples, 1, ConfigurationError)
        return replace(self, samples=samples)


def _others(text: str, made: Iterable[str]) -> Iterator[str]:
    """Yield each text once, except blank texts and the text itself."""
    seen = {text}
    for other in made:
        if other not in seen and other.strip():
            yield other
        seen.add(other)


def perturbations() -> Mapping[str, Perturbation]:
    """Return all built-in perturbations by name."""
    return dict(_BUILT_IN)


def perturbation_named(text: str) -> Perturbation:
    """Return the perturbation that a text names, such as ``case`` or ``typo(samples=5)``.

    Raises:
        ConfigurationError: the name or a parameter is unknown, or a value is invalid.
    """
    try:
        parts = parts_of(text)
    except MetricError:
        raise _unknown(text, text) from None
    if parts.name not in _BUILT_IN or parts.cutoff is not None:
        raise _unknown(text, parts.name)
    built_in = _BUILT_IN[parts.name]
    unknown = [name for name in parts.given if name != "samples"]
    if unknown:
        raise ConfigurationError(
            f"perturbation '{parts.name}' has no parameter '{quoted(unknown[0])}'"
            f"{suggestion(unknown[0], ['samples'])}; random ones take samples"
        )
    if not parts.given:
        return built_in
    return built_in.drawn(parts.given["samples"])  # type: ignore[arg-type]


def _unknown(text: str, name: str) -> ConfigurationError:
    return ConfigurationError(
        f"unknown perturbation '{quoted(text)}'{suggestion(name, _BUILT_IN)}; give one of "
        f"{', '.join(_BUILT_IN)}, with parameters as in typo(samples=5), or a function that takes "
        "a text and returns another"
    )


def _case(text: str) -> Iterator[str]:
    """All lower case, all upper case, and each word with a capital."""
    yield from (text.lower(), text.upper(), text.title())


def _white_space(text: str) -> Iterator[str]:
    """Blanks around the text; two blanks, a tab or a no-break space between its words."""
    yield f"  {text} "
    for gap in ("  ", "\t", "\u00a0"):
        yield gap.join(text.split(" "))


def _typo(text: str, seed: int) -> Iterator[str]:
    """A slip on a QWERTY keyboard: the key beside, two letters swapped, one lost or doubled.

    Yields variants of the text, each with one slip, without end; nothing if no word fits. A slip is
    in a word of at least four Latin letters, but not in its first letter. Other scripts,
    which have other keyboards, stay. The draws depend only on the seed and the text, not on the
    position of the query.
    """
    words = [match.span() for match in _LATIN_WORD.finditer(text)]
    if not words:
        return
    # Only random() is guaranteed to stay the same in later versions of Python.
    drawn = random.Random(f"{seed} {text}".encode("utf-8", "surrogatepass"))
    while True:
        start, end = words[int(drawn.random() * len(words))]
        yield text[:start] + _mistyped(text[start:end], drawn) + text[end:]


def _mistyped(word: str, drawn: random.Random) -> str:
    """Return a word with one slip, which is never in its first letter."""
    place = 1 + int(drawn.random() * (len(word) - 1))
    before, char, after = word[:place], word[place], word[place + 1 :]
    near = _neighbours().get(char.lower(), "")
    beside = near[int(drawn.random() * len(near))] if near else char
    if char.isupper():
        beside = beside.upper()
    first = max(1, place - 1)
    swapped = word[first + 1] + word[first]
    others = (
        before + beside + after,
        word[:first] + swapped + word[first + 2 :],
        before + after,  # lost
        before + char + char + after,  # doubled
    )
    chosen = int(drawn.random() * len(others))
    # Some slips leave the word as it is: swapping equal letters, or a letter not on the keyboard.
    from_chosen = (*others[chosen:], *others[:chosen])
    return next(other for other in from_chosen if other != word)


@cache
def _neighbours() -> dict[str, str]:
    """Return the keys that touch each key: in its row, and in the rows above and below."""
    near: dict[str, str] = {}
    for row, keys in enumerate(_KEYBOARD):
        above = _KEYBOARD[row - 1] if row else ""
        below = "".join(_KEYBOARD[row + 1 : row + 2])
        for place, key in enumerate(keys):
            left = max(0, place - 1)
            beside = keys[left:place] + keys[place + 1 : place + 2]
            near[key] = beside + above[place : place + 2] + below[left : place + 1]
    return near


def _word_order(text: str) -> Iterator[str]:
    """The words from last to first; the last word first; the first word last."""
    words = text.split()
    if len(words) > 1 and not _SYNTAX.search(text):
        first, last = words[0], words[-1]
        for order in (words[::-1], [last, *words[:-1]], [*words[1:], first]):
            yield " ".join(order)


_BUILT_IN = {
    perturbation.name: perturbation
    for perturbation in (
        Perturbation("case", _case),
        Perturbation("white_space", _white_space),
        Perturbation("typo", _typo, is_random=True),
        Perturbation("word_order", _word_order),
    )
}
