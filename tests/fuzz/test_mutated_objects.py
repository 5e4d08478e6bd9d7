"""Dicts that tests build themselves, broken: made into golden sets and runs, and reported."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from bounds import examples, loads_or_refuses
from hypothesis import given, settings
from mutations import STEPS, Step, mutated_tree
from samples import GRADES, TEXTS

from pytest_rankcheck import (
    Expectation,
    GoldenSet,
    RankcheckError,
    Run,
    assert_at_least,
    assert_not_regressed,
    evaluate,
    rank,
)
from pytest_rankcheck.baselines.report_reader import record_of_report
from pytest_rankcheck.golden.expectation_entry import expectation_of
from pytest_rankcheck.reports.github_annotations import annotation
from pytest_rankcheck.reports.judging_list import csv_of, quepid_of
from pytest_rankcheck.reports.junit_properties import properties_of
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.report_data import Report, report_of
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS
from pytest_rankcheck.reports.text.summary_table import summary_lines

INPUTS: dict[str, Any] = {
    "grades": GRADES,
    "texts": TEXTS,
    "attributes": {query: {"locale": "en", "tags": ["a", "b"]} for query in GRADES},
    "before": {"q1": ["d1", "d2"], "q2": ["d9", "d2"], "q3": ["d3"]},
    "now": {"q1": ["d8", "d2", "d1"], "q2": {"d2": 2.5, "d9": 1}, "q3": [("d3", 0.5)]},
}


def read(inputs: Any) -> Report:
    """Return the report of what the inputs describe."""
    golden = GoldenSet.from_dict(
        inputs["grades"], queries=inputs["texts"], attributes=inputs["attributes"]
    )
    then = evaluate(Run.from_dict(inputs["before"]), golden)
    now = evaluate(Run.from_dict(inputs["now"]), golden)
    with collecting(detail=True) as ledger:
        for check in (
            lambda: assert_not_regressed(now, then, "nDCG@10", abs=0.99, by="locale"),
            lambda: assert_at_least(now, "RR", 0.9),
        ):
            try:
                check()
            except AssertionError as failure:
                str(failure).encode("utf-8")
                annotation("test_it.py", 1, str(failure)).encode("utf-8")
    findings = [finding.with_test("test_it.py::test_it") for finding in ledger]
    for width in (None, 80):
        for line in summary_lines(findings, width):
            assert is_harmless(line.text)
            line.text.encode("utf-8")
    for _, value in properties_of(findings):
        str(value).encode("utf-8")
    return report_of(findings, "pytest")


def is_harmless(text: str) -> bool:
    """Whether a text has no character that acts on a terminal or an editor, but line feeds."""
    kinds = {unicodedata.category(char) for char in text.replace("\n", "")}
    return kinds.isdisjoint({"Cc", "Cs", "Zl", "Zp"})


def show(report: Report, formats: list[str]) -> None:
    """Write a report in some formats, and read back what can be read."""
    texts = {name: REPORT_FORMATS[name].text(report, Path("report")) for name in formats}
    for name, text in texts.items():
        text.encode("utf-8")
        assert is_harmless(text) or name == "html"
    if "html" in texts:
        data = texts["html"].partition('id="report-data">')[2].partition("</script>")[0]
        json.loads(data)
        assert texts["html"].count("<script") == 4
    json.loads(texts["json"])
    if report.measurements:
        record_of_report(texts["json"], "report.json", None)
    listed = list(csv.DictReader(io.StringIO(csv_of(report))))
    assert len(listed) == len(report.documents)
    try:
        quepid_of(report)
    except RankcheckError:
        return


@pytest.mark.parametrize("name", INPUTS)
@given(steps=STEPS)
@settings(max_examples=examples(5))
def test_broken_dicts_are_read_or_refused(name: str, steps: list[Step]) -> None:
    with loads_or_refuses():
        report = read({**INPUTS, name: mutated_tree(INPUTS[name], steps)})
        show(report, [name for name in REPORT_FORMATS if name != "html" or steps[0][0] % 8 == 0])


ANSWERS: dict[str, Any] = {
    "ids": ["d1", "d2"],
    "pairs": [["d1", 2.5], ["d2", 1]],
    "scores": {"d1": 2.5, "d2": 1},
    "hits": [{"id": "d1", "score": 2.5}, {"id": "d2", "score": 1}],
    "response": {"hits": {"hits": [{"_id": "d1", "_score": 2.5}]}},
}


@pytest.mark.parametrize("name", ANSWERS)
@given(steps=STEPS)
@settings(max_examples=examples(5))
def test_broken_answers_of_rankers_are_read_or_refused(name: str, steps: list[Step]) -> None:
    answer = mutated_tree(ANSWERS[name], steps)
    with loads_or_refuses():
        golden = GoldenSet.from_dict(GRADES, queries=TEXTS)
        evaluate(rank(lambda text: answer, golden, concurrency=1), golden).mean("nDCG@10")


@pytest.mark.parametrize(
    "entry",
    [
        {"in_top": 3, "documents": ["d3"], "reason": "why"},
        {"above": ["d3", "d1"], "severity": "warn"},
        {"before": [["d3"], ["d1", "d2"]], "known_failure": "why"},
        {"results": "some"},
    ],
    ids=str,
)
@given(steps=STEPS)
def test_broken_expectations_are_read_or_refused(entry: dict[str, Any], steps: list[Step]) -> None:
    with loads_or_refuses():
        expectation = expectation_of("q1", mutated_tree(entry, steps))
        assert isinstance(expectation, Expectation)
        str(expectation).encode("utf-8")
