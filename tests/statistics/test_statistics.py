"""The statistics of gates, against scipy, statsmodels, and values worked by hand."""

import math
import os
import subprocess
import sys
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_rankcheck.statistics.counts import fisher_p, more_falls_p, smallest_fisher_p
from pytest_rankcheck.statistics.mean_differences import UNSEEN_GAIN, Differences, unseen_fall
from pytest_rankcheck.statistics.multiplicity import holm
from pytest_rankcheck.statistics.sample_size import contributions, linearised, unit_means
from pytest_rankcheck.statistics.sign_flip import DRAWS, SignFlip
from pytest_rankcheck.statistics.two_samples import TwoSamples, smallest_permutation_p

values = st.lists(st.integers(-1000, 1000).map(lambda n: n / 1000), min_size=1, max_size=10)


def array(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float64)


# --- the sign-flip test --------------------------------------------------------------------------


def test_two_falls_and_a_gain_by_hand() -> None:
    """Falls 3, 2, -1: the sum is 4. Of the 8 sums 6, 4, 2, 0, 0, -2, -4, -6 two are at least 4."""
    found = SignFlip(array(-0.3, -0.2, 0.1, 0, math.nan))
    assert found.p == 2 / 8
    assert found.changed == 3
    assert found.smallest_p == 1 / 8
    assert SignFlip(array(0.3, 0.2, -0.1)).p == 7 / 8  # sums of at least -4


def test_nothing_changed() -> None:
    for gains in (array(), array(0, 0), array(math.nan), array(1e-9, -1e-9)):
        found = SignFlip(gains)
        assert (found.p, found.changed, found.smallest_p) == (1, 0, 1)


@given(gains=values)
def test_few_differences_are_enumerated_exactly(gains: list[float]) -> None:
    """By fractions, every assignment of signs, without our code."""
    changed = [Fraction(gain).limit_denominator(1000) for gain in gains if gain]
    observed = sum(changed)
    signs = list(product((1, -1), repeat=len(changed)))
    lower = sum(
        sum(sign * gain for sign, gain in zip(row, changed, strict=True)) <= observed
        for row in signs
    )
    assert SignFlip(np.array(gains)).p == lower / len(signs)


@pytest.mark.parametrize("count", [17, 60, 400])
@pytest.mark.parametrize("shift", [-0.02, 0.0, 0.01])
def test_many_differences_agree_with_scipy_within_the_error_of_drawing(
    count: int, shift: float
) -> None:
    gains = np.round(np.random.default_rng(count).normal(shift, 0.1, count), 6)
    ours = SignFlip(gains)
    theirs = stats.permutation_test(
        (gains,), np.mean, permutation_type="samples", alternative="less", n_resamples=DRAWS,
        random_state=np.random.default_rng(1),
    ).pvalue  # fmt: skip
    error = math.sqrt(theirs * (1 - theirs) * 2 / DRAWS) + 1 / DRAWS
    assert abs(ours.p - theirs) < 4.5 * error
    assert ours.smallest_p <= 4 / (DRAWS + 1)


def test_p_depends_only_on_the_values() -> None:
    gains = np.array([(n * 7919 % 2003 - 1050) / 10_000 for n in range(200)])
    p = SignFlip(gains).p
    assert SignFlip(gains[::-1]).p == p
    assert SignFlip(np.concatenate((gains, np.zeros(50)))).p == p
    code = (
        "import numpy as np; from pytest_rankcheck.statistics.sign_flip import SignFlip\n"
        f"print(repr(SignFlip(np.array({gains.tolist()})).p))"
    )
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        said = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert float(said.stdout) == p
    assert p == P_ON_EVERY_MACHINE


P_ON_EVERY_MACHINE = 0.18638136186381363


def test_huge_values_do_not_overflow() -> None:
    assert SignFlip(array(-1e300, -1e299, 1e298)).p == 2 / 8  # 10 + 1 +- 0.1
    assert SignFlip(array(*[-1e18] * 20)).p == 1 / (DRAWS + 1)


# --- other tests, and families -------------------------------------------------------------------


