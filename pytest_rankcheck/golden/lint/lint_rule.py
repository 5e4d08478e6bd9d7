"""What a rule of the linter is, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.lint.lint_finding import Found, Level
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.golden.query import Query

__all__ = ["Linted", "Rule", "counted", "rule"]


@dataclass(frozen=True)
class Linted:
    """A golden set as the rules see it."""

    contents: Contents
    queries: Mapping[str, Query]
    options: LintOptions

    @property
    def grades(self) -> Mapping[str, Mapping[str, float]]:
        """The grade of each judged document of each query."""
        return self.contents.grades

    def places_of(self, query_ids: Iterable[str]) -> tuple[str, ...]:
        """Return where queries stand, as far as that is known."""
        places = (self.contents.places.query(query_id) for query_id in query_ids)
        return tuple(place for place in places if place)

    def place_of(self, query_id: str, doc_id: str) -> str:
        """Return where a judgment stands; nothing where that is not known."""
        index = list(self.grades[query_id]).index(doc_id)
        return self.contents.places.judgment(query_id, index)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: what it looks for, and how much that counts where nothing else is said."""

    name: str
    level: Level
    look: Callable[[Linted], Found | None]

    @property
    def summary(self) -> str:
        """What it looks for, in a line."""
        return (self.look.__doc__ or "").strip().partition("\n")[0]


def rule(level: Level) -> Callable[[Callable[[Linted], Found | None]], Rule]:
    """Make a rule of a function, whose name is the rule's with hyphens."""

    def made(look: Callable[[Linted], Found | None]) -> Rule:
        return Rule(look.__name__.replace("_", "-"), level, look)

    return made


def counted(query_ids: Sequence[str]) -> str:
    """Return how many queries there are, and the first of them."""
    return f"{plural(len(query_ids), 'query', 'queries')} ({listed(query_ids)})"
