"""In a test session: executors, chunks and resuming, as they are configured."""

import concurrent.futures.process  # or each run of pytest in this process would import it anew
import json
import multiprocessing.popen_spawn_posix
import os

import pytest

from tests.project import FLOOR_TEST, Project

ENGINE = """
import os
from pathlib import Path

HERE = Path(__file__).parent


def note(text):
    with (HERE / "calls.log").open("a") as file:
        file.write(f"{os.getpid()} {text}\\n")


def search(text):
    note(text)
    if (HERE / "stop.log").exists() and text == (HERE / "stop.log").read_text():
        raise SystemExit("time limit")
    return [f"doc of {text}", "filler"]


class Engine:
    def __init__(self):
        note("made")
        self.weights = (HERE / "weights.log").read_text() if (HERE / "weights.log").exists() else ""

    def __call__(self, text):
        return search(text)


def make_pool():
    from concurrent.futures import ThreadPoolExecutor

    note("pool")
    return ThreadPoolExecutor(2)
"""

assert concurrent.futures.process
assert multiprocessing.popen_spawn_posix


@pytest.fixture
def elsewhere(project: Project) -> Project:
    project.golden(project.queries(12))
    project.write("engine.py", ENGINE)
    project.test(FLOOR_TEST)
    return project


def calls(project: Project) -> list[list[str]]:
    file = project.path / "calls.log"
    return [line.split(maxsplit=1) for line in file.read_text().splitlines()]


def asked(project: Project) -> list[str]:
    return [text for _, text in calls(project) if text not in ("made", "pool")]


def configure(project: Project, *lines: str) -> None:
    file = project.path / "pyproject.toml"
    project.write("pyproject.toml", "\n".join([file.read_text(), *lines]))


def test_a_configured_executor_ranks_in_other_processes(elsewhere: Project) -> None:
    """The ranker is made once in each, and not in the process of the tests."""
    configure(elsewhere, 'rankcheck_executor = "processes:2"', "rankcheck_chunk = 2")
    elsewhere.run("--rankcheck-ranker", "engine:Engine()").assert_outcomes(passed=1)
    made = [process for process, text in calls(elsewhere) if text == "made"]
    assert 1 <= len(made) <= 2
    assert str(os.getpid()) not in made
    assert len(asked(elsewhere)) == 12


def test_an_executor_can_be_made_by_a_function_of_the_project(elsewhere: Project) -> None:
    elsewhere.run("--rankcheck-executor", "engine:make_pool").assert_outcomes(passed=1)
    assert [text for _, text in calls(elsewhere)].count("pool") == 1
    assert len(asked(elsewhere)) == 12


def kept(project: Project) -> list[str]:
    """Return the queries with a kept answer."""
    files = (project.path / "parts").rglob("answers.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()[1:]]
    return [line["query"] for line in lines]


def test_a_session_that_was_stopped_continues(elsewhere: Project) -> None:
    (elsewhere.path / "stop.log").write_text("query 7")
    resume = ("--rankcheck-resume", "parts", "--rankcheck-resume-key=k")
    elsewhere.run(*resume)
    (elsewhere.path / "stop.log").unlink()
    before, done = len(asked(elsewhere)), len(kept(elsewhere))
    assert 0 < done < 12
    result = elsewhere.run(*resume)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [f"*golden set 'web': {done} of 12 queries were ranked before (* UTC on) and read from*"]
    )
    assert len(asked(elsewhere)) - before == 12 - done
    assert not (elsewhere.path / "parts" / "web").exists()
