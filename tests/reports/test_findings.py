"""Findings get the name of their test when it has ended, and travel between processes."""

import json

import pytest

from pytest_rankcheck import Gate, GoldenSet, Run, assert_not_regressed, evaluate
from pytest_rankcheck.reports.findings import (
    GateFinding,
    MeasurementFinding,
    MetricFinding,
    Note,
    Said,
    Topic,
)
from pytest_rankcheck.reports.json_report import json_of
from pytest_rankcheck.reports.ledger import collecting, packed, unpacked
from pytest_rankcheck.reports.report_data import report_of

GATE = GateFinding(golden_set="shop", metric="RR", now=0.5, said=Said.PASSED)


def test_a_finding_gets_the_name_of_its_test_once() -> None:
    named = GATE.with_test("first")
    assert (GATE.test, named.test) == ("", "first")
    assert named.with_test("second") == named
    note = Note(Topic.MEASURED, "RR on 'web': text", of_test=True).with_test("first")
    assert note.text == "first: RR on 'web': text"
    assert note.with_test("second") is note


def test_a_finding_that_does_not_name_its_test_stays_as_it_is() -> None:
    for finding in (Note(Topic.LINT, "text"), MetricFinding(golden_set="s", metric="RR", now=1.0)):
        assert finding.with_test("first") is finding


def test_findings_are_the_same_after_the_way_to_another_process() -> None:
    golden = GoldenSet.from_dict(
        {f"q{i}": {"good": 3, "bad": 0} for i in range(40)},
        attributes={f"q{i}": {"locale": "de" if i % 2 else "en"} for i in range(40)},
    )
    now = evaluate(Run.from_dict({f"q{i}": ["bad", "new", "good"] for i in range(40)}), golden)
    before = evaluate(Run.from_dict({f"q{i}": ["good", "bad"] for i in range(40)}), golden)
    with collecting(detail=True) as ledger, pytest.raises(AssertionError):
        assert_not_regressed(now, before, "RR", gate=Gate.noninferior(0.01), by="locale")
    ledger.append(Note(Topic.MEASURED, "\x1b[2J \u202e \ud800"))
    there = unpacked(json.loads(json.dumps(packed(ledger))))
    reports = [json.loads(json_of(report_of(findings, "pytest"))) for findings in (ledger, there)]
    assert reports[0]["gates"][0]["failure"]["worst"]
    assert {**reports[0], "created": ""} == {**reports[1], "created": ""}
    kept = [each for each in ledger if not isinstance(each, GateFinding)]
    assert kept
    assert all(each in there for each in kept)


def test_the_queries_of_a_measurement_are_made_once_for_a_test() -> None:
    golden = GoldenSet.from_dict({"q1": {"a": 1}, "q2": {"b": 1}})
    now, before = (evaluate(Run.from_dict({"q1": ["a"], "q2": ["b"]}), golden) for _ in "ab")
    with collecting(detail=True) as ledger:
        assert_not_regressed(now, before, ["RR", "nDCG@10"])
        assert_not_regressed(now, before, "P@1")
        assert_not_regressed(before, now, "P@1")
    made = [each for each in ledger if isinstance(each, MeasurementFinding)]
    queries = [each.data["queries"] for each in made]
    assert queries[0] is queries[1] is queries[2] is not queries[3]
    assert [list(each.values) for each in made] == [["RR"], ["nDCG@10"], ["P@1"], ["P@1"]]
    measured = report_of(ledger, "pytest").measurements
    assert [list(query["values"]) for query in measured[0]["queries"]] == [
        ["RR", "nDCG@10", "P@1"]
    ] * 2


def test_every_topic_has_a_heading() -> None:
    headings = [Note(topic, "text", f"about {topic}").heading for topic in Topic]
    assert len(set(headings)) == len(Topic)
