"""How many queries are needed: against statsmodels' power, and from where the spread is taken."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    GoldenSet,
    Metric,
    MetricError,
    Record,
    Run,
    evaluate,
    plan,
)
from pytest_rankcheck.statistics.sample_size import power_of, queries_needed

GOLDEN = GoldenSet.from_dict({f"q{index:02}": {"x": 1} for index in range(40)})


def at(*ranks: int) -> Evaluation:
    """Return an evaluation with the relevant documents at these ranks, over and over."""
    rankings = {
        query: [f"n{i}" for i in range(1, ranks[place % len(ranks)])] + ["x"]
        for place, query in enumerate(GOLDEN.query_ids)
    }
    return evaluate(Run.from_dict(rankings), GOLDEN)


@pytest.mark.oracle
@pytest.mark.parametrize("effect", [0.05, 0.1, 0.2, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("power", [0.7, 0.8, 0.95])
@pytest.mark.parametrize("alpha", [0.01, 0.05])
def test_the_number_of_queries_agrees_with_statsmodels(
    effect: float, power: float, alpha: float
) -> None:
    statsmodels = pytest.importorskip("statsmodels.stats.power")
    found = queries_needed(effect, 1.0, power, alpha)
    solved = statsmodels.TTestPower().solve_power(
        effect, power=power, alpha=alpha, alternative="larger"
    )
    assert found == max(2, math.ceil(float(np.squeeze(solved)) - 1e-6))
    theirs = statsmodels.TTestPower().power(effect, found, alpha, alternative="larger")
    assert power_of(found, effect, 1.0, alpha) == pytest.approx(float(theirs), abs=1e-9)


def test_simulated_falls_are_detected_as_often_as_planned() -> None:
    from pytest_rankcheck.statistics.paired_tests import p_of_fall

    count = queries_needed(0.1, 0.3, 0.8)
    draws = np.random.default_rng(5).normal(-0.1, 0.3, (400, count))
    seen = np.mean([p_of_fall(gains) <= 0.05 for gains in draws])
    assert abs(seen - 0.8) < 3 * math.sqrt(0.8 * 0.2 / 400)


def test_the_spread_is_that_of_the_differences() -> None:
    before, after = at(1, 2), at(2, 2)  # differences of -1/2 and 0, half of each
    table = plan(after, "RR", [0.01, 0.05], before)
    deviation = np.std([-0.5, 0] * 20, ddof=1)
    assert table.attrs["deviation"] == pytest.approx(deviation)
    assert table.attrs["source"] == "the differences of the two rankers"
    assert table.index.tolist() == [0.01, 0.05]
    assert table.columns.tolist() == [0.7, 0.8, 0.9, 0.95]
    assert table.loc[0.05, 0.8] == queries_needed(0.05, deviation, 0.8)
    record = Record.of(before, [Metric.parse("RR")])
    assert plan(after, "RR", [0.01, 0.05], record).equals(table)


@pytest.mark.parametrize("other", [None, at(1, 2)])
def test_without_differences_the_spread_of_the_values_is_used(other: Evaluation | None) -> None:
    table = plan(at(1, 2), "RR", 0.02, other)
    assert table.attrs["source"].startswith("guessed from how much the values of the queries vary")
    assert table.attrs["deviation"] == pytest.approx(np.std([1, 0.5] * 20, ddof=1))


def test_a_fall_too_small_for_any_set_ends_the_search() -> None:
    assert queries_needed(1e-9, 1.0, 0.8) > 10**18


def test_impossible_plans_are_errors() -> None:
    for margin in (0, -0.1, math.inf, math.nan, []):
        with pytest.raises(ConfigurationError, match="a margin is a finite number above 0"):
            plan(at(1, 2), "RR", margin)
    for arguments in ({"alpha": 0.6}, {"powers": [1.0]}, {"powers": [0.01]}):
        with pytest.raises(ConfigurationError, match="the level is above 0"):
            plan(at(1, 2), "RR", 0.1, **arguments)
    with pytest.raises(MetricError, match="RR: the values of the 40 queries do not vary"):
        plan(at(1), "RR", 0.1)