def test_t_is_that_of_scipy() -> None:
    gains = np.random.default_rng(3).normal(-0.02, 0.1, 40)
    longer = np.append(gains, 0.25 * np.abs(gains).max())
    assert Differences(gains).fall_p() == stats.ttest_1samp(longer, 0, alternative="less").pvalue


@pytest.mark.parametrize(
    ("gains", "low", "high"),
    [
        ([], 1, 1),
        ([0.0, 0.0, 0.0], 1, 1),
        ([-0.5], 0.0, 1),
        ([-0.5, -0.5], 0, 0.5),
        ([-0.1] * 30, 0, 0.001),
        ([0.1] * 30, 0.5, 1),
        ([-0.1, 0.1], 0.2, 1),
    ],
)
def test_small_and_constant_differences_have_a_p(gains: list, low: float, high: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = np.array(gains, dtype=float)
        ps = SignFlip(values, UNSEEN_GAIN).p, Differences(values).fall_p()
    assert low <= min(ps) <= max(ps) <= high


def test_holm_by_hand() -> None:
    """0.01 x 4, 0.02 x 3, 0.03 x 2, and 0.9 x 1; none below one before it."""
    assert holm([0.03, 0.01, 0.9, 0.02]) == pytest.approx([0.06, 0.04, 0.9, 0.06])
    assert holm([0.4, 0.6]) == pytest.approx([0.8, 0.8])
    assert holm([]) == []
    found = holm([0.01, math.nan, 0.04])
    assert found[0] == pytest.approx(0.02)
    assert math.isnan(found[1])
    assert found[2] == pytest.approx(0.04)


@pytest.mark.oracle
@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_agrees_with_statsmodels(p_values: list[float]) -> None:
    multitest = pytest.importorskip(
        "statsmodels.stats.multitest", reason="statsmodels is not installed"
    )
    theirs = multitest.multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(theirs))


# --- intervals and power -------------------------------------------------------------------------


def test_intervals_are_those_of_scipy() -> None:
    gains = np.random.default_rng(4).normal(-0.02, 0.1, 40)
    found = Differences(gains)
    theirs = stats.ttest_1samp(gains, 0).confidence_interval(0.95)
    assert found.interval() == pytest.approx((theirs.low, theirs.high))
    assert found.effect == pytest.approx(np.mean(gains) / np.std(gains, ddof=1))


@given(
    gains=st.lists(st.floats(-1, 1), min_size=2, max_size=30),
    margin=st.floats(0.001, 0.5),
    full_range=st.sampled_from([1.0, math.inf]),
)
def test_the_bound_and_p_of_noninferiority_agree(
    gains: list[float], margin: float, full_range: float
) -> None:
    found = Differences(np.array(gains), full_range=full_range)
    p = found.noninferiority_p(margin)
    bound = found.lower_bound(0.05)
    if abs(bound + margin) > 1e-9:
        assert (p <= 0.05) == (bound > -margin)


@pytest.mark.oracle
@pytest.mark.parametrize("count", [60, 200, 1000])
def test_the_smallest_detectable_fall_has_the_power_that_statsmodels_says(count: int) -> None:
    power = pytest.importorskip("statsmodels.stats.power", reason="statsmodels is not installed")
    gains = np.random.default_rng(count).normal(0, 0.1, count)
    found = Differences(gains)
    fall = found.smallest_detectable(0.05)
    # The plain t-test that statsmodels knows allows for no unseen gain.
    plain = fall - found.unseen_gain
    theirs = power.TTestPower().power(plain / found.deviation, count, 0.05, alternative="larger")
    assert theirs == pytest.approx(0.8, abs=0.01)


def test_the_smallest_detectable_fall_by_hand() -> None:
    """s = 1 of 100 values of 0.995: (1.6449 + 0.8416) / 10 = 0.24865.

    The unseen gain of 0.25 x 0.995, spread over 100, adds 0.00249.
    """
    gains = np.tile([1.0, -1.0], 50) * math.sqrt(99 / 100)
    assert Differences(gains).smallest_detectable() == pytest.approx(0.25114, abs=1e-5)
    # Of 10 values with s = 1, quantiles of t with 9 degrees: (1.8331 + 0.8834) / sqrt(10) = 0.85903.
    # The unseen gain adds 0.25 x 0.94868 / 10 = 0.02372.
    few = np.tile([1.0, -1.0], 5) * math.sqrt(9 / 10)
    assert Differences(few).smallest_detectable() == pytest.approx(0.88275, abs=1e-5)


