"""What the calibration is made of: rates and their errors, populations, years of pull requests, logs."""

import sys
from pathlib import Path

import numpy as np
import pytest
from reference import data

from pytest_rankcheck import Gate, Metric

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
import populations
import ratchet
import real_pairs
import replayed_logs
import retraining
import special_designs
from rates import Rate, above, sentence

SUCCESS = next(family for family in real_pairs.FAMILIES if family.name == "Success@1")


def test_rates_have_an_error_and_their_cells_are_tested_together() -> None:
    """P(X >= 8), X binomial (100, 0.05), is 0.128; of 14 it is 0.00046, times 20 cells 0.0092."""
    assert Rate(200, 4000).error == pytest.approx(0.003446, abs=1e-6)  # sqrt(0.05 0.95 / 4000)
    assert str(Rate(0, 0)) == "refused"
    assert above([Rate(8, 100)], 0.05) == [False]
    assert above([Rate(14, 100), *[Rate(0, 100)] * 19], 0.05) == [True] + [False] * 19
    assert above([Rate(14, 100), *[Rate(0, 100)] * 29], 0.05) == [False] * 30
    cells = {"a": Rate(8, 100), "b": Rate(2, 100), "c": Rate(0, 0)}
    assert sentence("It blocks", cells, 0.05) == (
        "It blocks (5%): holds in all 2 cells; the worst is 8.0% ± 2.7% (a)."
    )
    cells["b"] = Rate(20, 100)
    assert sentence("It blocks", cells, 0.05) == (
        "It blocks (5%): exceeded in 1 of 2 cells, by up to 15.0 points; the worst is 20.0% ± "
        "4.0% (b)."
    )


# --- populations ---------------------------------------------------------------------------------


def pair(*gains: float) -> real_pairs.RealPair:
    after = np.array(gains)
    return real_pairs.RealPair(SUCCESS, "made up", np.zeros(len(after)), after)


def test_tilting_gives_the_wanted_mean() -> None:
    """Worked by hand: weights 1/u, 1 and u on -1, 0 and 1 have the mean (u - 1/u)/(u + 1 + 1/u).

    It is -1/2 if 3u^2 + u - 1 = 0, so u = (sqrt(13) - 1)/6 = 0.43426, and the weights are
    2.30278/3.73703 = 0.61620, 1/3.73703 = 0.26759 and 0.43426/3.73703 = 0.11620.
    """
    made = populations.tilted(pair(*[-1, 0, 1] * 60), -0.5, 0.02)
    assert made is not None
    assert made.weights[:3] * 60 == pytest.approx([0.61620, 0.26759, 0.11620], abs=1e-5)
    assert made.mean == pytest.approx(-0.5, abs=1e-12)
    drawn = [each.gains for each in made.samples(np.random.default_rng(1), 200, 50)]
    assert np.mean(drawn) == pytest.approx(-0.5, abs=0.03)  # the standard error is 0.0069
    assert set(np.unique(drawn)) == {-1, 0, 1}


def test_the_direction_says_where_the_long_tail_is() -> None:
    one = pair(*[-0.1] * 60, *[0.5] * 10, *[0.0] * 30)
    for direction, sign in zip(populations.DIRECTIONS, (-1, 1), strict=True):
        made = populations.tilted(populations.oriented(one, direction), 0.0, 0.02)
        assert made is not None
        assert np.sign(made.skewness) == sign


@pytest.mark.slow
def test_two_samples_have_the_stated_fall() -> None:
    """Over 4,000 draws the standard errors are 0.0003 and 0.005."""
    rates = [one.gain for one in special_designs.two_rates(0.02, 4000)]
    assert np.mean(rates) == pytest.approx(-0.02, abs=0.0015)
    deviation = special_designs.deviation_of_durations()
    assert deviation == pytest.approx(2.1612, abs=1e-4)  # sqrt((e - 1) e)
    durations = [one.gain for one in special_designs.two_durations(0.2, 4000)]
    assert np.mean(durations) == pytest.approx(-0.2 * deviation, abs=0.03)


# --- years of pull requests ----------------------------------------------------------------------


def test_pull_requests_are_compared_with_what_their_rule_approved() -> None:
    """Both queries have the same value in each pull request."""
    for rule, means, blocked in (
        # Small falls are compared with the approved values, not with the last ones.
        ("by_the_gate", (0.5, 0.47, 0.44, 0.45, 0.42), [False, True, False, True]),
        # 0.06 below what was merged, 0.02 below what was approved first.
        ("any_gain", (0.5, 0.54, 0.48), [False, True]),
        ("by_the_gate", (0.5, 0.54, 0.48), [False, True]),
        ("never", (0.5, 0.54, 0.48), [False, False]),
    ):
        values = np.repeat(np.array(means)[:, np.newaxis], 2, axis=1)
        gate = Gate.tolerance(abs=0.05)
        assert ratchet.play(values, gate, getattr(ratchet, rule)).tolist() == blocked


# --- retraining ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.oracle
def test_a_retraining_is_seldom_blocked_where_replicates_show_its_noise() -> None:
    """1,000 draws of eight models: two standard errors of a rate of 6% are 1.5%."""
    values = retraining.values_of_seeds(data("lightgbm-lambdarank"), "RR", seeds=8)
    metric = Metric.parse("RR")
    alone, five, pair = (
        retraining.rate(values, retraining.Cell(metric, *design, "blocked", 250), 1000).share
        for design in ((1, 1), (5, 1), (4, 4))
    )
    assert max(five, pair) <= 0.06 < alone
    passed = retraining.Cell(metric, 5, 1, "passed", 250)
    assert retraining.rate(values, passed, 1000).share <= 0.06


# --- replayed logs -------------------------------------------------------------------------------


@pytest.mark.slow
def test_replayed_logs_have_the_stated_fall() -> None:
    """Over 200,000 searches the standard error is 0.0007; the mean RR is 0.5 + 2.929 / 20."""
    assert pytest.approx(0.5 + 2.928968 / 20) == replayed_logs.MEAN_RR
    random = np.random.default_rng(3)
    for fall in (0.0, 0.1):
        log = replayed_logs.searches(random, 200_000, eta=1.0, fall=fall)
        assert (np.sort(log.now, axis=1) == replayed_logs.RANKS).all()
        new = log.now[np.arange(len(log.good)), log.good - 1]
        assert np.mean(1 / new) - np.mean(1 / log.good) == pytest.approx(-fall, abs=0.003)
        assert np.mean(1 / log.good) == pytest.approx(replayed_logs.MEAN_RR, abs=0.003)
