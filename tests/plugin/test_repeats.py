"""Repeated tests settle their baseline once, at the end, on the least favourable result."""

from __future__ import annotations

import pytest
from project import MAIN, NEEDS_GIT, Project, git, text_of

pytestmark = NEEDS_GIT

REPEAT = """
import pytest

@pytest.fixture
def __pytest_repeat_step_number(request):
    return request.param

def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("__pytest_repeat_step_number")
    metafunc.parametrize(
        "__pytest_repeat_step_number", range({count}), indirect=True,
        ids=[f"{{step + 1}}-{count}" for step in range({count})],
    )
"""
TEST = """
from pytest_rankcheck import Run, assert_mrr_not_regressed, evaluate

FALLEN = {fallen}

def test_mrr(golden_set, baseline, __pytest_repeat_step_number):
    fallen = FALLEN[__pytest_repeat_step_number]
    run = {{
        query.id: ["filler-0", f"doc of {{query.text}}"][:: -1 if number >= fallen else 1]
        for number, query in enumerate(golden_set)
    }}
    assert_mrr_not_regressed(evaluate(Run.from_dict(run), golden_set), baseline, abs=0.1)
"""


def repeated(project: Project, *fallen: int) -> None:
    """Write a test that gets some queries wrong in each repeat."""
    project.write("conftest.py", REPEAT.format(count=len(fallen)))
    project.test(TEST.format(fallen=list(fallen)))


def test_the_least_favourable_result_is_recorded(project: Project) -> None:
    repeated(project, 4, 8, 0)
    project.run("--snapshot-update").assert_outcomes(passed=3)
    assert project.record()["metrics"]["RR"]["mean"] == 0.95
    assert [path.name for path in project.baseline_file().parent.iterdir()] == [
        "test_mrr--web.json"
    ]
    repeated(project, 0, 4, 4)
    result = project.run("--snapshot-update")
    assert project.record()["metrics"]["RR"]["mean"] == 0.975
    assert text_of(result).count("raised: RR") == 1


def test_one_lower_repeat_keeps_the_record(project: Project) -> None:
    repeated(project, 4, 4)
    before = project.update()
    repeated(project, 0, 5)
    project.run("--snapshot-update").assert_outcomes(passed=2)
    assert project.baseline_file().read_bytes() == before


@pytest.mark.parametrize("fallen", [(0, 40), (40, 0)])
def test_one_refused_repeat_writes_nothing(project: Project, fallen: tuple[int, int]) -> None:
    repeated(project, 4, 4)
    before = project.update()
    repeated(project, *fallen)
    project.run("--snapshot-update").assert_outcomes(passed=1, failed=1)
    assert project.baseline_file().read_bytes() == before


def test_the_gate_of_repeats_ran(project: Project) -> None:
    repeated(project, 4, 4)
    project.update()
    git(project.path, "init", "-q", "-b", "main")
    git(project.path, "add", "golden", "tests", "engine.py", "pyproject.toml")
    git(project.path, "commit", "-q", "-m", "main")
    result = project.run(*MAIN)
    assert result.ret == 0
    assert "did not run" not in text_of(result)


@pytest.mark.slow
def test_workers_do_not_update_repeats(project: Project) -> None:
    pytest.importorskip("xdist")
    repeated(project, 4, 4)
    result = project.run("-n", "2", "--snapshot-update")
    assert result.ret == 1
    assert "the baseline of a repeated test is written once" in text_of(result)
    assert not project.baseline_file().exists()
    project.update()
    result = project.run("-n", "2")
    assert result.ret == 0
    assert "did not run" not in text_of(result)
