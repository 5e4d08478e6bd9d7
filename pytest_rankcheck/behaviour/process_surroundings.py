"""What differs in a new process: hash seed, number of threads, locale, time zone and order."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

__all__ = ["Surroundings", "is_locale_varied", "surroundings"]

_SEED = "PYTHONHASHSEED"
_VALUES: Mapping[str, Sequence[str]] = {
    _SEED: ("1", "2", "3", "4", "5", "6", "7", "8"),
    "OMP_NUM_THREADS": ("1", "2", "3"),
    "TZ": ("Asia/Tokyo", "America/New_York", "Europe/Berlin"),
}
"""The environment variables that new processes vary, besides the locale."""
_LOCALE = "LC_ALL"
_PLAIN_LOCALES = ("C", "C.UTF-8")
"""Every system has these two, or treats the first as the second. Both sort by code point."""
_TELLING = ("tr", "de", "en", "")
"""The languages of other locales to try, in order; Turkish is first, for its dotless i."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What differs in a new process."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """The variables of its environment that differ from those of this process."""
    is_reversed: bool = False
    """Whether it is asked for the queries in reverse order."""

    def __str__(self) -> str:
        texts = [f"{name}={value}" for name, value in self.variables.items()]
        return ", ".join([*texts, "in reverse order"] if self.is_reversed else texts)

    @property
    def one_by_one(self) -> Iterator[tuple[str, Surroundings]]:
        """Yield each difference by itself, added to `plain`, with its name."""
        plain = self.plain.variables
        for name, value in self.variables.items():
            yield name, Surroundings({**plain, name: value})
        if self.is_reversed:
            yield "order of queries", Surroundings(plain, is_reversed=True)

    @property
    def plain(self) -> Surroundings:
        """The surroundings of this process, except that the hash seed differs and is fixed."""
        return Surroundings({_SEED: "0"})


def surroundings(count: int) -> Sequence[Surroundings]:
    """Return the surroundings of new processes, all different from those of this one.

    The first, the third and so on are asked in reverse order, so that even a single process detects
    answers that depend on which query fills a cache first.
    """
    others = {
        name: [value for value in values if value != os.environ.get(name)]
        for name, values in {**_VALUES, _LOCALE: _other_locales()}.items()
    }
    return [
        Surroundings(
            {name: values[number % len(values)] for name, values in others.items()},
            is_reversed=number % 2 == 0,
        )
        for number in range(count)
    ]


def is_locale_varied() -> bool:
    """Whether some new process has a locale that sorts text differently from this process's."""
    return not (_is_plain(_own_locale()) and _is_plain(_other_locales()[0]))


def _other_locales() -> Sequence[str]:
    """Return locales for new processes, starting with one that differs from the locale here."""
    own = _own_locale()
    others = [each for each in _installed_locales() if each != own]
    return [*others, *_PLAIN_LOCALES] if _is_plain(own) else [*_PLAIN_LOCALES[:1], *others]


def _own_locale() -> str:
    names = (_LOCALE, "LC_COLLATE", "LANG")
    return next((os.environ[name] for name in names if os.environ.get(name)), "C")


def _is_plain(name: str) -> bool:
    return name.partition(".")[0] in ("C", "POSIX")


@cache
def _installed_locales() -> Sequence[str]:
    """Return up to two installed locales that do not sort by code point."""
    try:
        listing = subprocess.run(["locale", "-a"], capture_output=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ()  # Windows lacks the command
    names = [line for line in listing.stdout.decode("ascii", "ignore").split() if "." in line]
    ordered = sorted(
        (name for name in names if not _is_plain(name)),
        key=lambda name: next(n for n, start in enumerate(_TELLING) if name.startswith(start)),
    )
    return tuple(ordered[:2])
