"""Gates: what a tolerance allows, overall, by slice and for single queries."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pytest_rankcheck import (
    Comparison,
    ConfigurationError,
    Gate,
    GateRule,
    GoldenSet,
    GoldenSetError,
    MetricError,
    Outcome,
    compare,
)
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.comparison.compared_values import ComparedValues
from pytest_rankcheck.evaluation.conventions import Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.measured_source import Source
from pytest_rankcheck.gates.decision_rules import ToleranceRule
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_registry import metric


class Fixed(Source):
    """A source whose values are given."""

    def __init__(self, golden: GoldenSet, values: Sequence[float]) -> None:
        super().__init__("fixed", None, golden, Conventions())
        self._fixed = np.array(values, dtype=np.float64)

    def values(self, metric: object) -> FloatArray:
        return self._fixed.copy()

    def ranking(self, query_id: str) -> Sequence[str]:
        return ()


def comparison(
    before: Sequence[float], after: Sequence[float], locales: Sequence[str] | None = None
) -> Comparison:
    ids = [f"q{index}" for index in range(len(before))]
    attributes = None
    if locales:
        attributes = {q: {"locale": locale} for q, locale in zip(ids, locales, strict=True)}
    golden = GoldenSet.from_dict({query: {"d": 1} for query in ids}, attributes=attributes)
    return compare(Evaluation(Fixed(golden, after)), Evaluation(Fixed(golden, before)))


def test_the_mean_may_fall_by_the_larger_of_abs_and_rel() -> None:
    for gate, before, after, outcome in (
        # nothing may drop
        (Gate.tolerance(), 0.5, 0.5, Outcome.EQUAL),
        # beyond 1e-6: values have six decimals
        (Gate.tolerance(), 0.5, 0.499999, Outcome.EQUAL),
        (Gate.tolerance(), 0.5, 0.499998, Outcome.REGRESSED),
        (Gate.tolerance(), 0.5, 0.500001, Outcome.EQUAL),
        (Gate.tolerance(), 0.5, 0.500002, Outcome.BETTER),
        # abs
        (Gate.tolerance(abs=0.01), 0.5, 0.495, Outcome.LOWER),
        (Gate.tolerance(abs=0.01), 0.5, 0.489999, Outcome.LOWER),
        (Gate.tolerance(abs=0.01), 0.5, 0.489998, Outcome.REGRESSED),
        # rel: 10% of 0.5 is 0.05
        (Gate.tolerance(rel=0.1), 0.5, 0.45, Outcome.LOWER),
        (Gate.tolerance(rel=0.1), 0.5, 0.449, Outcome.REGRESSED),
        # the larger of the two
        (Gate.tolerance(abs=0.01, rel=0.1), 0.5, 0.46, Outcome.LOWER),
        (Gate.tolerance(abs=0.1, rel=0.01), 0.5, 0.41, Outcome.LOWER),
        (Gate.tolerance(abs=0.1, rel=0.01), 0.5, 0.39, Outcome.REGRESSED),
        # a share of nothing is nothing
        (Gate.tolerance(rel=0.5), 0.0, 0.0, Outcome.EQUAL),
    ):
        verdict = gate.decide(comparison([before] * 3, [after] * 3), "RR")
        assert verdict.outcome is outcome
        assert verdict.regressed is (outcome is Outcome.REGRESSED)
        assert str(verdict.metric) == "RR"


def test_no_single_query_may_fall_by_more() -> None:
    gate = Gate.tolerance(abs=0.9, max_query_drop=0.3)
    verdict = gate.decide(comparison([1, 0.5, 0.9, 0.2], [0.7, 0.1, 0.0, 0.3]), "RR")
    assert verdict.outcome is Outcome.REGRESSED
    assert verdict.query_drops == ("q2", "q1"), "the largest fall first"
    # exactly as much is allowed
    assert not gate.decide(comparison([1.0], [0.7]), "RR").regressed
    assert Gate.tolerance(max_query_drop=0).decide(comparison([1, 0], [0.9, 1]), "RR").regressed
    assert not Gate.tolerance().decide(comparison([1, 0], [0.9, 1]), "RR").regressed


# --- slices --------------------------------------------------------------------------------------

SLICED = comparison(
    [0.5] * 60 + [0.9] * 5,
    [0.8] * 30 + [0.4] * 30 + [0.0] * 5,
    ["en"] * 30 + ["de"] * 30 + ["fr"] * 5,
)


def test_a_slice_that_collapsed_regresses_though_the_mean_rose() -> None:
    better = comparison([0.5] * 60, [0.8] * 30 + [0.4] * 30, ["en"] * 30 + ["de"] * 30)
    verdict = Gate.tolerance().decide(better, "RR", by="locale")
    assert verdict.overall.outcome is Outcome.BETTER
    assert {found.label: found.outcome for found in verdict.slices} == {
        "locale=de": Outcome.REGRESSED,
        "locale=en": Outcome.BETTER,
    }
    assert verdict.outcome is Outcome.REGRESSED
    assert [found.label for found in verdict.fell] == ["locale=de"]
    assert Gate.tolerance().decide(better, "RR").outcome is Outcome.BETTER


def test_every_slice_has_its_own_allowance() -> None:
    verdict = Gate.tolerance(rel=0.2).decide(SLICED, "RR", by=["locale"])
    allowed = {found.value: found.allowed for found in verdict.slices}
    assert allowed == pytest.approx({"de": 0.1, "en": 0.1, "fr": 0.18})


def test_a_small_slice_is_reported_and_not_gated() -> None:
    verdict = Gate.tolerance(abs=0.2).decide(SLICED, "RR", by="locale")
    outcomes = {found.value: found.outcome for found in verdict.slices}
    assert outcomes == {"en": Outcome.BETTER, "de": Outcome.LOWER, "fr": Outcome.NOT_GATED}
    assert verdict.outcome is Outcome.LOWER
    assert verdict.min_queries == 30
    smaller = Gate.tolerance(abs=0.2, min_queries=5).decide(SLICED, "RR", by="locale")
    assert {found.value: found.outcome for found in smaller.slices}["fr"] is Outcome.REGRESSED
    assert smaller.regressed
    larger = Gate.tolerance(abs=0.2, min_queries=31).decide(SLICED, "RR", by="locale")
    assert {found.outcome for found in larger.slices} == {Outcome.NOT_GATED}


def test_min_queries_is_about_slices_not_about_the_whole() -> None:
    assert Gate.tolerance(min_queries=1000).decide(comparison([1], [0]), "RR").regressed


def test_a_slice_of_an_unknown_attribute_is_refused() -> None:
    with pytest.raises(GoldenSetError, match=r"no attribute 'locales'; did you mean 'locale'\?"):
        Gate.tolerance().decide(SLICED, "RR", by="locales")
    with pytest.raises(MetricError, match="unknown metric"):
        Gate.tolerance().decide(SLICED, "nope")


def test_without_a_common_query_nothing_is_decided_to_have_regressed() -> None:
    golden = GoldenSet.from_dict({"a": {"d": 1}})
    other = GoldenSet.from_dict({"b": {"d": 1}})
    verdict = Gate.tolerance(rel=0.1, min_queries=0).decide(
        compare(Evaluation(Fixed(golden, [0.0])), Evaluation(Fixed(other, [1.0]))), "RR"
    )
    assert not verdict.regressed
    assert verdict.overall.pairs.query_ids == ()


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["abs", "rel", "max_query_drop"])
@pytest.mark.parametrize("bad", [-0.01, float("nan"), float("inf"), "0.1", True])
def test_an_allowance_is_a_number_from_zero_on(name: str, bad: Any) -> None:
    with pytest.raises(
        ConfigurationError, match=f"{name}=.* is invalid|{name} must be a number, not "
    ):
        Gate.tolerance(**{name: bad})


@pytest.mark.parametrize("bad", [-1, 1.5, "30", True])
def test_min_queries_is_a_whole_number(bad: Any) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"min_queries=.*; give a whole number from 0 on|min_queries must be a whole number",
    ):
        Gate.tolerance(min_queries=bad)


def test_a_gate_is_a_value() -> None:
    assert Gate.tolerance(abs=0.1) == Gate.tolerance(0.1)
    assert Gate.tolerance(abs=0.1) != Gate.tolerance(rel=0.1)
    with pytest.raises(TypeError):
        Gate()  # type: ignore[abstract]


# --- lower is better -----------------------------------------------------------------------------


@pytest.fixture
def lower(own_metrics: None) -> str:
    """A metric of which less is better."""

    @metric("TestLess", higher_is_better=False)
    def less(hits: JudgedHits, cutoff: int | None) -> FloatArray:
        """Less is better."""
        return hits.retrieved

    return "TestLess"


def test_a_rise_regresses_if_lower_is_better(lower: str) -> None:
    gate = Gate.tolerance(abs=0.1, max_query_drop=0.5)
    assert gate.decide(comparison([3, 3], [2, 2]), lower).outcome is Outcome.BETTER
    assert gate.decide(comparison([3, 3], [3.1, 3.1]), lower).outcome is Outcome.LOWER
    assert gate.decide(comparison([3, 3], [3.2, 3.2]), lower).outcome is Outcome.REGRESSED
    assert gate.decide(comparison([3, 3], [4, 1]), lower).query_drops == ("q0",)
    # rel is a share of the mean before, which is 3
    assert (
        Gate.tolerance(rel=0.1).decide(comparison([3, 3], [3.3, 3.3]), lower).outcome
        is Outcome.LOWER
    )


def test_numbers_of_numpy_are_numbers() -> None:
    gate = Gate.tolerance(abs=np.float32(0.5), min_queries=np.int64(3), max_query_drop=np.int32(1))
    assert isinstance(gate.rule, ToleranceRule)
    assert (gate.rule.abs, gate.min_queries, gate.max_query_drop) == (0.5, 3, 1)


class WorthOfQueries(GateRule):
    """A rule of a user: the fall that one query causes if it loses everything is allowed."""

    def __str__(self) -> str:
        return "one_query()"

    def allowed(self, values: ComparedValues) -> float:
        return 1 / values.size


def test_a_users_own_rule_decides_inside_a_gate() -> None:
    for after, outcome, limits in (
        ([1, 1, 0], Outcome.LOWER, {}),
        ([1, 0.5, 0], Outcome.REGRESSED, {}),
        ([1, 1, 0], Outcome.REGRESSED, {"max_query_drop": 0.5}),
        ([1, 1, 1], Outcome.EQUAL, {}),
    ):
        verdict = Gate(WorthOfQueries(), **limits).decide(comparison([1, 1, 1], after), "RR")
        assert verdict.outcome is outcome
        assert verdict.overall.allowed == pytest.approx(1 / 3)
        assert verdict.gate == ("one_query(max_query_drop=0.5)" if limits else "one_query()")
        assert math.isnan(verdict.overall.p)


def test_a_users_own_rule_decides_on_slices() -> None:
    both = comparison([1, 1, 1, 1], [0, 0, 1, 1], ["de", "de", "en", "en"])
    verdict = Gate(WorthOfQueries(), min_queries=1).decide(both, "RR", "locale")
    assert [(part.label, part.outcome, part.allowed) for part in verdict.slices] == [
        ("locale=de", Outcome.REGRESSED, 0.5),
        ("locale=en", Outcome.EQUAL, 0.5),
    ]