@pytest.mark.parametrize("gains", [[], [0.5], [0.0, 0.0], [0.1, 0.1, 0.1]])
def test_statistics_without_enough_data_are_nan(gains: list[float]) -> None:
    found = Differences(np.array(gains, dtype=float))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(found.smallest_detectable())
        assert math.isnan(found.effect)
        low, high = found.interval()
        assert math.isnan(low) == (found.count < 2)
        if found.count >= 2:
            assert low == high == pytest.approx(found.mean)


# --- queries that are not independent ------------------------------------------------------------


def test_contributions_and_linearised_by_hand() -> None:
    """Two clusters, {1, 3} and {8}, of equal weight: the mean is 4.

    Contributions: (1 + 3) * 2 / 3 and 8 * 2 / 3. Linearised: m + (sum of (g - m)) * 2 / 3, so
    4 + (-3 - 1) * 2 / 3 and 4 + 4 * 2 / 3.
    """
    gains, clusters = np.array([1.0, 3.0, 8.0]), np.array([0, 0, 1])
    assert contributions(gains, None, clusters) == pytest.approx([8 / 3, 16 / 3])
    assert linearised(gains, None, clusters) == pytest.approx([4 - 8 / 3, 4 + 8 / 3])
    # Weights 1, 1, 2: the mean is (1 + 3 + 16) / 4 = 5; each is a cluster of its own.
    weights = np.array([1.0, 1.0, 2.0])
    assert contributions(gains, weights, None) == pytest.approx([3 / 4, 9 / 4, 48 / 4])
    assert linearised(gains, weights, None) == pytest.approx([5 - 3, 5 - 1.5, 5 + 4.5])
    for values in (contributions(gains, weights, clusters), linearised(gains, weights, clusters)):
        assert values.mean() == pytest.approx(5)


def test_without_weights_and_clusters_gains_are_unchanged() -> None:
    gains = np.array([1.0, -2.0])
    assert contributions(gains, None, None) is gains
    assert linearised(gains, None, None) is gains
    assert linearised(np.zeros(0), np.zeros(0), None).size == 0


