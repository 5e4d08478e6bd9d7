"""Lint rules for query texts: missing, repeated, in two splits, and the ceiling they cause."""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, LintFinding, counted_queries, rule
from pytest_rankcheck.golden.query import Query, label_of
from pytest_rankcheck.golden.reranking_candidates import Candidates

_Grades = Mapping[str, Mapping[str, float]]
_CUTOFF = 10
_EMPTY = ("", "nan", "None", "<NA>", "NaT")
"""No text, and those that pandas writes for a missing one."""
_SHOWN = 60
"""How much of a text is shown."""


@rule("error")
def empty_text(linted: Linted) -> LintFinding | None:
    """A query without a text, a blank one or `nan`, in a set whose queries have texts."""
    texts = {query.id: (query.text or "").strip() for query in linted.queries.values()}
    empty = tuple(query_id for query_id, text in texts.items() if text in _EMPTY)
    if not any(texts.values()) or not empty:
        return None
    return LintFinding(
        query_ids=empty,
        what=f"{counted_queries(empty)} without a text, or with nan or None, as pandas writes it",
        why="A ranker has nothing to search for, but what it returns is still measured",
        remedy="add the text, or remove the query; if the ranker answers it by its attributes, "
        "or users type this text, write empty-text=ignore in rankcheck_lint",
    )


@rule("warning")
def duplicate_query(linted: Linted) -> LintFinding | None:
    """Queries with the same text: their judgments differ, or they count double.

    Equal judgments are ignored if the set is a sample of traffic, or if the queries differ in their
    attributes, which a ranker may answer by.
    """
    contents, grades = linted.contents, linted.contents.grades
    is_sample = contents.weight_by is not None or contents.cluster_by is not None
    differing, double = [], []
    for group in same_texts(linted.queries.values(), contents.candidates):
        queries = [linted.queries[query_id] for query_id in group]
        if any(grades[query_id] != grades[group[0]] for query_id in group):
            differing.append(group)
        elif not is_sample and all(each.attributes == queries[0].attributes for each in queries):
            double.append(group)
    groups = [*differing, *double]
    if not groups:
        return None
    first = groups[0]
    shown = quoted(linted.queries[first[0]].text, _SHOWN)
    return LintFinding(
        query_ids=tuple(query_id for group in groups for query_id in group),
        what=f"{plural(len(groups), 'group')} of queries with the same text, {len(differing):,} "
        f'with different judgments: {counted_queries(first)} "{shown}"',
        why="A ranker that sees only the text gives all of them the same answer, so it loses on "
        "one what it gains on another, and equal judgments count several times",
        remedy="merge their judgments into one query, or make the texts differ",
    )


@rule("warning")
def split_leakage(linted: Linted) -> LintFinding | None:
    """One text in two values of the attribute `split`, such as train and test."""
    groups: dict[str, dict[str, str]] = {}
    for query in linted.queries.values():
        split = query.attributes.get("split")
        if query.text and split is not None:
            plain = " ".join(query.text.casefold().split())
            groups.setdefault(plain, {}).setdefault(label_of(split), query.id)
    leaks = [members for members in groups.values() if len(members) > 1]
    if not leaks:
        return None
    first = leaks[0]
    text = quoted(linted.queries[next(iter(first.values()))].text, _SHOWN)
    where = " and ".join(f"{quoted(name)} ({quoted(each)})" for name, each in first.items())
    return LintFinding(
        query_ids=tuple(chain.from_iterable(members.values() for members in leaks)),
        what=f"{plural(len(leaks), 'text is', 'texts are')} in more than one value of 'split': "
        f'"{text}" in {where}',
        why="A model that was trained on the text has seen the answer, so its value for it says "
        "nothing about new queries",
        remedy="keep each text in one split; remove it from the one that is gated",
    )


@rule("warning")
def ceiling(linted: Linted) -> LintFinding | None:
    """A perfect ranker could not reach 1.0 on this set."""
    reached = ceiling_of(
        linted.queries, linted.contents.grades, linted.contents.candidates, _CUTOFF
    )
    if linted.options.no_relevant != "zero":
        for query_id in linted.queries_where(~linted.contents.judgments.has_relevant):
            del reached[query_id]
    below = tuple(query_id for query_id, value in reached.items() if value < 1 - 1e-9)
    if not below:
        return None
    mean = sum(reached.values()) / len(reached)
    return LintFinding(
        query_ids=below,
        what=f"a perfect ranker reaches nDCG@{_CUTOFF} of {mean:.4f} on this set, not 1: "
        f"{counted_queries(below)} cannot score 1",
        why="No ranker can reach a bound above that, and there is less left to gain than it seems",
        remedy="see the findings on these queries (no-judgment, no-relevant, duplicate-query)",
    )


def ceiling_of(
    queries: Mapping[str, Query], grades: _Grades, candidates: Candidates, cutoff: int
) -> dict[str, float]:
    """Return the highest nDCG at ``cutoff`` that a ranker of texts can reach, for each query.

    It gives queries with the same text the same answer. If their judgments differ, no ranking is
    best for all. nDCG is a sum over documents, so the ranking with the best mean sorts documents by
    the sum of their gains, each divided by the ideal DCG of its query.

    Uses linear gain and trec_eval's discount. A query without a relevant document reaches 0.
    """
    reached = {
        query_id: float(any(grade > 0 for grade in judged.values()))
        for query_id, judged in grades.items()
    }
    for group in same_texts(queries.values(), candidates):
        judged = {query_id: grades[query_id] for query_id in group}
        if any(each != judged[group[0]] for each in judged.values()):
            reached.update(_shared(judged, cutoff))
    return reached


def same_texts(queries: Iterable[Query], candidates: Candidates) -> list[tuple[str, ...]]:
    """Return groups of query ids that look the same to a ranker that sees only the text.

    Their texts are equal after Unicode normalisation, and so are their candidates, if the set has
    any.
    """
    groups: dict[object, list[str]] = {}
    for query in queries:
        if query.text:
            text = unicodedata.normalize("NFC", query.text)
            visible = text, frozenset(candidates.rows(query.id))
            groups.setdefault(visible, []).append(query.id)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def _shared(judged: _Grades, cutoff: int) -> dict[str, float]:
    """Return the nDCG of queries under the common ranking that is best for all of them."""
    discounts = [1 / math.log2(rank + 1) for rank in range(1, cutoff + 1)]

    def dcg(gains: Iterable[float]) -> float:
        return sum(gain * discount for gain, discount in zip(gains, discounts, strict=False))

    gains = {
        query_id: {doc_id: max(grade, 0.0) for doc_id, grade in of_query.items()}
        for query_id, of_query in judged.items()
    }
    best = {each: dcg(sorted(gains[each].values(), reverse=True)) for each in judged}
    shares: defaultdict[str, float] = defaultdict(float)
    for query_id, of_query in gains.items():
        for doc_id, gain in of_query.items():
            if best[query_id]:
                shares[doc_id] += gain / best[query_id]
    ranking = sorted(shares, key=lambda doc_id: -shares[doc_id])[:cutoff]
    reached = dict.fromkeys(judged, 0.0)
    for query_id, of_query in gains.items():
        if best[query_id]:
            found = dcg(of_query.get(doc_id, 0.0) for doc_id in ranking)
            reached[query_id] = found / best[query_id]
    return reached
