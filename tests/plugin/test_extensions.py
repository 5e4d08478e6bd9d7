"""``pytest_rankcheck_register``: what another package can add without a fork.

Every test runs pytest in a process of its own, because registrations last as long as their process.
"""

import subprocess
import sys

import pytest
from project import Project, text_of

EXTENSION = '''
import json

import numpy as np

from pytest_rankcheck import Gate, GoldenSet, Run


class Engine:
    """What a library of its own calls a search engine: it cannot be called."""

    def find(self, text):
        return ["doc-" + text.rpartition(" ")[2]]


def read_golden(path):
    judgments = json.loads(path.read_text().removeprefix("GOLDEN1"))
    return GoldenSet.from_dict(judgments, {query: f"text {query}" for query in judgments})


def read_run(path):
    lines = path.read_text().splitlines()[1:]
    return Run.from_dict({line.split()[0]: line.split()[1:] for line in lines})


def first_grade(hits, cutoff):
    """The grade of the first document."""
    return np.where(hits.ranks[:, 0] == 1, hits.grades[:, 0], 0.0)


def starts_with(word):
    return lambda path: path.is_file() and path.read_bytes().startswith(word)


def strict(least=0.0):
    return Gate.tolerance(abs=least)


def pytest_rankcheck_register(registry):
    registry.add_golden_format("golden1", read_golden, recognises=starts_with(b"GOLDEN1"))
    registry.add_run_format("run1", read_run, recognises=starts_with(b"RUN1"))
    registry.add_metric("FirstGrade", first_grade, range=(0.0, 10.0), at=None)
    registry.add_ranker_adapter(
        "engine", lambda ranker: isinstance(ranker, Engine), lambda engine: engine.find
    )
    registry.add_gate("strict", strict)
'''

TEST = """
from pytest_rankcheck import GoldenSet, Run, assert_at_least, assert_not_regressed

def test_ranker(evaluation):
    assert_at_least(evaluation, "FirstGrade", 2.0)

def test_gate(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "FirstGrade")

def test_run(golden_set):
    run = Run.load("a.run")
    assert list(run) == ["q1", "q2"]
    assert run["q1"] == ("doc-q1", "x")
"""


@pytest.fixture
def extended(project: Project) -> Project:
    """A project whose conftest registers one extension of each kind, and uses them."""
    project.write(
        "pyproject.toml",
        "[tool.pytest.ini_options]\n"
        'pythonpath = ["."]\n'
        'addopts = "-p extension"\n'
        'rankcheck_golden = "a.golden"\n'
        'rankcheck_ranker = "extension:Engine()"\n'
        'rankcheck_gate = ["strict(least=0.25)"]\n',
    )
    project.write("extension.py", EXTENSION)
    project.write("a.golden", 'GOLDEN1{"q1": {"doc-q1": 2}, "q2": {"doc-q2": 2}}')
    project.write("a.run", "RUN1\nq1 doc-q1 x\nq2 y doc-q2\n")
    project.test(TEST)
    return project


@pytest.mark.slow
def test_an_extension_adds_formats_a_metric_an_adapter_and_a_gate(extended: Project) -> None:
    extended.run_apart("--snapshot-update").assert_outcomes(passed=3)
    result = extended.run_apart()
    result.assert_outcomes(passed=3)
    assert "FirstGrade" in text_of(result)


def test_a_name_that_is_taken_is_a_usage_error(extended: Project) -> None:
    extended.write("extension.py", f'{EXTENSION}    registry.add_gate("significant", strict)\n')
    result = extended.run_apart()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "gate 'significant' of extension.strict has the" in text_of(result)


@pytest.mark.slow
def test_the_command_line_takes_extensions_from_an_imported_module(extended: Project) -> None:
    command = "compare a.run a.run --golden a.golden --metric FirstGrade --gate strict(least=0.1)"
    for options, code in ((["--import", "extension"], 0), ([], 2)):
        done = subprocess.run(
            [sys.executable, "-m", "pytest_rankcheck", *options, *command.split()],
            cwd=extended.path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
