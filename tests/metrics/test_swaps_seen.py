"""Which swaps of neighbours a metric sees: against trying each swap of the documents themselves."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, Metric, Run, check_metric, evaluate
from pytest_rankcheck.evaluation.run_golden_join import join, judged_hits
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.laws.visible_falls import MOST_LOSSES, Falls, losses_seen
from pytest_rankcheck.metrics.laws.visible_swaps import SwapsSeen, swaps_seen
from tests.examples import examples

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

docs = st.sampled_from([f"d{i}" for i in range(9)])
judged = st.dictionaries(docs, st.sampled_from([-1, 0, 1, 1, 2, 3]), max_size=8)
rankings = st.lists(docs, unique=True, max_size=9)

METRICS = ["nDCG", "nDCG@3", "RR", "AP@4", "P@2", "Bpref", "Judged@3", "KendallTau@5", "ERR",
           "MeanRank(missing=omit)@2", "P(judged_only=true)@2", "infAP", "R"]  # fmt: skip


def hits_of(run: dict, golden: GoldenSet) -> JudgedHits:
    (block,) = judged_hits(join(Run.from_dict(run), golden), golden)
    return block


def by_trying(name: str, ranked: list[str], golden: GoldenSet, depth: int | None) -> list[float]:
    """Return how much higher the value is after each swap; infinite if NaN comes or goes."""

    def value(order: list[str]) -> float:
        return float(
            evaluate(Run.from_dict({"q": order, "top": ["t"]}), golden).per_query(name)["q"]
        )

    before, changes = value(ranked), []
    for place in range(min(len(ranked) - 1, depth or 99)):
        order = [*ranked[:place], ranked[place + 1], ranked[place], *ranked[place + 2 :]]
        after = value(order)
        came_or_went = np.isnan(before) != np.isnan(after)
        changes.append(np.inf if came_or_went else float(np.nan_to_num(after - before)))
    return changes


@pytest.mark.parametrize("name", METRICS)
@examples(40)
@given(judgments=judged, ranked=rankings, depth=st.sampled_from([None, 1, 3]))
def test_a_swap_is_seen_if_it_changes_the_value(
    name: str, judgments: dict, ranked: list[str], depth: int | None
) -> None:
    golden = GoldenSet.from_dict({"q": judgments, "top": {"t": 3}})
    seen = swaps_seen(Metric.parse(name), hits_of({"q": ranked, "top": ["t"]}, golden), depth)
    place = golden.query_ids.index("q")
    signed = np.array(by_trying(name, ranked, golden, depth))
    changes = np.abs(signed)
    assert seen.possible[place] == len(changes)
    assert seen.seen[place] == (changes > 1e-9).sum()
    finite = changes[np.isfinite(changes)]
    assert seen.largest[place] == pytest.approx(finite.max(initial=0))
    if (finite > 1e-9).any():
        assert seen.smallest[place] == pytest.approx(finite[finite > 1e-9].min())
    else:
        assert np.isnan(seen.smallest[place])
    worth = [max(judgments.get(doc, 0), 0) for doc in ranked]
    pairs = list(pairwise(worth))[: depth or 99]
    assert seen.telling[place] == sum(one != other for one, other in pairs)
    assert seen.seen_telling[place] == sum(
        one != other and change > 1e-9
        for (one, other), change in zip(pairs, changes.tolist(), strict=True)
    )
    everywhere = np.array(by_trying(name, ranked, golden, None))
    assert seen.squares[place] == pytest.approx((everywhere[np.isfinite(everywhere)] ** 2).sum())
    sign = 1 if Metric.parse(name).higher_is_better else -1
    costs = np.array(
        [
            -sign * change if one > other else sign * change
            for (one, other), change in zip(pairs, signed.tolist(), strict=True)
            if one != other
        ]
    )
    sizes = np.where(np.isfinite(costs), costs, 0)
    assert seen.disorder.tried[place] == seen.telling[place]
    assert seen.disorder.seen[place] == seen.seen_telling[place]
    assert seen.disorder.total[place] == pytest.approx(sizes.sum())
    assert seen.disorder.squares[place] == pytest.approx((sizes**2).sum())


@pytest.mark.parametrize("name", METRICS)
@examples(40)
@given(judgments=judged, ranked=rankings)
def test_a_loss_costs_as_much_as_ranking_without_the_document(
    name: str, judgments: dict, ranked: list[str]
) -> None:
    golden = GoldenSet.from_dict({"q": judgments, "top": {"t": 3}})
    found = losses_seen(Metric.parse(name), hits_of({"q": ranked, "top": ["t"]}, golden))
    lost = [doc for doc in ranked if judgments.get(doc, 0) > 0]
    rankings = [ranked, *([doc for doc in ranked if doc != one] for one in lost)]
    before, *after = (
        evaluate(Run.from_dict({"q": each, "top": ["t"]}), golden).per_query(name)["q"]
        for each in rankings
    )
    sign = 1 if Metric.parse(name).higher_is_better else -1
    worse_by = [sign * (before - value) for value in after]
    seen = [
        abs(change) > 1e-9 or np.isnan(before) != np.isnan(value)
        for change, value in zip(worse_by, after, strict=True)
    ]
    place = golden.query_ids.index("q")
    assert found.tried[place] == len(lost)
    assert found.seen[place] == sum(seen)
    assert found.total[place] == pytest.approx(np.nansum(worse_by))
    assert found.squares[place] == pytest.approx(np.nansum(np.square(worse_by)))


def test_losses_are_spread_over_many_relevant_documents() -> None:
    # 64 relevant documents at ranks 1 to 64: every second one is tried, from the first on. P@64
    # loses 1/64 by each. R@32 sees losses at ranks up to 32, which the document at rank 33 makes
    # up for: its value stays 32/64. 32 of 64 are tried, and 16 of these are in the top 32.
    docs = [f"d{number}" for number in range(64)]
    hits = hits_of({"q": docs}, GoldenSet.from_dict({"q": dict.fromkeys(docs, 1)}))
    found = losses_seen(Metric.parse("P@64"), hits)
    assert (found.tried.tolist(), found.seen.tolist()) == ([MOST_LOSSES], [MOST_LOSSES])
    assert found.total.tolist() == [pytest.approx(MOST_LOSSES / 64)]
    assert losses_seen(Metric.parse("R@32"), hits).seen.tolist() == [0]
    # Of the last ten documents, which alone have the grade 2, five are tried: ranks 55, 57, ..., 63.
    graded = {doc: 1 + (number >= 54) for number, doc in enumerate(docs)}
    hits = hits_of({"q": docs}, GoldenSet.from_dict({"q": graded}))
    assert losses_seen(Metric.parse("R(rel=2)"), hits).seen.tolist() == [5]


def test_the_shares_of_a_whole_run() -> None:
    # q: relevant, -, relevant, -: RR sees 1-2 only; nDCG sees 1-2, 2-3 and 3-4. r: nothing relevant.
    golden = GoldenSet.from_dict({"q": {"a": 1, "c": 1}, "r": {"a": 1}})
    hits = hits_of({"q": list("axcy"), "r": list("xyz")}, golden)
    rr, ndcg = (swaps_seen(Metric.parse(name), hits) for name in ("RR", "nDCG"))
    assert rr.seen.tolist() == [1, 0]
    assert (rr.share, rr.share_of_telling) == (1 / 5, 1 / 3)
    assert (ndcg.share, ndcg.share_of_telling) == (3 / 5, 1)
    assert rr.largest.tolist() == [0.5, 0]
    assert np.isnan(SwapsSeen(*(np.zeros(1) for _ in range(7)), Falls.of_no_ranking(1)).share)


def test_no_more_than_all_telling_swaps_are_seen() -> None:
    # Judged@1 sees the swap of a (grade 0) and x (unjudged), although it is not telling.
    golden = GoldenSet.from_dict({"q": {"a": 0, "b": 1}})
    judged = swaps_seen(Metric.parse("Judged@1"), hits_of({"q": list("axyb")}, golden))
    assert (judged.seen.tolist(), judged.telling.tolist()) == ([1], [1])
    assert (judged.share, judged.share_of_telling) == (1 / 3, 0)


def test_the_share_on_a_card_is_the_same() -> None:
    report = check_metric("RR")
    from pytest_rankcheck.metrics.laws.law_trials import all_rankings

    binary = all_rankings((0, 4), 5)
    seen = swaps_seen(Metric.parse("RR"), binary.hits())
    assert seen.share_of_telling == pytest.approx(report.seen_binary)
