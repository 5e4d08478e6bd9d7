"""pytest-xdist: the ranker runs once for all workers, and results reach the controller."""

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
