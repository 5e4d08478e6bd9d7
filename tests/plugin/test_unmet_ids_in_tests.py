"""A test session whose ranker names documents in another way than the golden set."""

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

ENGINE_WITH_OTHER_IDS = """
def search(text):
    return [f"DOC OF {text.upper()}", "FILLER-0"]
"""

ASSERTIONS = """
from pytest_rankcheck import assert_at_least, assert_mrr_not_regressed, assert_ranking_stable

def test_floor(evaluation):
    assert_at_least(evaluation, "nDCG@10", 0.0)

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)

def test_stable(evaluation, baseline):
    assert_ranking_stable(evaluation, baseline)

def test_stable_without_judgments(ranking_run, baseline):
    assert_ranking_stable(ranking_run, baseline)
"""


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_assertions_and_updates_fail_and_write_nothing(
    project: Project, workers: tuple[str, ...]
) -> None:
    project.test(ASSERTIONS)
    project.write("engine.py", ENGINE_WITH_OTHER_IDS)
    for arguments in ((), ("--snapshot-update",)):
        result = project.run(*arguments, *workers)
        # Without --snapshot-update, the last test has no baseline yet.
        result.assert_outcomes(failed=3 + (not arguments), passed=bool(arguments))
        text = text_of(result)
        assert (
            "no ranked document is judged in any of the 80 queries with a relevant judgment" in text
        )
        assert "ranked: DOC OF QUERY 0, DOC OF QUERY 1, DOC OF QUERY 2" in text
        assert 'rankcheck_doc_id = ["lower"]' in text
    assert not project.baseline_file().exists()
    assert not project.baseline_file("test_stable").exists()
    assert project.baseline_file("test_stable_without_judgments").exists()
