"""The record: its bytes, its schema, and reading back what was written."""

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schemas import record_schema

from pytest_rankcheck import (
    BaselineError,
    Conventions,
    Evaluation,
    GoldenSet,
    Metric,
    Run,
    evaluate,
)
from pytest_rankcheck.baselines.change import Approval, Change
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_file import text_of_content
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits

KEYS = (
    Change("fall", "RR", 1.0, 0.5, slice=("locale", "de")),
    Change("queries-lost", "", 20, 3, 0.25),
    Change("depth", "", None, 5),
)
APPROVAL = Approval("why", "2026-11-21T00:00:00Z", None, "Ada", KEYS)
RR = Metric.parse("RR")

ids = st.text(min_size=1, max_size=8)


def evaluation_of(documents: dict[str, list[str]]) -> Evaluation:
    golden = GoldenSet.from_dict(
        {query: dict.fromkeys(ranking[:1], 2) for query, ranking in documents.items()}
    )
    return evaluate(Run.from_dict(documents), golden)


def record_of(evaluation: Evaluation) -> Record:
    metrics = [Metric.parse(name) for name in ("RR", "nDCG(gain={2:7})@10", "P@3")]
    return replace(Record.of(evaluation, metrics[:2], metrics[2:]), approvals=(APPROVAL,))


def text_of_two_queries() -> str:
    return record_of(evaluation_of({"a": ["x"], "b": ["y"]})).text


@given(st.dictionaries(ids, st.lists(ids, min_size=1, max_size=12, unique=True), min_size=1))
def test_a_record_survives_saving_and_loading(documents: dict[str, list[str]]) -> None:
    record = record_of(evaluation_of(documents))
    text = record.text
    text.encode("utf-8")
    assert Record.from_text(text, "record.json") == record
    assert Record.from_text(text, "record.json").text == text
    record_schema().validate(json.loads(text))
    reversed_documents = dict(reversed(documents.items()))
    assert record_of(evaluation_of(reversed_documents)).text == text


def test_a_record_with_everything_has_the_schema_and_comes_back() -> None:
    golden = GoldenSet.from_dict(
        {"a": {"x": 1}, "b": {"y": 0}, "c": {"z": 1}},
        attributes={"a": {"lang": "de"}, "b": {"lang": "en"}},
    )
    run = Run.from_dict({"a": ["1", "2", "x"], "b": ["y"], "c": ["z"]})
    other = Run.from_dict({"a": ["x"], "b": ["y"], "c": ["z"]})
    evaluation = evaluate([run, other], golden, conventions=Conventions(no_relevant="exclude"))
    gates = {RR: "tolerance(abs=0.1, rel=0)"}
    record = replace(
        Record.of(evaluation, gates, attributes=["lang"], kept_depth=2),
        test="TestShop::test_mrr[de]",
        world={"index": "abc"},
        limits=(StabilityLimits(k=5),),
    )
    assert record.queries.values["RR"].tolist()[::2] == [0.666667, 1.0]  # (1/3 + 1) / 2
    assert np.isnan(record.values(RR)[1])
    assert record.mean(RR) == pytest.approx((0.666667 + 1) / 2, abs=1e-12)
    assert record.metrics["RR"].averaged == 2
    assert record.metrics["RR"].replicates[""] == (0.666667, 1.0)
    assert record.metrics["RR"].replicates["lang=de"] == (0.333333, 1.0)
    assert record.queries.members["lang"] == {"de": [0], "en": [1], "(none)": [2]}
    assert record.ranking("a") == ("1", "2")
    text = record.text
    record_schema().validate(json.loads(text))
    assert Record.from_text(text) == record


def test_one_line_per_query_even_with_line_separators_in_ids() -> None:
    text = record_of(evaluation_of({"a\nb": ["x\u2028y"], "c": ["\x1b[2J", "\u202e", "ä"]})).text
    lines = [line for line in text.splitlines() if line.startswith('    {"id"')]
    assert len(lines) == 2
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert '"ä"' in text, "letters of all languages stay readable"


def test_the_committed_baselines_of_the_examples_have_the_schema() -> None:
    files = list((Path(__file__).parents[2] / "examples").rglob("baselines/**/*.json"))
    assert len(files) > 3
    for file in files:
        record_schema().validate(json.loads(file.read_text("utf-8")))
        assert Record.load(file).text == file.read_text("utf-8")


def test_a_large_record_without_rankings_is_small_and_quick() -> None:
    count = 20_000
    golden = GoldenSet.from_dict({f"query-{n:06}": {"good": 1} for n in range(count)})
    ranks = {f"query-{n:06}": ["bad"] * 0 + ["good"] for n in range(count)}
    record = Record.of(evaluate(Run.from_dict(ranks), golden), [RR], kept_depth=0)
    text = record.text
    assert len(text) / count < 120, "100,000 queries stay under 12 MB"
    start = time.process_time()
    assert len(Record.from_text(text).queries) == count
    assert time.process_time() - start < 5


