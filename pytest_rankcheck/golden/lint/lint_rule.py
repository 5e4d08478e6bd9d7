"""Rules of the linter: the golden set as they see it, and what they find in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from pytest_rankcheck.array_types import BoolArray, IntArray
from pytest_rankcheck.errors import listed, plural
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.lint.lint_options import Level, LintOptions
from pytest_rankcheck.golden.query import REPLAY, Query, is_of_replay, slices_of

if TYPE_CHECKING:
    from pytest_rankcheck.golden.corpus import Corpus
    from pytest_rankcheck.golden.lint.corpus_match import CorpusMatch
    from pytest_rankcheck.golden.lint.ranked_judgments import RankedJudgments, RankedQueries

__all__ = ["LintFinding", "Linted", "Rule", "RuleResult", "counted_queries", "rule"]

L = TypeVar("L")

_SHOWN_PLACES = 3


@dataclass(frozen=True, slots=True)
class RuleResult:
    """The result of a rule that found a problem; without places, those of its queries count."""

    query_ids: tuple[str, ...]
    """The queries concerned; empty if the problem concerns the whole set."""
    what: str
    why: str
    remedy: str
    places: tuple[str, ...] = ()
    """The places, as ``file:line``, as far as known."""


@dataclass(frozen=True, slots=True)
class LintFinding(RuleResult):
    """A finding of the linter: what is wrong, where, why it matters, and what to do."""

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


@dataclass(frozen=True)
class Linted:
    """A golden set as the rules see it."""

    contents: Contents
    queries: Mapping[str, Query]
    options: LintOptions
    corpus: Corpus | None = None
    """The documents that are ranked, if known; read once, by `corpus_match`."""
    run: RankedQueries | None = None
    """A run of the queries, if one is given; read once, by `ranked`."""

    @cached_property
    def corpus_match(self) -> CorpusMatch | None:
        """The judged documents looked up in the corpus; None without a corpus."""
        if self.corpus is None:
            return None
        from pytest_rankcheck.golden.lint.corpus_match import CorpusMatch

        expected = self.expected_documents
        return CorpusMatch.of(self.corpus, self.documents, self.contents.doc_id, expected)

    @cached_property
    def documents(self) -> Sequence[str]:
        """The judged documents, each once."""
        return tuple(dict.fromkeys(self.contents.judgments.documents.texts()))

    @cached_property
    def expected_documents(self) -> Sequence[str]:
        """The documents that expectations name."""
        expectations = chain.from_iterable(self.contents.expectations.values())
        named = (document for each in expectations for document in (*each.documents, *each.others))
        return tuple(dict.fromkeys(named))

    @cached_property
    def misspelt_expected(self) -> Mapping[str, str]:
        """The unjudged documents of expectations that look misspelt, each with the one meant.

        Empty with a corpus, which shows which documents exist.
        """
        if self.corpus is not None or not self.expected_documents:
            return {}
        from pytest_rankcheck.golden.lint.misspelt_ids import nearest_ids

        known = {*self.documents, *self.contents.titles, *self.contents.candidates.doc_ids}
        missing = [doc_id for doc_id in self.expected_documents if doc_id not in known]
        return nearest_ids(missing, known) if missing else {}

    @cached_property
    def slices(self) -> Mapping[str, Mapping[str, Sequence[str]]]:
        """The queries of each slice, by attribute and value.

        This covers only attributes that people slice by: not those with nearly one value per query,
        such as comments, and not the attributes that a replay records about itself.
        """
        queries = self.queries.values()
        names = dict.fromkeys(name for query in queries for name in query.attributes)
        chosen = [name for name in names if not (REPLAY in names and is_of_replay(name))]
        by_attribute = {name: slices_of(queries, name) for name in chosen}
        most = max(1, len(queries) // 2)
        return {name: slices for name, slices in by_attribute.items() if len(slices) <= most}

    @cached_property
    def ranked(self) -> RankedJudgments | None:
        """The judged documents looked up in the run; None without a run."""
        if self.run is None:
            return None
        from pytest_rankcheck.golden.lint.ranked_judgments import RankedJudgments

        return RankedJudgments.of(self.run, self.contents.judgments)

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
class Rule(Generic[L]):
    """A rule: its name, its default level and its check of a golden set or a session log."""

    name: str
    level: Level
    look: Callable[[L], RuleResult | None]

    @property
    def summary(self) -> str:
        """What the rule looks for, on one line."""
        return (self.look.__doc__ or "").strip().partition("\n")[0]


def rule(level: Level) -> Callable[[Callable[[L], RuleResult | None]], Rule[L]]:
    """Turn a function into a rule, which gets the function's name with hyphens."""

    def made(look: Callable[[L], RuleResult | None]) -> Rule[L]:
        return Rule(look.__name__.replace("_", "-"), level, look)

    return made


def counted_queries(query_ids: Sequence[str]) -> str:
    """Return the number of queries and the first of their ids."""
    return f"{plural(len(query_ids), 'query', 'queries')} ({listed(query_ids)})"
