"""Replaying a log: its states as queries, their judgments and their weights."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference import data as reference_data
from simulated import simulate

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Run,
    SessionLog,
    SessionLogError,
    assert_at_least,
    evaluate,
    rank,
)
from pytest_rankcheck.rankers import scorer


def log_of(*events: tuple[str, str, list[str], list[str]], **reading: object) -> SessionLog:
    rows = [
        {"session_id": session, "query": query, "results": shown, "selected": selected}
        for session, query, shown, selected in events
    ]
    return SessionLog.from_frame(pd.DataFrame(rows), **reading)  # type: ignore[arg-type]


LOG = log_of(
    ("s1", "s", ["a", "b"], []),
    ("s1", "so", ["b", "c", "d"], ["c"]),
    ("s1", "sort", ["d", "e"], ["e", "d"]),
    ("s2", "x", ["y"], []),
    ("s3", "z", ["p", "q"], ["q"]),
)


def judged(golden: GoldenSet) -> dict[str, dict[str, float]]:
    return {query_id: dict(golden.grades(query_id)) for query_id in golden.query_ids}


def test_the_last_state_of_each_session() -> None:
    golden = LOG.to_golden_set()
    # d and e were selected at once: the higher one, d, is the final selection.
    assert judged(golden) == {"s1.3": {"d": 1.0}, "s3.1": {"q": 1.0}}
    assert golden.query("s1.3").text == "sort"
    assert list(golden.candidates_of("s1.3")) == ["d", "e"]
    assert golden.clusters == ["s1", "s3"]
    assert golden.weights is None


def test_all_states_with_a_selection() -> None:
    golden = LOG.to_golden_set("all")
    assert judged(golden) == {
        "s1.2": {"c": 1.0},
        "s1.3": {"e": 1.0, "d": 1.0},
        "s3.1": {"q": 1.0},
    }
    assert golden.clusters == ["s1", "s1", "s3"]
    everything = LOG.to_golden_set("all", unselected=True)
    assert list(everything.query_ids) == ["s1.1", "s1.2", "s1.3", "s2.1", "s3.1"]
    assert judged(everything)["s2.1"] == {}


def test_every_prefix_is_judged_by_the_final_selection() -> None:
    golden = LOG.to_golden_set("prefixes")
    assert judged(golden) == {
        "s1.1": {"d": 1.0},
        "s1.2": {"d": 1.0},
        "s1.3": {"d": 1.0},
        "s3.1": {"q": 1.0},
    }
    assert list(golden.candidates_of("s1.1")) == ["a", "b"]


def test_what_users_saw_is_the_run_of_the_candidates() -> None:
    golden = LOG.to_golden_set("all")
    assert evaluate(Run.from_candidates(golden), golden).per_query("RR").tolist() == [
        1 / 2,  # c is second
        1,  # d is first
        1 / 2,  # q is second
    ]


def test_under_a_propensity_each_selection_is_a_query_of_its_own() -> None:
    golden = LOG.to_golden_set("all", propensity="power(1)")
    assert judged(golden) == {
        "s1.2": {"c": 1.0},
        "s1.3/2": {"e": 1.0},
        "s1.3/1": {"d": 1.0},
        "s3.1": {"q": 1.0},
    }
    assert golden.weights == [2, 2, 1, 2]  # ranks 2, 2, 1, 2
    # Kish: (2 + 2 + 1 + 2)^2 / (4 + 4 + 1 + 4) = 49 / 13.
    assert golden.effective_size == pytest.approx(49 / 13)
    shown = evaluate(Run.from_candidates(golden), golden)
    # (2 * 1/2 + 2 * 1/2 + 1 * 1 + 2 * 1/2) / 7
    assert shown.mean("RR") == pytest.approx(4 / 7)


def test_propensities_from_a_table_and_clipped() -> None:
    golden = LOG.to_golden_set(propensity={1: 0.8, 2: 0.1}, clip=0.2)
    assert golden.weights == [1 / 0.8, 1 / 0.2]
    assert LOG.to_golden_set(propensity=[0.5, 0.25]).weights == [2, 4]
    assert LOG.to_golden_set(propensity="power(0)").weights == [1, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"propensity": "power"}, "propensity='power' is invalid; give power"),
        ({"propensity": "power(-1)"}, "propensity='power.-1.' is invalid"),
        ({"propensity": {1: 0.5}}, "lacks rank 2, where the log has a selection"),
        ({"propensity": {1: 0.5, 2: 0}}, "the propensity of rank 2 is 0; it must be above 0"),
        ({"propensity": "power(1)", "clip": 0}, "clip=0 is invalid"),
        ({"propensity": "power(1)", "unselected": True}, "cannot be combined with a propensity"),
        ({"states": "prefixes", "unselected": True}, "cannot be combined with states='prefixes'"),
    ],
)
def test_invalid_choices(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        LOG.to_golden_set(**options)  # type: ignore[arg-type]


def test_a_replay_needs_what_was_shown_and_a_selection() -> None:
    frame = pd.DataFrame([{"session_id": "s", "result_count": 3, "selected_rank": 2}])
    with pytest.raises(SessionLogError, match="unknown, first in session 's', row 1; a replay"):
        SessionLog.from_frame(frame, first_rank=1).to_golden_set()
    with pytest.raises(SessionLogError, match="has no selections, so there is nothing to replay"):
        log_of(("s", "q", ["a"], [])).to_golden_set()
    with pytest.raises(ValueError, match="states"):
        LOG.to_golden_set("first")  # type: ignore[arg-type]


def test_a_document_that_was_shown_twice_is_one_candidate() -> None:
    golden = log_of(("s", "q", ["a", "b", "a"], ["b"])).to_golden_set()
    assert list(golden.candidates_of("s.1")) == ["a", "b"]


def test_a_replay_is_saved_and_loaded(tmp_path: Path) -> None:
    golden = LOG.to_golden_set("all", propensity="power(1)")
    golden.save(tmp_path / "replay.csv")
    again = GoldenSet.load(tmp_path / "replay.csv")
    assert (again.weights, again.clusters) == (None, None)
    again = again.weighted("weight").clustered("session")
    assert again.weights == golden.weights
    assert again.clusters == golden.clusters
    assert again.fingerprint == golden.fingerprint


def test_rankers_rerank_the_candidates() -> None:
    golden = LOG.to_golden_set()

    def backwards(query: str, candidates: list[str]) -> list[str]:
        return candidates[::-1]

    assert rank(backwards, golden).ranking("s1.3") == ("e", "d")
    scored = rank(scorer(lambda query, documents: [float(ord(one)) for one in documents]), golden)
    assert list(scored.ranking("s1.3")) == ["e", "d"]


# --- against others ------------------------------------------------------------------------------


def test_the_states_of_the_trec_session_track_agree_with_trec_eval() -> None:
    folder = reference_data("trec-session-2013")
    log = SessionLog.load(folder / "sessions.jsonl", time_unit="s")
    clicked = log.to_golden_set("all")
    seen = evaluate(Run.from_candidates(clicked), clicked)
    assert len(clicked) == 249
    assert round(seen.mean("RR"), 4) == 0.6439
    everything = log.to_golden_set("all", unselected=True)
    assert len(everything) == 401
    assert round(evaluate(Run.from_candidates(everything), everything).mean("RR"), 4) == 0.3998
    # The files of clicks and of what was shown, the ordinary way, have the same values.
    golden = GoldenSet.load(folder / "clicks.qrels")
    files = evaluate(Run.load(folder / "shown.run"), golden)
    assert files.per_query("RR").to_dict() == seen.per_query("RR").to_dict()
    theirs = pd.read_csv(
        folder / "out.clicks.q.txt.gz", sep=r"\s+", names=["measure", "query", "value"]
    )
    of_queries = theirs[(theirs["measure"] == "recip_rank") & (theirs["query"] != "all")]
    for query_id, value in zip(of_queries["query"], of_queries["value"], strict=True):
        assert files.per_query("RR")[query_id] == pytest.approx(float(value), abs=5.1e-5)
    assert len(of_queries) == 249


# --- the bias of a log, and its correction -------------------------------------------------------


def interval(golden: GoldenSet, run: Run) -> tuple[float, float]:
    return evaluate(run, golden).interval("RR")


@pytest.mark.parametrize("searches", [300, 1500])
def test_the_corrected_replay_recovers_the_truth_and_the_naive_one_does_not(searches: int) -> None:
    covered = {"naive": 0, "corrected": 0}
    for seed in range(30):
        simulation = simulate(searches, seed)
        for name, propensity in (("naive", None), ("corrected", "power(1)")):
            golden = simulation.log.to_golden_set(propensity=propensity)
            low, high = interval(golden, simulation.run(golden))
            covered[name] += low <= simulation.truth <= high
    # Of 95% intervals, 26 of 30 or more hold the truth in 99% of such tests.
    assert covered["corrected"] >= 26
    assert covered["naive"] == 0


def test_a_wrong_propensity_does_not_recover_it() -> None:
    simulation = simulate(4000, seed=1)
    golden = simulation.log.to_golden_set(propensity="power(2)")
    low, _ = interval(golden, simulation.run(golden))
    golden = simulation.log.to_golden_set(propensity="power(0)")
    naive, _ = interval(golden, simulation.run(golden))
    assert not math.isclose(low, naive)
    assert naive > simulation.truth


def test_clipping_trades_bias_for_variance() -> None:
    simulation = simulate(4000, seed=2)
    widths, means, sizes = [], [], []
    for clip in (0.05, 0.5, 1.0):
        golden = simulation.log.to_golden_set(propensity="power(1)", clip=clip)
        low, high = interval(golden, simulation.run(golden))
        widths.append(high - low)
        means.append((high + low) / 2)
        sizes.append(golden.effective_size)
    assert widths == sorted(widths, reverse=True)
    assert sizes == sorted(sizes)
    assert np.argmin(np.abs(np.array(means) - simulation.truth)) == 0


def test_bounds_use_the_weights_and_the_sessions() -> None:
    simulation = simulate(1500, seed=0)
    golden = simulation.log.to_golden_set(propensity="power(1)")
    evaluation = evaluate(simulation.run(golden), golden)
    low, _ = interval(golden, simulation.run(golden))
    # The bound is a little lower than the interval, since it allows for an unseen query.
    assert_at_least(evaluation, "RR", low - 1e-3, confidence=0.975)
    with pytest.raises(AssertionError, match="lower 98% bound"):
        assert_at_least(evaluation, "RR", low + 1e-4, confidence=0.975)