@pytest.mark.parametrize("version", [1, 3])
def test_a_record_of_an_older_version_is_refused_with_what_to_do(version: int) -> None:
    entry = json.loads(text_of_two_queries())
    entry["version"] = version
    with pytest.raises(BaselineError, match=f"old.json: .* version {version}, (.|\n)*run its test"):
        Record.from_text(json.dumps(entry), "old.json")


def test_white_space_and_line_ends_do_not_change_the_digest() -> None:
    text = text_of_two_queries()
    assert Record.from_text(json.dumps(json.loads(text), indent=4), "r.json").text == text
    assert Record.from_text(text.replace("\n", "\r\n"), "r.json").text == text


def test_a_metric_missing_from_the_record_is_reported() -> None:
    record = record_of(evaluation_of({"a": ["x"]}))
    with pytest.raises(BaselineError, match=r"has no AP; it has RR, nDCG"):
        record.values(Metric.parse("AP"))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"none.json: no such file"):
        Record.load(tmp_path / "none.json")


def test_an_assertion_of_a_metric_that_is_not_there_is_reported() -> None:
    """Else the reference would still decide by it."""
    content = json.loads(text_of_two_queries())
    content["assertions"] = [{"metrics": {"RR": "tolerance(abs=0, rel=0)", "P@1": "x"}, "by": []}]
    with pytest.raises(BaselineError, match="its assertions name P@1, which is not in its metrics"):
        Record.from_text(text_of_content(content))


def test_an_assertion_whose_gate_can_never_fail_is_reported_with_the_file() -> None:
    content = json.loads(text_of_two_queries())
    content["assertions"] = [{"metrics": {"RR": "noninferior(margin=5)"}, "by": []}]
    with pytest.raises(BaselineError, match=r"record\.json: .*margin=5 is as wide as the range"):
        Record.from_text(text_of_content(content), "record.json")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"depth": null', '"depth": "deep"', "'deep' is not a whole number"),
        ('"depth": null', '"depth": -1', "'-1' is not a whole number"),
        ('"ties": "doc_id"', '"ties": "coin"', "ties=coin is invalid"),
        ('"RR": {"mean"', '"XX": {"mean"', "its digest is"),
        ('"gate": "tolerance(abs=0, rel=0)"', '"gate": 5', "'5' is not a text"),
        ('"gate": "tolerance(abs=0, rel=0)"', '"gate": "tolerance(abs=2)"', "abs=2 is as wide as"),
        ('"version": 4', '"version": true', "its version is True"),
        ('"version": 4', '"version": 99', "upgrade pytest-rankcheck"),
        ('"version": 4', '"version": NaN', "NaN is not a value"),
        ('"id": "b"', '"id": "a"', "duplicate query 'a'"),
        ('"golden_set"', '"golden"', "it lacks 'golden_set'"),
        ('"approvals": [', '"approvals": [3, ', "'3' is not an object"),
        ('"RR": 1.0', '"RR": "1.0"', "'1.0' is not a finite number: RR of query 'a'"),
        ('"RR": 1.0', '"RR": 1e999', "'inf' is not a finite number: RR of query 'a'"),
        ('"RR": 1.0', '"RR": 0.5', "its mean of RR is 1, but its queries give 0.75"),
        ('"mean": 1.0', '"mean": 0.9', "its mean of RR is 0.9, but its queries give 1.0"),
        ('"gated": true', '"gated": 1', "'1' is not true or false"),
        ('"reason": "why"', '"reason": "because"', "edited by hand, or combined by a merge"),
        ('"reason": "why"', '"reason": " "', "has no reason"),
        ('"to": 0.5', '"to": true', "'True' is not a finite number"),
        ('"top": ["x"]', '"top": ["y"]', "its digest is"),
        ('"top": ["x"]', '"top": "y"', "'y' is not an array"),
        ('"format"', '<<<<<<< HEAD\n"format"', "unresolved merge conflict"),
    ],
)
def test_every_kind_of_invalid_record_is_reported(old: str, new: str, says: str) -> None:
    text = text_of_two_queries().replace("<<<<", "\n<<<<")
    assert old in text
    broken = text.replace(old, new, 1).replace("  <<<<", "<<<<")
    with pytest.raises(BaselineError) as error:
        Record.from_text(broken, "folder/record.json")
    assert "folder/record.json" in str(error.value)
    assert says in str(error.value)
    assert "left as it is" in str(error.value)
