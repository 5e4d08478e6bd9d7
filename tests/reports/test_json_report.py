"""The JSON report: its schema, and that it merges what tests found apart."""

import json

from schemas import report_schema

from pytest_rankcheck import GoldenSet, Run, evaluate
from pytest_rankcheck.reports.json_report import json_of
from pytest_rankcheck.reports.measurement_findings import measurement_finding
from pytest_rankcheck.reports.report_data import Report


def test_the_report_matches_its_schema(report: Report, hostile: Report) -> None:
    for shown in (report, hostile):
        text = json_of(shown)
        text.encode("utf-8")
        report_schema().validate(json.loads(text))


def test_metrics_of_the_same_rankings_are_one_measurement(report: Report) -> None:
    [measurement] = report.measurements
    assert list(measurement["metrics"]) == ["nDCG@10", "RR", "P@1"]
    assert {gate.numbers.measurement for gate in report.gates if gate.numbers} == {
        measurement["key"]
    }
    worse = next(query for query in measurement["queries"] if query["id"] == "q00")
    assert worse["values"]["RR"] == [1.0, 0.333333]
    assert worse["values"]["P@1"] == [None, 0.0], "a bound has no values before"
    # 20 of 60 queries at 1/3; P@1 has no baseline.
    assert measurement["means"]["RR"] == [1.0, round((40 + 20 / 3) / 60, 6)]
    assert measurement["means"]["P@1"] == [None, round(40 / 60, 6)]
    assert worse["before"] == ["q00 good", "q00 bad", "q00 fair"]
    assert worse["grades"] == {"q00 good": 3, "q00 fair": 1, "q00 bad": 0}


def test_failures_come_first(report: Report) -> None:
    failed = [gate.failed for gate in report.gates]
    assert failed == sorted(failed, reverse=True)
    assert json.loads(json_of(report))["outcome"] == "failed"


def test_means_of_other_queries_are_not_compared() -> None:
    judged = {"a": {"x": 1}, "b": {"y": 1}}
    run = Run.from_dict({"a": ["x"], "b": ["z", "y"], "c": ["x"]})
    before = evaluate(run, GoldenSet.from_dict(judged))
    after = evaluate(run, GoldenSet.from_dict({**judged, "c": {"x": 1}}))
    means = [
        measurement_finding(each, before, ["RR"]).data["means"]["RR"] for each in (before, after)
    ]
    assert means == [[0.75, 0.75], [None, 0.833333]]
