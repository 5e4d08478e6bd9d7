"""Which metrics the advice gates on: compared at one depth, the second for what the first misses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from pytest_rankcheck import GoldenSet, Metric, Resolution, Resolutions, Run, evaluate
from pytest_rankcheck.metrics.laws.visible_falls import Falls
from pytest_rankcheck.metrics.laws.visible_swaps import swaps_seen
from pytest_rankcheck.resolution.fall_sight import FallSight, reshuffle_variance
from pytest_rankcheck.resolution.gating_advice import MORE
from pytest_rankcheck.resolution.resolution_table import compared_depth
from tests.reference import data

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")


def of_letters(rankings: list[str], metrics: list[str], **grades: int) -> Resolutions:
    """Return the resolutions on rankings of documents of one letter each."""
    queries = {f"q{place}": list(ranking) for place, ranking in enumerate(rankings)}
    golden = GoldenSet.from_dict(dict.fromkeys(queries, grades))
    return Resolutions.of(evaluate(Run.from_dict(queries), golden), metrics)


def of_many(
    metrics: list[str],
    *,
    queries: int = 60,
    depth: int = 100,
    relevant: int = 1,
    best: int = 1,
    at: int | None = None,
) -> Resolutions:
    """Return the resolutions on random rankings, with relevant documents rather at the top."""
    random = np.random.default_rng(3)
    run, golden = {}, {}
    for number in range(queries):
        ranks = np.exp(random.uniform(0, np.log(depth), relevant)).astype(int)
        ranking = [f"x{place}" for place in range(depth)]
        grades = {}
        for rank in set(ranks.tolist()):
            ranking[rank - 1] = f"r{rank}"
            grades[f"r{rank}"] = int(random.integers(1, best + 1))
        run[str(number)], golden[str(number)] = ranking, grades
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(golden))
    return Resolutions.of(evaluation, metrics, depth=at)


def gated(found: Resolutions) -> list[str]:
    return list(map(str, found.gated))


def test_a_deeper_metric_does_not_lead_because_it_is_deeper() -> None:
    found = of_many(["nDCG@10", "AP"])
    ndcg, ap = found.resolutions
    assert found.depth == 10
    # On whole rankings AP sees half as many swaps again, and so it used to lead.
    shallow, whole = (each.seen_telling for each in of_whole_rankings(["nDCG@10", "AP"]))
    assert whole > 1.5 * shallow
    assert ndcg.seen_telling == ap.seen_telling == shallow
    assert ndcg.swaps == ap.swaps == 60 * 10
    assert gated(found) == ["nDCG@10"]


def of_whole_rankings(metrics: list[str]) -> list[Resolution]:
    """Return the resolutions of the same rankings, at all ranks."""
    return list(of_many(metrics, at=99).resolutions)


def test_ap_is_not_the_lead_on_cranfield() -> None:
    folder = data("cranfield")
    codes = {1: 4, 2: 3, 3: 2, 4: 1, -1: 0}
    golden = GoldenSet.load(folder / "cran.qrels", grades=codes)
    evaluation = evaluate(Run.load(folder / "bm25s.run"), golden)
    found = Resolutions.of(evaluation, ["nDCG@10", "AP"])
    assert gated(found) == ["nDCG@10", "AP"]
    assert found.recommendation[2].startswith("consider R@50 instead of AP: it is not among")
    assert gated(Resolutions.of(evaluation, ["AP", "R@50", "nDCG@10"])) == ["nDCG@10", "R@50"]


def test_the_second_metric_sees_what_the_first_misses() -> None:
    found = of_many(["nDCG@10", "RR", "AP", "P@10", "R@50", "Success@5"])
    assert gated(found) == ["nDCG@10", "R@50"]
    ndcg, recall = found.resolutions[0], found.resolutions[4]
    assert recall.share_of_telling == 0
    assert recall.losses.share > ndcg.losses.share
    assert found.recommendation[:2] == (
        (
            "gate on nDCG@10: it shows a worse order at ranks 1 to 10 most clearly of these; it sees "
            "100.0% of the swaps of documents with different grades"
        ),
        (
            "gate on R@50 beside it, for what nDCG@10 misses: lost documents show more clearly in it; "
            f"it sees {recall.losses.share:.1%} of the losses (sight {recall.losses.sight:.2f}), "
            f"nDCG@10 {ndcg.losses.share:.1%} ({ndcg.losses.sight:.2f})"
        ),
    )


def test_a_missing_recall_is_suggested_at_a_depth_that_the_run_has() -> None:
    assert any("consider R@100 beside it" in each for each in of_many(["nDCG@10"]).recommendation)
    at_50 = of_many(["nDCG@10", "RR"], depth=60).recommendation
    assert any("consider R@50 beside it" in each for each in at_50)
    # Nothing can be seen below the run: R@10 is all that rankings of ten documents allow.
    of_ten = of_many(["nDCG@10", "RR"], depth=10)
    assert of_ten.recall is not None
    assert str(of_ten.recall.metric) == "R@10"
    assert of_letters(["axbc"], ["nDCG@3"], a=1, b=1).recall is None
    assert of_many(["nDCG@10", "R@100"]).recall is None


def test_what_was_suggested_does_not_count_as_computed() -> None:
    queries = {"q": [f"d{place}" for place in range(20)]}
    evaluation = evaluate(Run.from_dict(queries), GoldenSet.from_dict({"q": {"d3": 1}}))
    assert Resolutions.of(evaluation, ["nDCG@10"]).recall is not None
    assert list(map(str, evaluation.computed)) == ["nDCG@10"]


def test_one_depth_is_the_smallest_cutoff_above_which_order_counts() -> None:
    def depth(*names: str, highest: float = 1) -> int | None:
        return compared_depth(map(Metric.parse, names), highest)

    assert depth("nDCG@20", "AP", "R@50") == 20
    assert depth("nDCG@10", "nDCG@5", "P@3", "Success@1", "R@2") == 5
    assert depth("RR", "AP", "P@10") is None
    assert depth("AP(rel=2)@7", "AP@9") == 9, "with the grade 1, rel=2 sees nothing"
    assert depth("AP(rel=2)@7", "AP@9", highest=2) == 7
    assert depth("nDCG@10", highest=0) is None
    assert depth("nDCG@10", "KendallTau@3") == 10, "not monotone, so not to be gated"


def test_a_second_gate_costs_what_the_factor_says() -> None:
    power = norm.ppf(0.8)
    ratio = (norm.isf(0.025) + power) / (norm.isf(0.05) + power)
    assert pytest.approx(ratio**2, abs=0.005) == MORE


def test_no_second_gate_if_none_sees_losses_more_clearly() -> None:
    # The only relevant document is at rank 1: a loss costs all metrics all of their value, so that
    # the reshuffle is all that makes a difference, and that of RR is larger.
    found = of_letters(["axyz", "axyz"], ["nDCG@3", "RR"], a=1)
    assert gated(found) == ["nDCG@3"]
    assert not any("beside it" in each for each in found.recommendation)


@pytest.mark.parametrize("best", [1, 3])
def test_the_advice_does_not_contradict_the_linter(best: int) -> None:
    found = of_many(["RR", "nDCG@10", "R@50"], best=best)
    assert gated(found) == ["nDCG@10", "R@50"]
    golden = GoldenSet.from_dict({"q": {"a": 1}, "r": {"b": 1, "c": 1}})
    (finding,) = (each for each in golden.lint() if each.rule == "one-grade")
    assert "Which metrics to gate does not depend on it: nDCG shows the order" in finding.remedy
    assert "gate on" not in finding.remedy.lower()


def test_the_sentences() -> None:
    # Grades by rank 3-12, -312, --32, 2-3-, 1-32 and 123-.
    found = of_letters(
        ["axbc", "xabc", "xyac", "cxay", "bxac", "bcax"],
        ["nDCG", "DCG", "P@3", "RR", "NumRel", "KendallTau@3"],
        a=3, b=1, c=2,
    )  # fmt: skip
    sentences = "\n".join(found.recommendation)
    assert "do not gate on KendallTau@3: a worse ranking can have a better value" in sentences
    assert "do not gate on NumRel: it sees neither lost documents nor swaps of" in sentences
    # DCG is nDCG times one number, since all queries have the same judgments.
    ndcg, dcg, *_ = found.resolutions
    assert dcg.disorder.sight == pytest.approx(ndcg.disorder.sight)
    assert dcg.losses.sight == pytest.approx(ndcg.losses.sight)
    assert gated(found)[0] == "nDCG"
    assert "gate on nDCG: it shows a worse order as clearly as any of these; it sees" in sentences
    assert "DCG adds little: it orders the queries as nDCG does (tau 1.00)" in sentences


@pytest.mark.parametrize("metrics", [["P@10", "R@10"], ["RR", "Success@5"]])
def test_ndcg_is_suggested_where_it_shows_the_order_more_clearly(metrics: list[str]) -> None:
    found = of_many(metrics, relevant=5)
    ndcg = found.ndcg
    assert ndcg is not None
    assert str(ndcg.metric) == "nDCG@10"
    lead = found.resolutions[0]
    assert ndcg.disorder.sight >= MORE * lead.disorder.sight
    sentences = "\n".join(found.recommendation)
    assert f"\nadd nDCG@10, and gate on it instead of {metrics[0]}: it is not among" in sentences
    assert "\nconsider R@100 " in sentences
    with_it = of_many([*metrics, "nDCG@10"], relevant=5)
    assert gated(with_it)[0] == "nDCG@10"
    assert with_it.ndcg is None
    assert not any("add nDCG" in each for each in with_it.recommendation)


def test_a_metric_that_shows_losses_is_kept_beside_ndcg() -> None:
    found = of_many(["P@8"], depth=9, queries=30, relevant=3)
    assert found.recall is None, "the rankings are short"
    assert found.ndcg is not None
    assert found.resolutions[0].losses.sight >= MORE * found.ndcg.losses.sight
    assert found.recommendation[1].startswith("add nDCG@10: it is not among these metrics, but a")


def test_the_ceiling_of_a_gate_for_losses_is_no_fault() -> None:
    found = of_many(["nDCG@10", "R@100", "RR"], relevant=5, depth=50)
    assert gated(found) == ["nDCG@10", "R@100"]
    assert found.resolutions[1].at_ceiling == 60
    assert found.recommendation[-1] == (
        "at the ceiling on half of the queries or more, so it hardly separates good rankers: "
        "RR (57%); add harder queries"
    )
    alone = of_many(["R@100"], relevant=5)
    assert not any("ceiling" in each for each in alone.recommendation)


def test_the_reason_of_the_second_gate_is_true() -> None:
    """P@9 sees fewer losses than nDCG@10, but a loss costs it more."""
    rankings = ["axbyzcdefgh", "xyabdefghqr", "zxbgcadefyh"]
    found = of_letters(rankings, ["nDCG@10", "P@9"], **dict.fromkeys("abcdefgh", 1))
    ndcg, precision = found.resolutions
    assert gated(found) == ["nDCG@10", "P@9"]
    assert precision.losses.share < ndcg.losses.share
    assert found.recommendation[1].startswith(
        "gate on P@9 beside it, because lost documents cost more in it; it sees 60.9% of the losses"
    )


def test_metrics_without_order_lead_only_if_there_is_no_other() -> None:
    found = of_many(["R@50", "P@20"], at=10)
    assert gated(found)[0] == "R@50"
    assert found.recommendation[:2] == (
        "gate on R@50: it shows lost documents most clearly of these",
        "add nDCG@10: none of these metrics shows a worse order at ranks 1 to 10",
    )


NOTHING = (
    "no two neighbours have different grades and no relevant document is ranked, so no metric can "
    "see a fall: judge more of what is ranked"
)


def test_the_recommendation_warns() -> None:
    # RR sees the swap at rank 1, and no other: 1 of 3.
    assert list(of_letters(["axbc"], ["RR"], a=1, b=1).recommendation) == [
        "gate on RR: it sees 33.3% of the swaps of documents with different grades",
        (
            "add nDCG@10, and gate on it instead of RR: it is not among these metrics, but a worse "
            "order shows more clearly in it; it sees 100.0% of the swaps of documents with "
            "different grades (sight 0.27), RR 33.3% (0.13)"
        ),
        (
            "not enough on its own, because it sees few of the swaps of documents with different "
            "grades: RR (33.3%)"
        ),
        (
            "at the ceiling on half of the queries or more, so it hardly separates good rankers: "
            "RR (100%); add harder queries"
        ),
    ]
    at_floor = of_letters(["xyzab", "xyz", "xyz"], ["RR"], a=1).recommendation
    assert at_floor[1:] == (
        "at the floor, so it does not show what gets worse there: RR (67% of the queries)",
    )
    assert list(of_letters(["xyz"], ["RR"], a=1).recommendation) == [NOTHING]
    assert of_letters(["xyz"], ["RR"], a=1).gated == ()
    assert list(of_letters(["ax"], ["RR"], a=0).recommendation) == [NOTHING]


def test_sight_is_the_participation_ratio_without_reshuffles() -> None:
    # Of four falls, one query sees two by 1/2 each: (1/4)^2 / (1/8) = 1/2, the share seen. Unequal
    # ones count less: 1/4 and 3/4 give (1/4)^2 / ((1/16 + 9/16) / 4) = 0.4.
    falls = Falls(np.array([4.0]), np.array([2.0]), np.array([1.0]), np.array([0.5]))
    everything = np.array([True])
    assert FallSight.of([falls], everything, 0.0) == FallSight(4, 2, 0.5)
    unequal = Falls(np.array([4.0]), np.array([2.0]), np.array([1.0]), np.array([0.625]))
    assert FallSight.of([unequal], everything, 0.0).sight == pytest.approx(0.4)
    assert FallSight.of([falls], everything, 0.125).sight == pytest.approx(0.25)
    assert np.isnan(FallSight.of([falls], np.array([False]), 0.0).sight)
    better = Falls(np.array([4.0]), np.array([2.0]), np.array([-1.0]), np.array([0.5]))
    assert FallSight.of([better], everything, 0.0).sight == 0


def test_the_reshuffle_variance_is_that_of_the_tosses_of_coins() -> None:
    # a is first or second as a coin decides, in each of two reshuffles: RR is 1 or 1/2, and the
    # differences are 0, 0, 1/2 and -1/2, of variance 1/8. The query without a relevant document
    # adds nothing, so the mean of the two is 1/16.
    golden = GoldenSet.from_dict({"q": {"a": 1}, "r": {"b": 1}})
    evaluation = evaluate(Run.from_dict({"q": list("ax"), "r": list("xy")}), golden)
    swaps = [swaps_seen(Metric.parse("RR"), hits) for hits in evaluation.hits or ()]
    assert reshuffle_variance(swaps, np.array([True, True])) == pytest.approx(1 / 16)
    assert reshuffle_variance(swaps, np.array([False, False])) == 0
