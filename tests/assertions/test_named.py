"""The named assertions: each holds its own metric, with the parameters that its name promises."""

import pytest

import pytest_rankcheck as rankcheck
from pytest_rankcheck import Gate, GoldenSet, Metric, Run, evaluate

GOLDEN = GoldenSet.from_dict({"q": {"a": 3, "b": 1, "c": 2, "d": 0}})
THEN = evaluate(Run.from_dict({"q": ["a", "c", "b", "d"]}), GOLDEN)
NOW = evaluate(Run.from_dict({"q": ["d", "b", "a", "c"]}), GOLDEN)

CASES = [
    ("ndcg", {"k": 3}, "nDCG@3"),
    ("ndcg", {}, "nDCG"),
    ("ndcg", {"k": 2, "gain": "exponential"}, "nDCG(gain=exponential)@2"),
    ("ndcg", {"k": 2, "gain": {1: 1, 2: 5, 3: 9}}, "nDCG(gain={1:1,2:5,3:9})@2"),
    ("mrr", {}, "RR"),
    ("mrr", {"k": 3, "rel_level": 2}, "RR(rel=2)@3"),
    ("map", {"k": 100}, "AP@100"),
    ("precision", {"k": 2, "rel_level": 3}, "P(rel=3)@2"),
    ("recall", {"k": 2}, "R@2"),
    ("hit_rate", {"k": 1}, "Success@1"),
    ("err", {"k": 20}, "ERR@20"),
]


@pytest.mark.parametrize(("name", "given", "metric"), CASES)
def test_a_floor_holds_its_metric(name: str, given: dict[str, object], metric: str) -> None:
    hold = getattr(rankcheck, f"assert_{name}_at_least")
    value = NOW.mean(metric)
    hold(NOW, value, **given)
    with pytest.raises(AssertionError) as failure:
        hold(NOW, value + 0.001, **given)
    assert str(failure.value).startswith(f"{metric} is ")


@pytest.mark.parametrize(("name", "given", "metric"), CASES)
def test_a_regression_gate_holds_its_metric(
    name: str, given: dict[str, object], metric: str
) -> None:
    hold = getattr(rankcheck, f"assert_{name}_not_regressed")
    fall = THEN.mean(metric) - NOW.mean(metric)
    assert fall > 0, "the case says nothing where nothing falls"
    if fall < 1:  # an allowance of the whole range is refused
        hold(NOW, THEN, abs=fall, **given)
    hold(THEN, NOW, **given)
    for allowance in ({"abs": fall - 0.001}, {"gate": Gate.tolerance(abs=fall - 0.001)}, {}):
        with pytest.raises(AssertionError) as failure:
            hold(NOW, THEN, **allowance, **given)
        assert str(failure.value).startswith(f"{metric} regressed on golden set")


def test_the_larger_of_abs_and_rel_is_allowed() -> None:
    # RR falls from 1 to 1/2.
    for allowed in ({"abs": 0.5}, {"rel": 0.5}, {"abs": 0.1, "rel": 0.6}, {"abs": 0.6, "rel": 0.1}):
        rankcheck.assert_mrr_not_regressed(NOW, THEN, **allowed)
    for refused in ({"abs": 0.49}, {"rel": 0.49}, {"abs": 0.4, "rel": 0.3}):
        with pytest.raises(AssertionError):
            rankcheck.assert_mrr_not_regressed(NOW, THEN, **refused)


def test_an_invalid_allowance_is_refused() -> None:
    for given, says in (
        ({"abs": -0.1}, "abs=-0.1 is invalid"),
        ({"rel": float("nan")}, "rel=nan is invalid"),
        ({"abs": 0.1, "gate": Gate.tolerance()}, "give a gate, or abs and rel, not both"),
    ):
        with pytest.raises(rankcheck.ConfigurationError, match=says):
            rankcheck.assert_mrr_not_regressed(NOW, THEN, **given)  # type: ignore[arg-type]


def test_measurements_without_a_query_in_common_are_not_compared() -> None:
    other = evaluate(Run.from_dict({"x": ["a"]}), GoldenSet.from_dict({"x": {"a": 1}}))
    with pytest.raises(rankcheck.ConfigurationError, match="no unchanged query in common"):
        rankcheck.assert_mrr_not_regressed(NOW, other)


@pytest.mark.oracle
def test_metrics_are_names_objects_or_those_of_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    metrics = ("nDCG@2", Metric.parse("nDCG@2"), ir_measures.nDCG @ 2)
    values = {round(NOW.mean(metric), 12) for metric in metrics}
    assert len(values) == 1
    for metric in metrics:
        rankcheck.assert_not_regressed(THEN, NOW, metric)
