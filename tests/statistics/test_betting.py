"""Bounds by betting: by hand, against the authors' code, and their error counted exactly."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck.statistics.betting import (
    SAFE_SHARE,
    BetsOnDifference,
    BetsOnMean,
    fewest_to_rule_out,
)


def bets(gains: list[float], weights: list[float] | None = None) -> BetsOnMean:
    """Return bets on gains from -1 to 1, weighted."""
    shares = np.asarray(weights if weights else np.ones(len(gains)), dtype=float)
    return BetsOnMean(shares * np.asarray(gains, dtype=float), shares, -1, 1)


def sample(values: list[float]) -> BetsOnMean:
    """Return bets on values from 0 to 1."""
    return BetsOnMean(np.asarray(values, dtype=float), np.ones(len(values)), 0, 1)


def test_three_bets_by_hand() -> None:
    """Gains 0.5, -0.25 and 1 are 0.25, -0.125 and 0.5 of the width 2. H0: the mean is <= -0.9.

    A bet may lose 0.95: at most 0.95 / ((-0.9 + 1) / 2) = 19, so no bet is cut. The variances before
    each bet, with four imagined values of 0.04: 0.04; then the mean is 0.25 / 5 = 0.05, and
    (0.16 + 0.2^2) / 5 = 0.04; then the mean is 0.125 / 6, and (0.16 + 0.04 + 0.145833^2) / 6 =
    0.036878. The bets are sqrt(2 log 20 / (3 v)) = 7.06603, 7.06603 and 7.35902; the gains above
    -0.9 are 0.7, 0.325 and 0.95 of the width: 5.94622 x 3.29646 x 7.99107 = 156.638.
    """
    found = bets([0.5, -0.25, 1])
    assert found.capital(-0.9) == pytest.approx(156.638, rel=1e-4)
    assert found.p_at_most(-0.9) == pytest.approx(1 / 156.638, rel=1e-4)
    # H0: the mean is <= 0. Each bet is cut to 0.95 / (1 / 2) = 1.9, which loses 0.95 at -1:
    # (1 + 1.9 x 0.25) (1 - 1.9 x 0.125) (1 + 1.9 x 0.5) = 1.475 x 0.7625 x 1.95.
    assert found.capital(0) == pytest.approx(1.475 * 0.7625 * 1.95)
    # Of 1, -1, the capital was at its largest after the first: 1 + 1.9 x 0.5.
    assert bets([1, -1]).capital(0) == pytest.approx(1.95)
    # That the mean is high is bet with the signs changed: 1 + 1.9 x 0.125 after the second.
    assert bets([0, -0.25]).p_of_fall() == pytest.approx(1 / (1 + 1.9 * 0.125))


def test_weighted_units_by_hand() -> None:
    """Units of weight 2 and 1 with sums -2 and 0.5: means -1 and 0.5. H0: the mean is >= 0.

    The widest range of a sum is 2 x 2, so the gains are 0.5 and -0.125 of it, each bet 1.9.
    """
    found = BetsOnMean(np.array([-2.0, 0.5]), np.array([2.0, 1.0]), -1, 1)
    assert found.p_of_fall() == pytest.approx(1 / (1 + 1.9 * 0.5))
    # H0: the mean is <= -0.5. The sums are -2 + 0.5 x 2 and 0.5 + 0.5 x 1 above it: -1 and 1, -0.25
    # and 0.25 of the range. A bet may be 0.95 / 0.25 = 3.8, and both are: the first variance is
    # 0.04, the second, with the mean -0.5 / 5 and the distance 0.4, is (0.16 + 0.16) / 5.
    second = math.sqrt(2 * math.log(20) / (2 * 0.064))
    assert second > 3.8
    assert found.capital(-0.5) == pytest.approx(max(1, 0.05 * 1.95))


AUTHORS = {0: 11.67748637343315, 0.02: 35.59186361093151, 0.1: 3698.6573109853116}
"""The largest capital of confseq's ``betting_mart`` (commit 70b1ef3), by the margin.

