"""Gates that can never fail are refused, before anything is compared."""

import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Gate,
    GoldenSet,
    Metric,
    Run,
    assert_not_regressed,
    assert_recall_not_regressed,
    compare,
    evaluate,
)
from pytest_rankcheck.gates.configured_gates import ConfiguredGates

GOLDEN = GoldenSet.from_dict({f"q{n}": {"a": 2, "b": 1} for n in range(20)})
GOOD = evaluate(Run.from_dict({f"q{n}": ["a", "b", "x", "y"] for n in range(20)}), GOLDEN)
BAD = evaluate(Run.from_dict({f"q{n}": ["x", "y", "a", "b"] for n in range(20)}), GOLDEN)


def test_a_relevant_grade_given_as_the_tolerance_rel_is_refused() -> None:
    """All recall is lost; with ``rel=2`` taken for a tolerance of 200%, the gate would pass."""
    with pytest.raises(ConfigurationError) as refused:
        assert_recall_not_regressed(BAD, GOOD, k=2, rel=2)
    text = str(refused.value)
    assert "rel=2 lets R@2 fall by 200% of its baseline, so the gate can never fail" in text
    assert "rel is the tolerance: the allowed fall as a share of the baseline's mean" in text
    assert "or rel_level= of a named assertion" in text
    with pytest.raises(AssertionError, match="regressed"):
        assert_recall_not_regressed(BAD, GOOD, k=2, rel_level=2)


def test_an_allowance_as_wide_as_the_range_of_the_metric_is_refused() -> None:
    for gate, metric, message in (
        (Gate.tolerance(abs=1), "RR", "abs=1 is as wide as the range of RR, 0 to 1: no mean"),
        (Gate.tolerance(abs=0.9999995), "RR", "abs=0.9999995 is as wide as"),
        (Gate.tolerance(abs=2), "TauAP", "abs=2 is as wide as the range of TauAP, -1 to 1"),
        (Gate.tolerance(rel=1), "RR", "rel=1 lets RR fall by 100% of its baseline"),
        (Gate.tolerance(max_query_drop=1), "RR", "max_query_drop=1 .* no query can fall by more"),
        (Gate.tolerance(max_gap=1), "RR", "max_gap=1 .* no two slices can differ by more"),
        (Gate.significant(min_drop=1), "RR", "min_drop=1 .* no mean can fall by more"),
        (Gate.noninferior(margin=1), "RR", "margin=1 .* Give a smaller margin"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            gate.refuse_misfit(Metric.parse(metric))
        with pytest.raises(ConfigurationError, match=message):
            gate.decide(compare(BAD, GOOD), metric)
        with pytest.raises(ConfigurationError, match=message):
            assert_not_regressed(BAD, GOOD, metric, gate=gate)


def test_an_allowance_that_can_be_exceeded_is_accepted() -> None:
    for gate, metric in (
        (Gate.tolerance(abs=0.99, rel=0.99, max_query_drop=0.99, max_gap=0.99), "RR"),
        (Gate.tolerance(abs=1), "TauAP"),
        (Gate.tolerance(abs=5, max_query_drop=10), "FirstRank"),  # no finite range
        (Gate.tolerance(rel=2), "FirstRank"),  # lower is better: it may become three times as large
        (Gate.significant(min_drop=0.5), "RR"),
        (Gate.noninferior(margin=0.5), "RR"),
    ):
        gate.refuse_misfit(Metric.parse(metric))


def test_a_configured_line_for_a_metric_is_checked_when_it_is_read() -> None:
    for line, message in (
        ("RR: tolerance(abs=1)", r"'RR: tolerance\(abs=1\)': abs=1 is as wide as the range of RR"),
        ("web R@2: tolerance(rel=2)", "rel=2 lets R@2 fall by 200%"),
        ("GMAP: significant", "GMAP is a geometric mean"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            ConfiguredGates.parse([line])
        ConfiguredGates.parse([line.rpartition(":")[2].strip()])  # some metric may fit
