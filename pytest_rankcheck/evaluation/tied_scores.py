"""Tied scores: documents whose order the ranker leaves open, and their possible orders."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.ranking import Ranking, TieOrder
from pytest_rankcheck.rankers.run import Run

_SAMPLE = 500
"""How many rankings are looked at, evenly spread, to see whether scores are mostly tied."""


def tied_queries(run: Run, golden: GoldenSet, k: int | None) -> tuple[str, ...]:
    """Return the queries in which a judged document of the top k shares its score.

    Empty if the run has no scores.
    """
    return tuple(
        query_id
        for query_id in golden.query_ids
        if any(
            not golden.grades(query_id).keys().isdisjoint(group)
            for group in _groups(run, query_id, k)
        )
    )


def mostly_tied(run: Run, golden: GoldenSet) -> Sequence[str]:
    """Return the queries in which at least half of the documents share their score.

    A constant score, for example, leaves the whole order to the rule for ties. Empty without
    scores, and if these are fewer than half of the queries with several documents. If there are
    many rankings, only a sample is looked at.
    """
    ranked = [query_id for query_id in golden.query_ids if len(run.get(query_id)) > 1]
    looked_at = ranked[:: max(1, len(ranked) // _SAMPLE)]
    tied = []
    for query_id in filter(run.has_ties, looked_at):
        counts = Counter(run.scores(query_id) or ())
        if 2 * sum(count for count in counts.values() if count > 1) >= counts.total():
            tied.append(query_id)
    return tied if 2 * len(tied) >= len(looked_at) else ()


def ties_reordered(
    run: Run, golden: GoldenSet, order: TieOrder, *, keeps_scores: bool = False
) -> Run:
    """Return the run with tied documents in the best or the worst order for the metrics.

    An unjudged document counts as grade 0. The result has no scores, so nothing is tied any more. A
    run is reordered before it is cut at a depth, because documents below the cut may be tied with
    the last ones.
    """
    sign, depth = -1 if order == "best" else 1, run.depth
    run = run.whole() if depth else run
    rankings: dict[str, Ranking] = {}
    for query_id in run:
        grades: Mapping[str, float] = golden.grades(query_id) if query_id in golden else {}
        docs, scores = run.ranking(query_id), run.scores(query_id)
        if grades and _tied_scores(run, query_id):
            pairs = sorted(
                zip(docs, scores or (), strict=True),
                key=lambda pair: (-pair[1], sign * grades.get(pair[0], 0.0)),
            )
            docs = [doc for doc, _ in pairs]
        kept = tuple(scores) if scores and keeps_scores else None
        rankings[query_id] = Ranking(tuple(docs), kept)
    reordered = run.with_rankings(rankings)
    return reordered.top(depth) if depth else reordered


def _groups(run: Run, query_id: str, k: int | None) -> Iterator[Sequence[str]]:
    """Yield each group of documents with the same score that starts in the top k."""
    start = 0
    for _, tied in itertools.groupby(_tied_scores(run, query_id) or ()):
        size = len(tuple(tied))
        if k is not None and start >= k:
            return
        docs = run.ranking(query_id)[start : start + size] if size > 1 else ()
        if len(set(docs)) > 1:  # the chunks of one document are not tied with each other
            yield docs
        start += size


def _tied_scores(run: Run, query_id: str) -> Sequence[float] | None:
    """Return the scores of a ranking if they fall and some are equal.

    None for other rankings; a ranker may sort by something else.
    """
    scores = run.scores(query_id) if query_id in run and run.has_ties(query_id) else None
    falls = scores and all(before >= after for before, after in itertools.pairwise(scores))
    return scores if falls else None
