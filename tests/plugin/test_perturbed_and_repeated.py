"""Determinism, invariance and directions inside pytest, as the user sees them."""

from __future__ import annotations

import json

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

TESTS = """
import pytest
from pytest_rankcheck import assert_deterministic, assert_direction, assert_invariant

def noisy(text):
    return f"{text} lorem"

def test_deterministic(ranker, golden_set):
    assert_deterministic(ranker, golden_set, 2)

@pytest.mark.parametrize("perturbation", ["case", "white_space"])
def test_invariant(ranker, golden_set, perturbation):
    assert_invariant(ranker, golden_set, perturbation, min_rbo=0.9, max_drop=0.1)

def test_direction(ranker, golden_set):
    assert_direction(ranker, golden_set, noisy, "not_better")
"""
GOOD = """
def search(text):
    number = text.lower().split()[1]
    return ["filler-0", f"doc of query {number}"]
"""
BAD = """
import itertools

CALLS = itertools.count()

def search(text):
    number = text.lower().split()[1]
    found = [f"doc of query {number}", "filler-0"]
    if text == "query 7" and next(CALLS) in (1, 3, 5):
        return found
    if "lorem" in text:
        return found
    if text.startswith("QUERY"):
        raise ValueError("too loud")
    return found[::-1]
"""


@pytest.fixture
def project(project: Project) -> Project:
    project.golden(project.queries(12))
    project.test(TESTS)
    return project


@pytest.mark.parametrize("arguments", WITHOUT_AND_WITH_WORKERS)
def test_passed_checks_are_in_the_summary(project: Project, arguments: tuple[str, ...]) -> None:
    project.write("engine.py", GOOD)
    result = project.run(*arguments)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "determinism:",
            "  ranker 'search' on golden set 'web' (12 queries) is deterministic*",
        ]
    )
    result.stdout.fnmatch_lines(
        [
            "direction:",
            (
                "  perturbation 'noisy', ranker 'search' on golden set 'web' (12 queries): nDCG@10 of "
                "every query must not become better; nDCG@10 0.6309 -> 0.6309, +0.0000 over 12 judged "
                "queries"
            ),
        ]
    )
    result.stdout.fnmatch_lines(
        [
            "invariance:",
            (
                "  perturbation 'case', ranker 'search' on golden set 'web' (12 queries): 0 of 12 "
                "perturbed queries ranked differently, mean RBO 1.0000; nDCG@10 0.6309 -> 0.6309, "
                "+0.0000 over 12 judged queries"
            ),
        ]
    )


@pytest.mark.parametrize(
    "arguments",
    [(), ("--assert=plain",), pytest.param(("-n", "2", "--dist=loadfile"), marks=pytest.mark.slow)],
)
def test_failed_checks_are_reported_in_full(project: Project, arguments: tuple[str, ...]) -> None:
    project.write("engine.py", BAD)
    result = project.run(*arguments)
    result.assert_outcomes(failed=3, passed=1)
    result.stdout.fnmatch_lines(
        [
            (
                "E       AssertionError: ranker 'search' on golden set 'web' (12 queries) "
                "is not deterministic: asked again"
            ),
            "E         asked again          1 of 12 queries ranked differently (time 2)",
            'E           q007 "query 7"   time 2, RBO *, from rank 1 on',
            "E             first  1 filler-0   2 doc of query 7",
            "E             then   1 doc of query 7   2 filler-0",
        ]
    )
    result.stdout.fnmatch_lines(
        [
            (
                "E       AssertionError: perturbation 'case' changes the answers of ranker 'search' on "
                "golden set 'web' (12 queries) by more than allowed"
            ),
            (
                "E         the ranker fails on 12 perturbed queries: q000, q001, q002, q003, q004 and 7 "
                "more"
            ),
            'E           q000 "query 0" -> "QUERY 0"',
            "E             as it is   1 filler-0   2 doc of query 0",
            "E             perturbed  ValueError: too loud",
        ]
    )
    result.stdout.fnmatch_lines(
        [
            (
                "E       AssertionError: perturbation 'noisy' moves ranker 'search' on golden set 'web' "
                "(12 queries) in the wrong direction"
            ),
            "E         nDCG@10 of every query must not become better: 12 of 12 judged queries do",
        ]
    )
    assert text_of(result).count("  FAILED: ") == 3
    assert "pytest_rankcheck/assertions" not in text_of(result)


def test_the_json_report_has_the_whole_text(project: Project) -> None:
    project.write("engine.py", BAD)
    project.run("--rankcheck-json=report.json")
    report = json.loads((project.path / "report.json").read_text("utf-8"))
    headings = [note["heading"] for note in report["notes"] if note["failure"]]
    assert headings == ["determinism", "invariance", "direction"]
    assert report["outcome"] == "failed"


def test_a_broken_ranker_is_an_error_and_not_a_finding(project: Project) -> None:
    project.write("engine.py", "def search(text):\n    raise OSError('no index')\n")
    result = project.run()
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        ["*RankerError: the ranker failed on 12 of 12 queries, first on 'q000' \"query 0\"*"]
    )
    assert "FAILED: " not in text_of(result)
