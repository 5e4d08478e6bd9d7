"""``python -m pytest_rankcheck init``: a first gate, made from what a project has.

Nothing is overwritten: a file that exists stays as it is. Only a `pyproject.toml` without any
configuration of pytest gets a table at its end.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path

from pytest_rankcheck.command_line.project_search import (
    files_here,
    golden_sets_among,
    ranker_names,
    runs_among,
)
from pytest_rankcheck.command_line.shared_inputs import PASSED, Commands, add_repeated
from pytest_rankcheck.errors import ConfigurationError, listed, plural, quoted
from pytest_rankcheck.files.git_commands import git_line, ignored_files
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.golden.golden_files import GOLDEN_FORMATS
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.metrics.metric_names import usual_metrics
from pytest_rankcheck.package_version import package_version
from pytest_rankcheck.plugin.configuration import CONFIG, configured_names
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.project_configuration import project_configuration
from pytest_rankcheck.rankers.ranker_lookup import check_ranker_name

_NO_GOLDEN_SET = """no golden set found. The smallest is a file with a line for each query, such as
golden/web.jsonl; a higher grade is better, and 0 is not relevant:
  {"query_id": "q1", "query": "red shoes", "relevance": {"red-sneaker": 3, "red-hat": 0}}
  {"query_id": "q2", "query": "rain jacket", "relevance": {"raincoat": 3, "umbrella": 1}}
Write one, or name yours with --golden PATH: TREC, CSV, Parquet, BEIR, Quepid and others are read"""
_INSTALL = """let CI install the plugin, which has no release yet:
  pip wheel --no-deps --wheel-dir wheels {}
  printf '\\n%s\\n' './wheels/pytest_rankcheck-{}-py3-none-any.whl[report]' >> requirements.txt
  git add --force wheels requirements.txt"""
_FIRST = Path(__file__).with_name("first_gate")
"""The files to write."""
_GATES = ((1000, "noninferior(margin=0.02)"), (200, "noninferior(margin=0.03)"))
_TO_FILL_IN = "# rankcheck_ranker"
_JOB = Path(".github/workflows/ranking.yml")
_OTHER_CI = (".gitlab-ci.yml", "Jenkinsfile", ".circleci", "azure-pipelines.yml")

GoldenSets = Mapping[Path, GoldenSet]
Settings = Mapping[str, str | Sequence[str]]


def add_init_command(commands: Commands) -> None:
    """Add the command ``init`` to the parser."""
    init = commands.add_parser(
        "init",
        help="write a first gate for the project in this folder",
        description="Look for golden sets and a ranker in this folder; write the configuration, a "
        "first test and a CI job; say what to do next. Nothing is overwritten.",
    )
    add_repeated(init, "--golden", "PATH", "a golden set", "what is configured or found")
    init.add_argument("--ranker", metavar="MODULE:NAME", help="the ranker (default: what is found)")
    init.set_defaults(run=_init)


def gate_for(queries: int) -> str:
    """Return the gate that docs/which-gate.md names for a number of queries."""
    return next((gate for least, gate in _GATES if queries >= least), "significant()")


def _init(chosen: argparse.Namespace) -> int:
    project, files = project_configuration(), files_here()
    file = project.inipath or Path.cwd() / "pyproject.toml"
    if file.parent != Path.cwd():
        where = shlex.quote(str(file.parent))
        raise ConfigurationError(f"{quoted(file)} configures pytest for this folder: cd {where}")
    inputs, folders = Inputs(project.stash[CONFIG]), project.getini("testpaths") or ["tests"]
    test = Path("tests" if "tests" in folders else folders[0], "test_ranking.py")
    golden = _golden_sets(list(map(Path, chosen.golden)), files, inputs)
    ranker = _ranker(chosen.ranker, files, inputs, test.parent)
    settings = {"rankcheck_golden": list(map(_shown, golden)), **ranker}
    configured = configured_names(project)
    missing = {name: settings[name] for name in settings if name not in configured}
    steps = _configure(Path(file.name), missing)
    if _TO_FILL_IN in settings:
        steps.append(
            f"name your ranker in {file.name}, in the line {_TO_FILL_IN} without the #: a function "
            "from a query's text to document ids, best first"
        )
    gate = gate_for(min(map(len, golden.values())))
    text = _FIRST.joinpath("test_ranking.txt").read_text("utf-8")
    text = text.replace("METRIC", usual_metrics(inputs.config.depth)[0]).replace("GATE", gate)
    if _is_new(test, text):
        print(f"  its gate is {gate}, from docs/which-gate.md")
    steps += _ci_steps()
    baselines = test.parent / "baselines"
    if not baselines.joinpath(test.stem).is_dir():
        steps.append(f"record what the ranker does:\n  pytest {_shown(test)} --snapshot-update")
        written = [path for path in (*golden, file, test, _JOB) if path.exists()]
        steps.append(_commit([*written, baselines]))
    print("next:" if steps else "nothing is left to do")
    for number, step in enumerate(steps, 1):
        print(f"{number}. {step}")
    print("from then on, pytest fails if the ranking gets worse")
    return PASSED


def _golden_sets(given: Sequence[Path], files: Sequence[Path], inputs: Inputs) -> GoldenSets:
    """Return the golden sets that are given, configured or found.

    Raises:
        ConfigurationError: there is none, or two have the same name.
        GoldenSetError: one that is given or configured cannot be read.
    """
    named = given or inputs.config.golden
    found = {path: inputs.golden_set(path) for path in named}
    if not named:
        found, unreadable = golden_sets_among(files, inputs.golden_set)
        for why in unreadable[:5]:
            print(f"not a golden set: {quoted(why, 300)}")
    if not found:
        raise ConfigurationError(_NO_GOLDEN_SET)
    for path, golden in found.items():
        kind = GOLDEN_FORMATS.detected(path, inputs.config.columns).name
        queries = plural(len(golden), "query", "queries")
        print(f"golden set: {quoted(_shown(path))}, {queries}, format {kind}")
    if len({golden.name for golden in found.values()}) < len(found):
        raise ConfigurationError("two golden sets have the same name; choose with --golden PATH")
    return found


def _ranker(given: str | None, files: Sequence[Path], inputs: Inputs, tests: Path) -> Settings:
    """Return the settings that name the ranker: given, configured, found or guessed."""
    config, name = inputs.config, given or inputs.config.ranker
    conftests = [path for path in (Path("conftest.py"), tests / "conftest.py") if path in files]
    has_fixture = any(b"def ranker(" in path.read_bytes() for path in conftests)
    if not name and (config.run or has_fixture):
        print(f"ranker: {'rankcheck_run' if config.run else 'the fixture in conftest.py'}")
        return {}
    runs = list(map(_shown, runs_among(files, inputs.read_run)))
    if not name and len(runs) == 1:
        print(f"ranker: the run {quoted(runs[0])}; write it anew before each test session")
        return {"rankcheck_run": runs}
    names = [name] if name else ranker_names(files)
    settings = {"pythonpath": [".", "src"] if Path("src").is_dir() else ["."]}
    if len(names) != 1:
        print(f"ranker: {f'one of {listed([*runs, *names])}?' if names else 'not found'}")
        return {**settings, _TO_FILL_IN: "package.module:name"}
    print(f"ranker: {quoted(names[0])}{'' if name else ', a guess by its name and parameters'}")
    check_ranker_name(names[0])
    return {**settings, "rankcheck_ranker": names[0]}


def _configure(file: Path, missing: Settings) -> list[str]:
    """Append settings to a `pyproject.toml` that has none of pytest's; else return the step."""
    before = file.read_bytes().decode() if file.exists() else ""
    texts = [f"{name} = {_value(value, file)}\n" for name, value in missing.items()]
    added = "".join(text for text in texts if text not in before)
    if not added:
        print(f"exists, left as it is: {file}")
        return []
    is_ours = file.name == "pyproject.toml" and "pytest" not in tomllib.loads(before).get(
        "tool", {}
    )
    if not is_ours:
        return [f"add to the settings of pytest in {file}:\n{added}".rstrip()]
    after = f"{before}\n" * bool(before) + f"[tool.pytest.ini_options]\n{added}"
    tomllib.loads(after)  # or an error, if `tool` is on one line
    write_whole(file.resolve(), after)
    print(f"written: {file}")
    return []


