"""Subsets, reorderings, rewordings and merges of golden sets. Fingerprints follow the content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Contradictions, Source
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import copy_candidates, is_feature_number

__all__ = ["in_query_order", "merged", "restricted", "reworded", "sampled_ids", "without_judgments"]


def restricted(contents: Contents, query_ids: Iterable[str]) -> Contents:
    """Return the part of a golden set with some of its queries, in the set's order."""
    chosen = set(query_ids)
    return in_query_order(contents, [each for each in contents.grades if each in chosen])


def in_query_order(contents: Contents, query_ids: Sequence[str]) -> Contents:
    """Return the part of a golden set with these of its queries, in this order."""
    part = without_judgments(contents)
    part.collected.take(contents.judgments.arranged(tuple(query_ids)))
    for query_id in query_ids:
        if query_id in contents.queries:
            part.queries[query_id] = contents.queries[query_id]
        if query_id in contents.expectations:
            part.expectations[query_id] = list(contents.expectations[query_id])
    part.repeats.extend(each for each in contents.repeats if each.query_id in part.grades)
    in_order = [each for each in contents.grades if each in part.grades]
    copy_candidates(contents.candidates, part.candidates, in_order)
    return part


def without_judgments(contents: Contents) -> Contents:
    """Return empty contents that are read, named, weighted and scaled like these."""
    part = Contents(contents.source, contents.places)
    part.reader, part.titles = contents.reader, contents.titles
    part.weight_by, part.cluster_by = contents.weight_by, contents.cluster_by
    part.scale, part.merged_ids = contents.scale, contents.merged_ids
    part.doc_id, part.corpus = contents.doc_id, contents.corpus
    part.judges = contents.judges
    return part


def reworded(contents: Contents, texts: Mapping[str, str | Query]) -> Contents:
    """Return only the queries that get new texts or attributes, with these."""
    part = restricted(contents, texts)
    for query_id, new in texts.items():
        before = part.queries.get(query_id) or Query(query_id)
        if isinstance(new, str):
            part.queries[query_id] = replace(before, text=new)
        else:
            part.queries[query_id] = replace(new, id=query_id)
    return part


def sampled_ids(query_ids: Iterable[str], count: int, seed: int) -> Sequence[str]:
    """Return ``count`` ids, sampled by their hashes.

    The sample depends neither on the order of the ids nor on a random generator: it is the same in
    every version of Python, and a growing set keeps most of its sample.
    """
    import hashlib  # loads OpenSSL, so only when needed

    def drawn(query_id: str) -> bytes:
        return hashlib.sha256(f"{seed} {query_id}".encode("utf-8", "surrogatepass")).digest()

    return sorted(query_ids, key=drawn)[:count]


def merged(parts: Sequence[Contents], contradictions: Contradictions) -> Contents:
    """Return all queries and judgments of several golden sets as one set.

    A query must have the same text in all, and all must be weighted and clustered alike.
    """
    whole = Contents(Source(contradictions=contradictions))
    if any(part.scale is not None for part in parts):
        whole.scale = max(part.scale or part.judgments.highest for part in parts)
    whole.weight_by = _common("weighted", [part.weight_by for part in parts])
    rules = {None if part.doc_id is None else part.doc_id.name for part in parts}
    whole.doc_id = parts[0].doc_id if len(rules) == 1 else None
    whole.cluster_by = _common("clustered", [part.cluster_by for part in parts])
    for part in parts:
        for query_id, query in part.complete_queries().items():
            where = part.query_place(query_id) or f"query '{quoted(query_id)}'"
            before = whole.queries.get(query_id)
            whole.see_query(Query(query_id, query.text), where)
            attributes = {**(before.attributes if before else {}), **query.attributes}
            whole.queries[query_id] = replace(whole.queries[query_id], attributes=attributes)
            for expectation in part.expectations.get(query_id, ()):
                whole.add_expectation(expectation, where)
        whole.collected.add_columns(part.judgments, part.shown_place)
        clash = copy_candidates(part.candidates, whole.candidates, part.candidates.query_ids)
        if clash is not None:
            raise GoldenSetError(
                f"document '{quoted(clash[1])}' of query '{quoted(clash[0])}' is a candidate in "
                "two of the golden sets, with different columns; keep one of them"
            )
        whole.titles.update(part.titles)
    if all(map(is_feature_number, whole.candidates.columns)):
        whole.candidates.order_by_number()
    return whole


def _common(what: str, attributes: Sequence[str | None]) -> str | None:
    """Return the attribute by which all parts are weighted or clustered."""
    if len(set(attributes)) > 1:
        names = " and ".join("nothing" if name is None else quoted(name) for name in attributes)
        raise GoldenSetError(
            f"the golden sets are {what} by {names}; to merge them, all must be {what} by the same "
            "attribute"
        )
    return attributes[0]
