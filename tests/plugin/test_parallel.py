"""pytest-xdist: the ranker runs once for all workers, and results reach the controller."""

from __future__ import annotations

import pytest
from project import Project, text_of

COUNTING_ENGINE = '''
import os, time
from pathlib import Path

CALLS = Path(__file__).parent / "calls"

def search(text):
    """Rank, and leave a file a call."""
    CALLS.mkdir(exist_ok=True)
    (CALLS / f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return [f"doc of {text}"]

class Other:
    def search(self, text):
        return ["filler-0", *search(text)]
'''

MANY_TESTS = """
import pytest
from pytest_rankcheck import assert_mrr_not_regressed, assert_ndcg_at_least

@pytest.mark.parametrize("part", range(6))
def test_mrr(evaluation, baseline, part):
    assert_mrr_not_regressed(evaluation, baseline)

def test_floor(evaluation):
    assert_ndcg_at_least(evaluation, 0.5, k=10)
"""


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["load", "worksteal", "loadfile", "each"])
def test_the_ranker_runs_once_for_all_workers(project: Project, distribution: str) -> None:
    project.write("engine.py", COUNTING_ENGINE)
    project.test(MANY_TESTS)
    arguments = ["-n", "2", "--dist", distribution]
    if distribution == "each":
        arguments = ["--tx", "2*popen", "--dist", "each"]
    result = project.run(*arguments, "--snapshot-update")
    assert result.ret == 0, text_of(result)
    assert len(list((project.path / "calls").iterdir())) == 80
    assert len(list(project.baseline_file().parent.glob("*.json"))) == 6


@pytest.mark.slow
def test_the_summary_of_all_workers_is_one_table(project: Project) -> None:
    project.test(MANY_TESTS)
    assert project.run("-n", "2", "--snapshot-update").ret == 0
    result = project.run("-n", "2")
    result.assert_outcomes(passed=7)
    text = text_of(result)
    assert text.count("web         RR") == 6
    assert text.count("web         nDCG@10") == 1


SHARED = MANY_TESTS.replace('"part", range(6)', '"golden_set", SETS, indirect=True, ids=["a", "b"]')


@pytest.mark.slow
def test_two_workers_do_not_each_accept_one_baseline_of_two_tests(project: Project) -> None:
    for folder in "ab":
        project.golden(project.queries(), f"{folder}/web.jsonl")
    project.test(
        SHARED.replace("part)", "golden_set)").replace("SETS", '["a/web.jsonl", "b/web.jsonl"]')
    )
    for arguments in (["--snapshot-update"], []):
        result = project.run("-n", "2", *arguments)
        assert result.ret == 1, text_of(result)
        both = "tests/test_ranking.py::test_mrr[[]a] and tests/test_ranking.py::test_mrr[[]b]"
        result.stdout.fnmatch_lines([f"*{both} have the same baseline*"])


@pytest.mark.slow
def test_a_regression_and_its_refusal_are_the_same_with_workers(project: Project) -> None:
    project.test()
    before = project.update()
    project.rank({0: 4, 1: 4})
    for arguments in ((), ("--snapshot-update",)):
        result = project.run("-n", "2", *arguments)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            ["*RR regressed on golden set*", '*q000 "query 0"   1.000 -> 0.250']
        )
        assert project.baseline_file().read_bytes() == before
    done = project.run("-n", "2", "--snapshot-update", "--rankcheck-approve", "why")
    done.assert_outcomes(passed=1)
    assert project.record()["approvals"][0]["reason"] == "why"


@pytest.mark.slow
def test_a_failing_ranker_fails_the_tests_of_every_worker(project: Project) -> None:
    project.write("engine.py", "def search(text):\n    raise ValueError('no index')\n")
    project.test(MANY_TESTS)
    result = project.run("-n", "2")
    result.assert_outcomes(errors=7)
    result.stdout.fnmatch_lines(["*failed on 80 of 80 queries, first on 'q000' \"query 0\"*"])
