"""The record: its bytes, its schema, and reading back what was written."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_rankcheck.baselines.record as record_module
from pytest_rankcheck import (
    BaselineError,
    Conventions,
    Evaluation,
    GoldenSet,
    Metric,
    Run,
    evaluate,
)
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_writer import record_text
from pytest_rankcheck.baselines.register import Revision, next_record

SCHEMA = json.loads(Path(record_module.__file__).with_suffix(".schema.json").read_text("utf-8"))
APPROVAL = Approval("why", "2026-11-21T00:00:00Z", None, "Ada", {"RR": {"from": 1.0, "to": 0.5}})

ids = st.text(min_size=1, max_size=8)


def evaluation_of(documents: dict[str, list[str]], no_relevant: str = "zero") -> Evaluation:
    golden = GoldenSet.from_dict(
        {query: dict.fromkeys(ranking[:1], 2) for query, ranking in documents.items()}
    )
    return evaluate(
        Run.from_dict(documents), golden, conventions=Conventions(no_relevant=no_relevant)
    )  # type: ignore[arg-type]


def record_of(evaluation: Evaluation) -> Record:
    metrics = [Metric.parse(name) for name in ("RR", "nDCG(gain={2:7})@10", "P@3")]
    return Record.of(evaluation, metrics[:2], metrics[2:], (APPROVAL,))


@given(st.dictionaries(ids, st.lists(ids, min_size=1, max_size=12, unique=True), min_size=1))
def test_a_record_survives_saving_and_loading(documents: dict[str, list[str]]) -> None:
    record = record_of(evaluation_of(documents))
    text = record_text(record)
    text.encode("utf-8")
    assert Record.from_text(text, "record.json") == record
    assert record_text(Record.from_text(text, "record.json")) == text
    jsonschema.validate(json.loads(text), SCHEMA)


@given(st.dictionaries(ids, st.lists(ids, min_size=1, max_size=5, unique=True), min_size=2))
def test_the_order_of_queries_does_not_change_the_bytes(documents: dict[str, list[str]]) -> None:
    reversed_documents = dict(reversed(documents.items()))
    text = record_text(record_of(evaluation_of(documents)))
    assert record_text(record_of(evaluation_of(reversed_documents))) == text


def test_one_line_per_query_even_with_line_separators_in_ids() -> None:
    text = record_text(
        record_of(evaluation_of({"a\nb": ["x\u2028y"], "c": ["\x1b[2J", "\u202e", "ä"]}))
    )
    lines = [line for line in text.splitlines() if line.startswith('    {"id"')]
    assert len(lines) == 2
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert '"ä"' in text, "letters of all languages stay readable"


def test_values_have_six_decimals_and_queries_that_do_not_count_are_null() -> None:
    golden = GoldenSet.from_dict({"a": {"x": 1}, "b": {"y": 0}, "c": {"z": 1}})
    run = Run.from_dict({"a": ["1", "2", "x"], "b": ["y"], "c": ["z"]})
    record = Record.of(
        evaluate(run, golden, conventions=Conventions(no_relevant="exclude")), [Metric.parse("RR")]
    )
    assert [line.values["RR"] for line in record.queries.values()] == [0.333333, None, 1.0]
    assert record.mean(Metric.parse("RR")) == pytest.approx((0.333333 + 1) / 2, abs=1e-12)
    back = Record.from_text(record_text(record), "record.json")
    assert np.isnan(back.values(Metric.parse("RR"))[1])
    jsonschema.validate(json.loads(record_text(record)), SCHEMA)


def test_the_committed_baselines_of_the_example_have_the_schema() -> None:
    example = Path(__file__).parents[2] / "examples" / "symbol_search"
    files = list(example.rglob("baselines/**/*.json"))
    assert files
    for file in files:
        jsonschema.validate(json.loads(file.read_text("utf-8")), SCHEMA)
        record = Record.load(file)
        assert record is not None
        assert record_text(record) == file.read_text("utf-8")


@pytest.mark.parametrize("version", [1, 2])
def test_a_record_of_an_older_version_is_refused_with_what_to_do(version: int) -> None:
    entry = json.loads(record_text(record_of(evaluation_of({"a": ["x"], "b": ["y"]}))))
    entry["version"] = version
    with pytest.raises(BaselineError, match=f"old.json: .* version {version}, .*record it anew"):
        Record.from_text(json.dumps(entry), "old.json")


def test_white_space_and_line_ends_do_not_change_the_digest() -> None:
    text = record_text(record_of(evaluation_of({"a": ["x"], "b": ["y"]})))
    assert record_text(Record.from_text(json.dumps(json.loads(text), indent=4), "r.json")) == text
    assert record_text(Record.from_text(text.replace("\n", "\r\n"), "r.json")) == text


RR = Metric.parse("RR")


def rr_record(before: Record | None = None, **ranks: int) -> Record:
    """Return the record of an evaluation in which each query's document has a rank."""
    golden = GoldenSet.from_dict({query: {"good": 1} for query in ranks})
    rankings = {q: [f"x{i}" for i in range(1, rank)] + ["good"] for q, rank in ranks.items()}
    evaluation = evaluate(Run.from_dict(rankings), golden)
    return next_record(before, evaluation, approving(RR))


