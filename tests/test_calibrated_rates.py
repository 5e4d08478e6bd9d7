"""The arithmetic of the calibration: errors of rates, and whether a table keeps a stated rate."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import Metric, Run, SessionLog, compare, evaluate
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.reports.ledger import collecting

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
import replay_tables
import replayed_logs
import rules_of_tools
import session_tables
import special_designs
from rates import Rate, above, sentence


def test_the_error_of_a_rate() -> None:
    assert Rate(200, 4000).error == pytest.approx(0.003446, abs=1e-6)  # sqrt(0.05 0.95 / 4000)
    assert str(Rate(0, 0)) == "refused"


def test_cells_are_tested_together() -> None:
    """P(X >= 8), X binomial (100, 0.05), is 0.128; of 14 it is 0.00046, times 20 cells 0.0092."""
    assert above([Rate(8, 100)], 0.05) == [False]
    assert above([Rate(14, 100), *[Rate(0, 100)] * 19], 0.05) == [True] + [False] * 19
    assert above([Rate(14, 100), *[Rate(0, 100)] * 29], 0.05) == [False] * 30


def test_a_sentence_says_whether_a_rate_holds() -> None:
    cells = {"a": Rate(8, 100), "b": Rate(2, 100), "c": Rate(0, 0)}
    assert sentence("It blocks", cells, 0.05) == (
        "It blocks (5%): holds in all 2 cells; the worst is 8.0% ± 2.7% (a)."
    )
    cells["b"] = Rate(20, 100)
    assert sentence("It blocks", cells, 0.05) == (
        "It blocks (5%): exceeded in 1 of 2 cells, by up to 15.0 points; the worst is 20.0% ± "
        "4.0% (b)."
    )


def pairs(*gains: float) -> Paired:
    ids = tuple(map(str, range(len(gains))))
    before = np.full(len(gains), 0.5)
    return Paired(Metric.parse("nDCG@10"), ids, before, before + np.array(gains))


def test_other_tools_follow_their_documentation() -> None:
    # README of toolkit-rag-quality: 4 of 8 queries lose everything, so p = 0.125, and --alpha passes.
    lost = pairs(*[-0.5] * 4, *[0.0] * 4)
    assert rules_of_tools.toolkit_rag_quality(lost)
    assert not rules_of_tools.toolkit_rag_quality_alpha(lost)
    assert not rules_of_tools.retrieval_eval_gate(lost)
    assert rules_of_tools.toolkit_rag_quality(pairs(-0.0101))
    assert not rules_of_tools.toolkit_rag_quality(pairs(-0.0099))  # 2% of 0.5 is allowed
    # README of rag-ci: one of six questions is lost; the interval spans [-0.5, 0], so it passes.
    assert not rules_of_tools.rag_ci(pairs(-0.5, *[0.0] * 5))
    assert rules_of_tools.rag_ci(pairs(*[-0.5] * 6))
    assert not rules_of_tools.rag_ci(pairs(*[-0.019] * 50))  # significant, but below min-effect
    assert rules_of_tools.retrieval_eval_gate(pairs(*[-0.019] * 50))


def test_two_samples_have_the_stated_fall() -> None:
    """Over 4,000 draws the standard errors are 0.0003 and 0.005."""
    rates = [one.gain for one in special_designs.two_rates(0.02, 4000)]
    assert np.mean(rates) == pytest.approx(-0.02, abs=0.0015)
    deviation = special_designs.deviation_of_durations()
    assert deviation == pytest.approx(2.1612, abs=1e-4)  # sqrt((e - 1) e)
    durations = [one.gain for one in special_designs.two_durations(0.2, 4000)]
    assert np.mean(durations) == pytest.approx(-0.2 * deviation, abs=0.03)


def test_one_query_has_30_percent_of_the_weight() -> None:
    weights = special_designs.one_heavy(np.random.default_rng(1), 50)
    assert weights.sum() == pytest.approx(1)
    assert sorted(weights)[-2:] == pytest.approx([0.7 / 49, 0.3])


# --- replayed logs -------------------------------------------------------------------------------


def replays(name: str, count: int, draws: int) -> replay_tables.Counts:
    (row,) = [row for row in replay_tables.ROWS if row.name == name]
    return replay_tables.counts(row, count, draws)


def test_replayed_logs_have_the_stated_fall() -> None:
    """Over 200,000 searches the standard error is 0.0007; the mean RR is 0.5 + 2.929 / 20."""
    assert replayed_logs.mean_rr() == pytest.approx(0.5 + 2.928968 / 20)
    random = np.random.default_rng(3)
    for fall in (0.0, 0.1):
        log = replayed_logs.searches(random, 200_000, eta=1.0, fall=fall)
        assert (np.sort(log.now, axis=1) == replayed_logs.RANKS).all()
        new = log.now[np.arange(len(log.good)), log.good - 1]
        assert np.mean(1 / new) - np.mean(1 / log.good) == pytest.approx(-fall, abs=0.003)
        assert np.mean(1 / log.good) == pytest.approx(replayed_logs.mean_rr(), abs=0.003)


@pytest.mark.parametrize("trust", [0.0, 0.2])
def test_the_benchmark_measures_what_a_replay_does(trust: float) -> None:
    """Its arrays are a shortcut: a log of the same searches has the same values and weights."""
    log = replayed_logs.searches(np.random.default_rng(5), 60, eta=1.0, trust=trust)
    documents = [f"d{rank}" for rank in replayed_logs.RANKS]
    rows = [
        {
            "session_id": f"s{number}",
            "event": 1,
            "query": f"q{number}",
            "results": documents,
            "selected_rank": (np.flatnonzero(selected) + 1).tolist(),
        }
        for number, selected in enumerate(log.selected)
    ]
    whole = SessionLog.from_frame(pd.DataFrame(rows), first_rank=1)
    chances = replayed_logs.trusting(trust, 1.0)
    table = {rank: 1 / rank for rank in range(1, 11)}
    model = replayed_logs.bad_model(log)[0].tolist()
    for golden, expected in (
        (
            whole.to_golden_set("all", propensity="power(1)"),
            replayed_logs.weighted(log, "power(1)"),
        ),
        (whole.to_golden_set("all", uncorrected=True), replayed_logs.weighted(log, None)),
        (
            whole.to_golden_set("all", propensity=chances, relevance=lambda *_: [0.0] * 10),
            replayed_logs.estimated(log, chances),
        ),
        (
            whole.to_golden_set("all", propensity=table, clip=0.3, relevance=lambda *_: model),
            replayed_logs.estimated(log, table, 0.3, np.broadcast_to(model, log.now.shape)),
        ),
    ):
        rankings = {
            query_id: [
                documents[place]
                for place in np.argsort(log.now[int(query_id[1:].partition(".")[0])])
            ]
            for query_id in golden.query_ids
        }
        sides = (Run.from_dict(rankings), Run.from_candidates(golden))
        found = compare(*(evaluate(run, golden) for run in sides)).values("RR")
        assert sorted(found.before) == pytest.approx(sorted(expected.before), abs=1e-6)
        assert found.difference == pytest.approx(expected.difference, abs=1e-6)
        assert found.p_of_fall() == pytest.approx(expected.p_of_fall(), abs=0.01)
        low, high = found.differences.interval()
        assert expected.differences.interval() == pytest.approx((low, high), abs=1e-5)


def test_a_replay_with_the_right_propensity_keeps_its_rates() -> None:
    """5% of 300 are 15 +- 4, and 95% are 285 +- 4; on 200 searches."""
    right = replays("the right propensity, `power(1)`", 200, 300)
    assert right.blocked.hits <= 27
    assert right.missed.hits <= 6
    assert right.held.hits >= 273
    affine = replays("users who trust the ranker, (alpha, beta)", 200, 200)
    assert affine.blocked.hits <= 20
    assert affine.held.hits >= 180


def test_wrong_assumptions_show_in_the_rates() -> None:
    assert replays("no propensity (`uncorrected=True`)", 200, 40).blocked.hits >= 38
    better = replays("the same, and the ranker is better by 0.05", 1000, 40)
    assert better.blocked.hits >= 38
    assert replays("`power(0.5)`, but it is 1", 1000, 40).blocked.hits >= 38
    assert replays("`power(1)`, but it is 0.5", 1000, 40).missed.hits >= 25
    assert replays("users who trust the ranker, `power(1)`", 5000, 10).blocked.hits >= 8


def test_what_a_replay_cannot_know_is_inconclusive() -> None:
    steep = replays("`power(0.5)`, but it is 1; `sensitivity=`", 1000, 30)
    flat = replays("`power(1)`, but it is 0.5; `sensitivity=`", 1000, 30)
    assert (steep.blocked.hits, flat.missed.hits) == (0, 0)
    unseen = replays("two of the new top 10 never shown", 200, 10)
    assert (unseen.blocked.hits, unseen.open.hits) == (0, 10)
    alone = replays("two of the new top 10 never shown, `max_unseen=1`", 200, 10)
    assert alone.blocked.hits == 10


def test_estimated_propensities_are_close_at_10000_sessions() -> None:
    """Nine of 20 logs each; 95% of 180 are 171 +- 3."""
    for eta in (0.5, 1.0):
        found = replay_tables.estimates(10_000, eta, 20)
        assert found.close.draws == 180
        assert found.close.share >= 0.93
        assert found.held.hits >= 162


def test_a_model_makes_up_for_clipping() -> None:
    assert replays("clipped at 0.3", 1000, 40).blocked.hits >= 20
    modelled = replays("clipped at 0.3, with a good model", 1000, 40)
    assert modelled.blocked.hits <= 6
    assert modelled.open.hits < replays("the right propensity, `power(1)`", 1000, 40).open.hits


# --- sessions ------------------------------------------------------------------------------------


def test_users_with_many_sessions() -> None:
    """Two standard errors of 5% are 5.6 points with 60 draws; 30% by session is far outside."""
    counts = session_tables.user_counts("heavy", False, 60)
    assert counts.rate("blocked by session").share > 0.15
    assert counts.rate("blocked by user").share < 0.11
    assert counts.rate("covered by session").share < 0.65
    assert counts.rate("covered by user").share > 0.88
    assert counts.rate("passed by session").share > 0.15
    assert counts.rate("passed by user").share < 0.11


def test_a_shift_of_the_mix() -> None:
    counts = session_tables.mix_counts(8)
    assert counts.rate("as it is 0").share > 0.8
    assert counts.rate("by device 0").share > 0.8
    assert counts.rate("standardised 0").share < 0.3
    assert counts.rate("standardised 0.05").share == 1


def test_two_equal_groups() -> None:
    with collecting():  # the findings do not belong to this test session
        counts = session_tables.group_counts(500, 60)
    assert counts.rate("max_gap").share > 0.4
    assert counts.rate("no worse").share < 0.11
    assert counts.rate("mismatch").share > 0.6
