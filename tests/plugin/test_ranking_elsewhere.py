"""In a test session: executors, chunks and resuming, as they are configured."""

from __future__ import annotations

import concurrent.futures.process  # or each run of pytest in this process would import it anew
import json
import multiprocessing.popen_spawn_posix
import os

import pytest

from tests.project import NEEDS_GIT, Project, git

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

TEST = """
from pytest_rankcheck import assert_mrr_at_least

def test_floor(evaluation):
    assert_mrr_at_least(evaluation, 0.9)
"""


assert concurrent.futures.process
assert multiprocessing.popen_spawn_posix


@pytest.fixture
def elsewhere(project: Project) -> Project:
    project.golden(project.queries(12))
    project.write("engine.py", ENGINE)
    project.test(TEST)
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


def test_the_fixture_ranker_can_still_be_called(elsewhere: Project) -> None:
    elsewhere.test(
        "from pytest_rankcheck import assert_deterministic\n\n"
        "def test_call(ranker, golden_set, ranking_run):\n"
        "    assert ranker('red')[0] == 'doc of red'\n"
        "    assert_deterministic(ranker, golden_set)\n"
    )
    elsewhere.run("--rankcheck-executor", "engine:make_pool").assert_outcomes(passed=1)


def test_a_ranker_of_a_fixture_is_sent(elsewhere: Project) -> None:
    elsewhere.write(
        "conftest.py",
        "import pytest\nfrom engine import search\n\n"
        "@pytest.fixture(scope='session')\ndef ranker():\n    return search\n",
    )
    elsewhere.run("--rankcheck-executor", "processes:1").assert_outcomes(passed=1)
    assert {process for process, _ in calls(elsewhere)}.isdisjoint({str(os.getpid())})


@pytest.mark.slow
def test_workers_of_xdist_rank_once_together(elsewhere: Project) -> None:
    elsewhere.write("tests/test_more.py", TEST)
    result = elsewhere.run("-n", "2", "--rankcheck-executor", "processes:2")
    result.assert_outcomes(passed=2)
    assert len(asked(elsewhere)) == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rankcheck-executor", "threads:4"), "*executor 'threads:4' is invalid*"),
        (("--rankcheck-executor", "engine:nothing"), "*there is no 'nothing' in engine*"),
        (("--rankcheck-resume-key", "k"), "*no effect without --rankcheck-resume*"),
        (("-o", "rankcheck_chunk=0"), "*rankcheck_chunk = 0 is invalid*"),
    ],
)
def test_an_invalid_configuration_is_refused_before_the_first_test(
    elsewhere: Project, arguments: tuple[str, ...], message: str
) -> None:
    result = elsewhere.run(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


@NEEDS_GIT
def test_a_session_that_was_stopped_continues(elsewhere: Project) -> None:
    elsewhere.write(".gitignore", "*.log\n.parts/\n__pycache__/\n")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        git(elsewhere.path, *arguments)
    (elsewhere.path / "stop.log").write_text("query 7")
    resume = ("--rankcheck-resume", ".parts", "-o", "rankcheck_chunk=3", "--rankcheck-resume-key=k")
    elsewhere.run(*resume)
    (elsewhere.path / "stop.log").unlink()
    before = len(asked(elsewhere))
    parts = list((elsewhere.path / ".parts" / "web").glob("part-*.json"))
    kept = [query for part in parts for query in json.loads(part.read_text())["answers"]]
    assert 0 < len(kept) < 12
    result = elsewhere.run(*resume)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [f"*golden set 'web': {len(kept)} of 12 queries were ranked before (* UTC) and read from*"]
    )
    assert len(asked(elsewhere)) - before == 12 - len(kept)
    assert not (elsewhere.path / ".parts" / "web").exists()


@NEEDS_GIT
def test_golden_sets_that_were_complete_are_not_ranked_again(elsewhere: Project) -> None:
    """The session is killed in its second golden set; git does not ignore the folder."""
    elsewhere.golden(elsewhere.queries(6), "golden/more.jsonl")
    elsewhere.write("engine.py", ENGINE.replace('raise SystemExit("time limit")', "os._exit(9)"))
    configure(elsewhere, "rankcheck_chunk = 3")
    sets = ("--rankcheck-golden", "golden/more.jsonl", "--rankcheck-golden", "golden/web.jsonl")
    resumed = (*sets, "--rankcheck-resume=parts", "--rankcheck-resume-key=k")
    elsewhere.write(".gitignore", "*.log\n__pycache__/\nrunpytest*\nstd*\n")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        git(elsewhere.path, *command)
    elsewhere.write("stop.log", "query 7")
    assert elsewhere.run_apart(*resumed).ret == 9
    before = len(asked(elsewhere))
    assert before == 6 + 8
    (elsewhere.path / "stop.log").unlink()
    elsewhere.run_apart(*resumed).assert_outcomes(passed=2)
    assert len(asked(elsewhere)) - before == 12 - 6
    assert not list((elsewhere.path / "parts").rglob("*.json"))


