"""The guard against the slide: its bounds against exact values and simulations, and its promise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from pytest_rankcheck import Gate, Metric
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets
from pytest_rankcheck.gates.slide import Slide, slide_of
from pytest_rankcheck.statistics.slide_boundary import samples_bound, walk_bound

NDCG = Metric.parse("nDCG@10")


def paired(gains: np.ndarray | list[float], metric: Metric = NDCG) -> Paired:
    change = np.asarray(gains, dtype=float) * (1 if metric.higher_is_better else -1)
    before = np.full(len(change), 0.5)
    return Paired(metric, tuple(map(str, range(len(change)))), before, before + change)


def with_error(mean: float, error: float, count: int = 100) -> np.ndarray:
    """Return differences with exactly this mean and standard error."""
    spread = np.tile([1.0, -1.0], count // 2)
    return mean + spread / np.std(spread, ddof=1) * error * math.sqrt(count)


# --- the bounds ------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.02, 0.1, 0.3])
def test_of_one_change_the_bound_is_the_normal_quantile(level: float) -> None:
    quantile = stats.norm.ppf(1 - level)
    assert walk_bound(1, level) * math.sqrt(2) == pytest.approx(quantile, abs=0.01)
    assert samples_bound(1, level) == pytest.approx(quantile, abs=0.01)


def test_of_two_changes_by_the_bivariate_normal() -> None:
    """S1 = e1 and S2 = e1 + e2 have covariance [[1, 1], [1, 2]]; neither is below its bound."""
    c = walk_bound(2, 0.1)
    stays = stats.multivariate_normal([0, 0], [[1, 1], [1, 2]]).cdf(
        [c * math.sqrt(2), c * math.sqrt(3)]
    )
    assert 1 - stays == pytest.approx(0.1, abs=0.001)


def test_of_two_looks_by_the_bivariate_normal() -> None:
    c = samples_bound(2, 0.1, shared=0.3)
    stays = stats.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]]).cdf([c, c])
    assert 1 - stays == pytest.approx(0.1, abs=0.001)


@pytest.mark.parametrize("level", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("blocks_beyond", [math.inf, 1.645, 2.33])
def test_the_share_of_innocent_walks_that_cross(level: float, blocks_beyond: float) -> None:
    """20,000 walks of 50 changes, simulated change by change; a blocked change is tried again."""
    floors = tuple(blocks_beyond * math.sqrt(k) for k in range(1, 51))
    given = floors if math.isfinite(blocks_beyond) else ()
    c = walk_bound(50, level, given)
    generator = np.random.Generator(np.random.Philox(3))
    walks, crossed = np.zeros(20_000), np.zeros(20_000, bool)
    for k, floor in enumerate(floors, 1):
        after = walks + generator.normal(size=len(walks))
        while (blocked := after < -floor).any():
            after[blocked] = (walks + generator.normal(size=len(walks)))[blocked]
        walks = after
        crossed |= walks < -c * math.sqrt(k + 1)
    error = math.sqrt(level * (1 - level) / len(walks))
    assert crossed.mean() == pytest.approx(level, abs=4 * error + 0.003)


@pytest.mark.parametrize("shared", [0.2, 0.5])
@pytest.mark.parametrize("blocks_beyond", [math.inf, 1.645])
def test_the_share_of_innocent_looks_that_cross(shared: float, blocks_beyond: float) -> None:
    c = samples_bound(50, 0.1, shared, blocks_beyond)
    generator = np.random.Generator(np.random.Philox(4))
    common = math.sqrt(shared) * generator.normal(size=10_000)
    crossed = np.zeros(10_000, bool)
    for _ in range(50):
        pending = np.ones(len(common), bool)
        for _ in range(500):  # where the old sample is far too good, no look would ever pass
            look = common + math.sqrt(1 - shared) * generator.normal(size=len(common))
            merged = pending & (look >= -blocks_beyond)
            crossed |= merged & (look < -c)
            pending &= ~merged
            if not pending.any():
                break
    assert crossed.mean() == pytest.approx(0.1, abs=0.012)


# --- the slide -------------------------------------------------------------------------------


def test_a_slide_by_hand() -> None:
    """100 queries, a standard error of 0.02 after 24 changes, and all changes were merged.

    c is 2.06 for 50 changes at 10%; so the budget is 2.06 * sqrt(25 / 24) = 2.10 standard errors,
    which is 2.14 in quantiles of t with 99 degrees of freedom: 0.0428.
    """
    slide = slide_of(paired(with_error(-0.04, 0.02)), 24)
    assert slide.distance == pytest.approx(0.04)
    assert slide.budget == pytest.approx(0.0428, abs=0.0003)
    assert (slide.steps, slide.level, slide.exceeds) == (24, 0.1, False)
    assert slide_of(paired(with_error(-0.043, 0.02)), 24).exceeds


def test_what_was_approved_with_a_reason_is_allowed_for() -> None:
    values = paired(with_error(-0.04, 0.01))
    slide = slide_of(values, 24, approved=0.1)
    assert slide.distance == pytest.approx(0.14)
    assert slide.fall == pytest.approx(0.04)
    assert slide.exceeds
    assert not slide_of(paired(with_error(0.0, 0.01)), 24, approved=0.1).exceeds


def test_a_gain_is_no_slide() -> None:
    assert slide_of(paired([0.1, 0.2]), 10) == Slide(0.0, 0.0, math.inf, 10, 0.1)
    assert slide_of(paired([0.1, 0.1]), 10, approved=0.3).distance == pytest.approx(0.2)


def test_where_lower_is_better_a_rise_is_a_slide() -> None:
    rank = Metric.parse("FirstRank")
    assert slide_of(paired(with_error(-0.4, 0.1), rank), 10).exceeds


def test_a_gate_that_blocks_more_leaves_a_smaller_budget() -> None:
    values = paired(with_error(-0.03, 0.02))
    budgets = [
        slide_of(values, 24, rule=gate.rule).budget
        for gate in (Gate.significant(), Gate.significant(alpha=0.01), Gate.tolerance(abs=0.1))
    ]
    assert budgets == sorted(budgets)
    assert budgets[0] < 1.645 * 0.02 < budgets[1]  # or it would never act
    assert budgets[2] == slide_of(values, 24).budget
    corrected = slide_of(values, 24, rule=Gate.significant().rule, shares=5).budget
    assert corrected == pytest.approx(budgets[1], rel=1e-6)  # 0.05 / 5


def test_a_higher_level_stops_more_and_more_changes_allow_more() -> None:
    values = paired(with_error(-0.03, 0.02))
    by_level = [slide_of(values, 24, level=level).budget for level in (0.02, 0.1, 0.3)]
    assert by_level == sorted(by_level, reverse=True)
    by_length = [slide_of(values, steps).budget for steps in (50, 100, 200)]
    assert by_length == pytest.approx(sorted(by_length))


def test_few_queries_and_equal_differences() -> None:
    assert math.isinf(slide_of(paired([-0.5]), 10).budget)
    assert slide_of(paired([-0.1] * 20), 10).budget == 0  # nothing but falls
    geometric = Metric.parse("GMAP")
    assert math.isinf(slide_of(paired(with_error(-0.4, 0.01), geometric), 10).budget)


def test_two_samples() -> None:
    """The noise of every look is its own, so the number of changes does not matter."""
    before, after = with_error(0.5, 0.01), with_error(0.45, 0.01)
    values = Unpaired(NDCG, tuple(map(str, range(100))), before, after)
    few, many = slide_of(values, 2), slide_of(values, 40)
    assert few.budget == many.budget
    # Both samples have the same variance; the error is sqrt(2) * 0.01, with 198 degrees of freedom.
    c = samples_bound(50, 0.1, 0.5)
    assert few.budget == pytest.approx(c * math.sqrt(2) * 0.01, rel=0.02)
    assert few.exceeds
    assert not slide_of(replace(values, after=with_error(0.48, 0.01)), 2).exceeds


# --- what the gates let pass -----------------------------------------------------------------


@pytest.mark.parametrize(
    "gate",
    [
        Gate.significant(test="t"),
        Gate.significant(alpha=0.2, test="t"),
        Gate.significant(min_drop=0.05, test="t"),
        Gate.noninferior(margin=0.02, test="t"),
        Gate.noninferior(margin=0.2, test="t"),
    ],
    ids=str,
)
def test_the_largest_fall_that_passes(gate: Gate) -> None:
    edge = gate.rule.passing_fall(0.02)
    for factor, is_blocked in ((0.97, False), (1.03, True)):
        values = paired(with_error(-factor * edge, 0.02, 1000))
        assert (gate.ruling(values) == "regressed") is is_blocked


def test_a_tolerance_lets_pass_what_is_not_known_to_be_chance() -> None:
    assert math.isinf(Gate.tolerance(abs=0.01).rule.passing_fall(0.02))


@pytest.mark.slow
@pytest.mark.parametrize(("fall", "lowest", "highest"), [(0.0, 0.03, 0.16), (0.003, 0.35, 0.8)])
def test_the_promise_over_a_year_of_pull_requests(
    fall: float, lowest: float, highest: float
) -> None:
    """Of 200 years of 50 innocent pull requests at most 10% are stopped; of the slide far more.

    30% of 100 queries change by N(-fall / 0.3, 0.2); a change that the gate blocks is not merged,
    and the approved values rise where the gate says so. The standard error of 10% is 2.1%.
    """
    gate, generator, stopped = Gate.significant(test="t"), np.random.default_rng(5), 0
    for _ in range(200):
        before = after = np.zeros(100)
        steps = 1
        for _ in range(50):
            moves = generator.normal(-fall / 0.3, 0.2, 100)
            now = after + np.where(generator.random(100) < 0.3, moves, 0)
            values = Paired(NDCG, tuple(map(str, range(100))), before, now)
            (decision,), _ = decide_sets([FamilySet(gate.rule, values)])
            if str(decision.outcome) == "regressed":
                continue
            if slide_of(values, steps, rule=gate.rule).exceeds:
                stopped += 1
                break
            after, steps = now, steps + 1
            if gate.is_better(values):
                before, steps = now, 1
    assert lowest <= stopped / 200 <= highest
