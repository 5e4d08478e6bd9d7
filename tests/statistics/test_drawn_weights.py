"""Weights that were drawn together with the units, as those of a replayed log."""

import math

import numpy as np
import pytest
from scipy.stats import t

from pytest_rankcheck import Metric
from pytest_rankcheck.comparison.compared_values import Paired
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.sign_flip import SignFlip

GAINS, WEIGHTS = np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 2.0])


def test_an_interval_allows_for_a_heavy_unit_on_each_side() -> None:
    """Worked by hand. The mean is 1/4; w (g - m) is 3/4, -1/4, -1/2, with squares of 7/8 in all.

    The squared error is 3/2 of 7/8 over the squared sum of weights, 16. The heaviest unit has
    weight 2 of 4, and the largest deviation is 3/4: half of it moves the mean by 3/16, twice.
    """
    drawn = Differences(GAINS, WEIGHTS, drawn_share=0.5)
    error = math.sqrt(1.5 * 0.875 / 16 + 2 * (3 / 16) ** 2)
    half = t.ppf(0.975, 16 / 6 - 1) * error  # n_e = 16 / (1 + 1 + 4)
    assert drawn.interval() == pytest.approx((0.25 - half, 0.25 + half))
    assert drawn.unseen_gain == pytest.approx(0.5 * 1 * 2 / 4)
    fixed = Differences(GAINS, WEIGHTS)
    half = t.ppf(0.975, 16 / 6 - 1) * math.sqrt(1.5 * 0.875 / 16)
    assert fixed.interval() == pytest.approx((0.25 - half, 0.25 + half))
    assert fixed.unseen_gain == pytest.approx(0.25 * 1 / (16 / 6))


def test_a_test_adds_a_gain_at_the_largest_weight() -> None:
    """Half of the largest gain, 0.5, at the largest weight, 3.

    The contributions are w g times 4 / 8: -0.1, -0.2, 0.25, -0.45. The gain that is added is 0.5
    times 0.5 times 3 times 4 / 8 = 0.375, as a share of the largest contribution, 0.45.
    """
    after = np.array([-0.1, -0.2, 0.5, -0.3])
    pairs = Paired(
        Metric.parse("nDCG"),
        ("a", "b", "c", "d"),
        np.zeros(4),
        after,
        weights=np.array([2.0, 2.0, 1.0, 3.0]),
        drawn_share=0.5,
    )
    assert pairs.contributions == pytest.approx([-0.1, -0.2, 0.25, -0.45])
    assert pairs.unseen_gain == pytest.approx(0.375 / 0.45)
    assert pairs.p_of_fall() == SignFlip(pairs.contributions, 0.375 / 0.45).p
    assert pairs.smallest_p() == SignFlip(pairs.contributions, 0.375 / 0.45).smallest_p