With ``theta=1, trunc_scale=0.95`` and the bets ``lambda_predmix_eb(x, alpha=0.05, fixed_n=60,
prior_mean=0.5, prior_variance=0.04, fake_obs=4)``. The package has no wheels.
"""


@pytest.mark.parametrize(("margin", "capital"), AUTHORS.items())
def test_the_capital_is_that_of_the_authors_code(margin: float, capital: float) -> None:
    gains = [((n * 7919) % 201 - 90) / 250 for n in range(60)]
    assert bets(gains).capital(-margin) == pytest.approx(capital, rel=1e-12)
    assert bets(gains).p_of_margin(margin) == pytest.approx(1 / capital, rel=1e-12)


# --- the promise ------------------------------------------------------------------------------


def error(chances: dict[float, float], count: int, mean: float, alpha: float) -> float:
    """Return the exact probability that p is at most alpha, over all draws of ``count`` values."""
    return math.fsum(
        math.prod(chances[gain] for gain in gains)
        for gains in product(chances, repeat=count)
        if bets(list(gains)).p_at_most(mean) <= alpha
    )


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2, 0.5])
@pytest.mark.parametrize(
    "chances",
    [
        {-1: 0.1, 0: 0.7, 0.5: 0.2},  # a rare, large fall
        {-0.05: 0.8, 0.2: 0.2},  # many small falls, some gains
        {-1: 0.5, 1: 0.5},
        {-0.02: 0.5, 0: 0.0, 0.02: 0.5},
    ],
    ids=str,
)
def test_no_distribution_at_its_mean_is_rejected_too_often(
    chances: dict[float, float], alpha: float
) -> None:
    """Every sequence of eight values is tried, with its probability."""
    mean = math.fsum(gain * chance for gain, chance in chances.items())
    assert error(chances, 8, mean, alpha) <= alpha
    mirrored = {-gain: chance for gain, chance in chances.items()}
    assert error(mirrored, 8, -mean, alpha) <= alpha


def test_the_weighted_mean_keeps_the_level() -> None:
    """Units of weight 3 fall by 0.4, units of weight 1 rise by 0.3: the weighted mean is 0.

    With equal chances, the mean is (3 x -0.1 + 1 x 0.3) / 4 = 0.
    """
    chances = {(3.0, -0.1): 0.5, (1.0, 0.3): 0.5}
    for alpha in (0.05, 0.2, 0.5):
        wrong = 0.0
        for units in product(chances, repeat=9):
            weights, gains = zip(*units, strict=True)
            probability = 0.5**9
            found = bets(list(gains), list(weights))
            wrong += probability * (found.p_of_fall() <= alpha)
        assert wrong <= alpha


def test_two_samples_keep_the_level() -> None:
    """All sequences of five values now and three before; both means are 0.4."""
    now, before = {0.0: 0.6, 1.0: 0.4}, {0.2: 0.5, 0.6: 0.5}
    for alpha in (0.1, 0.3, 0.6):
        wrong = {"fall": 0.0, "margin": 0.0}
        for after in product(now, repeat=5):
            for earlier in product(before, repeat=3):
                chance = math.prod([*map(now.get, after), *map(before.get, earlier)])  # type: ignore[arg-type]
                found = BetsOnDifference(sample(list(after)), sample(list(earlier)))
                wrong["fall"] += chance * (found.p_of_fall() <= alpha)
                wrong["margin"] += chance * (found.p_of_margin(0.0) <= alpha)
        assert max(wrong.values()) <= alpha


def test_large_samples_are_decided() -> None:
    """The bound closes in on the mean, -0.05, and p of a fall becomes small."""
    random = np.random.default_rng(1)
    bounds = []
    for count in (100, 1000, 10_000):
        found = bets(list(random.choice([-0.3, 0.0, 0.1], count, p=[0.2, 0.7, 0.1])))
        bounds.append(found.lower_bound(0.05))
        assert found.lower_bound(0.05) < found.sums.mean()
    assert bounds == sorted(bounds)
    assert bounds[-1] == pytest.approx(-0.05, abs=0.01)
    assert found.p_of_fall() < 1e-6


# --- the bound and p --------------------------------------------------------------------------

GAINS = st.lists(st.sampled_from([-1, -0.5, -0.1, 0, 0.001, 0.2, 1]), max_size=60)


@given(gains=GAINS, margin=st.floats(0.001, 0.99), alpha=st.sampled_from([0.01, 0.05, 0.3]))
def test_the_bound_is_above_the_margin_where_p_is_small(
    gains: list[float], margin: float, alpha: float
) -> None:
    weights = [1.0 + place % 3 for place in range(len(gains))]
    for found in (bets(gains), bets(gains, weights)):
        bound = found.lower_bound(alpha)
        assert -1 <= bound <= 1
        if abs(bound + margin) > 1e-9:
            assert (found.p_of_margin(margin) <= alpha) == (bound > -margin)


@given(
    now=st.lists(st.sampled_from([0, 0.1, 0.5, 0.9, 1]), max_size=30),
    before=st.lists(st.sampled_from([0, 0.2, 0.5, 1]), max_size=30),
    margin=st.floats(0.001, 0.99),
    alpha=st.sampled_from([0.02, 0.1, 0.5]),
)
def test_the_bound_and_p_of_two_samples_agree(
    now: list[float], before: list[float], margin: float, alpha: float
) -> None:
    found = BetsOnDifference(sample(now), sample(before))
    bound, p = found.lower_bound(alpha), found.p_of_margin(margin)
    if abs(bound + margin) > 1e-9 and abs(p - alpha) > 1e-9:
        assert (p <= alpha) == (bound > -margin)


@given(gains=GAINS, weights=st.lists(st.sampled_from([0.5, 1, 7]), min_size=60, max_size=60))
def test_no_p_is_below_the_smallest_or_above_1(gains: list[float], weights: list[float]) -> None:
    for found in (bets(gains), bets(gains, weights[: len(gains)])):
        assert found.smallest_p * (1 - 1e-12) <= found.p_of_fall() <= 1
        halves = BetsOnDifference(sample([abs(g) for g in gains]), sample([0.5] * 9 + [1.0] * 4))
        assert halves.smallest_p * (1 - 1e-9) <= halves.p_of_fall() <= 1


def test_the_smallest_p_by_hand() -> None:
    """With equal weights, 1.95 to the number of values; of weights 2 and 1, 1.95 x 1.475."""
    assert bets([0.0] * 5).smallest_p == pytest.approx(1.95**-5)
    assert bets([0.0, 0.0], [2, 1]).smallest_p == pytest.approx(1 / (1.95 * 1.475))
    assert bets([-1.0] * 5).p_of_fall() == pytest.approx(1.95**-5)
    equal = BetsOnDifference(sample([0.0] * 6), sample([1.0] * 6))  # c is the middle
    assert equal.smallest_p == pytest.approx(2 * 1.95**-6)
    assert equal.p_of_fall() == pytest.approx(2 * 1.95**-6)


# --- nothing degenerate is certain ------------------------------------------------------------


def test_queries_that_did_not_change_give_the_bound_of_the_range() -> None:
    """Each of 20 zeros multiplies by 1 + c m / (1 - m), so the bound -m follows from 20 = that^20.

    No bound can be better than -(1 - 0.05^(1/n)): if that share of queries fell by 1, n queries
    without a fall would have a probability of 5%.
    """
    growth = 20 ** (1 / 20) - 1
    margin = growth / (SAFE_SHARE + growth)
    assert bets([0.0] * 20).lower_bound(0.05) == pytest.approx(-margin, rel=1e-9)
    for count, least in ((20, 0.139), (30, 0.095), (100, 0.0295), (1000, 0.00299)):
        best = -(1 - 0.05 ** (1 / count))
        assert best == pytest.approx(-least, rel=0.01)
        assert 1.3 * best < bets([0.0] * count).lower_bound(0.05) < best


@pytest.mark.parametrize(("margin", "width"), [(0.02, 1), (0.05, 1), (0.4, 1), (0.5, 10)])
def test_the_fewest_that_rule_out_a_fall(margin: float, width: float) -> None:
    """For 0.02 of 1: log 20 / log(1 + 0.95 x 0.02 / 0.98) = 2.99573 / 0.0192022 = 156.01."""
    fewest = fewest_to_rule_out(margin, width, 0.05)
    assert (fewest == 157) is (margin == 0.02)
    zeros = BetsOnMean(np.zeros(fewest - 1), np.ones(fewest - 1), -width, width)
    assert zeros.p_of_margin(margin) > 0.05
    more = round(1.1 * fewest) + 1
    assert BetsOnMean(np.zeros(more), np.ones(more), -width, width).p_of_margin(margin) <= 0.05


@pytest.mark.parametrize("gains", [[], [0.0], [1.0], [0.0, 0.0], [1.0, 1.0], [0.2, 0.2]])
def test_one_or_two_values_are_never_certain(gains: list[float]) -> None:
    found = bets(gains)
    assert found.lower_bound(0.05) < -0.4
    assert found.p_of_margin(0.4) > 0.05
    assert found.p_of_fall() == 1
    assert found.negated.p_of_fall() > 0.25
    two = BetsOnDifference(sample([1.0] * len(gains)), sample([1.0] * len(gains)))
    assert two.p_of_margin(0.4) > 0.05


def test_huge_capital_is_not_certain_either() -> None:
    """1.95^10,000 is more than a float holds; p stays above 0."""
    assert 0 < bets([-1.0] * 10_000).p_of_fall() < 1e-300
    assert bets([-1.0] * 10_000).smallest_p == bets([-1.0] * 10_000).p_of_fall()
