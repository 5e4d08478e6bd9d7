"""``pytest --rankcheck-lint``: one test per golden set."""

from pathlib import Path

import pytest
from project import FLOOR_TEST

from pytest_rankcheck import GoldenSet, Run
from pytest_rankcheck.golden.lint.linter import findings_of
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.reports.text.measurement_notes import evaluation_notes

INI = """
[tool.pytest.ini_options]
rankcheck_golden = "golden/web.qrels golden/mobile.jsonl"
rankcheck_lint = ["scale=0..3"]
"""
MOBILE = '{"query_id": "m", "query": "shoes", "relevance": {"a": 2, "b": 0}}\n'


@pytest.fixture
def golden(pytester: pytest.Pytester) -> Path:
    pytester.makefile(".toml", pyproject=INI)
    folder = pytester.mkdir("golden")
    (folder / "web.qrels").write_text("q 0 a 1\nq 0 a 2\nq 0 b 0\n")
    (folder / "mobile.jsonl").write_text(MOBILE)
    return folder


def test_errors_fail_and_warnings_are_shown(pytester: pytest.Pytester, golden: Path) -> None:
    (golden / "mobile.jsonl").write_text(MOBILE.replace("2", "0"))
    result = pytester.runpytest("--rankcheck-lint", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "golden/web.qrels::lint FAILED*",
            "golden/mobile.jsonl::lint PASSED*",
            "*lint of golden set web.qrels*",
            "golden set 'web' (1 query): 1 error, 1 warning",
            "  contradictory-judgment (error): golden?web.qrels:2",
            "    1 judgment contradicts another: *",
            "lint of golden set 'mobile':",
            "  warning no-relevant: 1 query without a relevant document: m*mobile.jsonl:1)",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "lint_items.py" not in result.stdout.str()


def test_what_becomes_of_queries_that_cannot_score_is_said_as_the_convention_has_it() -> None:
    """By the linter and in the summary of any session."""
    golden = GoldenSet.from_dict({"m": {"a": 2, "b": 0}, "n": {"a": 0}}, {"m": "red", "n": "hat"})
    for value, fate in (
        ("zero", "They score 0 in all metrics but GAUC, whatever the ranker does"),
        ("exclude", "They are left out of every mean"),
    ):
        inputs = Inputs(Config(conventions={"no_relevant": value}))
        evaluation = inputs.evaluation(Run.from_dict({"m": ["a"], "n": ["a"]}), golden)
        found = {one.rule: one.message for one in findings_of(golden, inputs.lint_options())}
        said = f"1 query without a relevant document: n. {fate}; find a relevant document, or"
        assert said in found["no-relevant"]
        assert any(said in note.text for note in evaluation_notes(evaluation))
        assert ("ceiling" in found) is (value == "zero")


def test_a_corpus_is_configured_or_given(pytester: pytest.Pytester, golden: Path) -> None:
    (golden / "web.qrels").write_text("q 0 a 1\nq 0 b 0\n")
    (pytester.path / "stock.txt").write_text("doc_id\nA\nb\n")
    pytester.runpytest("--rankcheck-lint").assert_outcomes(passed=2)
    result = pytester.runpytest("--rankcheck-lint", "--rankcheck-documents=stock.txt")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "  misspelt-id (error): golden/web.qrels:1",
            "    1 of 2 judged or expected documents is not*",
        ]
    )
    pytester.makefile(".toml", pyproject=INI + 'rankcheck_documents = "none.txt"\n')
    pytester.runpytest("--rankcheck-lint").stdout.fnmatch_lines(
        ["*documents: *none.txt does not exist; correct rankcheck_documents*"]
    )


def test_lint_items_are_collected_and_selected_like_tests(
    pytester: pytest.Pytester, golden: Path
) -> None:
    pytester.makepyfile("def test_other(): pass")
    pytester.runpytest().assert_outcomes(passed=1)
    pytester.runpytest("--rankcheck-lint").assert_outcomes(passed=2, failed=1)
    pytester.runpytest("--rankcheck-lint", "-k", "mobile").assert_outcomes(passed=1, deselected=2)
    pytester.runpytest("--rankcheck-lint", "-x").assert_outcomes(passed=1, failed=1)
    result = pytester.runpytest("--rankcheck-lint", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["golden/web.qrels::lint", "golden/mobile.jsonl::lint"])


def test_a_file_that_cannot_be_read_is_a_failure_without_a_traceback(
    pytester: pytest.Pytester, golden: Path
) -> None:
    (golden / "web.qrels").write_text("q 0 b 1\nq 0 a\n")
    result = pytester.runpytest("--rankcheck-lint")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*web.qrels:2: 3 columns, not 4: 'q 0 a'*"])
    assert "Traceback" not in result.stdout.str()


def test_reversed_grades_are_a_warning_of_every_session(pytester: pytest.Pytester) -> None:
    """In a quiet session too; and the remedy that it names silences it."""
    ini = '[tool.pytest.ini_options]\nrankcheck_golden = "codes.qrels"\nrankcheck_run = "r.csv"\n'
    pytester.makefile(".toml", pyproject=ini)
    grades = [1] * 3 + [2] * 7 + [3] * 15
    lines = [f"q 0 d{place} {grade}\n" for place, grade in enumerate(grades)]
    (pytester.path / "codes.qrels").write_text("".join(lines))
    pytester.makefile(".csv", r="query_id,doc_id,score\nq,d20,1\n")
    pytester.makepyfile(FLOOR_TEST)
    found = (
        "warning: means that may mislead: golden set 'codes': no grade is 0, and the lowest "
        "positive grade is the rarest: 1 (3), 2 (7), 3 (15)"
    )
    result = pytester.runpytest("-q")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"{found}*"])
    pytester.makefile(".toml", pyproject=f'{ini}rankcheck_lint = ["reversed-grades=ignore"]\n')
    result = pytester.runpytest("-v")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*no grade is 0*")