def test_intervals_of_clusters_hold_the_truth() -> None:
    """A ratio estimator with clusters of random sizes and a common shift: 95% intervals do."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        sizes = rng.integers(1, 9, 40)
        shifts = rng.normal(0.1, 1, 40)
        gains = np.concatenate(
            [rng.normal(shift, 1, size) for shift, size in zip(shifts, sizes, strict=True)]
        )
        clusters = np.repeat(np.arange(40), sizes)
        low, high = Differences(*unit_means(gains, None, clusters)).interval()
        held += low <= 0.1 <= high
    assert 270 <= held <= 298


def test_two_samples_are_welch() -> None:
    rng = np.random.default_rng(3)
    before, after = rng.normal(0, 1, 40), rng.normal(-0.3, 3, 25)
    found = TwoSamples(after, before=before)
    theirs = stats.ttest_ind(after, before, equal_var=False, alternative="less")
    assert found.degrees == pytest.approx(theirs.df)
    assert found.interval(0.9) == pytest.approx(
        tuple(stats.ttest_ind(after, before, equal_var=False).confidence_interval(0.9))
    )
    large, larger = rng.normal(0, 1, 1000), rng.normal(0.03, 1, 3000)
    theirs = stats.ttest_ind(large, larger, equal_var=False, alternative="less")
    assert TwoSamples(large, before=larger).p_of_fall() == pytest.approx(theirs.pvalue)


def test_two_small_samples_are_permuted_as_scipy_does() -> None:
    rng = np.random.default_rng(8)
    for sizes, shift in (((40, 25), 0.3), ((12, 90), 0.0), ((7, 7), 0.5)):
        before, after = rng.lognormal(0, 1, sizes[0]), rng.lognormal(0, 1, sizes[1]) - shift

        def welch(one: np.ndarray, other: np.ndarray, axis: int) -> np.ndarray:
            return stats.ttest_ind(one, other, equal_var=False, axis=axis).statistic

        theirs = stats.permutation_test(
            (after, before), welch, vectorized=True, n_resamples=9999, alternative="less"
        ).pvalue
        ours = TwoSamples(after, before=before).p_of_fall()
        assert ours == TwoSamples(after[::-1], before=before[::-1]).p_of_fall()
        assert ours == pytest.approx(theirs, abs=4 * math.sqrt(theirs * (1 - theirs) * 2 / 9999))


def test_samples_without_spread_or_with_one_value() -> None:
    for now, before in ((np.zeros(1), np.ones(9)), (np.zeros(9), np.ones(1))):
        found = TwoSamples(now, before=before)
        assert found.p_of_fall() == 1
        assert all(map(math.isnan, (*found.interval(), found.difference_p())))
        assert smallest_permutation_p(len(now), len(before)) == 1
    assert TwoSamples(np.ones(3), before=np.ones(2)).p_of_fall() == 1
    # Of the 10 ways to divide 0, 0, 0, 1, 1, one has both ones before.
    assert TwoSamples(np.zeros(3), before=np.ones(2)).p_of_fall() == pytest.approx(0.1, abs=0.012)
    assert smallest_permutation_p(3, 2) == 0.1


# --- what was not sampled ------------------------------------------------------------------------


def test_no_bound_is_beyond_the_range() -> None:
    """Of -0.5, 0 and an unseen -1, t with two degrees of freedom would put the bound at -1.34."""
    assert Differences(array(-0.5, 0), full_range=1.0).lower_bound(0.05) == -1
    assert Differences(array(-0.5, 0)).lower_bound(0.05) < -1
    assert (
        TwoSamples(
            array(0.0, 1), before=array(1.0, 0), low=0.0, high=1.0, full_range=1.0
        ).lower_bound(0.05)
        == -1
    )


def test_identical_queries_do_not_rule_out_a_fall() -> None:
    """30 queries that did not change, and one that lost everything: -1/31 - t(30) x 1/31.

    The values are 30 zeros and -1: s^2 = 1/31 and s / sqrt(31) = 1/31. t(30) of 95% is 1.6973.
    """
    same = Differences(np.zeros(30), full_range=1.0)
    assert same.lower_bound(0.05) == pytest.approx(-2.6973 / 31, abs=1e-5)
    exact = 1 - 0.05 ** (1 / 30)  # the share of queries lost for which 30 unchanged have p = 5%
    assert same.lower_bound(0.05) == pytest.approx(-exact, abs=0.01)
    assert Differences(np.zeros(30)).lower_bound(0.05) == -math.inf
    assert Differences(np.zeros(30)).noninferiority_p(0.5) == 1


def test_the_bound_of_two_lost_queries_is_near_the_exact_one() -> None:
    """2 of 100 lost on Success@1: Student's t says -0.043, the exact binomial bound -0.062."""
    gains = np.array([-1.0] * 2 + [0.0] * 98)
    exact = stats.binomtest(2, 100).proportion_ci(0.9, "exact").high
    found = Differences(gains, full_range=1.0).lower_bound(0.05)
    assert exact == pytest.approx(0.0616, abs=1e-4)
    assert found == pytest.approx(-0.0579, abs=1e-4)
    assert -exact < found < -0.055


def test_the_unseen_fall_by_hand() -> None:
    """At 40 units 10/40 of the way from 0.2 to 1; without a range 10/sqrt(100) of itself more."""
    assert unseen_fall(0.2, 1.0, 40) == pytest.approx(0.4)
    assert unseen_fall(0.2, 1.0, 5) == 1.0
    assert unseen_fall(0.0, 1.0, 1000) == 1.0
    assert unseen_fall(0.2, math.inf, 100) == pytest.approx(0.4)


