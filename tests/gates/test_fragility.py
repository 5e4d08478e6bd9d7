"""Which few queries a verdict depends on: worked by hand, and against trying every subset."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from pytest_rankcheck import Gate, GoldenSet, Metric, Run, compare, evaluate
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.gates.decision_family import decide_family
from pytest_rankcheck.gates.explanations import Fragility
from pytest_rankcheck.gates.fragility import Units, found_fragile
from pytest_rankcheck.gates.verdict import Verdict

RR = Metric.parse("RR")


def verdict(
    ranks: Sequence[int],
    gate: Gate,
    *,
    attributes: Sequence[dict[str, Any]] | None = None,
    by: str | None = None,
    clusters: str | None = None,
) -> Verdict:
    """Decide on queries whose relevant document was first and is at these ranks now."""
    ids = [f"q{place}" for place in range(len(ranks))]
    golden = GoldenSet.from_dict(
        {each: {"x": 1} for each in ids},
        attributes=dict(zip(ids, attributes, strict=True)) if attributes else None,
    )
    if clusters:
        golden = golden.clustered(clusters)
    now = {
        each: [f"n{n}" for n in range(rank - 1)] + ["x"]
        for each, rank in zip(ids, ranks, strict=True)
    }
    before = Run.from_dict({each: ["x"] for each in ids})
    comparison = compare(evaluate(Run.from_dict(now), golden), evaluate(before, golden))
    return gate.decide(comparison, RR, by)


def of(*units: str, ruling: str = "passed") -> Fragility:
    return Fragility(units, tuple((unit,) for unit in units), False, ruling)


def test_one_query_of_a_tolerance() -> None:
    # -0.5, -0.75 and eight zeros: -0.125; without q1 -0.5 / 9 = -0.056, without q0 -0.083.
    ranks = [2, 4] + [1] * 8
    assert verdict(ranks, Gate.tolerance(abs=0.06)).fragility == of("q1")
    assert verdict(ranks, Gate.tolerance(abs=0.05)).fragility == of("q1", "q0")
    assert verdict(ranks, Gate.tolerance(abs=0.13)).fragility is None  # it passes


def test_a_significant_fall_of_five_queries_needs_each_of_them() -> None:
    fragility = verdict([2] * 5 + [1] * 20, Gate.significant()).fragility  # 1/32; of four, 1/16
    assert fragility == of("q0")


def test_more_than_three_queries_are_not_fragile() -> None:
    assert verdict([2] * 12, Gate.tolerance(abs=0.01)).fragility is None
    assert verdict([2] * 9, Gate.significant()).fragility is None  # of six, still 1/64
    assert verdict([2] * 7 + [1], Gate.significant()).fragility == of("q0", "q1", "q2")


def found(gains: np.ndarray, gate: Gate, weights: np.ndarray | None = None) -> int | None:
    """Return how many queries the search finds."""
    pairs, ruling = _ruled(gains, gate, weights)
    places = found_fragile(
        Units.of(pairs),
        gate.rule.margin_to_rule_out,
        (),
        lambda places: _without(pairs, gate, places) != ruling,
        also_lower=ruling == "inconclusive",
    )
    return None if places is None else len(places)


def fewest(gains: np.ndarray, gate: Gate, weights: np.ndarray | None = None) -> int | None:
    """Return how many queries are enough, by trying every one, two and three of them."""
    pairs, ruling = _ruled(gains, gate, weights)
    for size in (1, 2, 3):
        subsets = combinations(range(len(gains)), size)
        if any(_without(pairs, gate, places) != ruling for places in subsets):
            return size
    return None


def _ruled(gains: np.ndarray, gate: Gate, weights: np.ndarray | None) -> tuple[Paired, str]:
    ids = tuple(map(str, range(len(gains))))
    pairs = Paired(RR, ids, np.full(len(ids), 0.5), 0.5 + gains, weights=weights)
    return pairs, gate.ruling(pairs)


def _without(pairs: Paired, gate: Gate, places: Sequence[int]) -> str:
    return gate.ruling(pairs.at([n for n in range(pairs.size) if n not in places]))


@pytest.mark.parametrize(
    "gate",
    [
        Gate.tolerance(),
        Gate.tolerance(abs=0.02),
        Gate.significant(),
        Gate.noninferior(margin=0.05),
    ],
    ids=str,
)
def test_no_smaller_number_of_queries_is_enough(gate: Gate) -> None:
    draw = np.random.default_rng(7)
    sizes = []
    for trial in range(80):
        count = int(draw.integers(6, 14))
        few = np.where(draw.random(count) < 0.5, draw.choice([-0.4, -0.1, 0.1, 0.2], count), 0.0)
        gains = few if trial % 2 else draw.normal(-0.05, 0.1, count).round(6).clip(-0.5, 0.5)
        weights = draw.exponential(1.0, count) + 0.05 if trial % 3 == 0 else None
        if _ruled(gains, gate, weights)[1] != "passed":
            sizes.append((found(gains, gate, weights), fewest(gains, gate, weights)))
    assert len(sizes) > 5
    assert {size for size, _ in sizes} >= {1, 2}
    # One query is always found; of two or three, a set that is not found greedily may exist.
    assert all(least == size for size, least in sizes if least == 1)
    assert sum(least != size for size, least in sizes) <= 1


def test_an_inconclusive_verdict_may_depend_on_a_gain() -> None:
    gains = np.array([-0.1] * 6 + [0.5])
    gate = Gate.noninferior(margin=0.02)
    assert _ruled(gains, gate, None)[1] == "inconclusive"
    assert _without(*_ruled(gains, gate, None)[:1], gate, [6]) == "regressed"
    assert found(gains, gate) == 1


def test_the_single_queries_that_fell_too_far() -> None:
    gate = Gate.tolerance(abs=0.5, max_query_drop=0.6)
    assert verdict([1] * 8 + [4, 2], gate).fragility == of("q8")
    assert verdict([1] * 8 + [4, 3], gate).fragility == of("q8", "q9")
    assert verdict([1] * 6 + [4] * 4, gate).fragility is None


def test_a_slice_is_decided_with_all_queries_and_is_gated_as_before() -> None:
    places = [{"locale": "de" if place < 5 else "en"} for place in range(40)]
    ranks = [2, 2, 4, 1, 1] + [1] * 35
    gate = Gate.tolerance(abs=0.2, min_queries=5)
    found_one = verdict(ranks, gate, attributes=places, by="locale")
    assert found_one.leading.label == "locale=de"
    # (-0.5 - 0.5 - 0.75) / 5 = -0.35; without q2 -0.25, without q0 too (-0.5 - 0) / 3 = -0.17.
    # If the slice of four were not gated any more, one query would be enough.
    assert found_one.fragility == of("q2", "q0")


def test_clusters_are_left_out_as_a_whole() -> None:
    users = [{"user": f"u{place // 4}"} for place in range(40)]
    ranks = [1] * 8 + [2, 2, 4, 4] + [1] * 28
    fragility = verdict(ranks, Gate.tolerance(), attributes=users, clusters="user").fragility
    assert fragility == Fragility(("u2",), (("q8", "q9", "q10", "q11"),), True, "passed")


def test_the_other_metrics_of_an_assertion_stay_in_the_family() -> None:
    ids = [f"q{place}" for place in range(20)]
    golden = GoldenSet.from_dict({each: {"x": 1} for each in ids})
    now = Run.from_dict({each: ["n", "x"] if n < 6 else ["x"] for n, each in enumerate(ids)})
    comparison = compare(
        evaluate(now, golden), evaluate(Run.from_dict({each: ["x"] for each in ids}), golden)
    )
    alone = decide_family(comparison, {RR: Gate.significant()})[RR]
    metrics = [RR, *map(Metric.parse, ("P@1", "Success@1", "R@1"))]
    together = decide_family(comparison, dict.fromkeys(metrics, Gate.significant()))
    assert alone.fragility == of("q0", "q1")  # mid-p 1/128; of five falls 1/64, of four 1/16
    assert together[RR].regressed  # 4/128
    assert together[RR].fragility == of("q0")  # 4/64
