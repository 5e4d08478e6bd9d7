"""Lint rules for sets in which one query or one document outweighs the others."""

from __future__ import annotations

from collections import Counter

import numpy as np

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.golden.lint.lint_rule import Linted, RuleResult, counted_queries, rule

_LEAST_QUERIES = 5
"""With fewer queries, no query counts as unusual."""
_MOST_SHARE = 0.02
"""The largest share of queries that counts as unusual; one query always may."""
_LEAST_JUDGMENTS = 100
_TIMES_MEDIAN, _TIMES_NEXT = 20, 5
"""An unusual query has at least this many times the median number of judgments, and this many times
that of any usual query. Counts that fall off slowly, such as those of clicks, have no such gap."""
_LEAST_RELEVANT = 10
"""With fewer queries that have a relevant document, none counts as relevant everywhere."""
_TIMES_OTHERS = 3
"""A document counts as relevant everywhere with at least this many times any other's queries."""
_MOST_DOCUMENTS = 3


@rule("warning")
def overjudged_query(linted: Linted) -> RuleResult | None:
    """A query with far more judgments than any other."""
    counts = np.diff(linted.contents.judgments.starts)
    judged = np.sort(counts[counts > 0])[::-1]
    if len(judged) < _LEAST_QUERIES:
        return None
    median = float(np.median(judged))
    for unusual in range(1, max(1, int(_MOST_SHARE * len(judged))) + 1):
        least, following = int(judged[unusual - 1]), int(judged[unusual])
        if least < max(_LEAST_JUDGMENTS, _TIMES_MEDIAN * median):
            return None
        if least >= _TIMES_NEXT * following:
            break
    else:
        return None
    query_ids = linted.queries_where(counts >= least)
    share = judged[:unusual].sum() / judged.sum()
    most = int(judged[0])
    each = f"{most:,} judgments" if least == most else f"{least:,} to {most:,} judgments"
    return RuleResult(
        query_ids=query_ids,
        what=f"{counted_queries(query_ids)} with {each}{' each' if unusual > 1 else ''}, "
        f"{share:.0%} of all; the median is {median:g}, and no other query has more than "
        f"{following:,}",
        why="Much effort went into a query that counts as one in every mean; or a whole catalogue "
        "or log was mistaken for judgments, and then the grades are not trustworthy",
        remedy="check where the judgments come from; keep only real ones, or judge the other "
        "queries as deeply",
    )


@rule("warning")
def relevant_everywhere(linted: Linted) -> RuleResult | None:
    """A document that is relevant to most queries, unlike any other."""
    judgments = linted.contents.judgments
    queries = int(judgments.has_relevant.sum())
    if queries < _LEAST_RELEVANT or linted.contents.candidates:
        return None
    counts = Counter(judgments.documents.texts(np.flatnonzero(judgments.grades > 0)))
    most = counts.most_common(_MOST_DOCUMENTS + 1)
    found = [(doc_id, count) for doc_id, count in most if 2 * count > queries]
    following = most[len(found)][1] if len(found) < len(most) else 0
    if not found or len(found) > _MOST_DOCUMENTS or found[-1][1] < _TIMES_OTHERS * following:
        return None
    names = [f"'{quoted(doc_id)}' ({count:,})" for doc_id, count in found]
    rows = [row for row, doc in enumerate(judgments.documents.texts()) if doc == found[0][0]]
    return RuleResult(
        query_ids=(),
        what=f"{plural(len(found), 'document is', 'documents are')} relevant to most of "
        f"{plural(queries, 'query', 'queries')}: {', '.join(names)}; any other is relevant to at "
        f"most {following:,}",
        why="A ranker that always returns it first looks good, whatever else it does",
        remedy="check these judgments: a default page, a placeholder or a shifted column is not an "
        "answer",
        places=linted.places_at(np.array(rows[:_LEAST_RELEVANT], np.int64)),
    )
