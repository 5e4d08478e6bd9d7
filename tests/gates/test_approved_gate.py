"""What a record needs of a gate: its text, whether another is looser, and what counts as better."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import Gate, Metric
from pytest_rankcheck.comparison.compared_values import ComparedValues, Unpaired
from pytest_rankcheck.gates.configured_gates import gate_of
from tests.gates.test_statistical_gates import paired

METRIC = Metric.parse("nDCG@10")
FIRST_RANK = Metric.parse("FirstRank")  # lower is better


# --- the text of a gate ---------------------------------------------------------------------------


def test_the_text_of_a_gate_is_complete() -> None:
    for gate, text in (
        (Gate.tolerance(), "tolerance(abs=0, rel=0)"),
        (Gate.tolerance(rel=0.1, noise=3), "tolerance(abs=0, rel=0.1, noise=3)"),
        (Gate.tolerance(abs=0.012345678), "tolerance(abs=0.012345678, rel=0)"),
        (
            Gate.noninferior(margin=0.02, max_query_drop=0.3, min_queries=10),
            "noninferior(margin=0.02, alpha=0.05, max_query_drop=0.3, min_queries=10)",
        ),
        (
            Gate.significant(lost_answers=5, max_gap=0.25),
            "significant(alpha=0.05, min_drop=0, lost_answers=5, max_gap=0.25)",
        ),
        (Gate.tolerance(max_query_drop=0), "tolerance(abs=0, rel=0, max_query_drop=0)"),
    ):
        assert gate.text == text
        assert gate_of(text) == gate


ALLOWANCES = st.floats(0, 100)
LEVELS = st.floats(1e-9, 0.49)
LIMITS = {
    "max_query_drop": st.none() | ALLOWANCES,
    "max_gap": st.none() | ALLOWANCES,
    "min_queries": st.integers(0, 1000),
}
LEVELLED = {"alpha": LEVELS, **LIMITS}
GATES = st.one_of(
    st.builds(Gate.tolerance, abs=ALLOWANCES, rel=ALLOWANCES, noise=ALLOWANCES, **LIMITS),
    st.builds(Gate.significant, min_drop=ALLOWANCES, **LEVELLED),
    st.builds(Gate.noninferior, margin=st.floats(1e-9, 100), **LEVELLED),
)


@given(GATES)
def test_the_configuration_reads_the_text_of_any_gate_back(gate: Gate) -> None:
    assert gate_of(gate.text) == gate
    assert gate.is_at_least_as_strict_as(gate)


# --- a gate that is at least as strict ------------------------------------------------------------


def test_a_gate_with_a_smaller_allowance_is_stricter() -> None:
    for stricter, looser in (
        (Gate.tolerance(), Gate.tolerance(abs=0.01)),
        (Gate.tolerance(abs=0.01, rel=0.01), Gate.tolerance(abs=0.01, rel=0.02)),
        (Gate.tolerance(), Gate.tolerance(noise=1)),
        (Gate.tolerance(max_query_drop=0.3), Gate.tolerance()),
        (Gate.tolerance(max_query_drop=0.3), Gate.tolerance(max_query_drop=0.4)),
        (Gate.tolerance(max_gap=0.1), Gate.tolerance()),
        (Gate.tolerance(min_queries=10), Gate.tolerance()),
        (Gate.significant(alpha=0.1), Gate.significant()),
        (Gate.significant(), Gate.significant(min_drop=0.01)),
        (Gate.noninferior(margin=0.01), Gate.noninferior(margin=0.02)),
    ):
        assert stricter.is_at_least_as_strict_as(looser)
        assert not looser.is_at_least_as_strict_as(stricter)


def test_a_gate_of_another_kind_is_not_known_to_be_stricter() -> None:
    for gate, other in (
        (Gate.tolerance(abs=0.01), Gate.significant()),
        (Gate.significant(), Gate.noninferior(margin=0.02)),
        (Gate.tolerance(abs=0.01), Gate.tolerance(rel=0.01)),
        (Gate.noninferior(margin=0.02, alpha=0.1), Gate.noninferior(margin=0.02)),
        (Gate.significant(min_queries=5), Gate.significant(min_queries=10)),  # a larger family
        (Gate.tolerance(max_query_drop=0.1), Gate.tolerance(max_gap=0.1)),
    ):
        assert not gate.is_at_least_as_strict_as(other)
        assert not other.is_at_least_as_strict_as(gate)


def ruling(gate: Gate, values: ComparedValues) -> str:
    return gate.rule.outcome(values, gate.rule.evidence(values)).ruling


@given(
    st.builds(Gate.tolerance, abs=st.floats(0, 0.2), rel=st.floats(0, 0.2)),
    st.builds(Gate.tolerance, abs=st.floats(0, 0.2), rel=st.floats(0, 0.2)),
    st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=8),
)
def test_a_stricter_tolerance_blocks_whatever_the_looser_one_blocks(
    gate: Gate, other: Gate, gains: list[float]
) -> None:
    values = paired(gains)
    if gate.is_at_least_as_strict_as(other) and ruling(other, values) == "regressed":
        assert ruling(gate, values) == "regressed"


# --- what counts as better ------------------------------------------------------------------------

TWO_LOGS = Unpaired(METRIC, ("a", "b"), np.array([0.4, 0.5] * 40), np.array([0.5, 0.6] * 40))
CLOSE_LOGS = Unpaired(METRIC, ("a", "b"), np.array([0.4, 0.5] * 4), np.array([0.41, 0.51] * 4))


def test_any_gain_is_better_under_a_tolerance_and_a_significant_one_under_others() -> None:
    for values, by_tolerance, by_significance in (
        (paired([0.1] * 8 + [0.0] * 40), True, True),  # mid-p = 1/512
        (paired([0.1] * 7 + [0.0] * 40), True, False),  # mid-p = 1/256
        (paired([0.1] * 20 + [-0.1] * 19), True, False),
        (paired([0.0] * 20), False, False),
        (paired([-0.1] * 20), False, False),
        (paired([0.000001] + [0.0] * 40), True, False),
        (paired([0.1] * 20, FIRST_RANK), False, False),
        (paired([-0.1] * 20, FIRST_RANK), True, True),
        (paired([]), False, False),
        (TWO_LOGS, True, True),
        (CLOSE_LOGS, True, False),
    ):
        assert Gate.tolerance(abs=0.1).rule.is_better(values) is by_tolerance
        assert Gate.significant().rule.is_better(values) is by_significance
        assert Gate.noninferior(margin=0.02).rule.is_better(values) is by_significance


def test_noise_alone_seldom_raises_a_baseline() -> None:
    """Of changes without an effect, a tolerance takes half for better, a test one in a hundred."""
    rng = np.random.default_rng(5)
    sets = [paired(list(rng.choice([0.0, 0.1, -0.1], size=50))) for _ in range(300)]
    assert sum(map(Gate.tolerance().rule.is_better, sets)) > 100
    assert sum(map(Gate.significant().rule.is_better, sets)) <= 9
