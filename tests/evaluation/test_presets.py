"""The conventions of LightGBM, XGBoost and CatBoost, worked by hand; the libraries agree in test_boosting_tools.py."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from schemas import record_schema

from pytest_rankcheck import (
    ConfigurationError,
    Conventions,
    Evaluation,
    GoldenSet,
    Metric,
    Record,
    Run,
    evaluate,
    evaluate_arrays,
    evaluate_part,
)
from pytest_rankcheck.comparison.unjudged_documents import values_under

GOLDEN = GoldenSet.from_dict({"1": {"a": 0, "b": 3, "c": 1}, "2": {"a": 0, "b": 0}})
SCORES = {"1": {"a": 1.0, "b": 1.0, "c": 0.5}, "2": {"a": 2.0, "b": 1.0}}
"""In query 1, b has the score of a, which stands first; query 2 has no relevant document."""

SECOND, THIRD = 1 / math.log2(3), 1 / 2
BOOSTED = (7 * SECOND + 1 * THIRD) / (7 + SECOND)
LINEAR = (3 * SECOND + 1 * THIRD) / (3 + SECOND)


def run_of(ties: Any) -> Run:
    return Run.from_dict(SCORES, ties=ties)


def test_a_preset_decides_over_names_without_parameters(tmp_path: Path) -> None:
    for preset, ties, ndcg, ap_at_2, others in (
        ("lightgbm", "input", (BOOSTED + 1) / 2, (1 / 4 + 1) / 2, 1 / 4),
        ("xgboost", "input", (BOOSTED + 1) / 2, (1 / 4 + 1) / 2, 1 / 4),
        ("catboost", "doc_id", (LINEAR + 1) / 2, (1 / 4 + 0) / 2, 1 / 4),
        ("catboost", "input", (LINEAR + 1) / 2, (1 / 4 + 0) / 2, 1 / 4),
    ):
        run, wanted = run_of(ties), Conventions.from_dict({preset: ""})
        run.save(tmp_path / "found.csv")
        scanned = Run.scan(tmp_path / "found.csv", ties=wanted.ties)
        parts = [evaluate_part(run, GOLDEN, conventions=preset)]
        for evaluation in (
            evaluate(run, GOLDEN, conventions=preset),
            evaluate(run, GOLDEN, conventions=wanted),
            evaluate(scanned, GOLDEN, conventions=preset),
            Evaluation.merge(parts, GOLDEN),
        ):
            assert evaluation.conventions == wanted
            assert evaluation.mean("ndcg") == pytest.approx(ndcg)
            assert evaluation.mean("map@2") == pytest.approx(ap_at_2)
            assert evaluation.mean("RR") == others
            assert evaluation.mean("AP(divide=retrieved)@1") == ap_at_2 - 1 / 8
            assert list(evaluation.ranking("1")) == ["a", "b", "c"]


def test_each_setting_can_be_chosen_alone_and_over_a_preset() -> None:
    run = run_of("doc_id")  # b, a, c
    for chosen, ndcg in (
        ({}, (3 + 1 / 2) / (3 + SECOND) / 2),
        ({"gain": "exponential"}, (7 + 1 / 2) / (7 + SECOND) / 2),
        ({"no_relevant": "one"}, ((3 + 1 / 2) / (3 + SECOND) + 1) / 2),
        ({"ties": "worst"}, LINEAR / 2),
    ):
        assert evaluate(run, GOLDEN, **chosen).mean("nDCG") == pytest.approx(ndcg)  # type: ignore[arg-type]
    exponential = evaluate(run, GOLDEN, conventions="catboost", gain="exponential")
    assert exponential.mean("nDCG") == pytest.approx((BOOSTED + 1) / 2)
    assert exponential.mean("nDCG(gain={0:0,1:1,3:3})") == pytest.approx((LINEAR + 1) / 2)
    assert Conventions.from_dict({"gain": "linear", "lightgbm": ""}).gain == "linear"


def test_ties_are_still_known_under_a_preset() -> None:
    evaluation = evaluate(run_of("doc_id"), GOLDEN, conventions="catboost")
    assert evaluation.tied() == ("1",)
    low, high = evaluation.tie_range("RR")
    assert (low, high) == (1 / 4, 1 / 2)


def test_a_run_with_other_ties_and_unknown_presets_are_refused() -> None:
    with pytest.raises(
        ConfigurationError, match=r"ties=input does not fit run 'run'.*ties='input'"
    ):
        evaluate(run_of("doc_id"), GOLDEN, conventions="lightgbm")
    with pytest.raises(ConfigurationError, match="did you mean 'lightgbm'"):
        evaluate(run_of("input"), GOLDEN, conventions="lightgmb")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"convention 'xgbost'; did you mean 'xgboost'\?"):
        Conventions.from_dict({"xgbost": ""})
    for chosen in ({"lightgbm": "", "catboost": ""}, {"lightgbm": "false"}):
        with pytest.raises(ConfigurationError, match="give one such name, without a value"):
            Conventions.from_dict(chosen)


def test_ties_across_the_depth_are_in_the_worst_order(tmp_path: Path) -> None:
    golden = GoldenSet.from_dict({"1": {"a": 0, "z": 1}})
    run = Run.from_dict({"1": {"z": 1.0, "b": 1.0, "a": 1.0}})
    run.save(tmp_path / "found.csv")
    for each in (run, Run.scan(tmp_path / "found.csv")):
        for depth in (1, 2, 3):
            evaluation = evaluate(each.top(depth), golden, conventions="catboost")
            assert evaluation.mean("nDCG@1") == 0
            assert len(evaluation.ranking("1")) == depth


def test_arrays_take_a_preset() -> None:
    scores, labels = [1.0, 1.0, 0.5, 2.0, 1.0], [0, 3, 1, 0, 0]
    for preset, ndcg in (("lightgbm", BOOSTED), ("catboost", LINEAR)):
        arrays = evaluate_arrays(scores, labels, [3, 2], conventions=preset)  # type: ignore[arg-type]
        assert arrays.mean("nDCG@10") == pytest.approx((ndcg + 1) / 2)
    assert evaluate_arrays(scores, labels, [3, 2]).mean("nDCG") == pytest.approx(LINEAR / 2)


@pytest.mark.parametrize("preset", ["lightgbm", "catboost"])
def test_values_under_other_grades_follow_the_same_conventions(preset: Any) -> None:
    evaluation = evaluate(run_of("input"), GOLDEN, conventions=preset)
    for name in ("nDCG@2", "AP@2", "RR"):
        again = values_under(
            Metric.parse(name),
            [evaluation.ranking(query_id) for query_id in evaluation.query_ids],
            [dict(GOLDEN.grades(query_id)) for query_id in evaluation.query_ids],
            max_grade=3,
            conventions=evaluation.conventions,
        )
        assert again.tolist() == evaluation.values(name).tolist()


@pytest.mark.parametrize(
    "chosen",
    [{"lightgbm": ""}, {"catboost": ""}, {"own_document": "drop"}, {"no_relevant": "exclude"}, {}],
    ids=str,
)
def test_a_record_keeps_every_convention(chosen: dict[str, str]) -> None:
    conventions = Conventions.from_dict(chosen)
    evaluation = evaluate(run_of(conventions.ties), GOLDEN, conventions=conventions)
    record = Record.of(evaluation, [Metric.parse("nDCG@5")])
    assert Record.from_text(record.text).conventions == conventions
    record_schema().validate(json.loads(record.text))
