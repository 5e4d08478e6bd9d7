"""The reports that a test session writes, and its output for continuous integration."""

import csv
import html
import json
import re
import shlex
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pytest
from project import CONFIGURATION, WITHOUT_AND_WITH_WORKERS, Project, text_of
from schemas import report_schema

TESTS = """
from pytest_rankcheck import assert_at_least, assert_not_regressed

def test_floor(evaluation):
    assert_at_least(evaluation, "P@1", 0.5)

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", abs=0.01, by="locale")
    assert_not_regressed(evaluation, baseline, "nDCG@10", abs=0.5)
"""


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
    report_schema().validate(report)
    # The test ended at RR.
    reached = [(gate["metric"], gate["slice"], gate["reached"]) for gate in report["gates"]]
    failed, passed = [("RR", "", True), ("RR", "locale=en", True)], ("RR", "locale=de", True)
    assert reached == [*failed, passed, ("nDCG@10", "", False), ("P@1", "", True)]
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


SEVERAL = """
from pytest_rankcheck import Gate, assert_at_least, assert_not_regressed, assert_ranking_stable

def test_floor(evaluation):
    assert_at_least(evaluation, "P@1", 0.1)

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, ["RR", "nDCG@10"], by="locale")

def test_ap(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "AP")

def test_same(evaluation, baseline):
    assert_ranking_stable(evaluation, baseline, max_changed_queries=0)
"""
NEW = """
def test_new(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "P@1")
"""


def typed(command: str) -> Sequence[str]:
    """Return the arguments of a printed command, with a reason in place of the placeholder."""
    return shlex.split(command.replace("why this is acceptable", "half the latency"))[1:]


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_the_one_command_of_several_failures_turns_them_green(
    project: Project, workers: tuple[str, ...]
) -> None:
    """It is the same in all reports; an approval also records what is new."""
    project.test(SEVERAL)
    project.update()
    project.test(SEVERAL + NEW)
    project.rank(dict.fromkeys(range(8), 3))
    reports = ("--rankcheck-markdown=r.md", "--rankcheck-json=r.json", "--rankcheck-html=r.html")
    project.run(*reports, *workers).assert_outcomes(passed=1, failed=4)
    text = (project.path / "r.md").read_text("utf-8")
    assert "documents: see" not in text, "that is for the terminal"
    assert text.count("doc of query 0 (grade 2)  1 -> 3") == 2
    places = [
        text.index(part)
        for part in (
            "\n- 2 of 2 metrics regressed on golden set 'web'",
            "\n- AP regressed",
            "\n- P@1 has no baseline",
            "\n- rankings compared with their baseline: ",
            "\n```sh\n",
            "\n|  | metric | golden set |",
            "<details open>",
            "\n  locale=en (40 queries, regressed)   RR 1.0000 -> 0.8667   nDCG@10 1.0",
            "<details>",
        )
    ]
    assert workers or places == sorted(places)
    report = json.loads((project.path / "r.json").read_text("utf-8"))
    [remedy] = report["commands"]
    report_schema().validate(report)
    command = remedy["command"]
    assert text.count("```sh\n") == text.count(f"```sh\n{command}\n```") == 1
    assert command in html.unescape((project.path / "r.html").read_text("utf-8"))
    printed = {
        each["remedy"]["command"] for each in (*report["gates"], *report["notes"]) if each["remedy"]
    }
    assert len(printed) == 4
    assert all(one in text for one in printed)  # the full texts have them
    project.run(*typed(command)).assert_outcomes(passed=4)
    project.run().assert_outcomes(passed=5)


def test_what_cannot_be_approved_is_to_be_reproduced(regressed: Project) -> None:
    """A test that fails all the same writes nothing; an error of a test is listed first."""
    regressed.test(TESTS.replace("0.5)", "0.99)", 1) + "\ndef test_error(evaluation): 1 / 0\n")
    regressed.run("--rankcheck-markdown=r.md").assert_outcomes(failed=3)
    text = (regressed.path / "r.md").read_text("utf-8")
    assert text.splitlines()[2] == (
        "- tests/test_ranking.py::test_error: ZeroDivisionError: division by zero"
    )
    commands = re.findall("^(.*):\n\n```sh\n(.*)\n```$", text, re.MULTILINE)
    assert [purpose for purpose, _ in commands] == ["To approve", "To reproduce"]
    regressed.run(*typed(commands[0][1])).assert_outcomes(passed=1)
    regressed.run(*typed(commands[1][1])).assert_outcomes(passed=1, failed=2)


