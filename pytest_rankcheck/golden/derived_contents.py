"""Contents made from others: several golden sets merged into one, or document ids mapped.

In a merged set, a query gets the judgments of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from pytest_rankcheck.document_ids import DocIdMap, DocIdRule
from pytest_rankcheck.errors import GoldenSetError, listed, quoted
from pytest_rankcheck.files.id_columns import HeldIds
from pytest_rankcheck.golden.collected_judgments import without_repeats
from pytest_rankcheck.golden.contents_builder import ContentsBuilder
from pytest_rankcheck.golden.expectation import Expectation, add_expectation
from pytest_rankcheck.golden.expected_text import BOTH, is_unit
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Contradictions, Source
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates, merged_candidates

_FEW, _MANY = 2, 5
"""A rule that maps this many judged documents to this few ids leaves nothing to rank."""


def with_mapped_ids(contents: Contents, rule: DocIdRule | None) -> Contents:
    """Return a golden set with the ids of its documents mapped; unchanged without a rule.

    Two judgments of a query that become one must have the same grade, unless the contents say which
    of two grades counts. Two candidates that become one may have no columns.
    """
    if rule is None:
        return contents
    contents.refuse_subtopics("read with doc_id=")
    to_id = DocIdMap(rule)
    columns = contents.judgments
    ids = [each if is_unit(each) else to_id(each) for each in columns.documents.texts()]
    mapped = replace(columns, documents=HeldIds(ids))
    known = [replace(each, doc_id=to_id(each.doc_id)) for each in contents.repeats]
    contradictions = contents.source.contradictions
    try:
        judgments, repeats = without_repeats(mapped, contradictions, contents.shown_place)
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
            if mapped.setdefault(key, row) != row and candidates.columns:
                raise GoldenSetError(
                    f"query '{quoted(query_id)}': doc_id={quoted(to_id.name)} maps two candidates "
                    f"with columns to '{quoted(key)}'; keep one of them"
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


def merged(parts: Sequence[Contents], contradictions: Contradictions) -> Contents:
    """Return all queries and judgments of several golden sets as one set.

    A query must have the same text in all, and all must be weighted and clustered alike.
    """
    columns = {role: name for part in parts for role, name in part.source.columns.items()}
    builder = ContentsBuilder(Source(columns=columns, contradictions=contradictions))
    for part in parts:
        part.refuse_subtopics("merged")
        for query_id, query in part.complete_queries().items():
            where = part.query_place(query_id) or f"query '{quoted(query_id)}'"
            before = builder.queries.get(query_id)
            builder.see_query(Query(query_id, query.text), where)
            attributes = {**(before.attributes if before else {}), **query.attributes}
            builder.queries[query_id] = replace(builder.queries[query_id], attributes=attributes)
            builder.collected.add_all(query_id, part.grades[query_id])
            for expectation in part.expectations.get(query_id, ()):
                builder.add_expectation(expectation, where)
        builder.titles.update(part.titles)
        builder.by_text |= part.by_text
    for query_id in builder.by_text:
        if any(part.grades.get(query_id) for part in parts if query_id not in part.by_text):
            raise GoldenSetError(f"query '{quoted(query_id)}': {BOTH}")
    if any(part.scale is not None for part in parts):
        builder.scale = max(part.scale or part.judgments.highest for part in parts)
    rules = {None if part.doc_id is None else part.doc_id.name for part in parts}
    common = {
        name: values.pop()
        for name in ("corpus", "documents", "interactions")
        if len(values := {getattr(part, name) for part in parts}) == 1
    }
    built = builder.built()
    return replace(
        built,
        judgments=replace(built.judgments, lines=None),
        candidates=merged_candidates([part.candidates for part in parts]),
        has_grade_map=all(part.has_grade_map for part in parts),
        weight_by=_common("weighted", [part.weight_by for part in parts]),
        cluster_by=_common("clustered", [part.cluster_by for part in parts]),
        doc_id=parts[0].doc_id if len(rules) == 1 else None,
        **common,
    )


def _common(what: str, attributes: Sequence[str | None]) -> str | None:
    """Return the attribute by which all parts are weighted or clustered."""
    if len(set(attributes)) > 1:
        names = " and ".join("nothing" if name is None else quoted(name) for name in attributes)
        raise GoldenSetError(
            f"the golden sets are {what} by {names}; to merge them, all must be {what} by the same "
            "attribute"
        )
    return attributes[0]
