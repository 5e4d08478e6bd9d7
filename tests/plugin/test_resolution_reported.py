"""``--rankcheck-resolution`` and the linter: the resolution of a golden set in every report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt
from project import CONFIGURATION, Project, text_of

import pytest_rankcheck.reports.report_data as report_module

SCHEMA = json.loads(Path(report_module.__file__).with_name("report.schema.json").read_text("utf-8"))
TESTS = """
from pytest_rankcheck import assert_at_least

def test_rr(evaluation):
    assert_at_least(evaluation, "RR", 0.1)

def test_ap(evaluation):
    assert_at_least(evaluation, "AP", 0.1)
"""
REPORTS = ("--rankcheck-json=r.json", "--rankcheck-markdown=r.md")
HEADING = "what golden set 'web' can see (run 'search': 960 swaps of neighbours, 120 of different "
LOSSES = "grades; 80 losses of relevant documents):"


@pytest.fixture
def measured(project: Project) -> Project:
    """80 queries with 13 documents each; the relevant one is at rank 1, for forty of them at rank 3.

    There are twelve swaps per query. One has different grades if the relevant document is first,
    two if it is third: 120 in all. RR and AP see all of these. A swap at rank 1 changes the value
    from 1 to 1/2; one at rank 3 changes it to 1/2 or 1/4, so the smallest step is 1/12, and that of
    the mean 1/960. RR is at its ceiling on the forty queries with rank 1.
    """
    project.write("pyproject.toml", CONFIGURATION + 'rankcheck_metrics = ["Success@1"]\n')
    project.rank(dict.fromkeys(range(40), 3))
    project.test(TESTS)
    return project


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "1"), marks=pytest.mark.slow)])
def test_the_resolution_is_shown_once_with_the_metrics_of_all_tests(
    measured: Project, workers: tuple[str, ...]
) -> None:
    pytest.importorskip("xdist")
    result = measured.run("--rankcheck-resolution", *REPORTS, *workers)
    result.assert_outcomes(passed=2)
    with_option = text_of(result)
    assert with_option.count("what golden set 'web' can see") == 1
    result.stdout.fnmatch_lines(
        [
            f"{HEADING}{LOSSES}",
            "  metric * swaps seen  of different grades  losses seen  sight of order *",
            # 40 queries, where the first is exchanged with the second; only there is it lost.
            "  Success@1 * 4.2% * 33.3% * 50.0% * 1 * 0.013 * 50.0% * 50.0% * 0.0%  RR (tau 1.00)",
            "  RR * 12.5% * 100.0% * 100.0% * 0.083 * 0.001 * 50.0% * 0.0% * 0.0%  Success@1 (tau *",
            "  AP * 12.5% * 100.0% *",
            "  - gate on RR: it shows a worse order as clearly as any of these; it sees 100.0% of *",
            "  - consider R@10 beside it: it is not among these metrics, but lost documents *",
            "  - Success@1 adds little: it orders the queries as RR does (tau 1.00)",
        ]
    )
    report = json.loads((measured.path / "r.json").read_text("utf-8"))
    jsonschema.validate(report, SCHEMA)
    [one] = report["resolutions"]
    assert (one["swaps"], one["telling"], one["losses"], one["queries"]) == (960, 120, 80, 80)
    assert (one["depth"], one["gated"]) == (None, ["RR"])
    # Forty losses cost RR 1, forty 1/3. Swaps change it by 1/2, or by 1/6 and 1/12.
    mean, squares = (1 + 1 / 3) / 2, (1 + 1 / 9) / 2
    variance = (1 / 4 + 1 / 36 + 1 / 144) / 2 / 2
    sight = mean**2 / (squares + variance)
    assert one["metrics"]["RR"]["sight_of_losses"] == pytest.approx(sight, abs=1e-6)
    assert one["metrics"]["RR"]["step"] == pytest.approx(1 / 12, abs=1e-6)
    assert one["metrics"]["RR"]["step_of_mean"] == pytest.approx(1 / 960, abs=1e-8)
    assert one["agreement"]["RR"] == {"Success@1": 1, "RR": 1, "AP": 1}
    assert one["rankings"] in {found["rankings"] for found in report["measurements"]}
    markdown = (measured.path / "r.md").read_text("utf-8")
    html = MarkdownIt("gfm-like", {"linkify": False}).render(markdown)
    assert "<td>12.5%</td>" in html
    assert (
        "<li>gate on RR: it shows a worse order as clearly as any of these; it sees 100.0%" in html
    )


def test_without_the_option_no_resolution_is_shown(measured: Project) -> None:
    result = measured.run(*REPORTS)
    assert "can see" not in text_of(result)
    report = json.loads((measured.path / "r.json").read_text("utf-8"))
    jsonschema.validate(report, SCHEMA)
    assert report["resolutions"] == []


def test_the_html_report_shows_the_resolution(measured: Project) -> None:
    pytest.importorskip("jinja2")
    measured.run("--rankcheck-html=without.html")
    measured.run("--rankcheck-resolution", "--rankcheck-html=with.html")
    without, with_option = (
        (measured.path / name).read_text("utf-8") for name in ("without.html", "with.html")
    )
    assert 'id="resolution"' not in without
    assert '<a href="#resolution">' not in without
    section = with_option.partition('<section id="resolution"')[2].partition("</section>")[0]
    assert "960 swaps of neighbours, 120 of different grades" in section
    assert '<td>RR</td><td class="number">12.5%</td><td class="number">100.0%</td>' in section
    assert (
        "<li>gate on RR: it shows a worse order as clearly as any of these; it sees 100.0%"
        in section
    )


def test_the_advice_says_which_metrics_it_does_not_compare(measured: Project) -> None:
    metrics = ["SessionRR(abandoned=zero)"]
    measured.write("pyproject.toml", CONFIGURATION + f"rankcheck_metrics = {json.dumps(metrics)}\n")
    measured.run("--rankcheck-resolution").stdout.fnmatch_lines(
        ["  - not compared: SessionRR(abandoned=zero); only metrics that rankcheck computes *"]
    )


@pytest.mark.oracle
def test_metrics_without_a_resolution_are_left_out(measured: Project) -> None:
    pytest.importorskip("ir_measures")
    metrics = ["ir_measures:nDCG@5", "SessionRR(abandoned=zero)"]
    measured.write("pyproject.toml", CONFIGURATION + f"rankcheck_metrics = {json.dumps(metrics)}\n")
    result = measured.run("--rankcheck-resolution", *REPORTS)
    result.assert_outcomes(passed=2)
    report = json.loads((measured.path / "r.json").read_text("utf-8"))
    assert list(report["resolutions"][0]["metrics"]) == ["RR", "AP"]
    last = report["resolutions"][0]["recommendation"][-1]
    assert last.startswith("not compared: ")
    assert "SessionRR(abandoned=zero)" in last


def test_the_linter_uses_the_given_run(measured: Project) -> None:
    measured.run("--rankcheck-save-run=runs").assert_outcomes(passed=2)
    for place in ("runs", "runs/web.jsonl"):
        result = measured.run("--rankcheck-lint", f"--rankcheck-run={place}", "golden")
        result.stdout.fnmatch_lines(
            [
                "what golden set 'web' can see (run 'web.jsonl': 960 swaps of neighbours, 120 of *):",
                "  Success@1 * 4.2% * 33.3% *",
                "  - at the floor, so it does not show what gets worse there: Success@1 (50%*",
            ]
        )


def test_without_a_run_the_linter_uses_ideal_rankings(measured: Project) -> None:
    measured.write("pyproject.toml", CONFIGURATION)
    result = measured.run("--rankcheck-lint", "golden")
    # Ideal: the document of grade 2 and that of grade 0, in each of 80 queries.
    result.stdout.fnmatch_lines(
        [
            "what golden set 'web' can see (its ideal rankings, no run: 80 swaps of neighbours at *",
            "  metric * swaps seen *",
            "  nDCG@10  * 100.0% * 100.0% * 100.0% * 100.0% * 0.0% * 0.0%  -",
            "  RR * 100.0% *",
            "  - gate on nDCG@10: it shows a worse order at ranks 1 to 10 as clearly as any of these; *",
        ]
    )


def test_a_run_of_another_set_does_not_fail_the_linter(measured: Project) -> None:
    run = measured.write("other.run", "elsewhere Q0 d 1 1.0 x\n")
    result = measured.run("--rankcheck-lint", f"--rankcheck-run={run}", "golden")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["what golden set 'web' can see:", "  unknown, because the run cannot be measured: *"]
    )
