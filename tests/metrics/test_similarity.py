"""Similarity of two rankings: by hand, against the rbo package and scipy, and by definition."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import (
    ConfigurationError,
    MetricError,
    jaccard,
    kendall_distance,
    kendall_tau,
    overlap,
    rbo,
    spearman,
    tau_ap,
    top_k_kendall,
)
from tests.examples import examples

docs = st.sampled_from([f"d{i}" for i in range(12)])
rankings = st.lists(docs, unique=True, max_size=12)

SHARE, CORRELATION, DISTANCE = (0.0, 1.0), (-1.0, 1.0), (0.0, math.inf)
RANGES = {
    jaccard: SHARE, overlap: SHARE, rbo: SHARE,
    kendall_tau: CORRELATION, spearman: CORRELATION, tau_ap: CORRELATION,
    kendall_distance: DISTANCE, top_k_kendall: DISTANCE,
}  # fmt: skip


def test_shared_documents() -> None:
    one, two = ["a", "b", "c", "d"], ["b", "x", "a", "y"]
    assert overlap(one, two) == 2 / 4
    assert overlap(one, two, k=2) == 1 / 2
    assert jaccard(one, two) == 2 / 6
    assert jaccard(one, two, k=2) == 1 / 3
    # the longer list is what is shared of, a cutoff beyond both changes nothing
    assert overlap(["a"], ["a", "b"], k=10) == 1 / 2
    assert overlap([], []) == jaccard([], []) == 1
    assert overlap([], ["a"]) == jaccard([], ["a"]) == 0


def test_top_k_kendall_counts_each_pair() -> None:
    # a b c and b d a: ab against (a b, b a); cd: c only in the first, d only in the second;
    # ac: both have a, and c is below it in both; bc the same; ad: a before d (absent) in the
    # first, d before a in the second; bd: b before d in both. Three.
    assert top_k_kendall(["a", "b", "c"], ["b", "d", "a"]) == 3
    # disjoint: 2 * 2 across, and one pair within each list, which the other list does not order
    assert top_k_kendall(["a", "b"], ["c", "d"]) == 4
    assert top_k_kendall(["a", "b"], ["c", "d"], penalty=0.5) == 5
    assert top_k_kendall(["a", "b"], ["c", "d"], penalty=0.5, normalised=True) == 1
    assert top_k_kendall(["a", "b", "x"], ["a", "b", "y"], k=2) == 0
    assert top_k_kendall([], [], normalised=True) == 0


def test_order_of_the_documents_that_both_have() -> None:
    # shared, as ranks of the second: a b c d -> 2 1 4 3: 4 of 6 pairs in order
    one, two = ["a", "x", "b", "c", "d"], ["b", "a", "d", "c", "y"]
    assert kendall_tau(one, two) == pytest.approx(2 / 6)
    assert kendall_distance(one, two) == 2
    assert kendall_distance(one, two, normalised=True) == pytest.approx(2 / 6)
    # 1 - 6 * 4 / (4 * 15)
    assert spearman(one, two) == pytest.approx(0.6)
    # second: -1; third: (1 + 1)/2; fourth: (1 + 1 - 1)/3
    assert tau_ap(one, two) == pytest.approx((-1 + 1 + 1 / 3) / 3)
    assert math.isnan(tau_ap(["a"], ["a", "b"]))
    assert math.isnan(tau_ap([], []))


# --- rank-biased overlap ------------------------------------------------------------------------


def test_rbo_by_hand() -> None:
    # agreement at 1, 2, 3: 0, 2/2, 2/3, and 2/3 beyond:
    # 0.5 * (0 + 0.5 * 1 + 0.25 * 2/3) + 2/3 * 0.125
    assert rbo(["a", "b", "c"], ["b", "a", "x"], p=0.5) == pytest.approx(
        0.5 * (0.5 + 0.25 * 2 / 3) + 2 / 3 * 0.125
    )
    assert rbo(["a", "b"], ["a", "b"]) == pytest.approx(1)
    assert rbo(["a", "b"], ["c", "d"]) == 0
    assert rbo([], []) == 1
    assert rbo([], ["a"]) == 0


def orders(ranking: list[str | set[str]]) -> list[list[str]]:
    groups = [
        list(itertools.permutations(sorted({item} if isinstance(item, str) else item)))
        for item in ranking
    ]
    return [list(itertools.chain(*chosen)) for chosen in itertools.product(*groups)]


def test_ties_a_is_the_mean_over_all_orders_of_tied_documents() -> None:
    for one, two in (
        (["a", {"b", "c"}, "d"], [{"c", "a"}, "d", "b"]),
        ([{"a", "b", "c"}], ["c", {"a", "x"}]),
        ([{"a", "b"}, {"c", "d"}], [{"c", "d"}, {"a", "b"}]),
    ):
        values = [rbo(x, y, p=0.8) for x in orders(one) for y in orders(two)]
        assert rbo(one, two, p=0.8) == pytest.approx(np.mean(values), abs=1e-12), one


def test_ties_b_and_w() -> None:
    # w, at 1: both tied documents are there, 2 * 1 / (1 + 2); at 2: 2 * 2 / (2 + 2)
    tied = 0.5 * (2 / 3 + 0.5 * 1) + 0.25 * 1
    assert rbo(["a", "b"], [{"a", "b"}], p=0.5, ties="w") == pytest.approx(tied)
    # b, at 1: 1/2 / (1 * sqrt(1/4 + 1/4)); at 2: 1
    tied = 0.5 * (0.5 / math.sqrt(0.5) + 0.5) + 0.25
    assert rbo(["a", "b"], [{"a", "b"}], p=0.5, ties="b") == pytest.approx(tied)
    same = ["x", {"a", "b"}, "y"]
    assert rbo(same, same, ties="b") == pytest.approx(1)
    assert rbo(same, same, ties="w") == pytest.approx(1)
    assert rbo(same, same, ties="a") < 1


@examples(60)
@given(one=rankings, two=rankings)
def test_similarities_other_than_tau_ap_are_symmetric(one: list[str], two: list[str]) -> None:
    for compute, (lowest, highest) in RANGES.items():
        there, back = compute(one, two), compute(two, one)
        if compute is not tau_ap:
            assert there == pytest.approx(back, nan_ok=True), compute
        assert math.isnan(there) or lowest - 1e-12 <= there <= highest + 1e-12, compute


def test_a_ranking_is_a_list_of_ids() -> None:
    """A set has no order; of a text, the characters would be compared."""
    abc = ["a", "b", "c"]
    rankings_of_ids = (tuple(abc), np.array(abc), pd.Series(abc))
    for compute in RANGES:
        with pytest.raises(ConfigurationError, match=r"second must be a list of ids.* a set has"):
            compute(["a", "b"], {"a", "b"})
        with pytest.raises(ConfigurationError, match=r"first must be .*, not 'red-hat' \(str\)"):
            compute("red-hat", ["red-boot"])
        for right in (*rankings_of_ids, iter(abc)):
            assert compute(right, ["a", "c", "b"]) == compute(abc, ["a", "c", "b"])
        assert compute([1, 2, 3], [1, 3, 2]) == compute(["1", "2", "3"], ["1", "3", "2"])


def test_invalid_input_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="k=0 is invalid; give a whole number"):
        overlap(["a"], ["a"], k=0)
    with pytest.raises(MetricError, match="duplicate document in a ranking"):
        tau_ap(["a", "a"], ["a"])
    with pytest.raises(MetricError, match="duplicate document 'a'"):
        rbo(["a", {"a", "b"}], ["a"])
    with pytest.raises(ConfigurationError, match="p=1 is invalid; give a number between 0 and 1"):
        rbo(["a"], ["a"], p=1)
    with pytest.raises(MetricError, match="ties takes a, b or w"):
        rbo(["a"], ["a"], ties="c")
    with pytest.raises(MetricError, match="the penalty must be a number from 0 to 1"):
        top_k_kendall(["a"], ["a"], penalty=2)