def approving(metric: Metric) -> Revision:
    return Revision({metric: "tolerance(abs=0, rel=0)"}, is_approved=True)


def test_the_best_value_is_kept_through_falls_and_through_a_golden_set_that_changes() -> None:
    first = rr_record(a=1, b=1)
    assert (first.kept["RR"].best, first.below_best(RR)) == (1.0, 0.0)
    lower = rr_record(first, a=1, b=2)  # 0.75
    assert (lower.kept["RR"].best, lower.below_best(RR)) == (1.0, 0.25)
    # A query that was never answered comes in: the mean is (1 + 1/2 + 1/4) / 3, no fall of theirs.
    grown = rr_record(lower, a=1, b=2, c=4)
    assert grown.mean(RR) == pytest.approx(1.75 / 3)
    assert grown.below_best(RR) == pytest.approx(0.25, abs=2e-6)
    again = rr_record(grown, a=1, b=1, c=4)  # b gains 1/2, that is 1/6 of the mean
    assert again.below_best(RR) == pytest.approx(0.25 - 1 / 6, abs=2e-6)
    another = rr_record(again, z=2)
    assert another.below_best(RR) == 0, "of other queries nothing is known to be better"


def test_the_best_value_of_a_metric_that_should_be_low_is_the_lowest() -> None:
    rank = Metric.parse("MeanRank")
    golden = GoldenSet.from_dict({"a": {"good": 1}})

    def record(at: int, before: Record | None = None) -> Record:
        run = Run.from_dict({"a": [f"x{i}" for i in range(1, at)] + ["good"]})
        return next_record(before, evaluate(run, golden), approving(rank))

    first = record(2)
    assert record(5, first).below_best(rank) == record(5, first).mean(rank) - first.mean(rank) > 0


def test_a_metric_missing_from_the_record_is_reported() -> None:
    record = record_of(evaluation_of({"a": ["x"]}))
    with pytest.raises(BaselineError, match=r"has no AP; it has RR, nDCG"):
        record.values(Metric.parse("AP"))


def test_a_missing_file_is_an_error_that_says_how_to_record_one(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"none.json is missing; pytest --snapshot-update"):
        Record.load(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"depth": null', '"depth": "deep"', "'deep' is not a whole number"),
        ('"ties": "doc_id"', '"ties": "coin"', "ties=coin is invalid"),
        ('"RR": {"mean"', '"XX": {"mean"', "unknown metric 'XX'"),
        ('"version": 3', '"version": true', "its version is True"),
        ('"version": 3', '"version": 99', "upgrade pytest-rankcheck"),
        ('"id": "b"', '"id": "a"', "duplicate query 'a'"),
        ('"golden_set"', '"golden"', "it lacks 'golden_set'"),
        ('"approvals": [', '"approvals": [3, ', "this is not a baseline"),
        ('"RR": 1.0', '"RR": "1.0"', "query 'a': RR: '1.0' is not a finite number"),
        ('"RR": 1.0', '"RR": 0.5', "its mean of RR is 1, but its queries give 0.75"),
        ('"mean": 1.0', '"mean": 0.9', "its mean of RR is 0.9, but its queries give 1.0"),
        ('"reason": "why"', '"reason": "because"', "edited by hand, or put together by a merge"),
        ('"best": 1.0', '"best": 0.2', "its digest is"),
        ('"top": ["x"]', '"top": ["y"]', "its digest is"),
    ],
)
def test_every_kind_of_invalid_record_is_reported(old: str, new: str, says: str) -> None:
    text = record_text(record_of(evaluation_of({"a": ["x"], "b": ["y"]})))
    assert old in text
    with pytest.raises(BaselineError) as error:
        Record.from_text(text.replace(old, new, 1), "folder/record.json")
    assert "folder/record.json" in str(error.value)
    assert says in str(error.value)
    assert "left as it is" in str(error.value)
