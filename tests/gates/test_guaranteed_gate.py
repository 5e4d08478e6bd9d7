"""Gates with ``test="guaranteed"``: what they decide, on which range, and in which order."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from pytest_rankcheck import ConfigurationError, Gate, GoldenSet, Metric, Run, compare, evaluate
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.comparison.ordered_bets import bet_order
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.comparison.unpaired_values import Unpaired
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets
from pytest_rankcheck.gates.verdict import TooFewChanges
from pytest_rankcheck.statistics.betting import BetsOnMean

NDCG, FIRST_RANK, COUNT = map(Metric.parse, ("nDCG@10", "FirstRank", "NumRelRet"))
NONINFERIOR = Gate.noninferior(margin=0.1, test="guaranteed")
SIGNIFICANT = Gate.significant(test="guaranteed")


def ids(count: int) -> tuple[str, ...]:
    return tuple(f"q{n}" for n in range(count))


def paired(
    gains: list[float] | FloatArray, metric: Metric = NDCG, before: float = 0.5, **more: object
) -> Paired:
    after = before + np.asarray(gains, dtype=float)
    return Paired(metric, ids(len(after)), np.full(len(after), before), after, **more)  # type: ignore[arg-type]


# --- verdicts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gains", "noninferior", "significant"),
    [
        ([0.0] * 20, "inconclusive", "passed"),  # the bound is -0.145
        ([0.0] * 40, "passed", "passed"),  # the bound is -0.075
        ([0.3], "inconclusive", "passed"),
        ([0.3, 0.3], "inconclusive", "passed"),
        ([-0.3] * 2, "inconclusive", "passed"),
        ([-0.3] * 30, "regressed", "regressed"),
        ([-0.01] * 100, "passed", "passed"),
        ([-0.05] * 400, "passed", "regressed"),  # certain, but less than the margin
        ([], "inconclusive", "passed"),
    ],
)
def test_verdicts(gains: list[float], noninferior: str, significant: str) -> None:
    values = paired(gains)
    assert NONINFERIOR.ruling(values) == noninferior
    assert SIGNIFICANT.ruling(values) == significant


def test_queries_that_did_not_change_do_not_pass_a_small_margin() -> None:
    """Of 30 unchanged queries, a fall of 0.095 could be unseen with a probability of 5%."""
    unchanged = paired([0.0] * 30)
    assert Gate.noninferior(margin=0.09, test="guaranteed").ruling(unchanged) == "inconclusive"
    assert unchanged.lower_bound(0.05, "guaranteed") == pytest.approx(-0.0995, abs=1e-4)


def test_where_lower_is_better_a_rise_is_the_fall() -> None:
    gate = Gate.noninferior(margin=1, test="guaranteed", range=(1, 11))
    assert gate.ruling(paired([5.0] * 40, FIRST_RANK, before=1)) == "regressed"
    assert gate.ruling(paired([-0.1] * 90, FIRST_RANK, before=5)) == "passed"


def test_a_gain_raises_the_baseline_if_it_is_certain() -> None:
    """p of 0.3 a query is 1 / (1 + 1.9 x 0.15)^n; 0.2% takes 25 queries."""
    assert not SIGNIFICANT.is_better(paired([0.3] * 24))
    assert SIGNIFICANT.is_better(paired([0.3] * 25))
    assert not SIGNIFICANT.is_better(paired([-0.3] * 40))
    counted = Gate.significant(test="guaranteed", range=(0, 10))
    assert counted.is_better(paired([3.0] * 25, COUNT))
    assert not counted.is_better(paired([3.0] * 24, COUNT))


def test_unequal_weights_need_more_queries() -> None:
    """One query with half of the weight could hide a fall of everything."""
    gains = np.full(100, -0.05)
    weights = np.ones(100)
    weights[0] = 99.0
    alike = paired(gains).lower_bound(0.05, "guaranteed")
    assert alike > -0.1
    assert paired(gains, weights=weights).lower_bound(0.05, "guaranteed") < -0.5


def test_a_weighted_query_counts_as_often_as_its_weight() -> None:
    """Gains 0.2 and -0.4 of weights 3 and 1: the sums are 0.6 and -0.4, the mean 0.05."""
    values = paired([0.2, -0.4], weights=np.array([3.0, 1.0]))
    units = dict(zip(values._bets.weights.tolist(), values._bets.sums.tolist(), strict=True))
    assert units == pytest.approx({3.0: 0.6, 1.0: -0.4})
    assert values.gain == pytest.approx(sum(units.values()) / sum(units))


def test_queries_of_a_cluster_are_one_unit() -> None:
    """40 clusters of three equal queries say as much as 40 queries."""
    gains = np.tile([-0.2, -0.1], 20)
    names = tuple(f"q{n}" for n in range(40))
    alone = Paired(NDCG, names, np.full(40, 0.5), 0.5 + gains)
    order = bet_order(names)
    tripled = Paired(
        NDCG,
        tuple(f"{name}-{copy}" for name in names for copy in range(3)),
        np.full(120, 0.5),
        0.5 + np.repeat(gains, 3),
        clusters=np.repeat(np.arange(40), 3),
    )
    assert len(tripled._bets.sums) == len(order) == 40
    assert sorted(tripled._bets.sums / 3) == pytest.approx(sorted(alone._bets.sums))
    assert tripled.p_of_fall("guaranteed") == pytest.approx(alone.p_of_fall("guaranteed"), rel=0.5)
    assert tripled.p_of_fall("guaranteed") > 100 * paired(np.repeat(gains, 3)).p_of_fall(
        "guaranteed"
    )


def test_slices_are_corrected_together() -> None:
    """p of 14 falls of 0.3 is 1 / 1.285^14 = 0.03; of two such slices, twice that."""
    sets = [FamilySet(SIGNIFICANT.rule, paired([-0.3] * 14), "slice", str(n)) for n in range(2)]
    alone, _ = decide_sets(sets[:1])
    both, tested = decide_sets(sets)
    assert alone[0].p == pytest.approx(1.285**-14)
    assert [each.p for each in both] == pytest.approx([2 * 1.285**-14] * 2)
    assert tested == 2
    assert alone[0].outcome.ruling == "regressed"
    assert {each.outcome.ruling for each in both} == {"passed"}


def test_too_few_queries_decide_nothing_whether_or_not_they_changed() -> None:
    """Four queries that lose everything have p = 1.95^-4 = 0.069; five have 0.035."""
    for gains in ([-0.5, 0, 0, 0], [0.0] * 4):
        (decision,), _ = decide_sets([FamilySet(SIGNIFICANT.rule, paired(gains))])
        assert decision.futility == TooFewChanges(4, True, pytest.approx(1.95**-4), 1, 0.05)
    (decision,), _ = decide_sets([FamilySet(SIGNIFICANT.rule, paired([-0.5, 0, 0, 0, 0]))])
    assert decision.futility is None
    assert SIGNIFICANT.smallest_slice == 5
    # One changed query of many cannot be shown by sign flips, but a bet counts them all.
    assert paired([-0.5] + [0.0] * 30).smallest_p("guaranteed") == pytest.approx(1.95**-31)


def test_two_samples() -> None:
    """Two logs with different sessions: certain falls regress, and close ones pass."""
    random = np.random.default_rng(2)

    def logs(now: float, before: float, count: int = 1000) -> Unpaired:
        return Unpaired(
            NDCG,
            tuple(f"n{n}" for n in range(count)),
            np.round(random.beta(4 * before, 4 - 4 * before, count), 6),
            np.round(random.beta(4 * now, 4 - 4 * now, count), 6),
            before_ids=tuple(f"b{n}" for n in range(count)),
        )

    assert NONINFERIOR.ruling(logs(0.3, 0.6)) == "regressed"
    assert NONINFERIOR.ruling(logs(0.5, 0.5)) == "passed"
    assert NONINFERIOR.ruling(logs(0.5, 0.5, 30)) == "inconclusive"
    assert SIGNIFICANT.is_better(logs(0.6, 0.3))
    larger, smaller = logs(0.6, 0.3), logs(0.6, 0.3, 400)
    unequal = replace(larger, before=smaller.before, before_ids=smaller.before_ids)
    assert SIGNIFICANT.is_better(unequal)
    assert unequal.p_of_rise("guaranteed") > larger.p_of_rise("guaranteed")
    assert not SIGNIFICANT.is_better(logs(0.3, 0.6))
    uneven = Unpaired(NDCG, ("n",) * 0, np.array([0.5]), np.zeros(0), before_ids=("b",))
    assert uneven.p_of_fall("guaranteed") == uneven.p_of_rise("guaranteed") == 1


# --- the order --------------------------------------------------------------------------------


def test_the_order_is_that_of_the_hashed_ids() -> None:
    names = ("heat", "flow", "wing", "shock", "q1", "ä")
    hashes = [hashlib.sha256(name.encode()).hexdigest() for name in names]
    assert [names[place] for place in bet_order(names)] == [
        name for _, name in sorted(zip(hashes, names, strict=True))
    ]


@pytest.mark.parametrize("with_units", [False, True])
def test_the_order_of_the_file_changes_no_bit(with_units: bool) -> None:
    random = np.random.default_rng(3)
    count = 60
    gains = np.round(random.normal(-0.05, 0.2, count), 6).clip(-0.5, 0.5)
    units = {
        "weights": random.integers(1, 5, count).astype(float),
        "clusters": random.integers(0, 25, count),
    }
    values = paired(gains, **(units if with_units else {}))
    shuffled = values.at(list(random.permutation(count)))
    for each in (values, shuffled):
        assert each.p_of_fall("guaranteed") == values.p_of_fall("guaranteed")
        assert each.p_of_margin(0.02, "guaranteed") == values.p_of_margin(0.02, "guaranteed")
        assert each.lower_bound(0.05, "guaranteed") == values.lower_bound(0.05, "guaranteed")


def test_other_values_have_the_same_order() -> None:
    gains = np.linspace(-0.5, 0.5, 40)
    order = bet_order(ids(40))
    for values in (gains, gains[::-1], -gains):
        assert paired(values)._bets.sums.tolist() == pytest.approx(values[order].tolist())


def test_a_cluster_has_the_turn_of_its_first_query() -> None:
    names = ids(6)
    first, second, *_ = (names[place] for place in bet_order(names))
    clusters = np.array([9 if name == second else 3 for name in names])
    gains = np.array([0.25 if name == second else 0.0 for name in names])
    values = Paired(NDCG, names, np.full(6, 0.5), 0.5 + gains, clusters=clusters)
    assert values._bets.sums.tolist() == [0.0, 0.25]
    alone = np.array([9 if name == first else 3 for name in names])
    values = Paired(NDCG, names, np.full(6, 0.5), 0.5 + gains, clusters=alone)
    assert values._bets.weights.tolist() == [1.0, 5.0]


# --- the range --------------------------------------------------------------------------------


def test_a_metric_without_a_finite_range_needs_a_declared_one() -> None:
    for gate in (NONINFERIOR, SIGNIFICANT):
        with pytest.raises(
            ConfigurationError,
            match=r"^test=guaranteed needs a metric with a finite range, but NumRelRet ranges from "
            r"0 to inf; declare the lowest and the highest possible value, such as range=\(0, 100\)",
        ):
            gate.refuse_misfit(COUNT)
    declared = Gate.noninferior(margin=1, test="guaranteed", range=(0, 10))
    declared.refuse_misfit(COUNT)
    assert declared.ruling(paired([0.0] * 40, COUNT)) == "passed"
    assert declared.ruling(paired([0.0] * 20, COUNT)) == "inconclusive"


def test_a_margin_as_wide_as_the_declared_range_is_refused() -> None:
    for gate in (
        Gate.noninferior(margin=10, test="guaranteed", range=(0, 10)),
        Gate.significant(min_drop=10, test="guaranteed", range=(0, 10)),
    ):
        with pytest.raises(
            ConfigurationError, match=r"=10 is as wide as the range of NumRelRet, 0"
        ):
            gate.refuse_misfit(COUNT)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            paired([0.0, 0.0, 8.0], COUNT, before=3),
            (
                "NumRelRet: query 'q2' has the value 11 now, outside the range 0 to 10 that "
                "test=guaranteed relies on; declare a range that holds every possible value"
            ),
        ),
        (paired([1.0, 2.0], COUNT, before=-0.5), "query 'q0' has the value -0.5 before, outside"),
        (
            Unpaired(
                COUNT, ("s1", "s2"), np.array([1.0]), np.array([2.0, 12.0]), before_ids=("b",)
            ),
            "query 's2' has the value 12 now",
        ),
    ],
)
def test_a_value_outside_the_range_is_an_error(values: ComparedValues, message: str) -> None:
    gate = Gate.significant(test="guaranteed", range=(0, 10))
    with pytest.raises(ConfigurationError, match=message):
        gate.ruling(values)


def test_a_tighter_range_than_the_metrics_own_is_believed_if_the_values_are_in_it() -> None:
    tight = Gate.noninferior(margin=0.05, test="guaranteed", range=(0.4, 0.6))
    usual = Gate.noninferior(margin=0.05, test="guaranteed")
    values = paired([0.01] * 40)
    assert tight.ruling(values) == "passed"
    assert usual.ruling(values) == "inconclusive"
    with pytest.raises(ConfigurationError, match=r"has the value 0\.7 now"):
        tight.ruling(paired([0.2] * 40))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("significant(range=(0, 1))", r"range=\(0, 1\) is not used by test=sign_flip; only"),
        ("significant(test=t, range=(0, 1))", "is not used by test=t"),
        *(
            (f"significant(test=guaranteed, range={text})", r"is invalid; give the lowest and the")
            for text in ("(1, 0)", "(1, 1)", "5", "(0, 1, 2)", "(0, x)", "(0, true)", "(0, 1e999)")
        ),
    ],
)
def test_an_invalid_range_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        gate_of(text)


def test_p_of_a_comparison() -> None:
    """Two relevant documents of each query are found before, and one of them now."""
    golden = GoldenSet.from_dict({f"q{n}": {"a": 1, "b": 1} for n in range(50)})
    before = evaluate(Run.from_dict({f"q{n}": ["a", "b"] for n in range(50)}), golden)
    now = evaluate(Run.from_dict({f"q{n}": ["a", "x"] for n in range(50)}), golden)
    comparison = compare(now, before)
    width_1 = BetsOnMean(np.full(50, -0.5), np.ones(50), -1, 1).p_of_fall()
    assert comparison.p("R@2", "guaranteed") == width_1
    width_10 = BetsOnMean(np.full(50, -1.0), np.ones(50), -10, 10).p_of_fall()
    assert comparison.p("NumRelRet", "guaranteed", range=(0, 10)) == width_10
    with pytest.raises(ConfigurationError, match="needs a metric with a finite range"):
        comparison.p("NumRelRet", "guaranteed")
    with pytest.raises(ConfigurationError, match="is not used by test=t"):
        comparison.p("NumRelRet", "t", range=(0, 10))
