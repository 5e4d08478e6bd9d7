"""Rules of the linter, and the golden set as they see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.lint.lint_finding import Level, RuleResult
from pytest_rankcheck.golden.lint.lint_options import LintOptions
from pytest_rankcheck.golden.query import Query

__all__ = ["Linted", "Rule", "counted_queries", "rule"]


@dataclass(frozen=True)
class Linted:
    """A golden set as the rules see it."""

    contents: Contents
    queries: Mapping[str, Query]
    options: LintOptions

    def queries_where(self, is_meant: BoolArray) -> tuple[str, ...]:
        """Return the ids of some queries, by their places in the set."""
        query_ids = self.contents.judgments.query_ids
        return tuple(query_ids[code] for code in np.flatnonzero(is_meant).tolist())

    def places_of(self, query_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the places of queries, as far as known."""
        return tuple(filter(None, map(self.contents.query_place, query_ids)))

    def places_at(self, rows: IntArray) -> tuple[str, ...]:
        """Return the places of judgments, as far as known."""
        return tuple(filter(None, map(self.contents.place_at, rows.tolist())))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, its default level and its check."""

    name: str
    level: Level
    look: Callable[[Linted], RuleResult | None]

    @property
    def summary(self) -> str:
        """What the rule looks for, on one line."""
        return (self.look.__doc__ or "").strip().partition("\n")[0]


def rule(level: Level) -> Callable[[Callable[[Linted], RuleResult | None]], Rule]:
    """Turn a function into a rule, which gets the function's name with hyphens."""

    def made(look: Callable[[Linted], RuleResult | None]) -> Rule:
        return Rule(look.__name__.replace("_", "-"), level, look)

    return made


def counted_queries(query_ids: Sequence[str]) -> str:
    """Return the number of queries and the first of their ids."""
    return f"{plural(len(query_ids), 'query', 'queries')} ({listed(query_ids)})"
