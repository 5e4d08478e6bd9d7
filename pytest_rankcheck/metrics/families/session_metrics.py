"""Metrics of search sessions: where the user's selection was, how long it took, if there was one.

A session's final selection is the last one of its last event with a selection; where several
documents are selected at once, the highest of them. An abandoned session has no selection.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from pytest_rankcheck.errors import MetricError
from pytest_rankcheck.metrics.judged_hits import last_of_running_sum
from pytest_rankcheck.metrics.metric_parameters import Parameter, Value, choice, number
from pytest_rankcheck.metrics.metric_registry import metric
from pytest_rankcheck.metrics.relevance import in_top
from pytest_rankcheck.metrics.session_trails import Trails
from pytest_rankcheck.statistics.array_types import FloatArray

_ABANDONED = Parameter(
    "abandoned",
    default=None,
    check=choice("zero", "exclude"),
    allowed="zero or exclude",
    description="whether a session without a selection counts as 0, or is left out of the mean",
    is_required=True,
)

_NEXT = Parameter(
    "abandoned",
    default=None,
    check=choice("exclude", "next", "zero"),
    allowed="exclude, next or zero",
    description=(
        "whether a session without a selection is left out of the mean; counts as one that would "
        "have selected next: one event, one rank or the whole session later; or counts as 0, which "
        "is better than any selection"
    ),
    is_required=True,
)


@metric(
    "SessionRR",
    formula="1 / rank of the final selection",
    use="do people find what they take near the top; with zero, also: do they take anything",
    aliases=("SessionMRR",),
    reference=(
        "Voorhees, The TREC-8 question answering track report, 1999, section 3, of the user's "
        "selection in the place of the answer"
    ),
    parameters=(_ABANDONED,),
    at=None,
    unit="session",
    unjudged="-",
)
def session_rr(trails: Trails, cutoff: int | None, *, abandoned: Value) -> FloatArray:
    """One over the rank of the session's final selection."""
    return _filled(1.0 / trails.final_rank, trails, abandoned, np.nan)


@metric(
    "SuccessRate",
    formula="1 if a final selection exists, at rank <= k; else 0",
    use="the first gate on a log: do people find something at all, and near the top",
    reference="Craswell, Success at n, Encyclopedia of Database Systems, 2009, of selections",
    unit="session",
    unjudged="-",
)
def success_rate(trails: Trails, cutoff: int | None) -> FloatArray:
    """1 if the session ends with a selection, at rank k at most where a cutoff is given; else 0.

    An abandoned session is no success. It is never left out: without abandoned sessions the rate
    would be 1.
    """
    limit = np.inf if cutoff is None else cutoff
    return (trails.final_rank <= limit).astype(np.float64)


@metric(
    "AbandonmentRate",
    formula="1 if nothing was selected; else 0",
    use="beside SuccessRate, where an answer on the page itself is not counted as success",
    reference="Li, Huffman and Tokuda, Good abandonment in mobile and PC internet search, SIGIR "
    "2009, section 1",
    higher_is_better=False,
    at=None,
    unit="session",
    unjudged="-",
)
def abandonment_rate(trails: Trails, cutoff: int | None) -> FloatArray:
    """1 if nothing is selected in the session, else 0."""
    return trails.is_abandoned.astype(np.float64)


@metric(
    "MeanEventRank",
    formula="place of the event with the final selection",
    use="how much typing and refining it takes",
    aliases=("EventRank",),
    reference="by its definition: the effort until the final selection, in events",
    parameters=(_NEXT,),
    higher_is_better=False,
    range=(0.0, np.inf),
    at=None,
    unit="session",
    unjudged="-",
)
def mean_event_rank(trails: Trails, cutoff: int | None, *, abandoned: Value) -> FloatArray:
    """The place, from 1, of the event with the final selection among the session's events."""
    return _filled(trails.final_event, trails, abandoned, trails.events + 1)


@metric(
    "ClickRank",
    formula="mean of the ranks of all selections",
    use="how far down people go, where several selections are usual",
    reference="Joachims, Optimizing search engines using clickthrough data, KDD 2002, section 2",
    parameters=(_NEXT,),
    higher_is_better=False,
    range=(0.0, np.inf),
    at=None,
    unit="session",
    unjudged="-",
)
def click_rank(trails: Trails, cutoff: int | None, *, abandoned: Value) -> FloatArray:
    """The mean rank of all selections of the session."""
    return _filled(trails.click_rank, trails, abandoned, trails.shown_last + 1)


