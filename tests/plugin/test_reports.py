"""The reports that a test session writes, and its output for continuous integration."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest
from project import CONFIGURATION, WITHOUT_AND_WITH_WORKERS, Project, text_of

import pytest_rankcheck.reports.report_data as report_module
from pytest_rankcheck import GoldenSet

SCHEMA = json.loads(Path(report_module.__file__).with_name("report.schema.json").read_text("utf-8"))

TESTS = """
from pytest_rankcheck import assert_at_least, assert_not_regressed

def test_floor(evaluation):
    assert_at_least(evaluation, "P@1", 0.5)

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", abs=0.01, by="locale")
    assert_not_regressed(evaluation, baseline, "nDCG@10", abs=0.5)
"""


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the environment variables of the CI that runs these tests."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def regressed(project: Project) -> Project:
    """A project in which 8 of 80 queries are worse than the baseline."""
    project.write("pyproject.toml", CONFIGURATION + 'rankcheck_metrics = ["Success@5"]\n')
    project.test(TESTS)
    project.update()
    project.rank(dict.fromkeys(range(8), 3))
    return project


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_all_reports_are_written(regressed: Project, workers: tuple[str, ...]) -> None:
    result = regressed.run(
        "--rankcheck-html=out/r.html",
        "--rankcheck-markdown=out/r.md",
        "--rankcheck-json=out/r.json",
        "--rankcheck-unjudged=out/r.csv",
        *workers,
    )
    result.assert_outcomes(passed=1, failed=1)
    for line in ("HTML report", "Markdown report", "JSON report", "640 documents to judge"):
        assert f"{line} written to out/r." in text_of(result)
    report = json.loads((regressed.path / "out/r.json").read_text("utf-8"))
    jsonschema.validate(report, SCHEMA)
    # The test ended at RR.
    reached = [(gate["metric"], gate["reached"]) for gate in report["gates"]]
    assert reached == [("RR", True), ("nDCG@10", False), ("P@1", True)]
    gate = report["gates"][0]
    assert gate["test"] == "tests/test_ranking.py::test_mrr"
    assert gate["baseline_file"] == "tests/baselines/test_ranking/test_mrr--web.json"
    assert gate["overall"]["losses"] == 8
    assert [one["label"] for one in gate["slices"]] == ["locale=de", "locale=en"]
    [measurement] = report["measurements"]
    assert set(measurement["metrics"]) == {"RR", "nDCG@10", "P@1", "Success@5"}
    assert measurement["queries"][0]["values"]["Success@5"] == [1.0, 1.0]
    assert "<h1>Ranking quality</h1>" in (regressed.path / "out/r.html").read_text("utf-8")
    assert (regressed.path / "out/r.md").read_text("utf-8").startswith("## ❌")
    with (regressed.path / "out/r.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # Worst for RR where the relevant document is third: two fillers above it, the first judged.
    assert (rows[0]["query_id"], rows[0]["doc_id"], rows[0]["rank"]) == ("q000", "filler-1", "2")
    assert float(rows[0]["influence"]) == pytest.approx((1 / 2 - 1 / 3) / 80, abs=1e-6)


def test_new_judgments_are_merged_into_the_golden_set(regressed: Project) -> None:
    regressed.run("--rankcheck-unjudged=judge.csv")
    text = (regressed.path / "judge.csv").read_text("utf-8")
    lines = text.splitlines()
    filled = lines[1].replace(",,,2,", ",,1,2,")
    assert filled != lines[1]
    file = regressed.write("judged.csv", "\n".join([lines[0], filled]) + "\n")
    golden = GoldenSet.load(regressed.path / "golden/web.jsonl").merge(GoldenSet.load(file))
    assert golden.grades("q000") == {"doc of query 0": 2, "filler-0": 0, "filler-1": 1}


def test_without_the_extra_the_message_says_what_to_install(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_rankcheck.reports.report_formats.find_spec", lambda name: None)
    result = project.run("--rankcheck-html=r.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--rankcheck-html needs jinja2, which is not installed" in text_of(result)
    assert "pip install altair jinja2" in text_of(result)


def test_junit_has_values_of_the_suite_and_of_each_case(regressed: Project) -> None:
    regressed.run("--junitxml=junit.xml")
    suite = ElementTree.parse(regressed.path / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    found = {
        place: {
            one.get("name"): one.get("value") for one in element.iterfind("properties/property")
        }
        for place, element in (("suite", suite), ("case", suite.findall("testcase")[1]))
    }
    expected = {
        "rankcheck.web.RR": "0.933333",
        "rankcheck.web.RR.baseline": "1.000000",
        "rankcheck.web.RR.verdict": "regressed",
    }
    for properties in found.values():
        assert expected.items() <= properties.items()
    assert found["suite"]["rankcheck.web.P@1"] == "0.900000"


def test_the_summary_of_a_github_step_has_the_markdown(
    regressed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = regressed.write("summary.md", "before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    regressed.run()
    assert summary.read_text("utf-8").startswith(
        "before\n## ❌ Ranking quality: 1 of 2 gates failed"
    )


def test_github_annotates_the_line_of_the_assertion(
    regressed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "::error" not in text_of(regressed.run())
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(regressed.path))
    for arguments in ((), ("--assert=plain",)):
        result = regressed.run(*arguments)
        [line] = [line for line in result.outlines if line.startswith("::error ")]
        assert line.startswith(
            "::error file=tests/test_ranking.py,line=8,title=RR regressed on golden set 'web' "
            "(80 queries)%3A 1.0000 -> 0.9333%2C -0.0667"
        )
        assert "%0A  8 queries worse" in line


def test_a_requested_report_is_written_although_nothing_was_found(project: Project) -> None:
    project.test("def test_other():\n    pass\n")
    result = project.run("--rankcheck-json=report.json")
    assert "JSON report written to report.json" in text_of(result)
    assert json.loads((project.path / "report.json").read_text("utf-8"))["gates"] == []
