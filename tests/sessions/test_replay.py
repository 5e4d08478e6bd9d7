"""Replaying a log: its states as queries, their judgments and their weights."""

from pathlib import Path

import pandas as pd
import pytest
from flattened import of_sessions
from reference import data as reference_data
from simulated import simulate
from verdict_texts import verdict_lines

from pytest_rankcheck import (
    ConfigurationError,
    Gate,
    GoldenSet,
    GoldenSetError,
    Outcome,
    Run,
    SessionLog,
    SessionLogError,
    compare,
    evaluate,
)
from pytest_rankcheck.gates.verdict import ReplayEvidence


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


def test_which_states_are_queries_and_what_judges_them() -> None:
    # d and e were selected at once: the higher one, d, is the final selection.
    last, every = LOG.to_golden_set(), LOG.to_golden_set("all")
    prefixes = LOG.to_golden_set("prefixes")
    assert judged(last) == {"s1.3": {"d": 1.0}, "s3.1": {"q": 1.0}}
    assert (last.query("s1.3").text, last.clusters, last.weights) == ("sort", ["s1", "s3"], None)
    assert list(last.candidates_of("s1.3")) == ["d", "e"]
    assert judged(every) == {"s1.2": {"c": 1.0}, "s1.3": {"e": 1.0, "d": 1.0}, "s3.1": {"q": 1.0}}
    assert every.clusters == ["s1", "s1", "s3"]
    assert judged(prefixes) == {**{f"s1.{n}": {"d": 1.0} for n in (1, 2, 3)}, "s3.1": {"q": 1.0}}
    assert list(prefixes.candidates_of("s1.1")) == ["a", "b"]
    # What users saw is the run of the candidates: c is second, d is first, q is second.
    seen = evaluate(Run.from_candidates(every), every)
    assert seen.per_query("RR").tolist() == [1 / 2, 1, 1 / 2]
    twice = log_of(("s", "q", ["a", "b", "a"], ["b"])).to_golden_set()
    assert list(twice.candidates_of("s.1")) == ["a", "b"]


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


def test_invalid_choices() -> None:
    for options, message in (
        ({"propensity": "power"}, "propensity='power' is invalid; give power"),
        ({"propensity": "power(-1)"}, "propensity='power.-1.' is invalid"),
        ({"propensity": {1: 0.5}}, "lacks rank 2, which occurs in the log; add it"),
        ({"propensity": {1: 0.5, 2: 0}}, "the propensity of rank 2 is 0; it must be above 0"),
        ({"propensity": "power(1)", "clip": 0}, "clip=0 is invalid"),
        ({"clip": 0.1}, "clip= has no effect without a propensity; give propensity="),
        ({"propensity": "power(1)", "max_unseen": 2}, "max_unseen=2 is invalid"),
        ({"propensity": 5}, "propensity=5 is invalid; give power"),
    ):
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


# --- against others ------------------------------------------------------------------------------


def test_the_states_of_the_trec_session_track_agree_with_trec_eval() -> None:
    folder = reference_data("trec-session-2013")
    log = SessionLog.from_records(of_sessions(folder / "sessions.jsonl"), time_unit="s")
    clicked = log.to_golden_set("all")
    seen = evaluate(Run.from_candidates(clicked), clicked)
    assert len(clicked) == 249
    assert round(seen.mean("RR"), 4) == 0.6439
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


@pytest.mark.parametrize("searches", [300, pytest.param(1500, marks=pytest.mark.slow)])
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


# --- what a replay says of itself ---------------------------------------------------------------


def is_corrected(golden: GoldenSet) -> bool:
    replay = golden.replay
    return replay is not None and replay.corrects(golden.contents.weight_by)


def test_how_it_was_replayed_stays_with_the_golden_set(tmp_path: Path) -> None:
    golden = LOG.to_golden_set("all", propensity="power( 1 )")
    assert golden.replay.convention == "power(1), clip=0.05"  # type: ignore[union-attr]
    assert is_corrected(golden)
    for part in (golden.subset(["s1.2", "s3.1"]), golden.weighted("weight"), golden.sample(2)):
        assert part.replay == golden.replay
        assert is_corrected(part)
    golden.save(tmp_path / "replay.csv")
    again = GoldenSet.load(tmp_path / "replay.csv")
    assert again.replay == golden.replay
    assert not is_corrected(again)
    whole = again.weighted("weight").clustered("session")
    assert (whole.weights, whole.clusters) == (golden.weights, golden.clusters)
    assert whole.fingerprint == golden.fingerprint
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
    headline, *lines = verdict_lines(verdict, compare(moved, before))
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
        "\n".join(verdict_lines(verdict, compare(worse, before)))
    )
