"""The failure text of gates, and the terminal summary."""

from __future__ import annotations

import subprocess
import sys

import pytest
from project import Project, text_of

SLICES = """
from pytest_rankcheck import Gate, assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", by="locale", gate=Gate.tolerance(abs=0.02{more}))
"""


def test_a_collapsed_slice_is_reported_first(project: Project) -> None:
    project.test(SLICES.format(more=""))
    project.rank(dict.fromkeys(range(40), 2))
    before = project.update()
    project.rank(dict.fromkeys(range(60, 80), 2))  # English wins, German loses
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*RR regressed in locale=de of golden set 'web' (40 queries): 1.0000 -> 0.7500, -0.2500*",
            "*20 queries worse, 0 better, 20 equal",
            "*all 80 queries: 0.7500 -> 0.8750, +0.1250",
            "*slices, worst first",
            "*locale=de  1.0000 -> 0.7500, -0.2500 (40 queries, regressed, allowed -0.0200)",
            "*locale=en  0.5000 -> 1.0000, +0.5000 (40 queries)",
        ]
    )
    assert project.baseline_file().read_bytes() == before


def test_queries_that_are_not_shown_are_counted(project: Project) -> None:
    project.test(SLICES.format(more=""))
    project.update()
    for lost, text in ((6, "and 1 more query that is worse"), (7, "and 2 more queries that are")):
        project.rank(dict.fromkeys(range(lost), 4))
        result = project.run("--rankcheck-markdown=report.md")
        assert text in text_of(result)
        assert text in (project.path / "report.md").read_text("utf-8")
    project.rank(dict.fromkeys(range(11), 4))
    project.run("--rankcheck-markdown=report.md")
    assert "_and 1 more query that is worse_" in (project.path / "report.md").read_text("utf-8")


def test_two_queries_are_told_no_fall_that_is_impossible(project: Project) -> None:
    """RR ranges from 0 to 1, and the t-test would need a fall of 1.99 for a power of 80%."""
    project.golden(project.queries(2))
    project.test(SLICES.format(more="").replace("tolerance(abs=0.02", "noninferior(margin=0.02"))
    project.update()
    project.rank({0: 2})
    text = text_of(project.run())
    assert "a fall of 1.0000 is not ruled out" in text
    assert "with 2 queries, no possible fall has a power of 80%" in text
    assert "power is about 80%" not in text


def test_a_small_slice_is_reported_and_does_not_gate(project: Project) -> None:
    lines = project.queries()
    for line in lines[:10]:
        line["locale"] = "fr"
    project.golden(lines)
    project.test(SLICES.format(more=""))
    project.update()
    project.rank(dict.fromkeys(range(2), 2))
    project.run().assert_outcomes(passed=1)
    project.rank(dict.fromkeys(range(9), 2))
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*locale=fr * (10 queries, fewer than 30: not gated)"])


def test_a_single_query_that_falls_too_far_fails(project: Project) -> None:
    project.test(SLICES.format(more=", max_query_drop=0.6"))
    project.update()
    project.rank({7: 2})
    project.run().assert_outcomes(passed=1)
    project.rank({7: 4})
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*RR of 1 query fell by more than max_query_drop=0.6 on golden set 'web'*",
            '*q007 "query 7"   1.000 -> 0.250',
        ]
    )


def test_new_unjudged_documents_are_counted(project: Project) -> None:
    project.test()
    project.update()
    project.write(
        "engine.py",
        "def search(text):\n    return ['never seen', 'nor this', f'doc of {text}']\n",
    )
    result = project.run()
    result.stdout.fnmatch_lines(
        [
            "*never seen (unjudged)  - -> 1*",
            "*160 documents new in the top 10 and 640 that left it are unjudged*0.200 -> 0.100",
            "*if all were irrelevant, the difference would be -0.6667; if the new had grade 2, +0.0000",
        ]
    )
    result.stdout.no_fnmatch_line("*the fall would vanish*")  # the record knows only the old top 10


BOUNDS = """
from pytest_rankcheck import assert_at_least, assert_at_most, assert_ndcg_at_least

def test_floor(evaluation):
    assert_ndcg_at_least(evaluation, 0.9, k=10, by="locale")

def test_ceiling(evaluation):
    assert_at_most(evaluation, "P@5", 0.1)

def test_sure(evaluation):
    assert_at_least(evaluation, "RR", 0.9, confidence=0.95)
"""


def test_bounds_name_slices_queries_and_where_the_relevant_documents_are(project: Project) -> None:
    project.test(BOUNDS)
    project.rank(dict.fromkeys(range(20), 13))
    result = project.run()
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(
        [
            "*nDCG@10 is 0.7500 on golden set 'web' (80 queries); it must be at least 0.9000",
            "*locale=de  1.0000 (40 queries)",
            "*locale=en  0.5000 (40 queries, beyond the bound)",
            '*q000 "query 0"   0.000',
            "*doc of query 0 (grade 2) at 13      filler-0 (grade 0) at 1*",
            "*P@5 is 0.1500 on golden set 'web' (80 queries); it must be at most 0.1000",
            "*RR is 0.7692 (lower 95% bound 0.6*) on golden set*at least 0.9000 with 95% confidence",
        ]
    )