def _value(value: str | Sequence[str], file: Path) -> str:
    if file.suffix == ".toml":
        return readable_json(value)
    return value if isinstance(value, str) else shlex.join(value)


def _is_new(path: Path, text: str) -> bool:
    """Write a file that does not exist; return whether that is so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        print(f"exists, left as it is: {path}")
        return False
    print(f"written: {path}")
    return True


def _ci_steps() -> list[str]:
    """Write a job for GitHub, unless the project has another CI; return what is left to do."""
    here = Path.cwd()
    steps = [] if git_line(here, "rev-parse", "--git-dir") else ["make a repository:\n  git init"]
    remotes = git_line(here, "remote", "-v") or ""
    is_elsewhere = "gitlab" in remotes or any(map(os.path.exists, _OTHER_CI))
    if git_line(here, "rev-parse", "--show-prefix") or (is_elsewhere and "github" not in remotes):
        return [*steps, "add a CI job: docs/ci.md of pytest-rankcheck has some to copy"]
    _is_new(_JOB, _FIRST.joinpath(_JOB.name).read_text("utf-8"))
    file = Path("requirements.txt")
    if not file.is_file() or b"rankcheck" not in file.read_bytes():
        steps.append(_INSTALL.format(shlex.quote(_origin()), package_version()))
    return steps


def _origin() -> str:
    """Return from where pip installed this plugin, such as a checkout."""
    origin = json.loads(distribution("pytest-rankcheck").read_text("direct_url.json") or "{}")
    return "git+" * ("vcs_info" in origin) + str(origin.get("url", "pytest-rankcheck"))


def _commit(files: Sequence[Path]) -> str:
    """Return the step that commits files, except those that git ignores."""
    paths = list(map(_shown, files))
    ignored = [file.path for file in ignored_files(Path.cwd(), paths)]
    kept = shlex.join(path for path in paths if path not in ignored)
    note = f"; git ignores {listed(ignored)}, which CI needs too" if ignored else ""
    return f"commit{note}:\n  git add {kept}\n  git commit -m 'Gate the ranking'"


def _shown(path: Path) -> str:
    return Path(os.path.relpath(path)).as_posix()
