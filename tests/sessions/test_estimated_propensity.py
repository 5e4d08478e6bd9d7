"""Propensities that are estimated from the log of two rankers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import ConfigurationError, SessionLog, SessionLogError, evaluate
from pytest_rankcheck import Run as RankedRun

QUERIES, SHOWN = 300, 6
"""How many queries there are, and how many documents each shows."""


def log_of_two_rankers(
    sessions: int, seed: int, exponent: float = 1.0, trust: float = 0.0, bad: int = 0
) -> SessionLog:
    """Return a log of two rankers of similar quality, one of which chance gave to each session.

    A document of relevance r is selected at rank k with the probability (r + (1 - r) trust / k)
    k ** -exponent. The first ``bad`` documents are never good, and the rankers are then worse.
    """
    random = np.random.default_rng(seed)
    relevance = random.random((QUERIES, SHOWN))
    relevance[:, :bad] = 0
    noise = 0.5 if bad else 0.2
    orders = [
        np.argsort(-(relevance + random.normal(0, noise, relevance.shape)), axis=1) for _ in "AB"
    ]
    ranks = np.arange(1, SHOWN + 1)
    rows = []
    for session in range(sessions):
        query, group = int(random.integers(QUERIES)), int(random.integers(2))
        shown = orders[group][query]
        good = relevance[query, shown]
        chances = (good + (1 - good) * trust / ranks) * ranks**-exponent
        rows.append(
            {
                "session_id": f"s{session}",
                "query": f"query {query}",
                "results": [f"d{document}" for document in shown],
                "selected_rank": (np.flatnonzero(random.random(SHOWN) < chances) + 1).tolist(),
                "group": "AB"[group],
            }
        )
    return SessionLog.from_frame(pd.DataFrame(rows), first_rank=1)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_it_is_within_5_points_at_10000_sessions(exponent: float) -> None:
    """The standard errors of the propensities are at most 0.016 here, so 0.05 is three of them."""
    estimate = log_of_two_rankers(10_000, seed=4, exponent=exponent).estimate_propensity(by="group")
    truth = {rank: rank**-exponent for rank in range(1, SHOWN + 1)}
    assert dict(estimate) == pytest.approx(truth, abs=0.05)
    assert estimate.exponent == pytest.approx(exponent, abs=0.08)


def test_intervals_hold_the_truth() -> None:
    """Of 20 logs with 5 intervals each, 89 or more of 100 hold it in 99% of such tests."""
    held = 0
    for seed in range(20):
        estimate = log_of_two_rankers(1500, seed).estimate_propensity(by="group")
        for rank in range(2, SHOWN + 1):
            low, high = estimate.interval(rank)
            held += low <= 1 / rank <= high
    assert held >= 89


BAD = {f"query {number}": ["d0", "d1"] for number in range(QUERIES)}


def test_documents_that_are_not_good_show_how_far_users_trust_the_ranker() -> None:
    """At rank k, alpha is k ** -1 (1 - trust / k) and beta k ** -1 trust / k.

    Relative to alpha at rank 1, 0.8, those of ranks 2 to 6 are 0.5625, 0.3889, ... Without the
    betas, selections at rank 1 that are only trust make the propensities further down too small.
    """
    trust = 0.2
    log = log_of_two_rankers(10_000, seed=2, trust=trust, bad=2)
    estimate = log.estimate_propensity(by="group", irrelevant=BAD)
    for rank in range(1, SHOWN + 1):
        alpha, beta = estimate[rank]  # type: ignore[misc]
        truth = (1 - trust / rank) / rank
        assert alpha == pytest.approx(truth, abs=0.05)
        assert beta == pytest.approx(trust / rank**2, abs=0.03)
    assert estimate.table["beta"].to_dict() == {rank: each[1] for rank, each in estimate.items()}  # type: ignore[index]
    assert ", beta 0." in str(estimate)
    golden = log.to_golden_set("all", propensity=estimate)
    assert golden.has_estimates
    naive = log.estimate_propensity(by="group")
    assert all(naive[rank] < estimate[rank][0] / estimate[1][0] - 0.03 for rank in (2, 3))  # type: ignore[index, operator]
    with pytest.raises(SessionLogError, match="no document of irrelevant= was shown"):
        log.estimate_propensity(by="group", irrelevant={"query 1": ["d99"], "other": ["d1"]})


def test_it_is_a_propensity_of_a_replay() -> None:
    log = log_of_two_rankers(2000, seed=1)
    estimate = log.estimate_propensity(by="group")
    golden = log.to_golden_set("all", propensity=estimate, clip=0.01)
    weights = dict(zip(golden.query_ids, golden.weights or (), strict=True))
    ranks = evaluate(RankedRun.from_candidates(golden), golden).per_query("RR")
    for query_id, value in ranks.items():
        assert weights[query_id] == pytest.approx(1 / estimate[round(1 / value)])
    assert golden.replay.propensity.startswith("{1: 1, 2: 0.")  # type: ignore[union-attr]


def test_its_table_and_its_text() -> None:
    """The rates at ranks 1 and 2 are 2 / 4 and 1 / 4: see tests/statistics/test_harvesting.py."""
    rows = [
        {
            "session_id": f"{group}{n}",
            "query": "q",
            "results": shown,
            "selected": picked,
            "group": group,
        }
        for group, shown in (("A", ["x", "y"]), ("B", ["y", "x"]))
        for n, picked in enumerate([["x"], ["x"], [], []] if group == "A" else [["x"], [], [], []])
    ]
    log = SessionLog.from_frame(pd.DataFrame(rows))
    estimate = log.estimate_propensity(by="group")
    half = 1.959964 * math.sqrt(0.5 / 2 + 0.75 / 1)
    expected = [[1, 1, 1], [0.5, 0.5 * math.exp(-half), 0.5 * math.exp(half)]]
    assert estimate.table.to_numpy().tolist() == [pytest.approx(row) for row in expected]
    assert estimate.table.columns.tolist() == ["propensity", "low", "high"]
    assert estimate.exponent == pytest.approx(1)
    headline, first, second = str(estimate).splitlines()
    assert headline == (
        "propensities from 1 document that rankers (group) showed at different ranks, with 3 "
        "selections in 8 impressions; closest power(1.00)"
    )
    assert first == "  rank  1  1.000  [1.000, 1.000]"
    assert second == "  rank  2  0.500  [0.070, 3.550]"


def test_only_the_usual_rank_of_a_ranker_counts() -> None:
    """Ranker A shows x first four times, and second to one user who wants y."""
    rows = [
        *(("A", ["x", "y"], "x") for _ in range(2)),
        *(("A", ["x", "y"], None) for _ in range(2)),
        ("A", ["y", "x"], "y"),
        ("B", ["y", "x"], "x"),
        *(("B", ["y", "x"], None) for _ in range(3)),
    ]
    frame = pd.DataFrame(
        [
            {
                "session_id": f"s{n}",
                "query": "q",
                "results": shown,
                "selected": picked,
                "group": group,
            }
            for n, (group, shown, picked) in enumerate(rows)
        ]
    )
    estimate = SessionLog.from_frame(frame).estimate_propensity(by="group")
    assert estimate.harvest.impressions == 8
    assert dict(estimate) == pytest.approx({1: 1, 2: 0.5})


def test_what_cannot_be_estimated() -> None:
    log = log_of_two_rankers(50, seed=0)
    with pytest.raises(ConfigurationError, match="by='grop' has no value; did you mean 'group'"):
        log.estimate_propensity(by="grop")
    frame = pd.DataFrame(
        [
            {
                "session_id": f"s{n}",
                "query": f"q{n}",
                "results": ["a", "b"],
                "selected": "b",
                "group": "AB"[n % 2],
            }
            for n in range(4)
        ]
    )
    with pytest.raises(SessionLogError, match="at different ranks by two values of 'group'"):
        SessionLog.from_frame(frame).estimate_propensity(by="group")
    with pytest.raises(ConfigurationError, match="the same value in all sessions"):
        SessionLog.from_frame(frame.assign(group="A"), attributes=["group"]).estimate_propensity(
            by="group"
        )
    counted = frame.drop(columns=["results", "selected"]).assign(result_count=2, selected_rank=2)
    with pytest.raises(SessionLogError, match="the results shown are unknown; to estimate"):
        SessionLog.from_frame(counted, first_rank=1).estimate_propensity(by="group")
