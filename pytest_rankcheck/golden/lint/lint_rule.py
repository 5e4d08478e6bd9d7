"""Rules of the linter: the golden set as they see it, and what they find in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.lint.lint_options import Level, LintOptions
from pytest_rankcheck.golden.query import Query

if TYPE_CHECKING:
    from pytest_rankcheck.golden.corpus import Corpus, CorpusMatch


_SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding of the linter: what is wrong, where, why it matters, and what to do."""

    query_ids: tuple[str, ...]
    """The queries concerned; empty if the problem concerns the whole set."""
    what: str
    why: str
    remedy: str
    places: tuple[str, ...] = ()
    """The places, as ``file:line``, as far as known."""
    rule: str = ""
    level: Level = "warning"
    """``"error"`` fails ``--rankcheck-lint``, ``"warning"`` is shown."""

    @property
    def message(self) -> str:
        """The whole finding on one line."""
        where = f" ({listed(self.places, _SHOWN_PLACES)})" if self.places else ""
        return f"{self.what}. {self.why}; {self.remedy}{where}"

    def __str__(self) -> str:
        return f"{self.level} {self.rule}: {self.message}"


class RankedQueries(Protocol):
    """The interface of a run for the linter; golden sets cannot import runs, which import them."""

    name: str
    depth: int | None

    def __contains__(self, query_id: object) -> bool:
        """Whether the query was ranked."""

    def get(self, query_id: str) -> Sequence[str]:
        """Return the documents of a query, best first; empty if it was not ranked."""


@dataclass(frozen=True)
class Linted:
    """A golden set as the rules see it."""

    contents: Contents
    queries: Mapping[str, Query]
    options: LintOptions
    corpus: Corpus | None = None
    """The documents that are ranked, if known; read once, by `corpus_match`."""
    run: RankedQueries | None = None
    """A run of the queries, if one is given."""

    @cached_property
    def corpus_match(self) -> CorpusMatch | None:
        """The judged documents looked up in the corpus; None without a corpus."""
        if self.corpus is None:
            return None
        from pytest_rankcheck.golden.corpus import CorpusMatch

        expectations = chain.from_iterable(self.contents.expectations.values())
        expected = (doc for each in expectations for doc in (*each.documents, *each.others))
        return CorpusMatch.of(self.corpus, self.documents, self.contents.doc_id, expected)

    @cached_property
    def documents(self) -> Sequence[str]:
        """The judged documents, each once."""
        return tuple(dict.fromkeys(self.contents.judgments.documents.texts()))

    def queries_where(self, is_meant: BoolArray) -> tuple[str, ...]:
        """Return the ids of some queries, by their places in the set."""
        query_ids = self.contents.judgments.query_ids
        return tuple(query_ids[code] for code in np.flatnonzero(is_meant).tolist())

    def queries_at(self, rows: IntArray) -> tuple[str, ...]:
        """Return the queries of judgments, each once."""
        rows_at = self.contents.judgments.rows_at(rows)
        return tuple(dict.fromkeys(query_id for query_id, _, _ in rows_at))

    def places_of(self, query_ids: Iterable[str]) -> tuple[str, ...]:
        """Return the places of queries, as far as known."""
        return tuple(filter(None, map(self.contents.query_place, query_ids)))

    def places_at(self, rows: IntArray) -> tuple[str, ...]:
        """Return the places of judgments, as far as known."""
        return tuple(filter(None, map(self.contents.place_at, rows.tolist())))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, its default level and its check, whose finding has no rule or level yet."""

    name: str
    level: Level
    look: Callable[[Linted], LintFinding | None]

    @property
    def summary(self) -> str:
        """What the rule looks for, on one line."""
        return (self.look.__doc__ or "").strip().partition("\n")[0]


def rule(level: Level) -> Callable[[Callable[[Linted], LintFinding | None]], Rule]:
    """Turn a function into a rule, which gets the function's name with hyphens."""
    return lambda look: Rule(look.__name__.replace("_", "-"), level, look)


def counted_queries(query_ids: Sequence[str]) -> str:
    """Return the number of queries and the first of their ids."""
    return f"{plural(len(query_ids), 'query', 'queries')} ({listed(query_ids)})"
