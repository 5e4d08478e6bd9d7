"""Gates that know the noise: their verdicts, and how often they are wrong."""

import math

import numpy as np
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Gate,
    GoldenSet,
    Metric,
    Outcome,
    Run,
    compare,
    evaluate,
)
from pytest_rankcheck.comparison.compared_values import Paired, Unpaired
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.gates.family_decisions import FamilySet, decide_sets

METRIC = Metric.parse("nDCG@10")


def paired(gains: np.ndarray | list[float], metric: Metric = METRIC) -> Paired:
    after = np.asarray(gains, dtype=float) + 0.5
    ids = tuple(f"q{place}" for place in range(len(after)))
    return Paired(metric, ids, np.full(len(after), 0.5), after)


def outcome(gate: Gate, gains: np.ndarray | list[float], metric: Metric = METRIC) -> Outcome:
    (decision,), _ = decide_sets([FamilySet(gate.rule, paired(gains, metric))])
    return decision.outcome


# --- significant ---------------------------------------------------------------------------------


def test_a_fall_blocks_when_it_is_more_than_chance() -> None:
    for gains, expected in (
        ([-0.1] * 4 + [0.0] * 40, Outcome.LOWER),  # p = 1/16
        ([-0.1] * 5 + [0.0] * 40, Outcome.REGRESSED),  # mid-p = 1/64
        ([-0.1] * 5 + [0.1] + [0.0] * 40, Outcome.LOWER),  # 1 + 6/2 of 64 sums
        ([-0.1, -0.11, -0.12, -0.13, -0.14], Outcome.REGRESSED),  # p = 1/32
        ([-0.9, -0.11, -0.12, -0.13, -0.14], Outcome.LOWER),  # a gain of 0.225 may be unseen
        ([0.1] * 5, Outcome.BETTER),
        ([0.0] * 5, Outcome.EQUAL),
        ([-0.5], Outcome.LOWER),
        ([math.nan] * 3 + [-0.1] * 5, Outcome.REGRESSED),
    ):
        assert outcome(Gate.significant(), gains) is expected


def test_one_session_against_others_decides_nothing_and_says_so() -> None:
    """One value does not show how much values vary, so that no fall is significant."""
    for now, before in ((1, 1), (1, 500), (500, 1)):
        values = Unpaired(METRIC, tuple(map(str, range(now))), np.ones(before), np.zeros(now))
        for gate, expected in (
            (Gate.significant(), Outcome.LOWER),
            (Gate.noninferior(margin=0.02), Outcome.INCONCLUSIVE),
        ):
            (decision,), _ = decide_sets([FamilySet(gate.rule, values)])
            assert decision.outcome is expected
            assert "the smallest possible p is 1, above alpha 0.05" in decision.futility


def test_one_query_with_most_of_the_weight_decides_nothing_and_says_so() -> None:
    weights = np.array([1000.0, *[1.0] * 29])
    values = Paired(METRIC, tuple(map(str, range(30))), np.ones(30), np.zeros(30), weights=weights)
    (decision,), _ = decide_sets([FamilySet(Gate.significant().rule, values)])
    assert decision.outcome is Outcome.LOWER
    text = "with 30 changed, unequally weighted queries the smallest possible p is 0.25"
    assert decision.futility.startswith(text)


def test_a_fall_inside_min_drop_never_blocks() -> None:
    gains = [-0.01] * 50
    assert outcome(Gate.significant(min_drop=0.01), gains) is Outcome.LOWER
    assert outcome(Gate.significant(min_drop=0.009), gains) is Outcome.REGRESSED
    assert outcome(Gate.significant(alpha=1e-6), gains) is Outcome.LOWER


def test_a_rise_is_a_fall_if_lower_is_better() -> None:
    worse = [0.1] * 10
    assert outcome(Gate.significant(), worse, Metric.parse("FirstRank")) is Outcome.REGRESSED
    assert outcome(Gate.significant(), worse) is Outcome.BETTER


# --- noninferior: three verdicts -----------------------------------------------------------------


