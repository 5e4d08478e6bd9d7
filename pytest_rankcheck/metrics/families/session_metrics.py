"""Metrics of search sessions: the rank of the user's selection, and the effort until it.

A session's final selection is the last selection of its last event with one; if several documents
are selected at once, it is the one with the best rank. An abandoned session has no selection.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.metrics.judged_hits import last_of_running_sum
from pytest_rankcheck.metrics.metric_inputs import Trails
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice, number
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import REL, in_top

_ABANDONED = Parameter(
    "abandoned",
    default=None,
    check=choice("zero", "exclude"),
    allowed="zero or exclude",
    is_required=True,
)

_NEXT = Parameter(
    "abandoned",
    default=None,
    check=choice("exclude", "next", "zero"),
    allowed="exclude, next or zero",
    description=(
        "how a session without a selection counts: not at all (exclude); as if the selection came "
        "next, one event or one rank later, or at the end of the session (next); or as 0, which is "
        "better than any selection (zero)"
    ),
    is_required=True,
)

_REL = replace(
    REL,
    description=(
        "the lowest grade that counts as a selection, such as that of a purchase; by default, "
        "every selection counts"
    ),
)

_of_session = partial(metric, unit="session", unjudged="-")
_effort = partial(_of_session, higher_is_better=False, range=(0.0, np.inf), at=None)
"""Declares a metric of users' effort."""


@_of_session("SessionRR", aliases=("SessionMRR",), parameters=(_ABANDONED, _REL), at=None)
def session_rr(trails: Trails, cutoff: int | None, *, abandoned: Value, rel: Value) -> FloatArray:
    """1 / rank of the session's final selection; with ``rel``, of its last one with that grade.

    abandoned: whether a session without a selection counts as 0 or is left out of the mean

    Formula: 1 / rank of the final selection

    Use: whether people find what they select near the top; with zero, also whether they select

    Source: Voorhees, The TREC-8 question answering track report, 1999, section 3, with the user's
    selection instead of the answer
    """
    ranks = trails.final_rank_from(cast("float | None", rel))
    missing = {"zero": 0.0, "exclude": np.nan}[cast("str", abandoned)]
    return np.where(np.isnan(ranks), missing, 1.0 / ranks)


@_of_session("SuccessRate", parameters=(_REL,))
def success_rate(trails: Trails, cutoff: int | None, *, rel: Value) -> FloatArray:
    """1 if the session has a final selection (at rank k or better), else 0.

    With ``rel``, only selections with at least that grade count.

    An abandoned session counts as 0 and is never left out: the rate would always be 1 otherwise.

    Formula: 1 if there is a final selection at rank <= k, else 0

    Use: the first gate on a log: whether people find something at all, and near the top

    Source: Craswell, Success at n, Encyclopedia of Database Systems, 2009, of selections
    """
    limit = np.inf if cutoff is None else cutoff
    return (trails.final_rank_from(cast("float | None", rel)) <= limit).astype(np.float64)


@_of_session("AbandonmentRate", parameters=(_REL,), higher_is_better=False, at=None)
def abandonment_rate(trails: Trails, cutoff: int | None, *, rel: Value) -> FloatArray:
    """1 if nothing is selected in the session, else 0; with ``rel``, nothing with that grade.

    Formula: 1 if nothing is selected, else 0

    Use: next to SuccessRate, if an answer on the result page itself does not count as success

    Source: Li, Huffman and Tokuda, Good abandonment in mobile and PC internet search, SIGIR 2009,
    section 1
    """
    return np.isnan(trails.final_rank_from(cast("float | None", rel))).astype(np.float64)


@_effort("MeanEventRank", aliases=("EventRank",), parameters=(_NEXT,))
def mean_event_rank(trails: Trails, cutoff: int | None, *, abandoned: Value) -> FloatArray:
    """The 1-based position of the event with the final selection among the session's events.

    Formula: position of the event with the final selection

    Use: how much typing and refining people need

    Source: by definition: the effort until the final selection, in events
    """
    return _with_abandoned(trails.final_event, trails, abandoned, trails.events + 1)


@_effort("ClickRank", parameters=(_NEXT,))
def click_rank(trails: Trails, cutoff: int | None, *, abandoned: Value) -> FloatArray:
    """The mean rank of all selections of the session.

    Repeated selections of one rank in one event count once.

    Formula: mean of the ranks of all selections; in one event, each rank counts once

    Use: how far down people go, if several selections per session are usual

    Source: Joachims, Optimizing search engines using clickthrough data, KDD 2002, section 2
    """
    return _with_abandoned(trails.click_rank, trails, abandoned, trails.shown_last + 1)


