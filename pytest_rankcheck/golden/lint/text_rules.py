"""Lint rules for query texts: equal texts with different judgments, and the ceiling they cause."""

from __future__ import annotations

import re
import unicodedata

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, counted_queries, rule
from pytest_rankcheck.golden.text_ceiling import alike, ceiling_of, same_texts

_CUTOFF = 10
_WORDS = re.compile(r"\w+")


@rule("warning")
def duplicate_query(linted: Linted) -> RuleResult | None:
    """Queries with the same text, whose judgments differ."""
    groups = same_texts(linted.queries.values(), linted.contents.candidates)
    return _duplicates(linted, groups, "the same text")


@rule("warning")
def near_duplicate_query(linted: Linted) -> RuleResult | None:
    """Queries with the same words in another order or spelling, whose judgments differ."""
    groups = alike(linted.queries.values(), linted.contents.candidates, _words)
    distinct = [group for group in groups if not _are_same(linted, group)]
    return _duplicates(linted, distinct, "nearly the same text")


def _duplicates(linted: Linted, found: list[tuple[str, ...]], what: str) -> RuleResult | None:
    """Return the result about groups of queries that are alike; None if their judgments are too."""
    groups = [group for group in found if _differ(linted, group)]
    if not groups:
        return None
    members = tuple(query_id for group in groups for query_id in group)
    first = groups[0]
    text = quoted(linted.queries[first[0]].text, 60)
    return RuleResult(
        query_ids=members,
        what=f"{plural(len(groups), 'group')} of queries with {what} but different judgments: "
        f'{counted_queries(first)} "{text}"',
        why="A ranker that sees only the text answers all of them alike: what it gains on one it "
        "loses on the other",
        remedy="merge their judgments into one query, or make the texts differ",
    )


@rule("warning")
def ceiling(linted: Linted) -> RuleResult | None:
    """A perfect ranker could not reach 1.0 on this set."""
    reached = ceiling_of(
        linted.queries, linted.contents.grades, linted.contents.candidates, _CUTOFF
    )
    below = tuple(query_id for query_id, value in reached.items() if value < 1 - 1e-9)
    if not below:
        return None
    mean = sum(reached.values()) / len(reached)
    return RuleResult(
        query_ids=below,
        what=f"a perfect ranker reaches nDCG@{_CUTOFF} of {mean:.4f} on this set, not 1: "
        f"{counted_queries(below)} cannot score 1",
        why="No ranker can reach a bound above that, and there is less left to gain than it seems",
        remedy="see the findings on these queries (no-judgment, no-relevant, duplicate-query)",
    )


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, sorted; the text itself if it has no words."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return tuple(sorted(_WORDS.findall(plain))) or (plain,)


def _are_same(linted: Linted, group: tuple[str, ...]) -> bool:
    queries = [linted.queries[query_id] for query_id in group]
    return same_texts(queries, linted.contents.candidates) == [group]


def _differ(linted: Linted, group: tuple[str, ...]) -> bool:
    grades = linted.contents.grades
    return any(grades[query_id] != grades[group[0]] for query_id in group)