@NEEDS_GIT
def test_what_a_ranker_reads_while_it_is_made_has_to_be_declared(elsewhere: Project) -> None:
    elsewhere.write(".gitignore", "*.log\n__pycache__/\n")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        git(elsewhere.path, *command)
    elsewhere.write("weights.log", "1")
    resume = ("--rankcheck-ranker", "engine:Engine()", "--rankcheck-resume", "parts")
    result = elsewhere.run(*resume)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the ranker reads *weights.log, which git does not track*"])
    elsewhere.run(*resume, "-o", "rankcheck_world=weights.log").assert_outcomes(passed=1)


FIXTURES = """
import pytest
from pathlib import Path
from engine import search

HERE = Path(__file__).parent

@pytest.fixture(scope="session")
def weights():
    return (HERE / "weights.log").read_text()

@pytest.fixture(scope="session")
def engine({needed}):
    return search

@pytest.fixture(scope="session")
def ranker({ranker_needs}):
    {get}
    return search

@pytest.fixture(scope="session", autouse=True)
def unrelated(tmp_path_factory):
    return (HERE / "unrelated.log").read_text()
"""


@NEEDS_GIT
@pytest.mark.parametrize("executor", [(), ("--rankcheck-executor=engine:make_pool",)])
@pytest.mark.parametrize(
    ("needed", "ranker_needs", "get", "is_refused"),
    [
        ("weights", "engine", "", True),
        ("", "request, engine", "request.getfixturevalue('weights')", True),
        ("", "engine, golden_set", "", False),
    ],
    ids=["needed", "asked for", "not needed"],
)
def test_what_the_fixtures_of_a_ranker_read_has_to_be_declared(
    elsewhere: Project,
    executor: tuple[str, ...],
    needed: str,
    ranker_needs: str,
    get: str,
    is_refused: bool,
) -> None:
    """A fixture loads the model, and the fixture ``ranker`` takes it from there."""
    elsewhere.write(".gitignore", "*.log\n__pycache__/\nweb.jsonl\n")
    conftest = FIXTURES.format(needed=needed, ranker_needs=ranker_needs, get=get or "pass")
    elsewhere.write("conftest.py", conftest)
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        git(elsewhere.path, *command)
    for name in ("weights", "unrelated"):
        elsewhere.write(f"{name}.log", "1")
    result = elsewhere.run("--rankcheck-resume", "parts", *executor)
    if is_refused:
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(["*the ranker reads *weights.log, which git does not track*"])
        assert not list((elsewhere.path / "parts").rglob("part-*.json"))
    else:
        result.assert_outcomes(passed=1)


WORLD = """
import pytest

@pytest.fixture(scope="session")
def rankcheck_world():
    return {"index": "build 7"}
"""


@NEEDS_GIT
@pytest.mark.parametrize("declared", ["file", "fixture"])
def test_kept_answers_of_another_world_are_refused(elsewhere: Project, declared: str) -> None:
    """Git ignores what changes, and the ``resume_key`` is the same: only the world says it."""
    elsewhere.write(".gitignore", "*.log\n.parts/\n__pycache__/\nconftest.py\n")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        git(elsewhere.path, *command)
    elsewhere.write("weights.log", "1")
    if declared == "fixture":
        elsewhere.write("conftest.py", WORLD)
    resume = ["--rankcheck-resume=.parts", "-o", "rankcheck_chunk=3", "--rankcheck-resume-key=k"]
    resume += ["-o", "rankcheck_world=weights.log"] if declared == "file" else []
    elsewhere.write("stop.log", "query 7")
    elsewhere.run(*resume)
    (elsewhere.path / "stop.log").unlink()
    parts = {file: file.read_bytes() for file in (elsewhere.path / ".parts").rglob("*.json")}
    assert parts
    before = len(asked(elsewhere))
    if declared == "file":
        elsewhere.write("weights.log", "2")
        change = "*rankcheck_world: 'weights.log' * -> *"
    else:
        elsewhere.write("conftest.py", WORLD.replace("7", "8"))
        change = "*rankcheck_world: 'index' build 7 -> build 8*"
    result = elsewhere.run(*resume)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([change])
    assert len(asked(elsewhere)) == before
    assert {file: file.read_bytes() for file in parts} == parts