def test_three_verdicts_by_hand() -> None:
    """200 queries of +-0.1 and an unseen fall of 0.1 + 0.9 x 10/200 = 0.145.

    Of 201 values s = 0.1005, so s/sqrt(n) = 0.0071 and t(200) of 95% is 1.6525: with the mean of
    -0.145/201 = -0.0007 the lower bound is -0.0124.
    """
    spread = np.tile([0.1, -0.1], 100)
    gate = Gate.noninferior(margin=0.02)
    assert outcome(gate, spread) is Outcome.EQUAL
    assert outcome(gate, spread - 0.007) is Outcome.LOWER  # about -0.0195: ruled out
    assert outcome(gate, spread - 0.0085) is Outcome.INCONCLUSIVE  # -0.021, and p of the fall 0.1
    assert outcome(gate, spread - 0.03) is Outcome.REGRESSED
    assert outcome(gate, spread + 0.03) is Outcome.BETTER
    assert outcome(Gate.noninferior(margin=0.05), spread - 0.03) is Outcome.LOWER


def test_few_and_constant_differences_have_a_verdict() -> None:
    for gains, expected in (
        ([0.0], Outcome.INCONCLUSIVE),
        ([0.0] * 50, Outcome.INCONCLUSIVE),  # one lost query of 51 would be a fall of 0.02
        ([0.0] * 200, Outcome.EQUAL),
        ([-0.3], Outcome.INCONCLUSIVE),
        ([-0.3, 0.3], Outcome.INCONCLUSIVE),
        ([-0.01] * 8, Outcome.REGRESSED),  # no variance is no certainty
        ([-0.005] * 200, Outcome.LOWER),
        ([0.05] * 2, Outcome.INCONCLUSIVE),
    ):
        assert outcome(Gate.noninferior(margin=0.02), gains) is expected, gains


# --- families ------------------------------------------------------------------------------------


def together(*gains: list[float]) -> list[tuple[Outcome, float]]:
    """Return the outcome and p of each set of a family; the first is of all queries."""
    rule = Gate.significant().rule
    sets = [
        FamilySet(rule, paired(values), attribute="locale" if place else None, value=str(place))
        for place, values in enumerate(gains)
    ]
    return [(decision.outcome, decision.p) for decision in decide_sets(sets)[0]]


def test_slices_share_one_level() -> None:
    """Ten equal falls alone have mid-p 1/2048; of ten changed slices Holm makes it 10/2048."""
    fell, mixed = [-0.1] * 10 + [0.0] * 30, [0.1, -0.1] * 20
    assert together(fell)[0] == (Outcome.REGRESSED, 1 / 2048)
    assert together(fell, *[mixed] * 9)[0] == (Outcome.REGRESSED, 10 / 2048)
    fewer = [-0.1] * 6 + [0.0] * 30  # mid-p 1/128, and 10/128 is above 5%
    assert together(fewer)[0] == (Outcome.REGRESSED, 1 / 128)
    assert together(fewer, *[mixed] * 9)[0][0] is Outcome.LOWER


def test_slices_that_could_not_be_significant_take_nothing_from_the_level() -> None:
    """Slices without enough changed queries are no part of the family."""
    fell, unchanged, few = [-0.1] * 5 + [0.0] * 30, [0.0] * 35, [0.1] * 4 + [0.0] * 30
    assert together(fell, *[unchanged] * 9)[0] == (Outcome.REGRESSED, 1 / 64)
    assert together(fell, *[few] * 9)[0] == (Outcome.REGRESSED, 1 / 64)


def test_of_two_sets_with_the_same_few_changes_all_queries_are_decided() -> None:
    """Both have p = 1/32, and 2/32 is above 5%: one of them can be decided, the slice not."""
    fell = [-0.1, -0.11, -0.12, -0.13, -0.14] + [0.0] * 30
    assert together(fell, fell) == [(Outcome.REGRESSED, 1 / 32), (Outcome.LOWER, 2 / 32)]


def test_a_slice_that_fell_in_too_few_queries_has_passed() -> None:
    overall, few = [-0.1] * 10 + [0.1] * 10, [-0.1] * 4 + [0.0] * 30
    outcomes = [outcome for outcome, _ in together(overall, few, [0.1] * 4, [0.0] * 6)]
    assert outcomes == [Outcome.EQUAL, Outcome.LOWER, Outcome.BETTER, Outcome.EQUAL]


