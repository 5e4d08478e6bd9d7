"""A small project with a ranker whose mistakes a test can set, run by pytest inside pytest."""

import importlib
import importlib.metadata
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, ClassVar

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

import pytest_rankcheck

# Runs of pytest inside this process forget the modules that they were first to import; numpy
# cannot be imported twice.
_OURS = [
    module.name for module in pkgutil.walk_packages(pytest_rankcheck.__path__, "pytest_rankcheck.")
]
for _name in (*_OURS, "pandas", "scipy.special", "scipy.stats", "yaml"):
    with suppress(ModuleNotFoundError):  # of a module that needs an extra
        importlib.import_module(_name)

ENGINE = '''
import json
from pathlib import Path

def search(text):
    """Rank the relevant document of a query where ranks.json says (null: nowhere), then fillers."""
    ranks = json.loads((Path(__file__).parent / "ranks.json").read_text())
    rank = ranks.get(text, 1)
    ranking = [f"filler-{index}" for index in range(12)]
    if rank is not None:
        ranking.insert(rank - 1, f"doc of {text}")
    return ranking
'''

CONFIGURATION = """
[tool.pytest.ini_options]
pythonpath = ["."]
rankcheck_golden = "golden/web.jsonl"
rankcheck_ranker = "engine:search"
"""

REGRESSION_TEST = """
from pytest_rankcheck import assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)
"""


FLOOR_TEST = """
from pytest_rankcheck import assert_at_least

def test_floor(evaluation):
    assert_at_least(evaluation, "RR", 0.5)
"""

SHARDS = """
def pytest_addoption(parser):
    parser.addoption("--shard", type=int)

def pytest_collection_modifyitems(config, items):
    if config.option.shard:
        config.hook.pytest_deselected(items=[item for item in items if "mrr" in item.name])
        items[:] = [item for item in items if "mrr" not in item.name]
"""
"""A plugin that shares the tests among jobs."""

QUICK = ("-v", "-p", "no:unraisableexception")
"""pytest 8.4 collects garbage five times at the end of each run, of all that this process has."""

APART = frozenset({"-n", "--tx"})
"""Options with which pytest inside pytest needs a process of its own."""

PLUGINS = [*map(distribution, ("pytest-rankcheck", "syrupy"))]
"""What pytest inside this process finds installed; to look into everything takes it long."""

MAIN = ("--rankcheck-baseline-ref", "main")
"""Compares with the baselines of main."""

NEEDS_GIT = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

WITHOUT_AND_WITH_WORKERS = [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)]


class Project:
    """A repository with 80 queries, half of them English, half German."""

    _updated: ClassVar[dict[tuple[object, ...], dict[str, bytes]]] = {}
    """What an update wrote, by its arguments and what the project had."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path: Path = pytester.path
        self.write("pyproject.toml", CONFIGURATION)
        self.write("engine.py", ENGINE)
        self.rank({})
        self.golden(self.queries())

    @staticmethod
    def queries(count: int = 80) -> list[dict[str, Any]]:
        """Return the lines of the golden set."""
        return [
            {
                "query_id": f"q{index:03}",
                "query": f"query {index}",
                "relevance": {f"doc of query {index}": 2, "filler-0": 0},
                "locale": "en" if index < count // 2 else "de",
            }
            for index in range(count)
        ]

    def golden(self, lines: list[dict[str, Any]], path: str = "golden/web.jsonl") -> None:
        """Write a golden set."""
        self.write(path, "".join(json.dumps(line) + "\n" for line in lines))

    def rank(self, ranks: dict[int, int | None]) -> None:
        """Set the rank of the relevant document of some queries; for all others it is first.

        Where the rank is None, the document is not ranked.
        """
        by_text = {f"query {index}": rank for index, rank in ranks.items()}
        self.write("ranks.json", json.dumps(by_text))

    def write(self, path: str, text: str) -> Path:
        """Write a file of the project."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def configure(self, *lines: str) -> None:
        """Write the configuration, with more lines."""
        self.write("pyproject.toml", "\n".join([CONFIGURATION, *lines, ""]))

    def test(self, text: str = REGRESSION_TEST, path: str = "tests/test_ranking.py") -> None:
        """Write a test module."""
        self.write(path, text)

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest on the project, in this process unless there are workers."""
        if not APART.isdisjoint(arguments):
            return self.run_apart(*arguments)
        with pytest.MonkeyPatch.context() as patch:
            if "--assert=plain" in arguments:  # then this session must not rewrite the tests either
                finders = [
                    each for each in sys.meta_path if type(each) is not AssertionRewritingHook
                ]
                patch.setattr(sys, "meta_path", finders)
            return self.pytester.runpytest_inprocess(*QUICK, "-p", "no:cacheprovider", *arguments)

    def run_apart(self, *arguments: str) -> pytest.RunResult:
        """Run pytest on the project, in a process of its own."""
        return self.pytester.runpytest_subprocess("-v", "-p", "no:cacheprovider", *arguments)

    def baseline_file(
        self, name: str = "test_mrr", module: str = "test_ranking", golden: str = "web"
    ) -> Path:
        """Return the baseline file of a test on a golden set."""
        return self.path / "tests" / "baselines" / module / f"{name}--{golden}.json"

    def record(
        self, name: str = "test_mrr", module: str = "test_ranking", golden: str = "web"
    ) -> dict[str, Any]:
        """Return the record of a test on a golden set."""
        file = self.baseline_file(name, module, golden)
        entry: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return entry

    def files(self) -> dict[str, bytes]:
        """Return what the project has, by path."""
        found = filter(Path.is_file, self.path.rglob("*"))
        return {file.relative_to(self.path).as_posix(): file.read_bytes() for file in found}

    def update(self, *arguments: str) -> bytes:
        """Record the baselines, of equal projects once, and return the bytes of the first."""
        before = self.files()
        key = (arguments, *sorted(before.items()))
        if key not in self._updated:
            assert self.run("--snapshot-update", *arguments).ret == 0
            self._updated[key] = dict(self.files().items() - before.items())
        for path, content in self._updated[key].items():
            self.write(path, "").write_bytes(content)
        return self.baseline_file().read_bytes()

    def branch_off(self) -> None:
        """Record the baselines on main, and go on with a branch."""
        self.update()
        self.commit()
        git(self.path, "checkout", "-q", "-b", "feature")

    def commit(self) -> None:
        """Commit the project on main."""
        git(self.path, "init", "-q", "-b", "main")
        git(self.path, "add", "golden", "tests", "engine.py", "pyproject.toml")
        git(self.path, "commit", "-q", "-m", "main")


def git(folder: Path, *arguments: str, date: str | None = None) -> str:
    """Run git as Ada, whatever this machine configures, and return what it prints."""
    identity = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", date))
        if value is not None
    }
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def undisturbed_by_this_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepare the environment for pytest inside pytest."""
    # These tests may themselves run in a worker; pytest inside pytest does not.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    # A module that a test rewrites within a second keeps its time and maybe its size: Python would
    # take the cached bytecode for current.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: PLUGINS)


def text_of(result: pytest.RunResult) -> str:
    """Return the output of a pytest run."""
    return "\n".join(result.outlines + result.errlines)
