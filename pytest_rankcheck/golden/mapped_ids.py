"""Golden sets with mapped document ids: judgments, titles, candidates and expectations."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from pytest_rankcheck.document_ids import DocIdMap, DocIdRule
from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.id_columns import HeldIds
from pytest_rankcheck.golden.collected_judgments import without_repeats
from pytest_rankcheck.golden.expectation import Expectation, add_expectation
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.reranking_candidates import Candidates

_FEW, _MANY = 2, 5
"""A rule that maps so many judged documents to so few ids leaves nothing to rank."""


def with_mapped_ids(contents: Contents, rule: DocIdRule | None) -> Contents:
    """Return a golden set with the ids of its documents mapped; as it is without a rule.

    Two judgments of a query that become one must have the same grade, unless the contents say which
    of two grades counts. Two candidates that become one must have the same columns.
    """
    if rule is None:
        return contents
    to_id = DocIdMap(rule)
    columns = contents.judgments
    mapped = replace(columns, documents=HeldIds(list(map(to_id, columns.documents.texts()))))
    known = [replace(each, doc_id=to_id(each.doc_id)) for each in contents.repeats]
    contradictions, where = contents.source.contradictions, contents.shown_place
    try:
        judgments, repeats = without_repeats(mapped, contradictions, where)
        expectations = _expectations(contents, to_id)
    except GoldenSetError as error:
        raise GoldenSetError(f"after doc_id={quoted(to_id.name)}: {error}") from None
    _check_left(columns, judgments, to_id)
    titles: dict[str, str] = {}
    for doc_id, title in contents.titles.items():
        titles.setdefault(to_id(doc_id), title)
    return replace(
        contents,
        judgments=judgments,
        repeats=[*known, *repeats],
        doc_id=to_id,
        titles=titles,
        candidates=_candidates(contents.candidates, to_id),
        expectations=expectations,
    )


def _check_left(given: Judgments, mapped: Judgments, to_id: DocIdMap) -> None:
    """Check that the judged documents have not become one or two."""
    before, after = (set(each.documents.texts()) for each in (given, mapped))
    if len(after) <= _FEW and len(before) >= _MANY:
        raise GoldenSetError(
            f"doc_id={quoted(to_id.name)} maps all {len(before):,} judged documents to "
            f"{listed(sorted(after))}, so every ranking would look perfect; choose a rule that "
            "keeps different documents apart"
        )


def _candidates(candidates: Candidates, to_id: DocIdMap) -> Candidates:
    rows_of: dict[str, dict[str, int]] = {}
    for query_id, rows in candidates.rows_of.items():
        mapped = rows_of.setdefault(query_id, {})
        for doc_id, row in rows.items():
            key = to_id(doc_id)
            first = mapped.setdefault(key, row)
            if not candidates.are_equal(first, row):
                raise GoldenSetError(
                    f"query '{quoted(query_id)}': doc_id={quoted(to_id.name)} maps two candidates "
                    f"that differ to '{quoted(key)}'; keep one of them"
                )
    return replace(candidates, rows_of=rows_of)


def _expectations(contents: Contents, to_id: DocIdMap) -> dict[str, list[Expectation]]:
    mapped: dict[str, list[Expectation]] = {}
    for expectation in chain.from_iterable(contents.expectations.values()):
        documents, others = (
            tuple(map(to_id, ids)) for ids in (expectation.documents, expectation.others)
        )
        where = contents.query_place(expectation.query) or "the expectations"
        try:
            new = replace(expectation, documents=documents, others=others)
        except GoldenSetError as error:
            query = f"query '{quoted(expectation.query)}'"
            raise GoldenSetError(f"{where}: {query}: {error}") from None
        add_expectation(mapped, new, contents.judgments.codes, where)
    return mapped
