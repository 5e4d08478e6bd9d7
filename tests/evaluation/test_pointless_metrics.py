"""Metrics that can say little or nothing on a golden set: computed, with a warning."""

import warnings

import pytest

from pytest_rankcheck import (
    GoldenSet,
    MetricError,
    MetricWarning,
    Run,
    assert_at_least,
    assert_map_at_least,
    assert_not_regressed,
    compare,
    evaluate,
)

RUN = Run.from_dict({"q": ["a", "b"]})


def test_a_relevance_level_above_every_grade() -> None:
    evaluation = evaluate(RUN, GoldenSet.from_dict({"q": {"a": 2}}, name="web"))
    with pytest.warns(
        MetricWarning,
        match=r"AP\(rel=3\)@10: nothing is relevant, because no grade of golden set 'web' reaches 3 "
        r"\(the highest is 2\); lower rel",
    ) as caught:
        assert evaluation.mean("AP(rel=3)@10") == 0
    assert caught[0].filename == __file__
    with warnings.catch_warnings():  # once an evaluation
        warnings.simplefilter("error")
        assert evaluation.mean("AP(rel=3)@10") == 0
        assert evaluation.mean("AP(rel=2)@10") == 1


def test_a_missing_ir_measures_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_rankcheck.metrics import ir_measures_bridge, metric_names

    monkeypatch.setattr(ir_measures_bridge, "find_spec", lambda name: None)
    metric_names._parse.cache_clear()
    ir_measures_bridge.ir_measures_definition.cache_clear()
    evaluation = evaluate(RUN, GoldenSet.from_dict({"q": {"a": 1}}))
    with pytest.raises(MetricError, match="not installed: pip install ir-measures"):
        evaluation.mean("ir_measures:Compat(p=0.8)")
    with pytest.raises(MetricError, match="unknown metric 'Compat'"):
        evaluation.mean("Compat(p=0.8)")
    with pytest.raises(MetricError, match=r"SDCG.*not installed: pip install ir-measures"):
        evaluation.mean("SDCG(max_rel=1)@10")  # not sDCG, the metric of sessions


@pytest.mark.oracle
def test_a_failure_of_ir_measures_is_a_metric_error() -> None:
    pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    evaluation = evaluate(RUN, GoldenSet.from_dict({"q": {"a": 0.5}}))
    with pytest.raises(MetricError, match="takes whole grades only; document 'a' of query 'q'"):
        evaluation.mean("ir_measures:Compat(p=0.8)")
    with pytest.raises(MetricError, match="does not know the measure 'NoSuch@3'"):
        evaluation.mean("ir_measures:NoSuch@3")


def test_a_warning_names_the_line_of_the_user() -> None:
    for ask in (
        lambda evaluation: evaluation.mean("AP(rel=3)"),
        lambda evaluation: evaluation.table(["AP(rel=3)"]),
        lambda evaluation: compare(evaluation, evaluation).values("AP(rel=3)").difference,
        lambda evaluation: assert_at_least(evaluation, "AP(rel=3)", 0.0),
        lambda evaluation: assert_map_at_least(evaluation, 0.0, rel_level=3),
        lambda evaluation: assert_not_regressed(evaluation, evaluation, "AP(rel=3)"),
    ):
        evaluation = evaluate(RUN, GoldenSet.from_dict({"q": {"a": 2}}))
        with pytest.warns(MetricWarning, match="nothing is relevant") as caught:
            ask(evaluation)
        line = ask.__code__.co_firstlineno
        assert (caught[0].filename, caught[0].lineno) == (__file__, line), ask
