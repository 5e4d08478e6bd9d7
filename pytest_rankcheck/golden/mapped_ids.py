"""Golden sets with mapped document ids: judgments, titles, candidates and expectations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_rankcheck.document_ids import DocIdMap, DocIdRule
from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.id_columns import HeldIds
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_subsets import without_judgments
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.repeated_judgments import Repeat, without_repeats
from pytest_rankcheck.golden.reranking_candidates import Candidates, copy_candidates

__all__ = ["with_mapped_ids"]

_FEW, _MANY = 2, 5
"""A rule that maps so many judged documents to so few ids leaves nothing to rank."""


def with_mapped_ids(contents: Contents, rule: DocIdRule) -> Contents:
    """Return a golden set with the ids of its documents mapped.

    Two judgments of a query that become one must have the same grade, unless the contents say which
    of two grades counts. Two candidates that become one must have the same columns.
    """
    to_id = DocIdMap(rule)
    mapped = without_judgments(contents)
    mapped.queries = dict(contents.queries)
    mapped.repeats.extend(replace(each, doc_id=to_id(each.doc_id)) for each in contents.repeats)
    mapped.collected.take(_judgments(contents, to_id, mapped.repeats))
    mapped.doc_id = to_id
    mapped.merged_ids = _merged_ids(contents, mapped, to_id)
    mapped.titles = {}
    for doc_id, title in contents.titles.items():
        mapped.titles.setdefault(to_id(doc_id), title)
    _copy_candidates(contents.candidates, mapped.candidates, to_id)
    mapped.expectations = {
        query_id: [_expectation(expectation, to_id) for expectation in expectations]
        for query_id, expectations in contents.expectations.items()
    }
    return mapped


def _merged_ids(contents: Contents, mapped: Contents, to_id: DocIdMap) -> tuple[int, int]:
    """Return the number of different judged documents before and after the mapping.

    Many documents must not become one or two.
    """
    before, after = (set(each.judgments.documents.texts()) for each in (contents, mapped))
    if len(after) <= _FEW and len(before) >= _MANY:
        raise GoldenSetError(
            f"doc_id={quoted(to_id.name)} maps all {len(before):,} judged documents to "
            f"{listed(sorted(after))}, so every ranking would look perfect; choose a rule that "
            "keeps different documents apart"
        )
    return len(before), len(after)


def _judgments(contents: Contents, to_id: DocIdMap, repeats: list[Repeat]) -> Judgments:
    """Return the judgments by mapped ids; repeats are added to a list."""
    columns = contents.judgments
    mapped = replace(columns, documents=HeldIds(list(map(to_id, columns.documents.texts()))))

    def refusal(repeat: Repeat, first: int, row: int) -> str:
        both = columns.documents.texts(np.array([first, row]))
        return (
            f"query '{quoted(repeat.query_id)}': doc_id={quoted(to_id.name)} maps documents "
            f"'{quoted(both[0])}' (grade {repeat.before:g}) and '{quoted(both[1])}' (grade "
            f"{repeat.again:g}) to '{quoted(repeat.doc_id)}'; correct a judgment, or choose the "
            "grade that counts, such as contradictions='highest'"
        )

    rule, where = contents.source.contradictions, contents.shown_place
    settled, found = without_repeats(mapped, rule, where, refusal=refusal)
    repeats += found
    return settled


def _copy_candidates(candidates: Candidates, copies: Candidates, to_id: DocIdMap) -> None:
    clash = copy_candidates(candidates, copies, candidates.query_ids, to_id)
    if clash is not None:
        query_id, doc_id = clash
        key = to_id(doc_id)
        before = next(each for each in candidates.rows(query_id) if to_id(each) == key)
        raise GoldenSetError(
            f"query '{quoted(query_id)}': doc_id={quoted(to_id.name)} maps candidates "
            f"'{quoted(before)}' and '{quoted(doc_id)}', which differ, to '{quoted(key)}'; keep "
            "one of them"
        )


def _expectation(expectation: Expectation, to_id: DocIdMap) -> Expectation:
    try:
        return replace(
            expectation,
            documents=tuple(map(to_id, expectation.documents)),
            others=tuple(map(to_id, expectation.others)),
        )
    except GoldenSetError as error:
        raise GoldenSetError(
            f"query '{quoted(expectation.query)}': after doc_id={quoted(to_id.name)}: {error}"
        ) from None
