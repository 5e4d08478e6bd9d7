"""Lint rules for missing, damaged and duplicate query texts, and for the ceiling they cause."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, counted_queries, rule
from pytest_rankcheck.golden.lint.mojibake import repaired_text
from pytest_rankcheck.golden.lint.near_texts import close_pairs, words_of
from pytest_rankcheck.golden.text_ceiling import alike, ceiling_of, same_texts

_CUTOFF = 10
_MISSING = ("nan", "None", "<NA>", "NaT")
"""The texts that pandas writes for a missing one, in its spelling."""
_SHARED = 0.5
"""The share of relevant documents that two queries must have in common for their texts to count as
variants."""
_ANSWERED_BY = re.compile(
    r"(?:^|[^a-z])(?:locale|lang|language|country|region|city|location|market|marketplace|site"
    r"|shop|store|tenant|currency|gender|persona|user|customer|filters?)(?:$|[^a-z])",
    re.IGNORECASE,
)
"""The names of attributes that are part of a request, so equal texts may have other answers."""
_SHOWN = 60
"""How much of a text is shown."""


@rule("error")
def empty_text(linted: Linted) -> RuleResult | None:
    """A query without a text, a blank one or `nan`, in a set whose queries have texts."""
    texts = {query.id: query.text for query in linted.queries.values()}
    if not any(texts.values()):
        return None
    blank = tuple(query_id for query_id, text in texts.items() if not _has_signs(text or ""))
    written = tuple(query_id for query_id, text in texts.items() if text in _MISSING)
    if not blank and not written:
        return None
    what = [f"{counted_queries(blank)} without a text"] if blank else []
    if written:
        shown = " or ".join(f'"{text}"' for text in _MISSING if text in texts.values())
        what.append(
            f"{counted_queries(written)} with the text {shown}, which is what pandas writes for a "
            "missing one"
        )
    return RuleResult(
        query_ids=(*blank, *written),
        what="; ".join(what),
        why="A ranker has nothing to search for, but what it returns is still measured",
        remedy="add the text, or remove the query; if the ranker answers it by its attributes, "
        "or users type this text, write empty-text=ignore",
    )


def _has_signs(text: str) -> bool:
    return any(char.isprintable() and not char.isspace() for char in text)


@rule("warning")
def mojibake(linted: Linted) -> RuleResult | None:
    """A text that was read in the wrong encoding, such as `cafÃ©`."""
    repaired = {
        query.id: text
        for query in linted.queries.values()
        if query.text and (text := repaired_text(query.text)) is not None
    }
    if not repaired:
        return None
    query_ids = tuple(repaired)
    text, before = linted.queries[query_ids[0]].text, repaired[query_ids[0]]
    lost = "lost letters" if text == before else f'was "{quoted(before, _SHOWN)}"'
    return RuleResult(
        query_ids=query_ids,
        what=f"the {'text' if len(query_ids) == 1 else 'texts'} of {counted_queries(query_ids)} "
        f"{'looks' if len(query_ids) == 1 else 'look'} damaged: "
        f'"{quoted(text, _SHOWN)}" {"has " if text == before else ""}{lost}',
        why="No user types that, so the query measures a different question from the judged one",
        remedy="export the texts again as UTF-8, or repair them (ftfy.fix_text does)",
    )


@rule("warning")
def duplicate_query(linted: Linted) -> RuleResult | None:
    """Queries with the same text: their judgments differ, or they count double."""
    groups = same_texts(linted.queries.values(), linted.contents.candidates)
    return _duplicates(linted, groups, "the same text")


@rule("warning")
def near_duplicate_query(linted: Linted) -> RuleResult | None:
    """Queries with nearly the same text, and mostly the same relevant documents.

    Texts that differ only in case and punctuation count, whatever is relevant to them.
    """
    queries, candidates = linted.queries.values(), linted.contents.candidates
    same = {query_id: group for group in same_texts(queries, candidates) for query_id in group}
    spelt = [group for group in alike(queries, candidates, words_of) if same.get(group[0]) != group]
    known = {query_id for group in (*spelt, *same.values()) for query_id in group[1:]}
    return _duplicates(linted, [*spelt, *_variants(linted, known)], "nearly the same text")


def _variants(linted: Linted, known: set[str]) -> list[tuple[str, ...]]:
    """Return groups of close texts with mostly the same relevant documents.

    Of queries that are already known to have the same text, only the first one is compared.
    """
    grades, candidates = linted.contents.grades, linted.contents.candidates
    words = {
        query.id: words_of(query.text)
        for query in linted.queries.values()
        if query.text and query.id not in known
    }
    leader: dict[str, str] = {}

    def leader_of(query_id: str) -> str:
        while (other := leader.get(query_id, query_id)) != query_id:
            query_id = other
        return query_id

    for first, second in close_pairs(words):
        one, other = leader_of(first), leader_of(second)
        if one == other or candidates.rows(first).keys() != candidates.rows(second).keys():
            continue
        relevant = [
            {doc for doc, grade in grades[each].items() if grade > 0} for each in (first, second)
        ]
        shared, either = len(relevant[0] & relevant[1]), len(relevant[0] | relevant[1])
        if shared and shared >= _SHARED * either:
            leader[other] = one
    groups: dict[str, list[str]] = {}
    for query_id in words:
        groups.setdefault(leader_of(query_id), []).append(query_id)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _duplicates(linted: Linted, found: Sequence[tuple[str, ...]], what: str) -> RuleResult | None:
    """Report groups of similar queries; return None if no group counts.

    Groups with equal judgments do not count if the set is a sample of traffic, or if their queries
    differ in attributes that affect a ranker's answer.
    """
    differing = [group for group in found if _differ(linted, group)]
    known = set(differing)
    double = [group for group in found if group not in known]
    is_sample = linted.contents.weight_by is not None or linted.contents.cluster_by is not None
    apart = _told_apart(linted) if double and not is_sample else {}
    double = [
        group
        for group in double
        if not is_sample and len({apart[query_id] for query_id in group}) == 1
    ]
    groups = [*differing, *double]
    if not groups:
        return None
    first = groups[0]
    texts = dict.fromkeys(f'"{quoted(linted.queries[each].text, _SHOWN)}"' for each in first[:3])
    kinds = (("different", differing), ("the same", double))
    judged = ", ".join(f"{len(each):,} with {kind} judgments" for kind, each in kinds if each)
    why = []
    if differing:
        why.append(
            "A ranker that sees only the text gives all of them the same answer: what it gains on "
            "one query, it loses on another"
        )
    if double:
        why.append("Queries with the same judgments are one query that counts several times")
    return RuleResult(
        query_ids=tuple(query_id for group in groups for query_id in group),
        what=f"{plural(len(groups), 'group')} of queries with {what}, {judged}: "
        f"{counted_queries(first)} {', '.join(texts)}",
        why=". ".join(why),
        remedy="merge their judgments into one query, or make the texts differ",
    )


def _told_apart(linted: Linted) -> dict[str, tuple[object, ...]]:
    """Return, for each query, the values of the attributes that affect a ranker's answer.

    Other attributes, such as the judge, the source or the difficulty, are only for the people who
    measure: a ranker cannot distinguish queries by them.
    """
    names = [name for name in linted.slices if _ANSWERED_BY.search(str(name))]
    return {
        query.id: tuple(repr(query.attributes.get(name)) for name in names)
        for query in linted.queries.values()
    }


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


def _differ(linted: Linted, group: tuple[str, ...]) -> bool:
    grades = linted.contents.grades
    return any(grades[query_id] != grades[group[0]] for query_id in group)
