"""What a metric can see of a run: by hand, and its ends on all rankings of a few documents."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Conventions,
    Evaluation,
    GoldenSet,
    Metric,
    MetricError,
    Resolution,
    Resolutions,
    Run,
    RunError,
    evaluate,
)
from pytest_rankcheck.evaluation.run_golden_join import join, judged_hits
from pytest_rankcheck.metrics.metric_registry import judged_definitions
from pytest_rankcheck.resolution.metric_extremes import extremes_of

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

GOLDEN = GoldenSet.from_dict(
    {"one": {"a": 2, "b": 1}, "two": {"a": 1, "b": 0}, "three": {"a": 1}, "none": {"a": 0}}
)
RUN = {"one": ["a", "x", "b", "y"], "two": ["b", "a"], "three": ["x", "y", "z"], "none": ["a", "x"]}
"""Grades by rank: one 2 - 1 -; two 0 1; three - - -; none 0 -. Swaps: 3 + 1 + 2 + 1 = 7.

Of different grades: one 2|- , -|1, 1|-; two 0|1: four.
"""


def measured(**conventions: str) -> Evaluation:
    return evaluate(Run.from_dict(RUN), GOLDEN, conventions=Conventions(**conventions))  # type: ignore[arg-type]


def test_reciprocal_rank_by_hand() -> None:
    found = Resolution.of(measured(), "RR")
    assert (found.swaps, found.telling) == (7, 4)
    # one: the swap at rank 1 makes x the first and RR 1/2; b is not the first relevant document.
    # two: the only swap makes RR 1. Nothing else has a relevant document.
    assert (found.seen, found.seen_telling) == (2, 2)
    assert (found.share_seen, found.share_of_telling) == (2 / 7, 2 / 4)
    assert found.step == 0.5
    assert found.step_of_mean == 0.5 / 4
    # one 1 of 1; two 1/2 of 1: between; three 0 of 1: the floor; none: 0 whatever is ranked.
    assert (found.queries, found.at_ceiling, found.at_floor, found.fixed) == (4, 1, 1, 1)
    assert (found.share_at_an_end, found.share_that_cannot_fall) == (3 / 4, 2 / 4)


def test_ndcg_by_hand() -> None:
    found = Resolution.of(measured(), "nDCG")
    assert (found.seen, found.seen_telling) == (4, 4), "every swap of different grades"
    # one has the ideal DCG 2 + 1/log2(3). The swap 1|- at rank 3 moves b to rank 4, by
    # 1/log2(4) - 1/log2(5) = 0.0693; -|1 moves it to rank 2, by 1/log2(3) - 1/log2(4) = 0.1309;
    # 2|- moves a to rank 2, by 2 (1 - 1/log2(3)) = 0.7381. two: 1 - 1/log2(3) = 0.3691.
    ideal = 2 + 1 / math.log2(3)
    assert found.step == pytest.approx((1 / 2 - 1 / math.log2(5)) / ideal)
    assert found.step == pytest.approx(0.0263, abs=1e-4)
    assert found.step_of_mean == pytest.approx(found.step / 4)
    # one is not ideal, with x between; two: 0.6309; three 0; none is fixed.
    assert (found.at_ceiling, found.at_floor, found.fixed) == (0, 1, 1)


def test_precision_does_not_see_a_swap_inside_the_top() -> None:
    golden = GoldenSet.from_dict({"q": {"a": 1, "b": 1}})
    evaluation = evaluate(Run.from_dict({"q": ["x", "a", "y", "b", "z"]}), golden)
    # P@2 = 1/2. 1|2 is inside the top 2; 2|3 brings y for a: 0; 3|4 and 4|5 are below.
    found = Resolution.of(evaluation, "P@2")
    assert (found.swaps, found.telling, found.seen, found.step) == (4, 4, 1, 0.5)
    # P@3 = 1/3. 3|4 brings b for y: 2/3.
    found = Resolution.of(evaluation, "P@3")
    assert (found.seen, found.step) == (1, pytest.approx(1 / 3))
    # The ideal ranking has two relevant documents in its top 3, so 2/3 would be the ceiling.
    assert (found.at_ceiling, found.at_floor, found.fixed) == (0, 0, 0)
    # Of ranks 1 and 2 alone, P@3 sees no swap.
    assert Resolution.of(evaluation, "P@3", depth=2).seen == 0
    assert math.isnan(Resolution.of(evaluation, "P@3", depth=2).step)


def test_excluded_queries_and_weights() -> None:
    found = Resolution.of(measured(no_relevant="exclude"), "RR")
    assert (found.swaps, found.queries, found.fixed) == (6, 3, 0)
    assert found.step_of_mean == 0.5 / 3
    weight = {"one": 5, "two": 1, "three": 3, "none": 1}
    grades = {query: dict(GOLDEN.grades(query)) for query in GOLDEN.query_ids}
    shares = {query: {"weight": weight[query]} for query in weight}
    weighted = GoldenSet.from_dict(grades, attributes=shares).weighted("weight")
    found = Resolution.of(evaluate(Run.from_dict(RUN), weighted), "RR")
    assert (found.seen, found.step) == (2, 0.5), "swaps are counted, not weighed"
    assert found.step_of_mean == 0.5 * 1 / 10


def test_a_metric_without_a_value_and_a_geometric_mean() -> None:
    found = Resolution.of(measured(), "MeanRank(missing=omit)@2")
    # one: a at 1. two: a at 2. three and none have no value. one's swap at rank 1: 1 to 2; at rank
    # 2: b comes in, (1 + 2) / 2. two's swap: 2 to 1.
    assert (found.queries, found.seen, found.step) == (2, 3, 0.5)
    assert found.step_of_mean == 0.5 / 2
    assert math.isnan(Resolution.of(measured(), "GMAP").step_of_mean)


def test_lower_is_better() -> None:
    golden = GoldenSet.from_dict({"top": {"a": 1}, "low": {"a": 1}, "lost": {"a": 1}})
    run = {"top": ["a", "x"], "low": ["x", "a", "y"], "lost": ["x", "y"]}
    found = Resolution.of(evaluate(Run.from_dict(run), golden), "FirstRank")
    # top: rank 1, the best. lost: rank 3, after the two that were ranked: nothing is worse.
    assert (found.at_ceiling, found.at_floor, found.fixed) == (1, 1, 0)


def rankings_of(judged: dict[str, int]) -> list[list[str]]:
    """Return all rankings of the judged documents and two others, of every length."""
    docs = [*judged, "x", "y"]
    return [list(one) for n in range(len(docs) + 1) for one in permutations(docs, n)]


@pytest.mark.parametrize("judged", [{"a": 2, "b": 1, "c": 0}, {"a": 1, "b": 1}, {"a": 0, "b": -1}])
@pytest.mark.parametrize("cutoff", [None, 1, 2])
@pytest.mark.parametrize("name", judged_definitions())
def test_no_ranking_is_beyond_the_ceiling_or_the_floor(
    name: str, cutoff: int | None, judged: dict[str, int]
) -> None:
    definition = judged_definitions()[name]
    if definition.at == "recall":
        metric = Metric.parse(f"{name}@0.5")
    elif definition.at is None and cutoff:
        return
    else:
        metric = Metric.of(name, cutoff)
    if metric.declared("monotone") is not True or name in ("NumRet", "Judged", "RBPResidual"):
        return  # what is only counted is not a question of judged documents
    every = rankings_of(judged)
    if definition.unjudged == "of grade 0":
        every = [one for one in every if set(judged) <= set(one)]
    queries = {f"{place}": one for place, one in enumerate(every)}
    golden = GoldenSet.from_dict({**dict.fromkeys(queries, judged), "top": {"t": 3}})
    (hits,) = judged_hits(join(Run.from_dict({**queries, "top": ["t"]}), golden), golden)
    ceiling, floor = extremes_of(metric, hits)
    sign = 1 if metric.higher_is_better else -1
    values = metric.compute(hits)
    assert not (sign * (values - ceiling) > 1e-9).any()
    assert not (sign * (floor - values) > 1e-9).any()
    assert np.isfinite(ceiling).any()


def test_how_alike_metrics_are() -> None:
    golden = GoldenSet.from_dict({f"q{i}": {"a": 1, "b": 1} for i in range(4)})
    # RR 1, 1/2, 1/3, 1; MeanRank 2, 5/2, 5/2, 3/2 of first-relevant and the other:
    run = {"q0": "axb", "q1": "xab", "q2": "xyab", "q3": "ab"}
    evaluation = evaluate(Run.from_dict({query: list(docs) for query, docs in run.items()}), golden)
    found = Resolutions.of(evaluation, ["RR", "FirstRank", "R@2", "NumRel"])
    # FirstRank 1, 2, 3, 1 orders as RR does, turned: tau-b 1. R@2 is 1/2, 1/2, 0, 1; pairs with RR:
    # 01 tied in R; 02 alike; 03 tied in RR; 12 alike; 13 alike; 23 alike: 4 / sqrt(5 * 5).
    assert found.agreement.loc["RR", "FirstRank"] == pytest.approx(1)
    assert found.agreement.loc["RR", "R@2"] == pytest.approx(4 / 5)
    assert math.isnan(found.agreement.loc["RR", "NumRel"]), "2 for all queries orders nothing"
    assert found.nearest(0) == (Metric.parse("FirstRank"), pytest.approx(1))
    assert found.nearest(3) is None
    frame = found.to_frame()
    assert frame.index.tolist() == ["RR", "FirstRank", "R@2", "NumRel"]
    assert frame.loc["R@2", "nearest"] in ("RR", "FirstRank")
    assert frame.loc["RR", "seen"] == Resolution.of(evaluation, "RR").share_seen
    assert Resolution.of(evaluation, "RR").to_frame().loc["RR", "step"] == found.resolutions[0].step


def test_metrics_without_a_resolution_are_errors() -> None:
    with pytest.raises(MetricError, match="is a metric of sessions and has no resolu"):
        Resolution.of(measured(), "SessionRR(abandoned=zero)")
    with pytest.raises(ConfigurationError, match="depth=0 is invalid; it must be at least 1"):
        Resolution.of(measured(), "RR", depth=0)


@pytest.mark.oracle
def test_a_measure_of_ir_measures_has_no_resolution() -> None:
    pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    with pytest.raises(MetricError, match="computed by ir_measures from the whole run"):
        Resolution.of(measured(), "ir_measures:nDCG@10")


def test_an_evaluation_without_all_ranks_says_so() -> None:
    from pytest_rankcheck import Record
    from pytest_rankcheck.baselines.recorded_evaluation import RecordedEvaluation

    record = Record.of(measured(), [Metric.parse("RR")])
    with pytest.raises(
        RunError, match=r"ranks of all judged documents are not known, .* measure the run"
    ):
        Resolution.of(RecordedEvaluation(record, GOLDEN, "base.json"), "RR")


def test_without_a_run_the_ideal_rankings_are_used() -> None:
    found = Resolutions.of_ideal_rankings(GOLDEN, ["RR", "nDCG"])
    rr, ndcg = found.resolutions
    # Ideal: one 2 1; two 1 0; three 1; none 0. Two swaps, both of different grades. one: b is
    # relevant, so that RR does not see it.
    assert (rr.swaps, rr.telling, rr.seen, ndcg.seen) == (2, 2, 1, 2)
    assert (rr.at_ceiling, rr.at_floor, rr.fixed) == (3, 0, 1)
    assert np.isnan(found.tau).all()
    # There is no cutoff, so whole rankings are compared.
    assert found.depth is None
    assert found.gated == (Metric.parse("nDCG"),)
    # Losses: both documents of one, a of two and three. nDCG loses a of one: its value is b's
    # share of the ideal DCG, 1 / 2.6309, and falls by 0.6199; b: falls by 0.2398; the others by 1.
    assert ndcg.losses.tried == 4
    assert ndcg.losses.seen == 4
    mean = (0.6199 + 0.2398 + 1 + 1) / 4
    squares = (0.6199**2 + 0.2398**2 + 1 + 1) / 4
    # A swap costs nDCG 0.1403 and 0.3691, which is half their squares over four queries.
    variance = (0.1403**2 + 0.3691**2) / 2 / 4
    assert ndcg.losses.sight == pytest.approx(mean**2 / (squares + variance), abs=1e-4)
    assert "\n".join(found.recommendation) == (
        "gate on nDCG: it shows a worse order most clearly of these; it sees 100.0% of the swaps of "
        "documents with different grades"
    )