@_effort("TimeToSelection", aliases=("TimeToClick",), parameters=(_NEXT,))
def time_to_selection(trails: Trails, cutoff: int | None, *, abandoned: Value) -> FloatArray:
    """Seconds from the start of the session to its first selection.

    Formula: time of the first selection - start of the session

    Use: how fast people find something, if times are reliable

    Source: Kelly, Methods for evaluating interactive information retrieval systems with users,
    Foundations and Trends in IR 3(1-2), 2009, section 10.2
    """
    return _with_abandoned(trails.first_selection, trails, abandoned, trails.duration)


@_effort("SessionDuration")
def session_duration(trails: Trails, cutoff: int | None) -> FloatArray:
    """Seconds from the start of the session to its last event or selection, abandoned or not.

    A session with a single event and no recorded start lasts 0 seconds.

    Formula: time of the last event or selection - start

    Use: the effort of the whole session; a few long sessions dominate the mean

    Source: Kelly, Methods for evaluating interactive information retrieval systems with users,
    Foundations and Trends in IR 3(1-2), 2009, section 10.2
    """
    return trails.duration.copy()


@_effort("MedianSessionDuration", aggregate="median")
def median_session_duration(trails: Trails, cutoff: int | None) -> FloatArray:
    """Like SessionDuration, with the median over sessions instead of the mean.

    Formula: time of the last event or selection - start

    Use: like SessionDuration, if some sessions are left open

    Source: as SessionDuration; the median, because a few sessions are left open over lunch
    """
    return trails.duration.copy()


@_effort("EventsPerSession", range=(1.0, np.inf))
def events_per_session(trails: Trails, cutoff: int | None) -> FloatArray:
    """The number of events of the session, abandoned or not.

    Formula: number of events

    Use: the effort of the whole session, if times are not recorded

    Source: by definition: the effort of the whole session, in events
    """
    return trails.events.copy()


@metric(
    "sDCG",
    parameters=(
        Parameter("bq", default=4, check=number(above=1), allowed="a number above 1"),
        Parameter("b", default=2, check=number(above=1), allowed="a number above 1"),
    ),
    range=(0.0, np.inf),
    unit="session",
)
def session_dcg(trails: Trails, cutoff: int | None, *, bq: Value, b: Value) -> FloatArray:
    """Session DCG: the sum of the DCG of the session's queries, later queries discounted.

    sDCG@k = sum over the queries j of DCG_j@k / (1 + log_bq j), with the DCG of Järvelin and
    Kekäläinen (2002): DCG_j@k = sum over i <= k of g_i / max(1, log_b i). Unjudged documents and
    grades of 0 or less have no gain.

    bq: the base of the discount of later queries; larger means more patient

    b: the base of the discount of lower ranks

    Formula: sum over queries j of DCG_j@k / (1 + log_bq j)

    Use: sessions of several queries with graded judgments of their results

    Source: Järvelin, Price, Delcambre and Nielsen, Discounted cumulated gain based evaluation of
    multiple-query IR sessions, ECIR 2008, section 2
    """
    states, session_of, place_of = trails.states, trails.session_of, trails.place_of
    if states is None or session_of is None or place_of is None:
        raise MetricError(
            "sDCG needs graded judgments of the shown results: evaluate_sessions(log, "
            "judgments=golden)"
        )
    base, query_base = cast("float", b), cast("float", bq)
    counted = in_top(states, cutoff) & (states.grades > 0)
    ranks = np.where(counted, states.ranks, 1.0)
    costs = np.maximum(1.0, np.log(ranks) / np.log(base))
    gains = np.where(counted, states.grades, 0.0) / costs
    discounts = 1 + np.log(place_of) / np.log(query_base)
    of_queries = last_of_running_sum(gains) / discounts
    total: FloatArray = np.bincount(
        session_of, weights=of_queries, minlength=len(trails.events)
    ).astype(np.float64)
    return total


def _with_abandoned(
    values: FloatArray, trails: Trails, abandoned: Value, after: FloatArray | float
) -> FloatArray:
    """Return the values, with those of abandoned sessions replaced as the policy says."""
    policies = {"zero": 0.0, "exclude": np.nan, "next": after}
    return np.where(trails.is_abandoned, policies[cast("str", abandoned)], values)
