"""Counts: how much was ranked, how much of it is judged, how much is relevant."""

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
    found_in,
    in_top,
    relevant_in,
    share_of,
)
from pytest_rankcheck.statistics.array_types import FloatArray


@metric(
    "Judged",
    reference="trec_eval 10, measure unj (1 - Judged); ir_measures, Judged",
    formula="judged documents in the top k / k",
    use=(
        "beside other metrics, to see how much of what they count as not relevant nobody has judged"
    ),
    unjudged="what is counted",
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
    """The share of the top k that is judged; divided by k, though fewer were returned.

    Without a cutoff it is the share of the whole ranking, and 0 for an empty one. A negative
    grade is no judgment.
    """
    count = count_of(in_top(hits, cutoff) & (hits.grades >= 0))
    return share_of(count, hits.retrieved) if cutoff is None else count / cutoff


@metric(
    "NumRet",
    aliases=("num_ret",),
    reference="trec_eval, measure num_ret",
    formula="documents in the top k",
    use="to see that queries have enough results",
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
    """How many documents the top k has; with ``rel``, how many of them are relevant."""
    if rel is not None:
        return count_of(found_in(hits, cutoff, rel))
    return depth_of(hits, cutoff)


@metric(
    "NumRel",
    aliases=("num_rel",),
    reference="trec_eval, measure num_rel",
    formula="relevant documents, ranked or not",
    use="to describe a golden set; it says nothing of a ranker",
    parameters=(REL,),
    range=(0.0, np.inf),
    at=None,
    unjudged="not counted",
    **having(
        SOUND, identity=False, normalised=False, sensitive=False, robust_1=True, all_best=False
    ),
)
def number_relevant(hits: JudgedHits, cutoff: int | None, *, rel: Value) -> FloatArray:
    """How many documents are relevant, retrieved or not."""
    return relevant_in(hits, rel)


@metric(
    "NumRelRet",
    aliases=("num_rel_ret",),
    reference="trec_eval, measure num_rel_ret",
    formula="relevant documents in the top k",
    use="to describe a run as trec_eval does; to gate use R",
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
    """How many documents of the top k are relevant."""
    return count_of(found_in(hits, cutoff, rel))
