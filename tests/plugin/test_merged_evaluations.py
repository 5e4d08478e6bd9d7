"""A fixture may return an evaluation that a cluster made: gates, baselines and reports take it."""

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project

CONFTEST = """
import pytest
from pytest_rankcheck import Evaluation, Run, evaluate_part, rank

@pytest.fixture(scope="session")
def evaluation(ranker, golden_set):
    run = rank(ranker, golden_set, depth=100)
    queries = list(run)
    parts = [
        evaluate_part(
            Run.from_dict({query: run[query] for query in queries[number::4]}, depth=100), golden_set
        )
        for number in range(4)
    ]
    return Evaluation.merge(parts, golden_set, expected=4, name="night")
"""
TEST = """
from pytest_rankcheck import assert_at_least, assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR@10", abs=0.01, by="locale")
    assert_at_least(evaluation, "Success@10", 0.5)
"""


@pytest.fixture
def merged(project: Project) -> Project:
    """A project whose fixture merges four parts."""
    project.write("conftest.py", CONFTEST)
    project.test(TEST)
    return project


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_a_merged_evaluation_is_gated_like_any_other(
    merged: Project, workers: tuple[str, ...]
) -> None:
    record = merged.update()
    passed = merged.run(*workers)
    passed.assert_outcomes(passed=1)
    passed.stdout.fnmatch_lines(["*tied scores were not looked for, because run 'night' is *"])
    merged.rank(dict.fromkeys(range(40, 80), 5))
    failed = merged.run(*workers, "--rankcheck-html", "report.html")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*RR@10 regressed on golden set 'web' (80 queries)*"])
    failed.stdout.fnmatch_lines(["*doc of query *(grade 2)*1 -> 5*"])
    assert "night" in (merged.path / "report.html").read_text("utf-8")
    assert merged.baseline_file().read_bytes() == record