@metric(
    "TimeToSelection",
    formula="time of the first selection - start of the session",
    use="how fast people find something, where times are reliable",
    aliases=("TimeToClick",),
    reference="Kelly, Methods for evaluating interactive information retrieval systems with "
    "users, Foundations and Trends in IR 3(1-2), 2009, section 10.2",
    parameters=(_NEXT,),
    higher_is_better=False,
    range=(0.0, np.inf),
    at=None,
    unit="session",
    unjudged="-",
)
def time_to_selection(trails: Trails, cutoff: int | None, *, abandoned: Value) -> FloatArray:
    """Seconds from the start of the session to its first selection."""
    return _filled(trails.first_selection, trails, abandoned, trails.duration)


@metric(
    "SessionDuration",
    formula="time of the last event or selection - start",
    use="the effort of the whole session; a few long ones weigh much",
    reference="Kelly, Methods for evaluating interactive information retrieval systems with "
    "users, Foundations and Trends in IR 3(1-2), 2009, section 10.2",
    higher_is_better=False,
    range=(0.0, np.inf),
    at=None,
    unit="session",
    unjudged="-",
)
def session_duration(trails: Trails, cutoff: int | None) -> FloatArray:
    """Seconds from the start of the session to its last event or selection, abandoned or not.

    A session of one event whose start is not told lasts 0 seconds.
    """
    return trails.duration.copy()


@metric(
    "MedianSessionDuration",
    formula="time of the last event or selection - start",
    use="as SessionDuration, where some sessions are left open",
    reference="as SessionDuration; the median, since a few sessions are left open over lunch",
    higher_is_better=False,
    range=(0.0, np.inf),
    at=None,
    aggregate="median",
    unit="session",
    unjudged="-",
)
def median_session_duration(trails: Trails, cutoff: int | None) -> FloatArray:
    """As SessionDuration, with the median over the sessions in the place of the mean."""
    return trails.duration.copy()


@metric(
    "EventsPerSession",
    formula="number of events",
    use="the effort of the whole session, where there are no times",
    reference="by its definition: the effort of the whole session, in events",
    higher_is_better=False,
    range=(1.0, np.inf),
    at=None,
    unit="session",
    unjudged="-",
)
def events_per_session(trails: Trails, cutoff: int | None) -> FloatArray:
    """How many events the session has, abandoned or not."""
    return trails.events.copy()


@metric(
    "sDCG",
    formula="sum over queries j of DCG_j@k / (1 + log_bq j)",
    use="sessions of several queries whose results are judged with grades",
    reference="Järvelin, Price, Delcambre and Nielsen, Discounted cumulated gain based evaluation "
    "of multiple-query IR sessions, ECIR 2008, section 2",
    parameters=(
        Parameter(
            "bq",
            default=4,
            check=number(above=1),
            allowed="a number above 1",
            description="base of the discount of later queries; the larger, the more patience",
        ),
        Parameter(
            "b",
            default=2,
            check=number(above=1),
            allowed="a number above 1",
            description="base of the discount of lower ranks",
        ),
    ),
    range=(0.0, np.inf),
    unit="session",
)
def session_dcg(trails: Trails, cutoff: int | None, *, bq: Value, b: Value) -> FloatArray:
    """The discounted gain of all result lists of the session, later ones discounted.

    sDCG@k = sum over the queries j of DCG_j@k / (1 + log_bq j), with the DCG of Järvelin and
    Kekäläinen (2002): DCG_j@k = sum over i <= k of g_i / max(1, log_b i). Grades at or below zero
    and unjudged documents gain nothing.
    """
    states, session_of, place_of = trails.states, trails.session_of, trails.place_of
    if states is None or session_of is None or place_of is None:
        raise MetricError(
            "sDCG needs graded judgments of the results shown: evaluate_sessions(log, "
            "judgments=golden)"
        )
    base, query_base = cast("float", b), cast("float", bq)
    counted = in_top(states, cutoff) & (states.grades > 0)
    ranks = np.where(counted, states.ranks, 1.0)
    costs = np.maximum(1.0, np.log(ranks) / np.log(base))
    gains = np.where(counted, np.where(counted, states.grades, 0.0) / costs, 0.0)
    of_queries = last_of_running_sum(gains) / (1 + np.log(place_of) / np.log(query_base))
    total: FloatArray = np.bincount(
        session_of, weights=of_queries, minlength=len(trails.events)
    ).astype(np.float64)
    return total


def _filled(
    values: FloatArray, trails: Trails, abandoned: Value, after: FloatArray | float
) -> FloatArray:
    """Return the values, with that of an abandoned session as the policy says."""
    policies = {"zero": 0.0, "exclude": np.nan, "next": after}
    return np.where(trails.is_abandoned, policies[cast("str", abandoned)], values)
