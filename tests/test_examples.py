"""The examples, run as a reader runs them: green as they are, blocked with the worse ranker."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from doctest import OutputChecker
from pathlib import Path

import pytest
import yaml
from test_docs import FLAGS, Block, blocks_of

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent / "examples"
WORSE = ("--rankcheck-ranker", "symbol_search.substring:search")


def copied(name: str, tmp_path: Path) -> Path:
    """Return a copy of an example, which a test may change."""
    return Path(
        shutil.copytree(
            EXAMPLES / name,
            tmp_path / name,
            ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"),
        )
    )


@pytest.fixture
def symbol_search(tmp_path: Path) -> Path:
    """A copy of the example with a ranker in Python."""
    return copied("symbol_search", tmp_path)


def run(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run pytest in a folder, and return its exit code and what it printed."""
    # Another pytest that runs at the same time might clean a shared temporary folder.
    temporary = folder.with_name(f"{folder.name}-temporary")
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env=os.environ | {"PYTEST_DEBUG_TEMPROOT": str(temporary)} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every baseline."""
    return {path.name: path.read_bytes() for path in folder.rglob("baselines/**/*.json")}


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_symbol_search_is_green_and_shows_its_quality(
    symbol_search: Path, arguments: tuple[str, ...]
) -> None:
    code, text = run(symbol_search, *arguments)
    assert code == 0, text
    _, shown = commands_of(blocks_of(symbol_search / "README.md"))[0]
    assert OutputChecker().check_output(shown, text, FLAGS), text


def test_a_worse_ranker_is_blocked_and_only_recorded_with_a_reason(symbol_search: Path) -> None:
    before = contents(symbol_search)
    assert len(before) == 2
    gates = (*WORSE, "-k", "no_regression or no_style")
    code, text = run(symbol_search, *gates)
    assert code == 1, text
    assert "nDCG@10 regressed on golden set 'symbols' (153 queries)" in text
    assert "style=abbreviation (38 queries, regressed)   0.6" in text
    assert 'ab-01 "OD"   1.000 -> 0.000' in text
    assert "collections.OrderedDict (grade 3)  1 -> not ranked" in text
    code, text = run(symbol_search, *gates, "--snapshot-update")
    assert code == 1, text
    assert text.count("E       AssertionError: update refused: nDCG@10 regressed") == 2
    assert contents(symbol_search) == before
    approved = ("--snapshot-update", "--rankcheck-approve", "we need no abbreviations")
    code, text = run(symbol_search, *gates, *approved)
    assert code == 0, text
    assert all(b"we need no abbreviations" in text for text in contents(symbol_search).values())
    assert run(symbol_search, *gates)[0] == 0


# --- every page --------------------------------------------------------------------------------


def commands_of(blocks: list[Block]) -> list[tuple[str, str]]:
    """Return the commands of a page, and what it says that they print."""
    text = "".join(block.text for block in blocks if block.language == "console")
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(command, printed) for command, _, printed in (part.partition("\n") for part in parts)]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("learning_to_rank", marks=pytest.mark.oracle),
        "recommender",
        "retrieval",
        "search_endpoint",
        "search_sessions",
    ],
)
def test_an_example_alone_prints_what_its_page_shows(name: str, tmp_path: Path) -> None:
    folder = copied(name, tmp_path)
    before = contents(folder)
    commands = commands_of(blocks_of(folder / "README.md"))
    codes = []
    for command, expected in commands:
        code, text = run_command(folder, command)
        assert OutputChecker().check_output(expected, text, FLAGS), f"{command}\n{text}"
        codes.append(code)
    assert (codes[0], codes[-1]) == (0, 1)  # it starts green, and ends with what is caught
    assert contents(folder) == before


def run_command(folder: Path, command: str) -> tuple[int, str]:
    """Run a command of a page, ``NAME=value pytest ...`` or ``python -m pytest_rankcheck ...``."""
    words = shlex.split(command)
    first = next(place for place, word in enumerate(words) if "=" not in word)
    given = dict(word.split("=", 1) for word in words[:first])
    if words[first] == "pytest":
        return run(folder, *words[first + 1 :], COLUMNS="200", **given)
    assert words[first] == "python"
    python = [sys.executable, *words[first + 1 :]]
    done = subprocess.run(python, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout + done.stderr


# --- a search endpoint -------------------------------------------------------------------------


def test_the_endpoint_is_green_and_its_kept_answers_are_gated_elsewhere(tmp_path: Path) -> None:
    folder = copied("search_endpoint", tmp_path)
    before = contents(folder)
    assert len(before) == 2
    code, text = run(folder, "--rankcheck-save-run", "runs")
    assert code == 0, text
    assert "status      RR" in text
    (folder / "tests" / "conftest.py").write_text("")  # the machine that gates has no endpoint
    code, text = run(folder, "--rankcheck-run", "runs")
    assert code == 0, text
    assert "time to rank a query" not in text
    assert contents(folder) == before


# --- search sessions ---------------------------------------------------------------------------


def test_no_record_names_a_user() -> None:
    folder = EXAMPLES / "search_sessions"
    records = "".join(path.read_text("utf-8") for path in folder.rglob("baselines/*/*.json"))
    assert '"cluster_by": "client_id"' in records
    assert "user-" in (folder / "logs" / "queries.jsonl").read_text("utf-8")
    assert "user-" not in records


def test_a_log_is_simulated_with_any_ranker(tmp_path: Path, symbol_search: Path) -> None:
    folder = copied("search_sessions", tmp_path)
    command = [sys.executable, "-m", "search_sessions.simulate", "simulated", "--seed", "3"]
    command += ["--ranker", "symbol_search.ranker:search"]
    command += ["--golden", str(symbol_search / "golden" / "symbols.jsonl")]
    environment = os.environ | {"PYTHONPATH": str(symbol_search)}
    subprocess.run(command, cwd=folder, env=environment, check=True)
    code, text = run(folder, "tests/test_sessions.py", LOGS="simulated")
    assert code == 0, text
    assert "session log  metric" in text


# --- without Python ----------------------------------------------------------------------------

NEEDS_NODE = pytest.mark.skipif(
    not (shutil.which("node") and shutil.which("bash")), reason="Node or bash is not installed"
)


def free_ports(count: int) -> list[str]:
    """Return ports of this machine on which nothing listens."""
    with ExitStack() as open_together:
        sockets = [open_together.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))
        return [str(each.getsockname()[1]) for each in sockets]


@NEEDS_NODE
def test_the_commands_of_the_page_without_python_print_what_it_shows(tmp_path: Path) -> None:
    folder = copied("without_python", tmp_path)
    commands = commands_of(blocks_of(folder / "README.md"))
    ports = dict(zip(("8080", "8081"), free_ports(2), strict=True))
    script = 'pytest() { "$PYTHON" -m pytest -p no:cacheprovider "$@"; }\n'
    for number, (command, _) in enumerate(commands):
        script += f"exec >../{number}.txt 2>&1\n"
        script += re.sub("808[01]", lambda port: ports[port[0]], command) + "\n"
    # The page does not name the port of the first server, which is the default.
    given = {"PYTHON": sys.executable, "PORT": ports["8080"], "COLUMNS": "80"}
    given |= {"PYTEST_DEBUG_TEMPROOT": str(tmp_path)}
    shell = subprocess.Popen(
        ["bash", "-c", script], cwd=folder, env=os.environ | given, start_new_session=True
    )
    try:
        shell.wait(timeout=120)
        for number, (command, expected) in enumerate(commands):
            printed = (tmp_path / f"{number}.txt").read_text("utf-8")
            assert OutputChecker().check_output(expected, printed, FLAGS), f"{command}\n{printed}"
    finally:
        with suppress(ProcessLookupError):  # nothing is left: the last command ended the servers
            os.killpg(shell.pid, signal.SIGKILL)


def test_the_job_of_the_page_without_python_starts_the_server_that_it_tests() -> None:
    blocks = blocks_of(EXAMPLES / "without_python" / "README.md")
    workflow = next(block.text for block in blocks if block.language == "yaml")
    job = yaml.safe_load(workflow)["jobs"]["ranking"]
    start = f"{job['steps'][1]['run']} SEARCH_URL={job['env']['SEARCH_URL']} pytest"
    assert start in [command for command, _ in commands_of(blocks)]
    action = yaml.safe_load((EXAMPLES.parent / "action.yml").read_text("utf-8"))
    assert job["steps"][2]["with"].keys() <= action["inputs"].keys()