def test_a_floor_can_hold_overall_and_fail_in_a_slice(project: Project) -> None:
    project.test(BOUNDS)
    project.rank(dict.fromkeys(range(6), 13))
    result = project.run("-k", "floor")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*nDCG@10 is 0.8500 on locale=en of golden set 'web' (40 queries)*"]
    )


@pytest.mark.parametrize("flags", [("-O",), ()])
def test_assertions_survive_optimised_python(project: Project, flags: tuple[str, ...]) -> None:
    project.test()
    project.update()
    project.rank({0: 4, 1: 4})
    command = [sys.executable, *flags, "-m", "pytest", "--assert=plain", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "RR regressed on golden set 'web'" in done.stdout


def test_the_traceback_ends_at_the_users_line(project: Project) -> None:
    project.test()
    project.update()
    project.rank({0: 4, 1: 4})
    text = text_of(project.run())
    assert "tests/test_ranking.py:5: AssertionError" in text
    assert "pytest_rankcheck/assertions" not in text


def test_two_evaluations_can_be_compared_without_a_baseline_file(project: Project) -> None:
    project.test(
        """
from pytest_rankcheck import assert_not_regressed, evaluate, rank

def test_mrr(evaluation, golden_set):
    worse = evaluate(rank(lambda text: ["filler-0", f"doc of {text}"], golden_set), golden_set)
    assert_not_regressed(evaluation, worse, "RR")
    assert_not_regressed(worse, evaluation, "RR", abs=0.1)
"""
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*RR regressed on golden set 'web' (80 queries): 1.0000 -> 0.5000, -0.5000; allowed -0.1*"]
    )


def test_the_summary_has_a_row_for_each_metric_and_marks_ungated_ones(
    project: Project,
) -> None:
    configuration = (project.path / "pyproject.toml").read_text("utf-8")
    project.write("pyproject.toml", configuration + 'rankcheck_metrics = ["P@5", "R@10"]\n')
    project.test()
    project.update()
    assert project.record()["metrics"]["P@5"] == {
        "mean": 0.2,
        "gated": False,
        "best": 0.2,
        "noise": None,
        "counted": 80,
        "gate": None,
    }
    project.rank({0: 4, 1: 6})
    result = project.run()
    result.stdout.fnmatch_lines(
        [
            "golden set  metric  baseline     now   change  from best  verdict",
            "web         RR        1.0000  0.9802  -0.0198    -0.0198  FAILED: regressed",
            "web         P@5       0.2000  0.1975  -0.0025    -0.0025  not gated",
            "web         R@10      1.0000  1.0000  +0.0000    +0.0000  not gated",
        ]
    )


def test_the_summary_reports_missing_extra_and_hopeless_queries(project: Project) -> None:
    lines = project.queries()
    lines[5]["relevance"] = {"filler-0": 0}
    project.golden(lines)
    ranked = [f"q{index:03} Q0 d 1 1 tag\n" for index in range(2, 80)]
    project.write("part.run", "".join([*ranked, "another Q0 d 1 1 tag\n"]))
    project.test("def test_it(evaluation):\n    pass\n")
    result = project.run("--rankcheck-run", "part.run")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*1 query without a relevant document: q005.*",
            "*2 judged queries are not in the run and counted as empty rankings: q000, q001",
            "*1 query of the run has no judgments and was not measured: another",
        ]
    )


def test_results_are_in_the_reports_in_built_in_types(project: Project) -> None:
    project.test()
    project.update()
    project.write(
        "conftest.py",
        """
import json

def pytest_runtest_logreport(report):
    if report.when == "call":
        with open("properties.json", "w") as file:
            json.dump([report.rankcheck, report.user_properties], file)
""",
    )
    project.run().assert_outcomes(passed=1)
    text = (project.path / "properties.json").read_text("utf-8")
    assert '"metric": "RR", "now": 1.0, "baseline": 1.0, "best": 1.0, "verdict": "passed"' in text
    assert '["rankcheck.web.RR", "1.000000"], ["rankcheck.web.RR.baseline", "1.000000"]' in text


def test_a_failure_that_a_test_expects_is_not_in_the_summary(project: Project) -> None:
    project.test(
        """
import pytest
from pytest_rankcheck import assert_ndcg_at_least

def test_it(evaluation):
    with pytest.raises(AssertionError):
        assert_ndcg_at_least(evaluation, 1, k=10)
"""
    )
    project.rank({3: 5})
    result = project.run()
    result.assert_outcomes(passed=1)
    assert "FAILED" not in text_of(result)


def test_documents_with_titles_are_named_by_them(project: Project) -> None:
    rows = ["query_id,query,doc_id,relevance,title"]
    for number in range(80):
        rows.append(f"q{number:03},query {number},doc of query {number},2,Red\x1b[2J shoe {number}")
        rows.append(f"q{number:03},query {number},filler-0,0,")
    project.write("golden/web.jsonl", "\n".join(rows))
    project.test()
    project.update()
    project.rank({3: 5, 4: 5})
    text = text_of(project.run())
    assert r'doc of query 3 "Red\x1b[2J shoe 3" (grade 2)  1 -> 5' in text
    assert "filler-0 (grade 0)" in text
    project.test(
        "from pytest_rankcheck import assert_mrr_at_least\n\n"
        "def test_floor(evaluation):\n    assert_mrr_at_least(evaluation, 1)\n"
    )
    assert r'doc of query 3 "Red\x1b[2J shoe 3" (grade 2) at 5' in text_of(project.run())