def test_the_smallest_p_of_a_family_is_a_probability() -> None:
    rule, fell = Gate.significant().rule, paired([-0.1] + [0.0] * 9)
    slices = [FamilySet(rule, fell, attribute="locale", value=name) for name in "abc"]
    overall = [FamilySet(rule, paired([-0.1] * 10))] * 2
    decisions, _ = decide_sets([*overall, *slices])
    assert "p is 0.5, or 1 for 3 decisions, above alpha" in decisions[-1].futility


@pytest.mark.parametrize("size", [31, 60, 110, 200])
def test_identical_queries_rule_out_as_much_in_a_slice_as_in_a_golden_set(size: int) -> None:
    """What was not sampled is allowed for: one lost query of 31 would be a fall of 0.03."""
    gate, same = Gate.noninferior(margin=0.03), paired([0.0] * size)
    many = FamilySet(gate.rule, paired([0.0] * 2000))  # takes nothing from the level: its p is 0
    of_slice = FamilySet(gate.rule, same, attribute="locale", value="de")
    (_, decision), _ = decide_sets([many, of_slice])
    assert decision.outcome is outcome(gate, same.gains)
    assert (decision.outcome is Outcome.INCONCLUSIVE) is (size < 100)


def evaluations(ranks: dict[int, int], count: int = 80) -> tuple[object, object]:
    golden = GoldenSet.from_dict(
        {f"q{n}": {f"d{n}": 1} for n in range(count)},
        attributes={f"q{n}": {"locale": "de" if n % 2 else "en"} for n in range(count)},
    )
    before = {f"q{n}": [f"d{n}", *"abcdefgh"] for n in range(count)}
    after = {query_id: list(ranking) for query_id, ranking in before.items()}
    for number, rank in ranks.items():
        ranking = list("abcdefgh")
        ranking.insert(rank - 1, f"d{number}")
        after[f"q{number}"] = ranking
    return evaluate(Run.from_dict(after), golden), evaluate(Run.from_dict(before), golden)


def test_a_verdict_on_slices_is_regressed_then_inconclusive_then_lower() -> None:
    now, then = evaluations(dict.fromkeys(range(1, 40, 2), 5))
    comparison = compare(now, then)  # type: ignore[arg-type]
    verdict = Gate.significant().decide(comparison, "RR", by="locale")
    by_label = {decision.label: decision for decision in verdict.slices}
    assert by_label["locale=de"].outcome is Outcome.REGRESSED
    assert by_label["locale=en"].outcome is Outcome.EQUAL
    assert verdict.regressed
    assert verdict.gate == "significant(alpha=0.05, min_drop=0)"
    now, then = evaluations({1: 2, 3: 2})
    comparison = compare(now, then)  # type: ignore[arg-type]
    verdict = Gate.noninferior(margin=0.02).decide(comparison, "RR", by="locale")
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.inconclusive
    assert not verdict.regressed
    small = Gate.noninferior(margin=0.02, min_queries=41).decide(comparison, "RR", by="locale")
    assert {decision.outcome for decision in small.slices} == {Outcome.NOT_GATED}


def test_a_geometric_mean_is_refused() -> None:
    now, then = evaluations({1: 2})
    with pytest.raises(ConfigurationError, match="GMAP is a geometric mean, but significant"):
        Gate.significant().decide(compare(now, then), "GMAP")  # type: ignore[arg-type]


# --- how often they are wrong ----------------------------------------------------------------------


def simulated(
    rng: np.random.Generator, count: int, changed: float, fall: float, skewed: bool
) -> np.ndarray:
    """Return differences of queries of which a share changed; their mean is ``-fall`` in truth."""
    sizes = rng.exponential(0.2, count) - 0.2 if skewed else rng.normal(0, 0.2, count)
    return np.round(np.where(rng.random(count) < changed, sizes, 0) - fall, 6)


