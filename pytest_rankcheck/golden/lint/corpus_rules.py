"""Lint rules for judged documents that the corpus lacks, or has under another spelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.lint.corpus_match import CorpusMatch
from pytest_rankcheck.golden.lint.id_spellings import Spelling, spelling_of
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, rule

_NAMED = 10
"""How many documents are shown with their places."""
_COMPARED = 1000
"""How many misspelt ids are classified by their differences."""
_KINDS = 3
"""How many kinds of differences are shown."""


@rule("error")
def misspelt_id(linted: Linted) -> RuleResult | None:
    """A judged document that the corpus has under another spelling of its id."""
    match = linted.corpus_match
    if match is None or not match.misspelt:
        return None
    rows = _rows_of(linted, match.misspelt)
    pairs = list(match.misspelt.items())
    spelt = [spelling_of(*pair) for pair in pairs[:_COMPARED]]
    counts = Counter(spelling.words for spelling in spelt)
    kinds = [
        f"{words}: {_pair(*pairs[[each.words for each in spelt].index(words)])}"
        for words, _ in counts.most_common(_KINDS)
    ]
    return RuleResult(
        query_ids=linted.queries_at(rows),
        what=f"{_of_judged(match, len(match.spellings))} in {match.name}; "
        f"{len(match.misspelt):,} of them {'is' if len(match.misspelt) == 1 else 'are'} there "
        f"under another spelling; the ids differ in {'; '.join(kinds)}",
        why="A ranker that finds such a document gets no credit for it, as if it were unjudged",
        remedy=_remedy(spelt),
        places=linted.places_at(rows[:_NAMED]),
    )


def _pair(judged: str, other: str) -> str:
    return f"'{quoted(judged)}' is '{quoted(other)}' there"


def _remedy(spelt: Collection[Spelling]) -> str:
    """Return the remedy for misspelt ids, with the rules that make most of them match."""
    own = "spell the ids as in the corpus (as text: spreadsheets and data frames turn 007 into 7)"
    rules, _ = Counter(spelling.rules for spelling in spelt).most_common(1)[0]
    if not rules:
        return f"{own}, or map them with a function, doc_id="
    given = f"'{rules[0]}'" if len(rules) == 1 else str(list(rules))
    return f"{own}, or give doc_id={given} (rankcheck_doc_id) to both the golden set and the run"


@rule("warning")
def not_in_corpus(linted: Linted) -> RuleResult | None:
    """A judged document that the corpus does not have."""
    match = linted.corpus_match
    if match is None or not match.absent:
        return None
    rows = _rows_of(linted, match.absent)
    absent = set(match.absent)
    judgments = linted.contents.judgments
    relevant = {
        doc_id
        for doc_id in judgments.documents.texts(np.flatnonzero(judgments.grades > 0))
        if doc_id in absent
    }
    return RuleResult(
        query_ids=linted.queries_at(rows),
        what=f"{_of_judged(match, len(absent))} in {match.name} "
        f"({plural(match.size, 'document')}, such as {listed(match.examples)}), "
        f"{len(relevant):,} of them relevant: {listed(match.absent)}",
        why="No ranker can find them, so no ranking is perfect, and a ranker on another state of "
        "the corpus is measured by another standard",
        remedy="if the ids look like those of the corpus, remove these judgments or judge again; "
        "otherwise, map them with doc_id=, or give the corpus that is really ranked",
        places=linted.places_at(rows[:_NAMED]),
    )


def _of_judged(match: CorpusMatch, count: int) -> str:
    verb = "is" if count == 1 else "are"
    return f"{count:,} of {plural(match.judged, 'judged document')} {verb} not"


def _rows_of(linted: Linted, doc_ids: Collection[str]) -> IntArray:
    """Return the first judgment of each document, in the order of the set."""
    first: dict[str, int] = {}
    for row, doc_id in enumerate(linted.contents.judgments.documents.texts()):
        if doc_id in doc_ids:
            first.setdefault(doc_id, row)
    return np.fromiter(first.values(), np.int64, len(first))
