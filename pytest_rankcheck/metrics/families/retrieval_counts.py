"""Counts of ranked, judged and relevant documents."""

from __future__ import annotations

import numpy as np

from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.declared_laws import SOUND, first_only, having, whole
from pytest_rankcheck.metrics.metric_parameters import Value
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import (
    REL,
    count_of,
    depth_of,
    in_top,
    relevant_count,
    relevant_hits,
    share_of,
)
from pytest_rankcheck.statistics.array_types import FloatArray


@metric(
    "Judged",
    reference="trec_eval 10, measure unj (1 - Judged); ir_measures, Judged",
    formula="judged documents in the top k / k",
    use=("next to other metrics, to see how many of the documents in the top k are unjudged"),
    unjudged="not judged",
    **having(
        SOUND,
        cutoff_beyond=False,
        identity=False,
        normalised=True,
        sensitive=False,
        robust_1=True,
        all_best=True,
    ),
)
def judged(hits: JudgedHits, cutoff: int | None) -> FloatArray:
    """The share of the top k that is judged.

    The denominator is k, even if fewer documents are ranked. Without a cutoff it is the length of
    the ranking; an empty ranking has 0. A negative grade counts as unjudged.
    """
    count = count_of(in_top(hits, cutoff) & (hits.grades >= 0))
    return share_of(count, hits.retrieved) if cutoff is None else count / cutoff


@metric(
    "NumRet",
    aliases=("num_ret",),
    reference="trec_eval, measure num_ret",
    formula="number of documents in the top k",
    use="to check that queries have enough results",
    parameters=(REL,),
    range=(0.0, np.inf),
    unjudged="retrieved",
    **having(
        SOUND,
        identity=lambda parameters: (
            first_only(parameters) if parameters["rel"] is not None else False
        ),
        normalised=False,
        sensitive=False,
        robust_1=lambda parameters: parameters["rel"] is None or whole(parameters),
        all_best=False,
    ),
)
def number_retrieved(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The number of documents in the top k; with ``rel``, the number of relevant ones."""
    if rel is not None:
        return count_of(relevant_hits(hits, cutoff, rel))
    return depth_of(hits, cutoff)


@metric(
    "NumRel",
    aliases=("num_rel",),
    reference="trec_eval, measure num_rel",
    formula="number of relevant documents, ranked or not",
    use="to describe a golden set; it does not depend on the ranker",
    parameters=(REL,),
    range=(0.0, np.inf),
    at=None,
    unjudged="not relevant",
    **having(
        SOUND, identity=False, normalised=False, sensitive=False, robust_1=True, all_best=False
    ),
)
def number_relevant(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The number of relevant documents, retrieved or not."""
    return relevant_count(hits, rel)


@metric(
    "NumRelRet",
    aliases=("num_rel_ret",),
    reference="trec_eval, measure num_rel_ret",
    formula="number of relevant documents in the top k",
    use="to describe a run as trec_eval does; in gates, use R instead",
    parameters=(REL,),
    range=(0.0, np.inf),
    **having(
        SOUND,
        identity=first_only,
        normalised=False,
        sensitive=False,
        robust_1=whole,
        all_best=False,
    ),
)
def number_relevant_retrieved(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """The number of relevant documents in the top k."""
    return count_of(relevant_hits(hits, cutoff, rel))
