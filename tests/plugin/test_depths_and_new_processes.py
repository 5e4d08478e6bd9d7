"""The depth that is asked for, and new processes of the configured ranker, inside pytest."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

SEARCH = """
ASKED = []

def search(text, k):
    '''Rank the relevant document first only if more than 20 are asked for.'''
    number = int(text.split()[1])
    found = [f"doc of {text}", *(f"filler-{n}" for n in range(30))]
    ASKED.append(k)
    return (found if k > 20 or number % 2 else [*found[1:], found[0]])[:k]
"""
SOUND = """
def search(text, k):
    return [f"doc of {text}", *(f"filler-{n}" for n in range(30))][:k]
"""
MEASURE = """
from pytest_rankcheck import assert_at_least

def test_ndcg(evaluation):
    assert_at_least(evaluation, "nDCG@10", 0.1)
    assert_at_least(evaluation, "RR", 0.1)
"""
CHECK = """
from pytest_rankcheck import assert_at_least, assert_consistent_depth

def test_ndcg(evaluation):
    assert_at_least(evaluation, "nDCG@10", 0.1)

def test_depth(ranker, golden_set):
    assert_consistent_depth(ranker, golden_set, (10, 100))
"""
WARNING = "warning: metrics of a ranker whose top depends on how many documents it is asked for:"


@pytest.fixture
def project(project: Project) -> Project:
    project.golden(project.queries(40))
    project.write("engine.py", SEARCH)
    project.test(MEASURE)
    return project


@pytest.mark.parametrize("arguments", WITHOUT_AND_WITH_WORKERS)
def test_the_option_asks_twenty_queries_again_and_warns(
    project: Project, arguments: tuple[str, ...]
) -> None:
    result = project.run("--rankcheck-check-depth=10", *arguments)
    result.assert_outcomes(passed=1)
    # Of the sample of 20 queries, those with an even number differ.
    result.stdout.fnmatch_lines(
        [
            WARNING,
            (
                "  golden set 'web': nDCG@10 was computed from rankings of depth 100; the "
                "top 10 of ranker 'search' differs when it is asked for 10 (* of 20 queries: q0*)"
            ),
        ]
    )
    counts = re.search(r"\((\d+) of 20 queries: .* and (\d+) more\)", text_of(result))
    assert counts is not None
    assert int(counts[1]) == 5 + int(counts[2])  # five are listed


def test_it_is_off_by_default_and_the_evaluation_never_asks_again(project: Project) -> None:
    project.test(MEASURE + "\n    import engine\n    assert engine.ASKED == [100] * 40\n")
    result = project.run()
    result.assert_outcomes(passed=1)
    assert "at the depths" not in text_of(result)
    assert WARNING not in text_of(result)


def test_the_option_in_the_configuration_asks_once_more(project: Project) -> None:
    file = project.path / "pyproject.toml"
    file.write_text(file.read_text() + 'rankcheck_check_depth = "10"\n')
    project.test(
        MEASURE + "\n    import engine\n    assert engine.ASKED == [100] * 40 + [10] * 20\n"
    )
    result = project.run()
    result.assert_outcomes(passed=1)
    assert WARNING in text_of(result)


def test_equal_tops_are_noted_without_a_warning(project: Project) -> None:
    project.write("engine.py", SOUND)
    result = project.run("--rankcheck-check-depth=10")
    text = text_of(result)
    assert WARNING not in text
    assert "golden set 'web': the top 10 of 20 queries is the same at the depths 10 and 100" in text


def test_a_ranker_that_does_not_take_the_depth_is_not_checked(project: Project) -> None:
    project.write("engine.py", "def search(text):\n    return [f'doc of {text}']\n")
    result = project.run("--rankcheck-check-depth=10")
    result.assert_outcomes(passed=1)
    assert "not checked: ranker 'search' does not take the depth" in text_of(result)


def test_a_larger_depth_can_also_be_requested(project: Project) -> None:
    file = project.path / "pyproject.toml"
    file.write_text(file.read_text() + "rankcheck_depth = 10\n")
    result = project.run("--rankcheck-check-depth=100")
    text = text_of(result)
    assert (
        "  golden set 'web': the top 10 of ranker 'search' differs between the depths 10 and"
        in (text)
    )
    assert "was computed" not in text  # nDCG@10 at depth 10 is what production has


@pytest.mark.parametrize("value", ["100", "-1", "ten"])
def test_an_invalid_depth_is_refused(project: Project, value: str) -> None:
    result = project.run(f"--rankcheck-check-depth={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR  # before anything is ranked
    text = text_of(result)
    assert (
        ("is the same as rankcheck_depth" in text)
        if value == "100"
        else ("whole number from 0 on" in text)
    )


@pytest.mark.parametrize("arguments", [*WITHOUT_AND_WITH_WORKERS, ("--assert=plain",)])
def test_the_assertion_fails_and_puts_metrics_in_doubt(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.test(CHECK)
    result = project.run(*arguments)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            (
                "E       AssertionError: ranker 'search' on golden set 'web' has a different top 10 when it "
                "is asked for 100 documents: 20 of 40 queries"
            ),
        ]
    )
    result.stdout.fnmatch_lines(
        [
            WARNING,
            (
                "  golden set 'web': nDCG@10 was computed from rankings of depth 100; the "
                "top 10 of ranker 'search' differs when it is asked for 10 (20 of 40 queries)"
            ),
        ]
    )


def test_a_run_from_a_file_is_not_put_in_doubt(project: Project) -> None:
    project.test(CHECK)
    assert project.run("--rankcheck-save-run=runs", "-k", "ndcg").ret == 0
    text = text_of(project.run("--rankcheck-run=runs"))
    assert WARNING in text
    assert "was computed" not in text


def test_the_reports_have_the_warning(project: Project) -> None:
    project.run("--rankcheck-check-depth=10", "--rankcheck-json=report.json")
    report = json.loads((project.path / "report.json").read_text("utf-8"))
    assert any(f"{note['heading']}:" == WARNING for note in report["notes"])


# --- new processes ---------------------------------------------------------------------------

DETERMINISTIC = """
from pytest_rankcheck import assert_deterministic

