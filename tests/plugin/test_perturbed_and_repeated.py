"""Determinism and invariance inside pytest, as the user sees them."""

import pytest
from project import Project, text_of

TESTS = """
import pytest
from pytest_rankcheck import assert_deterministic, assert_invariant

def test_deterministic(ranker, golden_set):
    assert_deterministic(ranker, golden_set, 2)

@pytest.mark.parametrize("perturbation", ["case", "white_space"])
def test_invariant(ranker, golden_set, perturbation):
    assert_invariant(ranker, golden_set, perturbation, min_rbo=0.9, max_drop=0.1)
"""
BAD = """
import itertools

CALLS = itertools.count()

def search(text):
    number = text.lower().split()[1]
    found = [f"doc of query {number}", "filler-0"]
    if text == "query 7" and next(CALLS) == 1:
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


@pytest.mark.parametrize(
    "arguments",
    [(), ("--assert=plain",), pytest.param(("-n", "2", "--dist=loadfile"), marks=pytest.mark.slow)],
)
def test_failed_checks_are_reported_in_full(project: Project, arguments: tuple[str, ...]) -> None:
    project.write("engine.py", BAD)
    result = project.run(*arguments)
    result.assert_outcomes(failed=2, passed=1)
    for text in (
        "ranker 'search' on golden set 'web' (12 queries) is not deterministic: asked again",
        "perturbation 'case' changes the answers of ranker 'search' on golden set 'web' (12 queries)",
    ):
        assert f"E       AssertionError: {text}" in text_of(result)
    assert text_of(result).count("  FAILED: ") == 2
    assert "pytest_rankcheck/assertions" not in text_of(result)
