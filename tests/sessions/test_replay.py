"""Replaying a log: its states as queries, their judgments and their weights."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reference import data as reference_data
from simulated import Simulation, simulate, trusting

from pytest_rankcheck import (
    Comparison,
    ConfigurationError,
    Conventions,
    Gate,
    GoldenSet,
    GoldenSetError,
    Metric,
    MetricError,
    MetricWarning,
    Outcome,
    Record,
    Run,
    SessionLog,
    SessionLogError,
    assert_at_least,
    assert_not_regressed,
    compare,
    evaluate,
    rank,
)
from pytest_rankcheck.baselines.metric_check import incompatibilities
from pytest_rankcheck.baselines.record_writer import record_text
from pytest_rankcheck.gates.explanations import ReplayEvidence, RulingUnder
from pytest_rankcheck.rankers import scorer
from pytest_rankcheck.reports.finding_codec import decoded
from pytest_rankcheck.reports.finding_encoding import encoded
from pytest_rankcheck.reports.gating_findings import ReplayFinding
from pytest_rankcheck.reports.gating_verdicts import gating_findings
from pytest_rankcheck.reports.text.blocked_text import regression_text
from pytest_rankcheck.reports.text.gating_text import gating_notes
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes


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
        ({"propensity": {1: 0.5}}, "lacks rank 2, which occurs in the log; add it"),
        ({"propensity": {1: 0.5, 2: 0}}, "the propensity of rank 2 is 0; it must be above 0"),
        ({"propensity": "power(1)", "clip": 0}, "clip=0 is invalid"),
        ({"clip": 0.1}, "clip= has no effect without a propensity; give propensity="),
        ({"sensitivity": ["power(1)"]}, "sensitivity= has no effect without a propensity"),
        ({"propensity": "power(1)", "uncorrected": True}, "uncorrected=True contradicts"),
        ({"propensity": "power(1)", "max_unseen": 2}, "max_unseen=2 is invalid"),
        ({"propensity": {1: (0.9, 0.2), 2: 0.5}}, "alpha . beta at most 1"),
        ({"propensity": {1: (0.8, 0.2), 2: 0.5}}, "needs states='all'"),
        (
            {"propensity": "power(1)", "sensitivity": [{1: (0.8, 0.2), 2: 0.5}]},
            "takes propensities",
        ),
        ({"propensity": "power(1)", "relevance": 5}, "relevance=5 is invalid; give a function"),
        ({"propensity": 5}, "propensity=5 is invalid; give power"),
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
    assert again.replay == golden.replay
    assert again.replay.convention == "power(1), clip=0.05"


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


# --- what a replay says of itself ---------------------------------------------------------------


def test_how_it_was_replayed_stays_with_the_golden_set(tmp_path: Path) -> None:
    golden = LOG.to_golden_set("all", propensity="power( 1 )")
    assert golden.replay.convention == "power(1), clip=0.05"  # type: ignore[union-attr]
    assert golden.corrects_positions
    for part in (golden.subset(["s1.2", "s3.1"]), golden.weighted("weight"), golden.sample(2)):
        assert part.replay == golden.replay
        assert part.corrects_positions
    golden.save(tmp_path / "replay.csv")
    again = GoldenSet.load(tmp_path / "replay.csv")
    assert again.replay == golden.replay
    assert not again.corrects_positions
    run = Run.from_candidates(again)
    assert 'call .weighted("weight")' in "".join(evaluate(run, again).notes)
    assert GoldenSet.from_dict({"q": {"d": 1}}).replay is None
    other = LOG.to_golden_set("all", uncorrected=True).subset(["s1.2"])
    both = LOG.to_golden_set().merge(other)
    with pytest.raises(GoldenSetError, match="queries of different replays"):
        _ = both.replay


def test_a_replay_without_a_propensity_says_so() -> None:
    golden = LOG.to_golden_set()
    (note,) = evaluate(Run.from_candidates(golden), golden).notes
    assert note == (
        "a replay without a propensity: positions are not corrected, which favours the ranker that "
        "made the log, and rankers that resemble it"
    )


def test_what_was_clipped_is_counted() -> None:
    # The final selections are at ranks 1, 2 and 10; their weights would be 1, 2 and 10.
    shown = [f"d{rank}" for rank in range(1, 11)]
    log = log_of(*((f"s{rank}", "q", shown, [f"d{rank}"]) for rank in (1, 2, 10)))
    golden = log.to_golden_set(propensity="power(1)", clip=0.2)
    (note,) = evaluate(Run.from_candidates(golden), golden).notes
    assert note == (  # 10 / 13 of the weight
        "1 of 3 selections (33.3%, 77% of the weight before clipping) has a propensity below "
        "clip=0.2 and counts as 0.2"
    )
    golden = log.to_golden_set(propensity="power(1)", clip=0.1)
    assert evaluate(Run.from_candidates(golden), golden).notes == ()


def test_the_order_of_the_log_is_no_baseline_without_a_propensity() -> None:
    """The equal ranker of the simulation would be blocked every time, and a better one too."""
    simulation = simulate(300, seed=0)
    gate = Gate.significant()
    for options, is_refused in (
        ({}, True),
        ({"uncorrected": True}, False),
        ({"propensity": "power(1)"}, False),
    ):
        golden = simulation.log.to_golden_set(**options)  # type: ignore[arg-type]
        seen = evaluate(Run.from_candidates(golden), golden)
        new = evaluate(simulation.run(golden), golden)
        for one, two in ((new, seen), (seen, new), (new, Record.of(seen, [Metric.parse("RR")]))):
            if is_refused:
                with pytest.raises(ConfigurationError, match="uncorrected=True"):
                    assert_not_regressed(one, two, "RR", gate=gate)
            else:
                compare(one, two)
        again = evaluate(simulation.run(golden), golden)
        assert_not_regressed(new, again, "RR", gate=gate)  # neither is the order of the log


def test_a_record_of_another_propensity_is_not_comparable() -> None:
    simulation = simulate(50, seed=0)
    metric = Metric.parse("RR")
    goldens = [
        simulation.log.to_golden_set(propensity=propensity)
        for propensity in ("power(1)", {rank: 1 / rank**0.5 for rank in range(1, 11)}, None)
    ]
    evaluations = [evaluate(simulation.run(golden), golden) for golden in goldens]
    record = Record.from_text(record_text(Record.of(evaluations[0], [metric])))
    assert incompatibilities(record, evaluations[0]) == ()
    for other, shown in zip(evaluations[1:], ("{1: 1, 2: 0.707107,", "no propensity"), strict=True):
        (difference,) = incompatibilities(record, other)
        assert difference.startswith("replay: 'power(1), clip=0.05' in the baseline, '")
        assert shown in difference
    with pytest.raises(ConfigurationError, match="does not fit golden set"):
        evaluate(simulation.run(goldens[0]), goldens[0], conventions=Conventions(replay="power(2)"))


# --- estimates of relevance: users who trust the ranker, and models of relevance -----------------


def test_estimates_worked_by_hand() -> None:
    """Two lists of a and b; b is selected in the first one, nothing in the second.

    (c - beta) / alpha is -0.1 / 0.8 = -1/8 for a, and 1 / 0.5 = 2 for b if it is selected, else 0.
    The sums are 15/8 and -1/8, on average 7/8; divided by it: -1/7 and 16/7, and -1/7 and 0.
    """
    log = log_of(("s1", "q", ["a", "b"], ["b"]), ("s2", "q", ["a", "b"], []))
    golden = log.to_golden_set("all", propensity={1: (0.8, 0.1), 2: 0.5})
    assert golden.weights is None
    assert golden.replay.convention == "{1: (0.8, 0.1), 2: 0.5}, clip=0.05, affine"  # type: ignore[union-attr]
    assert judged(golden) == {
        "s1.1": {"a": pytest.approx(-1 / 7), "b": pytest.approx(16 / 7)},
        "s2.1": {"a": pytest.approx(-1 / 7), "b": pytest.approx(0)},
    }
    evaluation = evaluate(Run.from_dict({"s1.1": ["b", "a"], "s2.1": ["x", "a"]}), golden)
    assert evaluation.values("RR").tolist() == pytest.approx([16 / 7 - 1 / 14, -1 / 14])
    assert evaluation.values("Success@1").tolist() == pytest.approx([16 / 7, 0])
    assert evaluation.values("P@2").tolist() == pytest.approx([15 / 14, -1 / 14])
    discounted = 1 / math.log2(3)
    for name in ("nDCG@2", "DCG@2"):
        expected = [16 / 7 - discounted / 7, -discounted / 7]
        assert evaluation.values(name).tolist() == pytest.approx(expected)
    assert evaluation.mean("R@2") == pytest.approx(1)  # b is found and a too: the sum of all


@pytest.mark.parametrize("metric", ["AP", "ERR@10", "Bpref", "RR(judged_only=true)", "RR(rel=2)"])
def test_metrics_that_are_not_linear_are_refused(metric: str) -> None:
    log = log_of(("s1", "q", ["a", "b"], ["b"]))
    golden = log.to_golden_set(
        "all", propensity="power(1)", relevance=lambda _, ids: [0.5] * len(ids)
    )
    with pytest.raises(MetricError, match=r"not linear in them\. Use RR, Success, P,"):
        evaluate(Run.from_candidates(golden), golden).mean(metric)


def test_a_model_of_relevance_worked_by_hand() -> None:
    """At clip 0.5, alpha of ranks 1 to 3 is 1, 1/2 and 1/4: only the last is clipped.

    The model says 0.6 of every document. a and b: (c - 0.6 alpha) / alpha + 0.6 = c / alpha, that is
    0 and 2. c: 0.6 + (0 - 0.6 / 4) / 0.5 = 0.3. Their sum is 2.3.
    """
    log = log_of(("s1", "q", ["a", "b", "c"], ["b"]))
    asked = []

    def model(query: str, documents: Sequence[str]) -> Sequence[float]:
        asked.append((query, list(documents)))
        return [0.6] * len(documents)

    chances = {1: 1.0, 2: 0.5, 3: 0.25}
    golden = log.to_golden_set("all", propensity=chances, clip=0.5, relevance=model)
    assert asked == [("q", ["a", "b", "c"])]
    expected = {"a": 0, "b": pytest.approx(2 / 2.3), "c": pytest.approx(0.3 / 2.3)}
    assert judged(golden)["s1.1"] == expected
    for answer in ([0.5], [0.5, 0.5, 2.0], "abc", None):
        broken = partial(lambda given, *_: given, answer)
        with pytest.raises(ConfigurationError, match="return one probability from 0 to 1 for each"):
            log.to_golden_set("all", propensity=chances, relevance=broken)


def test_an_affine_correction_recovers_the_truth_of_trusting_users() -> None:
    """Users select what is not good in one of five looks at rank 1, one of ten at rank 2, ...

    Weights alone take that for relevance, and see less than the true fall. With the betas, 36 or
    more of 40 intervals of 95% hold the true difference in 95% of such tests.
    """
    covered, without = 0, []
    for seed in range(40):
        simulation = simulate(1000, seed, trust=0.2)
        truth = simulation.truth - simulation.truth_before
        golden = simulation.log.to_golden_set("all", propensity=trusting(0.2))
        low, high = difference(golden, simulation).interval("RR")
        covered += low <= truth <= high
        if seed < 5:
            weighted = simulation.log.to_golden_set("all", propensity="power(1)")
            without.append(difference(weighted, simulation).mean_difference("RR") - truth)
    assert covered >= 36
    assert min(without) > 0.03


def difference(golden: GoldenSet, simulation: Simulation) -> Comparison:
    """Return the new ranker against the order of the log."""
    seen = evaluate(Run.from_candidates(golden), golden)
    return compare(evaluate(simulation.run(golden), golden), seen)


def test_lint_of_a_replay_is_about_what_can_be_changed() -> None:
    """Weights are no slices, and estimates are often negative."""
    log = log_of(*((f"s{n}", "q", ["a", "b"], ["b"] if n % 2 else []) for n in range(8)))
    weighted = log.to_golden_set(propensity="power(1)", sensitivity=["power(2)"])
    assert not [each for each in weighted.lint() if each.rule == "small-slice"]
    chances = {1: (0.8, 0.1), 2: (0.5, 0.1)}
    estimated = log.to_golden_set("all", propensity=chances)
    assert min(estimated.judgments["relevance"]) < 0
    rules = {each.rule for each in estimated.lint()}
    assert not rules & {"negative-grade", "no-relevant", "one-grade", "ceiling"}


def test_doubly_robust_estimates() -> None:
    """A good model makes up for clipping; a bad one does no harm where nothing is clipped."""
    errors: dict[str, list[float]] = {"clipped": [], "good model": [], "bad model": [], "plain": []}
    for seed in range(25):
        simulation = simulate(600, seed)
        # d1, d2, ... are shown in this order; the good one is where the old ranker had it.
        good = dict(zip(simulation.log.session_ids, simulation.good, strict=True))
        numbers = {f"query {number}": f"s{number}" for number in range(600)}

        def right(query: str, documents: Sequence[str]) -> list[float]:
            return [0.9 if document == good[numbers[query]] else 0.01 for document in documents]  # noqa: B023

        def wrong(query: str, documents: Sequence[str]) -> list[float]:
            return [0.9 if document == "d10" else 0.1 for document in documents]

        for name, clip, model in (
            ("clipped", 0.4, lambda _, documents: [0.0] * len(documents)),
            ("good model", 0.4, right),
            ("bad model", 0.05, wrong),
            ("plain", 0.05, lambda _, documents: [0.0] * len(documents)),
        ):
            golden = simulation.log.to_golden_set(
                "all", propensity="power(1)", clip=clip, relevance=model
            )
            mean = evaluate(simulation.run(golden), golden).mean("RR")
            errors[name].append(mean - simulation.truth)
    bias = {name: abs(np.mean(each)) for name, each in errors.items()}
    spread = {name: np.std(each) for name, each in errors.items()}
    assert errors["bad model"] == pytest.approx(errors["plain"])  # nothing is clipped
    assert bias["clipped"] > 0.05
    assert bias["good model"] < 0.01
    assert bias["bad model"] < 3 * spread["bad model"] / 5
    assert spread["good model"] < 0.7 * spread["plain"]


def test_metrics_of_several_documents_warn_where_only_one_is_relevant() -> None:
    golden = LOG.to_golden_set()
    evaluation = evaluate(Run.from_candidates(golden), golden)
    with pytest.warns(MetricWarning, match="no query of golden set .* use Success@2 or RR"):
        evaluation.mean("P@2")
    with pytest.warns(MetricWarning, match="R only says whether it is found; use Success@2 or RR"):
        evaluation.mean("R@2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluation.mean("P@2")  # once
        evaluation.mean("P@1")
        several = LOG.to_golden_set("all")  # d and e are selected at once
        evaluate(Run.from_candidates(several), several).mean("R@2")


# --- what a replay cannot know -------------------------------------------------------------------


def with_unseen(rankings: dict[str, list[str]], unseen: int) -> dict[str, list[str]]:
    """Return rankings with as many documents on top that were never shown."""
    return {
        query_id: [*(f"new{place}" for place in range(unseen)), *ranking]
        for query_id, ranking in rankings.items()
    }


def test_documents_that_were_never_shown_leave_a_verdict_open() -> None:
    simulation = simulate(200, seed=3)
    golden = simulation.log.to_golden_set(propensity="power(1)")
    run = simulation.run(golden)
    before = evaluate(run, golden)
    rankings = {query_id: list(run.ranking(query_id)) for query_id in golden.query_ids}
    moved = evaluate(Run.from_dict(with_unseen(rankings, 10), name="moved"), golden)
    assert moved.mean("RR") < 0.2 * before.mean("RR")
    for gate in (Gate.tolerance(), Gate.significant(), Gate.noninferior(0.02)):
        verdict = gate.decide(compare(moved, before), "RR")
        expected = ReplayEvidence(
            "regressed", 10, 1.0, 0.0, 0.1, str(verdict.replay.without_unseen)
        )  # type: ignore[union-attr]
        assert verdict.replay == expected
        assert expected.without_unseen != "regressed"
        assert verdict.ruling == "inconclusive"
        back = gate.decide(compare(before, moved), "RR")
        assert back.replay == ReplayEvidence("passed", 10, 0.0, 1.0, 0.1)
        assert back.ruling == "inconclusive"
    verdict = Gate.significant().decide(compare(moved, before), "RR", by="session")
    assert {part.outcome for part in verdict.slices} <= {Outcome.INCONCLUSIVE, Outcome.NOT_GATED}
    headline, *lines = regression_text(verdict, compare(moved, before)).splitlines()
    assert "RR is inconclusive on golden set" in headline
    assert headline.endswith("100% of the new top 10 was never shown to anyone")
    assert any("more than max_unseen=0.1: judge these documents" in line for line in lines)
    # One new document in each top is no more than one of ten.
    one = evaluate(Run.from_dict(with_unseen(rankings, 1), name="one"), golden)
    verdict = Gate.significant().decide(compare(one, before), "RR")
    assert (verdict.ruling, verdict.replay.unseen_now) == ("regressed", pytest.approx(0.1))  # type: ignore[union-attr]
    # A stricter limit, and one in the top 5 of a metric with that cutoff.
    strict = simulation.log.to_golden_set(propensity="power(1)", max_unseen=0.05)
    pair = [evaluate(Run.from_dict(with_unseen(rankings, count)), strict) for count in (1, 0)]
    verdict = Gate.significant().decide(compare(*pair), "RR@5")
    assert (verdict.ruling, verdict.replay.unseen_now) == ("inconclusive", pytest.approx(0.2))  # type: ignore[union-attr]
    # The same unseen documents at the same ranks on both sides do not change the difference.
    verdict = Gate.significant().decide(compare(moved, moved), "RR")
    assert (verdict.ruling, verdict.replay.unseen_now) == ("passed", 0)  # type: ignore[union-attr]


def test_a_verdict_that_depends_on_the_propensity_is_inconclusive() -> None:
    """Worked by hand: RR before and now, and the selected rank r of each search.

    30 searches: r = 1, from 1 to 1/2. 19 searches: r = 4, from 1/4 to 1. Under power(eta) the
    weights are 1 and 4 ** eta. At eta 0 the mean goes from (30 + 4.75) / 49 to (15 + 19) / 49; at
    1, with weights 1 and 4, from (30 + 19) / 106 to (15 + 76) / 106.
    """
    shown = ["a", "b", "c", "d"]
    log = log_of(
        *((f"s{n}", "q", shown, ["a"]) for n in range(30)),
        *((f"t{n}", "q", shown, ["d"]) for n in range(19)),
        selections_where="all",
    )
    golden = log.to_golden_set(propensity="power(1)", sensitivity=("power(0)", "power(1)"))
    assert golden.weights_under("power(0)") == [1.0] * 49
    assert golden.subset(["s0.1", "t0.1"]).weights_under("power(1)") == [1, 4]
    rankings = {
        query_id: ["b", "a", "c", "d"] if query_id[0] == "s" else ["d", "a", "b", "c"]
        for query_id in golden.query_ids
    }
    seen = evaluate(Run.from_candidates(golden), golden)
    now = evaluate(Run.from_dict(rankings), golden)
    verdict = Gate.tolerance().decide(compare(now, seen), "RR")
    assert verdict.replay is not None
    zero, one = verdict.replay.under
    assert zero == RulingUnder("power(0)", pytest.approx(34.75 / 49), 34 / 49, "regressed")
    assert one == RulingUnder("power(1)", pytest.approx(49 / 106), 91 / 106, "passed")
    assert (verdict.replay.ruling, verdict.ruling) == ("passed", "inconclusive")
    text = regression_text(verdict, compare(now, seen))
    assert "; the verdict depends on the propensity" in text.splitlines()[0]
    assert (
        "  under power(0) 0.7092 -> 0.6939, regressed; under power(1) 0.4623 -> 0.8585, passed; "
        "under the propensity of the replay it is passed"
    ) in text
    agreed = log.to_golden_set(propensity="power(1)", sensitivity=("power(0.5)", "power(1.5)"))
    pair = [
        evaluate(Run.from_dict(rankings), agreed),
        evaluate(Run.from_candidates(agreed), agreed),
    ]
    assert Gate.tolerance().decide(compare(*pair), "RR").ruling == "passed"


def test_unseen_documents_do_not_hide_a_fall_of_the_others() -> None:
    """Rankings are reversed, with two documents that were never shown at ranks 9 and 10."""
    simulation = simulate(200, seed=3)
    golden = simulation.log.to_golden_set(propensity="power(1)")
    run = simulation.run(golden)
    before = evaluate(run, golden)
    rankings = {}
    for query_id in golden.query_ids:
        ranking = run.ranking(query_id)[::-1]
        rankings[query_id] = [*ranking[:8], "new1", "new2", *ranking[8:]]
    worse = evaluate(Run.from_dict(rankings), golden)
    verdict = Gate.significant().decide(compare(worse, before), "RR")
    assert verdict.replay is not None
    assert verdict.replay.unseen_now > 0.1
    assert verdict.replay.without_unseen == "regressed"
    assert verdict.regressed
    assert "but without these documents it is regressed as well" in (
        regression_text(verdict, compare(worse, before))
    )


def test_the_summary_says_what_a_replay_cannot_know() -> None:
    simulation = simulate(60, seed=3)
    golden = simulation.log.to_golden_set(propensity="power(1)", sensitivity=["power(0.5)"])
    run = simulation.run(golden)
    rankings = {query_id: list(run.ranking(query_id)) for query_id in golden.query_ids}
    moved = evaluate(Run.from_dict(with_unseen(rankings, 4)), golden)
    notes = [note.text for note in evaluation_notes(moved)]
    assert any("40% of the top 10 was never shown in its search" in note for note in notes)
    verdict = Gate.significant().decide(compare(moved, evaluate(run, golden)), "RR")
    findings = [
        each for each in gating_findings("week", [verdict]) if isinstance(each, ReplayFinding)
    ]
    (finding,) = findings
    assert decoded(encoded(finding)) == finding
    texts = [note.text for note in gating_notes(finding.with_test("t.py::t"))]
    assert texts[0].startswith(
        "t.py::t: RR on 'week': 40% of the new top 10 was never shown to anyone"
    )
    assert "under power(0.5)" in texts[1]