def test_changes_without_effect_are_blocked_at_most_as_often_as_stated() -> None:
    """300 draws at alpha 5%: 15 expected; more than 29 have a chance below 1 in 2,000.

    A change that does nothing has differences that are as often up as down by any amount. Skewed
    ones (many small falls, a few large gains, and a mean of zero) are no such thing: of few
    queries more are blocked, which the manual says.
    """
    for count, skewed, most in ((25, False, 29), (100, False, 29), (25, True, 45), (100, True, 29)):
        rng = np.random.default_rng(count + skewed)
        draws = (simulated(rng, count, 0.3, 0.0, skewed) for _ in range(300))
        blocked = sum(outcome(Gate.significant(), gains) is Outcome.REGRESSED for gains in draws)
        assert 3 <= blocked <= most, (count, skewed)


def test_a_fall_of_the_margin_is_passed_no_more_often_than_stated() -> None:
    rng = np.random.default_rng(2)
    gate = Gate.noninferior(margin=0.05)
    passed = sum(
        outcome(gate, simulated(rng, 100, 0.5, 0.05, False))
        not in (Outcome.REGRESSED, Outcome.INCONCLUSIVE)
        for _ in range(300)
    )
    assert 3 <= passed <= 29


def test_the_smallest_detectable_fall_is_detected_with_80_percent_power() -> None:
    rng = np.random.default_rng(3)
    fall = simulated(rng, 100_000, 0.5, 0.0, False).std(ddof=1) * (1.6449 + 0.8416) / 10
    gate = Gate.significant()
    detected = sum(
        outcome(gate, simulated(rng, 100, 0.5, fall, False)) is Outcome.REGRESSED
        for _ in range(300)
    )
    assert 0.72 <= detected / 300 <= 0.88


def test_ten_slices_have_one_error_together() -> None:
    rng = np.random.default_rng(4)
    gate = Gate.significant()
    wrong = 0
    for _ in range(200):
        sets = [paired(simulated(rng, 40, 0.5, 0.0, False)) for _ in range(10)]
        decisions, _ = decide_sets([FamilySet(gate.rule, values) for values in sets])
        wrong += any(decision.outcome is Outcome.REGRESSED for decision in decisions)
    assert wrong <= 22  # 10 expected at 5%; each slice for itself would give 80


# --- what is possible ----------------------------------------------------------------------------


def test_an_invalid_gate_is_refused() -> None:
    for make, message in (
        (lambda: Gate.significant(alpha=0), "alpha=0 is invalid; it must be a number between 0"),
        (lambda: Gate.significant(alpha=0.5), "alpha=0.5 is invalid"),
        (lambda: Gate.significant(alpha=True), "alpha must be a number, not True"),
        (lambda: Gate.significant(min_drop=-1), "min_drop=-1 is invalid"),
        (lambda: Gate.noninferior(margin=0), "margin=0 is invalid: no number of queries"),
        (lambda: Gate.noninferior(margin=math.nan), "margin=nan is invalid"),
        (lambda: gate_of("noninferior"), "the gate noninferior needs the fall that would matter"),
        (lambda: gate_of("noninferor(margin=1)"), "is not a gate; did you mean 'noninferior'"),
        (lambda: gate_of("significant(min_dorp=1)"), "no parameter 'min_dorp'; did you mean 'min_dr"),
        (lambda: gate_of("tolerance(0.1)"), "is not a gate; write name"),
        (lambda: gate_of("import os"), "is not a gate; write name"),
        (lambda: gate_of("tolerance@5"), "is not a gate"),
    ):  # fmt: skip
        with pytest.raises(ConfigurationError, match=message):
            make()  # type: ignore[operator]


def test_a_margin_that_is_ruled_out_is_a_decision() -> None:
    """One lost query of 300 can never be significant, but it does not hide a fall of 0.02."""
    gains = [-1.0] + [0.0] * 299
    for gate, decides in ((Gate.noninferior(margin=0.02), True), (Gate.significant(), False)):
        values = paired(np.array(gains) / 2)
        (decision,), _ = decide_sets([FamilySet(gate.rule, values)])
        assert decision.outcome is Outcome.LOWER
        assert (decision.futility == "") is decides
