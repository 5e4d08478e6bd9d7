"""Kept answers end with the code, the programs and the databases that they came from.

The ranker is often in another repository than its tests, or is generated.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pytest_rankcheck import ConfigurationError, GoldenSet, rank
from tests.project import NEEDS_GIT

pytestmark = NEEDS_GIT

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {f"d{n}": 1} for n in range(6)}, {f"q{n}": f"query {n}" for n in range(6)}
)
ENGINE = "def search(text):\n    return [f'd{text[-1]}', 'other']\n"
WORSE = "def search(text):\n    return ['other', f'd{text[-1]}']\n"


class Stopped(BaseException):
    """What ends a ranking in the middle."""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for code, beside the repository with the tests, which is the current folder."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(sys, "path", list(sys.path))
    repository = tmp_path / "project"
    repository.mkdir()
    monkeypatch.chdir(repository)
    Path(".gitignore").write_text("generated/\n")
    commit(repository)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def commit(folder: Path) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x", "--allow-empty"]):
        subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True)


def interrupted(name: str, **options: str) -> None:
    """Rank half of the queries in the folder ``parts``."""

    def stop(done: int, of: int) -> None:
        if done == 3:
            raise Stopped

    with pytest.raises(Stopped):
        rank(name, GOLDEN, chunk=1, resume="parts", progress=stop, **options)


def refused(name: str, message: str, **options: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        rank(name, GOLDEN, resume="parts", **options)


@pytest.mark.parametrize("place", ["a repository", "a folder", "a package", "generated"])
def test_answers_of_other_code_than_the_commit_covers_are_refused(
    elsewhere: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"engine_in_{place.replace(' ', '_')}"
    folder = Path("generated").resolve() if place == "generated" else elsewhere
    file = folder / module / "ranking.py" if place == "a package" else folder / f"{module}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(ENGINE)
    name = f"{module}.ranking:search" if place == "a package" else f"{module}:search"
    if place == "a package":
        (file.parent / "__init__.py").write_text("")
    if place == "a repository":
        commit(folder)
    monkeypatch.syspath_prepend(str(folder))
    interrupted(name)
    rank(name, GOLDEN, resume="parts")  # nothing has changed
    interrupted(name)
    file.write_text(WORSE)
    refused(name, "code that is not in this repository: .* -> ")
    if place == "a repository":
        commit(folder)
        refused(name, "code that is not in this repository: .* -> ")


def test_a_constant_key_does_not_outlive_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside git, ``resume_key="v1"`` is quickly written and never changed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("constant_key.py").write_text(ENGINE)
    interrupted("constant_key:search", resume_key="v1")
    Path("constant_key.py").write_text(WORSE)
    refused("constant_key:search", r"'constant_key\.py' \w+ -> \w+", resume_key="v1")


@pytest.mark.parametrize("in_git", [True, False])
def test_an_editable_install_is_more_than_its_version(
    elsewhere: Path, in_git: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ranker is in the repository, and calls a package that is installed with ``pip -e``."""
    source, site = elsewhere / "source", elsewhere / "site"
    info = site / "reranker-1.0.dist-info"
    info.mkdir(parents=True)
    source.mkdir()
    (source / "reranker.py").write_text(ENGINE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: reranker\nVersion: 1.0\n")
    url = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(url))
    Path("calls_reranker.py").write_text("def search(text):\n    return ['d1', 'd2']\n")
    commit(Path.cwd())
    if in_git:
        commit(source)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.syspath_prepend(str(Path.cwd()))
    interrupted("calls_reranker:search")
    (source / "reranker.py").write_text(WORSE)
    refused("calls_reranker:search", "code that is not in this repository: .*source' ")


PROGRAMS = """
import os, sqlite3, subprocess, sys

def popen(text):
    return subprocess.run([sys.executable, "-c", "print('d1')"], capture_output=True, text=True
        ).stdout.split()

def system(text):
    os.system("true")
    return ["d1"]

def harmless(text):
    try:
        subprocess.run(["lscpu"], capture_output=True)
    except OSError:
        pass
    return ["d1"]

def database(text, name="index.sqlite"):
    connection = sqlite3.connect(name, uri=True)
    try:
        return [row[0] for row in connection.execute("SELECT id FROM documents")]
    finally:
        connection.close()

def database_by_uri(text):
    return database(text, "file:index.sqlite?mode=ro")

def database_in_memory(text):
    sqlite3.connect(":memory:").close()
    return ["d1"]
"""


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        ("popen", "the ranker runs another program .*python.*give resume_key="),
        ("system", r"the ranker runs another program \(true\)"),
        ("database", r"reads \S+index\.sqlite, which git does not track"),
        ("database_by_uri", r"reads \S+index\.sqlite, which git does not track"),
        ("harmless", None),
        ("database_in_memory", None),
    ],
)
def test_programs_and_databases_are_inputs(
    elsewhere: Path, ranker: str, message: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"programs_{ranker}"
    Path(f"{module}.py").write_text(PROGRAMS)
    Path(".gitignore").write_text("*.sqlite\n")
    commit(Path.cwd())
    with closing(sqlite3.connect("index.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE documents (id TEXT)")
        connection.execute("INSERT INTO documents VALUES ('d1')")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    if message is None:
        assert rank(f"{module}:{ranker}", GOLDEN, resume="parts")["q1"] == ("d1",)
        return
    refused(f"{module}:{ranker}", message)
    assert not list(Path("parts").glob("part-*.json"))
    rank(f"{module}:{ranker}", GOLDEN, resume="parts", resume_key="index 1")
