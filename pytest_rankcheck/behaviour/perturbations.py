"""Perturbations: changes to the text of a query that keep its meaning.

Each is a function from a text to texts. They do not depend on a language unless they say so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from pytest_rankcheck.argument_checks import check_whole_number
from pytest_rankcheck.behaviour.keyboard_slips import slips
from pytest_rankcheck.behaviour.letter_marks import without_accents, without_umlauts
from pytest_rankcheck.behaviour.word_orders import ends_freely, word_orders
from pytest_rankcheck.errors import ConfigurationError, MetricError, quoted, suggestion
from pytest_rankcheck.golden.english_plurals import other_number
from pytest_rankcheck.metrics.name_grammar import parts_of

__all__ = ["Perturbation", "perturbation_named", "perturbations"]

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
        return f"{self.name}(samples={self.samples})" if self.samples > 1 else self.name

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
    unknown = next((name for name in parts.given if name != "samples"), None)
    if unknown is not None:
        raise ConfigurationError(
            f"perturbation '{parts.name}' has no parameter '{quoted(unknown)}'"
            f"{suggestion(unknown, ['samples'] if built_in.is_random else [])}"
            f"{'; its parameter is samples' if built_in.is_random else ''}"
        )
    return built_in.drawn(parts.given["samples"]) if parts.given else built_in  # type: ignore[arg-type]


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


def _unicode(text: str) -> Iterator[str]:
    """The normal forms of Unicode: NFC, NFD, NFKC and NFKD."""
    yield from (unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD"))


def _accents(text: str) -> Iterator[str]:
    """Without accents: café becomes cafe, ё becomes е. Other scripts, й, ø and ß stay."""
    yield without_accents(text)


def _umlauts(text: str) -> Iterator[str]:
    """German: ae, oe, ue and ss for ä, ö, ü and ß."""
    yield without_umlauts(text)


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


def _typo(text: str, seed: int) -> Iterator[str]:
    """A slip on a QWERTY keyboard: the key beside, two letters swapped, one lost or doubled."""
    yield from slips(text, seed)


def _plural(text: str) -> Iterator[str]:
    """English: the last word in the plural, or in the singular where it seems to be a plural."""
    last_word = re.search(r"[A-Za-z]{3,}$", text)
    if last_word and ends_freely(text):
        yield text[: last_word.start()] + other_number(last_word[0])


def _word_order(text: str) -> Iterator[str]:
    """The words from last to first; the last word first; the first word last."""
    yield from word_orders(text)


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
        Perturbation("umlauts", _umlauts),
        Perturbation("punctuation", _punctuation),
        Perturbation("typo", _typo, is_random=True),
        Perturbation("plural", _plural),
        Perturbation("word_order", _word_order),
        Perturbation("prefix", _prefix),
    )
}
