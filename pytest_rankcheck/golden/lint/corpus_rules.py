"""Lint rules for judged documents that the catalogue lacks or misspells."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np

from pytest_rankcheck.array_types import IntArray
from pytest_rankcheck.document_ids import differences, joining_rule
from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.golden.expected_text import TEXT_COLUMN, Passage, passages_of, text_of
from pytest_rankcheck.golden.lint.lint_rule import Linted, LintFinding, rule

_BREAK = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
_NAMED = 10
"""How many documents are shown with their places."""
_COMPARED = 1000
"""How many misspelt ids are compared with those of the catalogue."""


@rule("error")
def broken_id(linted: Linted) -> LintFinding | None:
    """An id of a query or document with a tab or a line end in it."""
    judgments = linted.contents.judgments
    ids = dict.fromkeys((*judgments.query_ids, *judgments.documents.texts()))
    broken = [*filter(_BREAK.search, ids)]
    if not broken:
        return None
    count = plural(len(broken), "id has", "ids have")
    return LintFinding(
        query_ids=(),
        what=f"{count} a tab or a line end: {listed(broken)}",
        why="Two columns were probably read as one id, which no ranker returns",
        remedy="separate the columns in the same way in the whole file, or correct the ids",
        places=linted.places_at(_rows_of(linted, broken)[:_NAMED]),
    )


@rule("error")
def misspelt_id(linted: Linted) -> LintFinding | None:
    """A judged document that the catalogue has under another spelling of its id."""
    match = linted.corpus_match
    if match is None or not match.misspelt:
        return None
    rows = _rows_of(linted, match.misspelt)
    pairs = list(match.misspelt.items())
    rules, _ = joining_rule([([judged], [other]) for judged, other in pairs[:_COMPARED]])
    words = f" in {differences(rules)}" if rules else ""
    given = f"with doc_id={list(rules)}" if rules else "with a function"
    count = len(match.misspelt)
    return LintFinding(
        query_ids=linted.queries_at(rows),
        what=f"{match.lacks(count + len(match.absent))}; {count:,} of them "
        f"{'is' if count == 1 else 'are'} there under another spelling; the ids differ{words}: "
        f"'{quoted(pairs[0][0])}' is '{quoted(pairs[0][1])}' there",
        why="A ranker that finds such a document gets no credit for it, as if it were unjudged",
        remedy="spell the ids as in the catalogue (as text: spreadsheets and data frames turn 007 "
        f"into 7), or map them {given} (rankcheck_doc_id), for both the golden set and the run",
        places=linted.places_at(rows[:_NAMED]),
    )


@rule("warning")
def not_in_corpus(linted: Linted) -> LintFinding | None:
    """A judged document that the catalogue does not have."""
    match = linted.corpus_match
    if match is None or not match.absent:
        return None
    rows = _rows_of(linted, match.absent)
    judgments = linted.contents.judgments
    relevant = judgments.documents.texts(np.flatnonzero(judgments.grades > 0))
    return LintFinding(
        query_ids=linted.queries_at(rows),
        what=f"{match.lacks(len(match.absent))} "
        f"({plural(match.size, 'document')}, such as {listed(match.examples)}), "
        f"{len(set(match.absent).intersection(relevant)):,} of them relevant: "
        f"{listed(match.absent)}",
        why="No ranker can find them, so no ranking is perfect, and rankers on different versions "
        "of the catalogue are not measured alike",
        remedy="if the ids look like those of the catalogue, remove these judgments or judge "
        "again; otherwise, map them with doc_id=, or give the catalogue that is really ranked",
        places=linted.places_at(rows[:_NAMED]),
    )


@rule("warning")
def absent_text(linted: Linted) -> LintFinding | None:
    """An expected text that no document contains."""
    contents, corpus = linted.contents, linted.corpus
    absent = passages_of(contents.judgments.documents.texts() if contents.by_text else ())
    for _, batch in corpus.rows() if corpus and absent else ():
        if not batch or TEXT_COLUMN not in batch.header:
            return None
        for passage in map(Passage, batch.column(batch.header.index(TEXT_COLUMN)).cells()):
            absent = {unit: text for unit, text in absent.items() if not passage.contains(text)}
    if not corpus or not absent:
        return None
    count = plural(len(absent), "expected text is", "expected texts are")
    return LintFinding(
        query_ids=linted.queries_at(_rows_of(linted, absent)),
        what=f"{count} in no document of {corpus.name}: {listed([*map(text_of, absent)], 3)}",
        why="No ranker can find them, so no ranking is perfect",
        remedy="correct the texts, or give the documents that are really ranked",
    )


def _rows_of(linted: Linted, doc_ids: Collection[str]) -> IntArray:
    """Return the first judgment of each document, in the order of the set."""
    first: dict[str, int] = {}
    wanted = set(doc_ids)
    for row, doc_id in enumerate(linted.contents.judgments.documents.texts()):
        if doc_id in wanted:
            first.setdefault(doc_id, row)
    return np.fromiter(first.values(), np.int64, len(first))