def test_the_bound_with_weights_by_hand() -> None:
    """Weights 3, 1 and gains 0: n_e = 16/10, and the unseen unit weighs 4 / 1.6 = 2.5.

    It loses 1, so m = -2.5/6.5. The residuals are w (g - m): 3, 1 and 2.5 x (-1 - m).
    """
    found = Differences(np.zeros(2), np.array([3.0, 1.0]), full_range=1.0)
    mean = -2.5 / 6.5
    squares = (3 * mean) ** 2 + mean**2 + (2.5 * (1 + mean)) ** 2
    error = math.sqrt(3 / 2 * squares) / 6.5
    degrees = 6.5**2 / (9 + 1 + 6.25) - 1
    bound = mean - float(stats.t.ppf(0.75, degrees)) * error
    assert found.lower_bound(0.25) == pytest.approx(bound)


def test_an_unseen_gain_by_hand() -> None:
    """Falls 3, 2, -1 and an unseen gain of 0.75, a quarter of 3: the sum of falls is 3.25.

    Of the sums 6, 4, 2, 0, 0, -2, -4, -6 of the three, two are at least 4 (with the gain as it
    is), and two at least 4 - 1.5 (with the gain flipped): four of sixteen.
    """
    assert SignFlip(array(-0.3, -0.2, 0.1), 0.25).p == 4 / 16
    # Falls 3, 2, 1, all falling: 6; flipped, sums from 6 - 1.5 on: again 6 alone. 2 of 16.
    found = SignFlip(array(-0.3, -0.2, -0.1), 0.25)
    assert found.p == found.smallest_p == 2 / 16
    # Falls 10, 2, 1: 13; flipped, sums from 13 - 5 on: 13, 11, 9. 1 + 3 of 16.
    assert SignFlip(array(-1.0, -0.2, -0.1), 0.25).p == 4 / 16


def test_changes_of_one_size_count_ties_half() -> None:
    """Five falls and one gain of the same size: of 64 sums, 1 is larger and 6 are as large."""
    gains = [-0.5] * 5 + [0.5]
    assert SignFlip(array(*gains), 0.25).p == (1 + 6 / 2) / 64
    assert SignFlip(array(*[-0.5] * 4)).p == 1 / 16  # too few for the mid-p


def test_sizes_that_differ_by_rounding_are_one_size() -> None:
    """Thirds at six decimals: 0.333333 - 0.666667 is -0.333334, and 0 - 0.333333 is -0.333333.

    Seven falls and one gain: of 256 sums, 1 is larger and 8 are as large.
    """
    before = array(*[0.666667] * 4, *[0.333333] * 3, 0.0)
    after = array(*[0.333333] * 4, *[0.0] * 3, 0.333333)
    found = SignFlip(after - before, 0.25)
    assert found.p == (1 + 8 / 2) / 256
    assert found.smallest_p == 0.5 / 256
    # One of 0.4 is another size: the unseen gain of 0.1 counts, flipped or not. Sums of 2 and more
    # are 2.4 (all fall), 1.733333 with one of seven flipped, and 1.6 with the large one flipped:
    # the fall is 2.4, and 2.4 - 0.2 is above the others, so 1 of 256 either way.
    other = SignFlip(array(*[-0.333333] * 7, -0.4), 0.25)
    assert other.p == other.smallest_p == 1 / 256


# --- what falls more often -----------------------------------------------------------------------


def test_the_exact_test_of_fisher_by_hand_and_as_scipy_has_it() -> None:
    """Of 8 queries 4 fell, 3 of them in a part of 4: p = (16 + 1) / 70."""
    assert fisher_p(3, 4, 4, 8) == pytest.approx(17 / 70)
    assert smallest_fisher_p(np.array([4, 2, 6]), 4, 8) == pytest.approx([1 / 70, 15 / 70, 15 / 70])
    for shared, size, fallen, total in ((10, 12, 12, 40), (90, 400, 150, 900), (0, 3, 4, 9)):
        table = [[shared, size - shared], [fallen - shared, total - size - fallen + shared]]
        theirs = stats.fisher_exact(table, alternative="greater").pvalue
        assert fisher_p(shared, size, fallen, total) == pytest.approx(theirs, rel=1e-9)


def test_more_falls_than_rises_are_a_sign_test() -> None:
    found = more_falls_p(np.array([7, 8, 0, 0]), np.array([0, 1, 0, 5]))
    assert found == pytest.approx([1 / 128, 10 / 512, 1, 1])
