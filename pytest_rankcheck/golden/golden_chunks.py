"""Parts of a golden set, to send to workers: some queries, with only what a ranker can see."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_rankcheck.files.id_columns import HeldIds
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.judgments import Judgments
from pytest_rankcheck.golden.reranking_candidates import copy_candidates

__all__ = ["chunk_of"]


def chunk_of(golden: GoldenSet, query_ids: Sequence[str]) -> GoldenSet:
    """Return some queries of a golden set, in the order of ``query_ids``.

    The time is linear in these queries, not in the whole set. Judgments, candidates, attributes and
    the scale are kept, and so are the names of attributes and features that none of these queries
    has. Titles, expectations and places in files are left out, because no ranker sees them. The
    result can be pickled, and unpickling it needs no other library.

    Args:
        golden: the whole set.
        query_ids: some of its queries, each once.
    """
    whole = golden._contents
    part = Contents(Source())
    judgments = whole.judgments.arranged(tuple(query_ids))
    held = HeldIds(judgments.documents.texts())
    part.collected.take(Judgments(judgments.query_ids, judgments.starts, held, judgments.grades))
    for query_id in query_ids:
        if query_id in whole.queries:
            part.queries[query_id] = whole.queries[query_id]
    part.known_attributes = tuple(golden.attributes)
    part.weight_by, part.cluster_by = whole.weight_by, whole.cluster_by
    part.scale = golden.scale if golden.scale > 0 else None
    copy_candidates(whole.candidates, part.candidates, query_ids)
    return GoldenSet(part, golden.name)