def test_deterministic(ranker, golden_set):
    assert_deterministic(ranker, golden_set, insensitive_to=["order", "fresh", "processes"])
"""
BY_HASH = """
import sys

def search(text):
    print("{}")
    return list({f"doc of {text}", "a", "b", "c", "d", "e"})
"""
CACHED = """
class Engine:
    def __init__(self):
        self.cache = {}

    def __call__(self, text):
        return self.cache.setdefault(text[-1], [f"doc of {text}", "filler-0"])

def make():
    return Engine()
"""


@pytest.mark.parametrize("arguments", WITHOUT_AND_WITH_WORKERS)
def test_the_configured_ranker_is_asked_in_new_processes(
    project: Project, arguments: tuple[str, ...]
) -> None:
    """Its module is found, because the processes have the path that ``pythonpath`` made."""
    project.write("engine.py", BY_HASH)
    project.test(DETERMINISTIC)
    result = project.run(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            (
                "E       AssertionError: ranker 'search' on golden set 'web' (40 queries) is not "
                "deterministic: new processes"
            ),
            "E         new instance         not checked: 'engine:search' is not a factory*",
            "E         new processes: the hash seed decides (PYTHONHASHSEED)*",
        ]
    )


@pytest.mark.parametrize("name", ["engine:make()", "engine:Engine()"])
def test_a_configured_factory_makes_a_new_instance(project: Project, name: str) -> None:
    project.write("engine.py", CACHED)
    project.test(DETERMINISTIC)
    result = project.run(f"--rankcheck-ranker={name}")
    result.stdout.fnmatch_lines(["*is not deterministic: new instance*"])
    assert "look for a cache whose keys collide" in text_of(result)


def test_a_fixture_of_the_project_is_not_known_by_name(project: Project) -> None:
    project.write("engine.py", BY_HASH)
    project.test(
        "import pytest, engine\n\n@pytest.fixture(scope='session')\ndef ranker():\n"
        "    return engine.search\n" + DETERMINISTIC
    )
    result = project.run()
    result.assert_outcomes(passed=1)
    assert "new processes (give processes=)" in text_of(result)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_a_ranker_in_the_test_module_is_imported_by_new_processes(
    project: Project, mode: str
) -> None:
    project.test(
        "from pytest_rankcheck import assert_deterministic\n\n"
        "def by_hash(text):\n    return list({text, 'a', 'b', 'c', 'd', 'e', 'f'})\n\n"
        "def make():\n    return lambda text: by_hash(text)\n\n"
        "def test_it(golden_set):\n"
        "    assert_deterministic(make(), golden_set, fresh=make, processes=1)\n"
    )
    result = project.run_apart(f"--import-mode={mode}")
    result.stdout.fnmatch_lines(["*is not deterministic: new processes*"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_the_new_process_too(project: Project) -> None:
    project.write(
        "engine.py",
        "import os, time\nfrom pathlib import Path\n\n"
        "def search(text):\n"
        "    if 'RANKCHECK_PROCESS_CONDITION' in os.environ:\n"
        "        Path('pid.txt').write_text(str(os.getpid()))\n"
        "        time.sleep(600)\n"
        "    return [text]\n",
    )
    project.test(DETERMINISTIC)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    running = subprocess.Popen(command, cwd=project.path, stdout=subprocess.PIPE)
    file = project.path / "pid.txt"
    for _ in range(600):
        if file.exists() and file.read_text():
            break
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)  # only to pytest, as an editor does
    running.communicate(timeout=60)
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)
