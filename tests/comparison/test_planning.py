"""How many queries are needed, and from where the spread is taken."""

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
from pytest_rankcheck.statistics.sample_size import deviation_interval, queries_needed

GOLDEN = GoldenSet.from_dict({f"q{index:02}": {"x": 1} for index in range(40)})


def at(*ranks: int) -> Evaluation:
    """Return an evaluation with the relevant documents at these ranks, over and over."""
    rankings = {
        query: [f"n{i}" for i in range(1, ranks[place % len(ranks)])] + ["x"]
        for place, query in enumerate(GOLDEN.query_ids)
    }
    return evaluate(Run.from_dict(rankings), GOLDEN)


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


def test_without_differences_the_spread_of_the_values_is_used() -> None:
    for other in (None, at(1, 2)):
        attrs = plan(at(1, 2), "RR", 0.02, other).attrs
        assert attrs["source"].startswith("guessed from how much the values of the queries vary")
        assert attrs["deviation"] == pytest.approx(np.std([1, 0.5] * 20, ddof=1))


def test_a_fall_too_small_for_any_set_ends_the_search() -> None:
    assert queries_needed(1e-9, 1.0, 0.8) > 10**18


def test_impossible_plans_are_errors() -> None:
    for margin in (0, -0.1, math.inf, math.nan, []):
        with pytest.raises(ConfigurationError, match="a margin is a finite number above 0"):
            plan(at(1, 2), "RR", margin)
    with pytest.raises(ConfigurationError, match="the level is above 0"):
        plan(at(1, 2), "RR", 0.1, alpha=0.6)
    with pytest.raises(MetricError, match="RR: the values of the 40 queries do not vary"):
        plan(at(1), "RR", 0.1)


# --- how well the number of queries is known -----------------------------------------------------


def test_the_interval_of_a_deviation_leaves_out_each_value_in_turn() -> None:
    """Miller's jackknife, with numpy's variance of the others and scipy's quantile of t."""
    from scipy import stats

    values = np.array([-0.5, 0.0, 0.0, 0.1, 0.2, -0.3, 0.0])
    count = len(values)
    whole = math.log(np.var(values, ddof=1))
    others = [math.log(np.var(np.delete(values, place), ddof=1)) for place in range(count)]
    pseudo = [count * whole - (count - 1) * other for other in others]
    half = stats.t.ppf(0.9, count - 1) * np.std(pseudo, ddof=1) / math.sqrt(count)
    expected = [math.exp((np.mean(pseudo) + side * half) / 2) for side in (-1, 1)]
    assert deviation_interval(values) == pytest.approx(expected)


def test_one_changed_query_says_nothing_of_the_interval() -> None:
    for gains in ([-0.5] + [0.0] * 30, [0.1] * 9, [0.1, 0.2], []):
        low, high = deviation_interval(np.array(gains))
        assert math.isnan(low)
        assert math.isnan(high)


def test_a_plan_has_the_interval_of_each_number() -> None:
    before = at(1, 2)
    table = plan(at(2, 2), "RR", [0.01, 0.05], before)
    low, high = deviation_interval(np.array([-0.5, 0] * 20))
    assert table.attrs["level"] == 0.8
    assert table.attrs["lowest"][0.05][0.8] == queries_needed(0.05, low, 0.8)
    assert table.attrs["highest"][0.01][0.95] == queries_needed(0.01, high, 0.95)
    alone = at(*[1] * 39, 2)
    table = plan(alone, "RR", 0.01, at(1))
    assert (table.attrs["lowest"], table.attrs["highest"]) == ({}, {})


def compared(golden: GoldenSet, lost: int) -> tuple[Evaluation, Evaluation]:
    """Return the first queries with RR 1/2 now and 1 before; all others have 1."""
    places = dict.fromkeys(golden.query_ids, ["x", "n"])
    first = dict.fromkeys(golden.query_ids[:lost], ["n", "x"])
    return evaluate(Run.from_dict(places | first), golden), evaluate(Run.from_dict(places), golden)


def test_a_plan_counts_clusters_as_independent_units() -> None:
    """400 queries in clusters of ten that change alike: ten times as many are needed.

    4 of 40 cluster means are -0.5: their variance is 0.25 x 0.1 x 0.9 x 40/39, and that of the
    mean is a 40th of it, as that of 400 queries with ten times the variance.
    """
    queries = {f"q{n:03}": {"x": 1} for n in range(400)}
    users = {query: {"user": f"u{query[1:3]}"} for query in queries}
    golden = GoldenSet.from_dict(queries, attributes=users)
    now, before = compared(golden.clustered("user"), 40)
    deviation = math.sqrt(10 * 0.25 * 0.1 * 0.9 * 40 / 39)
    clustered = plan(now, "RR", 0.02, before)
    assert clustered.attrs["deviation"] == pytest.approx(deviation)
    assert clustered.loc[0.02, 0.8] == queries_needed(0.02, deviation, 0.8)
    low, high = (clustered.attrs[end][0.02][0.8] for end in ("lowest", "highest"))
    assert low < clustered.loc[0.02, 0.8] < high
    alone = plan(now, "RR", 0.02)
    assert alone.attrs["deviation"] == pytest.approx(deviation)


def test_a_plan_counts_weights() -> None:
    """Of 40 queries the first has weight 40 and fell by 0.5; it has 40/79 of the weight.

    The mean gain is m = -20/79. By Taylor, a query adds 40 w (g - m) / 79 to it: the first
    40 x 40 x (-0.5 + 20/79) / 79 = -4.9992, and each of the others 40 x 20/79 / 79 = 0.1282.
    """
    heavy = {f"q{n:02}": {"asked": 40 if n == 0 else 1} for n in range(40)}
    golden = GoldenSet.from_dict({query: {"x": 1} for query in heavy}, attributes=heavy)
    now, before = compared(golden.weighted("asked"), 1)
    parts = np.array([40 * 40 * (20 / 79 - 0.5) / 79, *[40 * 20 / 79 / 79] * 39])
    deviation = plan(now, "RR", 0.02, before).attrs["deviation"]
    assert deviation == pytest.approx(parts.std(ddof=1))