def test_without_the_extra_the_message_says_what_to_install(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_rankcheck.reports.report_formats.find_spec", lambda name: None)
    result = project.run("--rankcheck-html=r.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--rankcheck-html needs jinja2, which is not installed" in text_of(result)
    assert "pip install jinja2" in text_of(result)


def test_junit_takes_any_value_of_a_slice(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from pytest_rankcheck import GoldenSet, Run, assert_at_least, evaluate

        def test_floor():
            golden = GoldenSet.from_dict({"q": {"a": 1}}, attributes={"q": {"word": "\\ud800\\x07"}})
            run = Run.from_dict({"q": ["a"]})
            assert_at_least(evaluate(run, golden), "RR", 0.5, by="word", min_queries=1)
        """
    )
    pytester.runpytest("--junitxml=junit.xml").assert_outcomes(passed=1)
    names = [one.get("name") for one in ElementTree.parse("junit.xml").iter("property")]
    assert "rankcheck.golden set.RR[word=\\ud800\\x07]" in names


def test_junit_has_values_of_each_case(regressed: Project) -> None:
    regressed.run("--junitxml=junit.xml")
    cases = ElementTree.parse(regressed.path / "junit.xml").getroot().iter("testcase")
    floor, found = (
        {one.get("name"): one.get("value") for one in case.iterfind("properties/property")}
        for case in cases
    )
    expected = {
        "rankcheck.web.RR": "0.933333",
        "rankcheck.web.RR.baseline": "1.000000",
        "rankcheck.web.RR.verdict": "regressed",
        "rankcheck.web.RR[locale=de]": "1.000000",
        "rankcheck.web.RR[locale=de].verdict": "passed",
    }
    assert expected.items() <= found.items()
    assert floor["rankcheck.web.P@1"] == "0.900000"


def test_the_summary_of_a_github_step_has_the_markdown(
    regressed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = regressed.write("summary.md", "before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    regressed.run()
    assert summary.read_text("utf-8").startswith(
        "before\n## ❌ Ranking quality: 2 of 4 gates failed"
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


RAISES = "def search(text):\n    raise ValueError('no index')\n"
ENDINGS = [
    # What breaks, pytest's arguments, the exit status, what the title says, what the list says.
    ("engine.py", RAISES, [], 1, "no gate ran, but", "1 more: RankerError: the ranker"),
    pytest.param(
        *("engine.py", RAISES, ["-n", "2"], 1, "no gate ran, but", "1 more: RankerError: the"),
        marks=pytest.mark.slow,
    ),
    ("golden/web.jsonl", "{", [], 1, "no gate ran, but", "GoldenSetError: golden/web.jsonl:1:"),
    ("tests/test_x.py", "import x_y\n", [], 2, "no gate ran, but", "tests/test_x.py: Module"),
    ("tests/test_x.py", "def test_x(): assert 1 == 2\n", [], 1, "5 gates passed, but", "1 == 2"),
    ("x.txt", "", ["-k", "nothing"], 5, "no gate ran, but", "exit status 5 (no tests collected)"),
    ("x.txt", "", ["-k", "mrr", "--collect-only"], 0, "no gate ran", ""),
    ("x.txt", "", ["-k", "mrr", "-p", "no:terminal"], 0, "5 gates passed", ""),
]


@pytest.mark.parametrize(("file", "text", "arguments", "status", "title", "problem"), ENDINGS)
def test_a_report_is_green_only_if_the_session_was(
    project: Project,
    file: str,
    text: str,
    arguments: list[str],
    status: int,
    title: str,
    problem: str,
) -> None:
    """No report of an earlier session is left, whatever happens."""
    project.test(TESTS.replace("test_floor", "test_mrr_floor"))
    project.update()
    project.write("r.md", "✅")
    project.write("r.json", "old")
    project.write(file, text)
    reports = ["--rankcheck-markdown=r.md", "--rankcheck-json=r.json", "--rankcheck-html=r.html"]
    run = project.run if "-n" in arguments else project.pytester.runpytest_inprocess  # without -v
    result = run(*reports, *arguments)
    assert result.ret == status
    markdown = (project.path / "r.md").read_text("utf-8")
    report = json.loads((project.path / "r.json").read_text("utf-8"))
    report_schema().validate(report)
    is_green = status == 0 and "passed" in title
    assert markdown.startswith(f"## {'✅' if is_green else '❌'} Ranking quality: {title}")
    assert (report["outcome"], report["exit_status"]) == (
        "passed" if is_green else "failed",
        status,
    )
    assert problem in " ".join(report["problems"])
    page = (project.path / "r.html").read_text("utf-8")
    assert f"<title>{'Passed' if is_green else 'Failed'}" in page
    assert f'<p class="badge {"good" if is_green else "bad"}">{title}' in page


def test_a_failing_ranker_is_annotated(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.test("def test_mrr(evaluation): pass\n\ndef test_other(): assert 0\n")
    project.write("engine.py", RAISES)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines = [line for line in project.run().outlines if line.startswith("::error ")]
    assert [line.partition("%3A")[0] for line in lines] == [
        "::error file=tests/test_ranking.py,line=1,title=pytest_rankcheck.errors.RankerError"
    ]
