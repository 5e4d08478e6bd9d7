"""``python -m pytest_rankcheck init``: a first gate, made from what a project has.

Nothing is overwritten: a file that exists stays as it is. Only a `pyproject.toml` without any
configuration of pytest gets a table at its end.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
_TEST, _TABLE = "test_ranking.py", "test_ranking.rank.toml"
_FIRST = Path(__file__).with_name("first_gate")
"""The files to write."""
_GATES = ((1000, "noninferior(margin=0.02)"), (200, "noninferior(margin=0.03)"))
_RANKER = "rankcheck_ranker"
_TO_FILL_IN, _COMMAND = f"# {_RANKER}", "# command"
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
    what = "write a rank file, as where there is no Python, and not a test"
    init.add_argument("--rank-file", action="store_true", help=what)
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
    tests = Path("tests" if "tests" in folders else folders[0])
    golden = _golden_sets(list(map(Path, chosen.golden)), files, inputs)
    has_table = tests / _TABLE in files
    ranker = {} if has_table else _ranker(chosen.ranker, files, inputs, tests)
    fewest = min(map(len, golden.values()))
    words = {"METRIC": usual_metrics(inputs.config.depth)[0], "GATE": gate_for(fewest)}
    print(f"gate for {plural(fewest, 'query', 'queries')}: {words['GATE']} (docs/which-gate.md)")
    test, settings = tests / _TEST, {"rankcheck_golden": list(map(_shown, golden)), **ranker}
    has_python = any(path.suffix == ".py" for path in files)
    if chosen.rank_file or has_table or not has_python:
        test = tests / _TABLE
        settings = {name: ranker[name] for name in ("pythonpath",) if _RANKER in ranker}
        words |= _words_of_table(golden, ranker, tests)
    configured = configured_names(project)
    missing = {name: settings[name] for name in settings if name not in configured}
    steps = _configure(Path(file.name), missing) if settings else []
    _write_new(test, re.sub("|".join(words), lambda word: words[word[0]], _template(test)))
    if _TO_FILL_IN in ranker or _COMMAND in test.read_text("utf-8"):
        place = file.name if settings else test
        steps.append(f"name your ranker in {place}, and remove the # (docs/rankers.md)")
    steps += [*_ci_steps(), *_recording_steps(test, [*golden, file, test, _JOB])]
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
    return {**settings, _RANKER: names[0]}


def _words_of_table(golden: GoldenSets, ranker: Settings, folder: Path) -> dict[str, str]:
    """Return what a rank file in a folder says about golden sets and the ranker."""
    paths = [Path(os.path.relpath(path, folder)).as_posix() for path in golden]
    line = f'{_COMMAND} = ["../rank"]  # a program: JSON lines in and out'
    if "rankcheck_run" in ranker:
        line = f"run = {readable_json(os.path.relpath(ranker['rankcheck_run'][0], folder))}"
    elif _RANKER in ranker:
        line = f"python = {readable_json(ranker[_RANKER])}"
    return {"GOLDEN": readable_json(paths), "RANKER": f"\n[ranker]\n{line}\n" if ranker else ""}


def _configure(file: Path, missing: Settings) -> list[str]:
    """Append settings to a `pyproject.toml` that has none of pytest's; else return the step."""
    before = file.read_bytes().decode() if file.exists() else ""
    texts = [f"{name} = {_value(value, file)}\n" for name, value in missing.items()]
    added = "".join(text for text in texts if text not in before)
    if not added:
        print(f"exists, left as it is: {file}")
        return []
    after = f"{before}\n" * bool(before) + f"[tool.pytest.ini_options]\n{added}"
    is_free = file.name == "pyproject.toml" and "pytest" not in tomllib.loads(before).get(
        "tool", ()
    )
    with suppress(tomllib.TOMLDecodeError):  # `tool` may be on one line
        if is_free and tomllib.loads(after):
            write_whole(file.resolve(), after)
            print(f"written: {file}")
            return []
    return [f"add to the settings of pytest in {file}:\n{added}".rstrip()]


def _value(value: str | Sequence[str], file: Path) -> str:
    if file.suffix == ".toml":
        return readable_json(value)
    return value if isinstance(value, str) else shlex.join(value)


def _template(path: Path) -> str:
    return _FIRST.joinpath(f"{path.name}.txt").read_text("utf-8")


def _write_new(path: Path, text: str) -> None:
    """Write a file, unless it exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        print(f"exists, left as it is: {path}")
    else:
        print(f"written: {path}")


def _ci_steps() -> list[str]:
    """Write a job for GitHub, unless the project has another CI; return what is left to do."""
    here = Path.cwd()
    steps = [] if git_line(here, "rev-parse", "--git-dir") else ["make a repository:\n  git init"]
    remotes = git_line(here, "remote", "-v") or ""
    is_elsewhere = "gitlab" in remotes or any(map(os.path.exists, _OTHER_CI))
    if git_line(here, "rev-parse", "--show-prefix") or (is_elsewhere and "github" not in remotes):
        return [*steps, "add a CI job: docs/ci.md of pytest-rankcheck has some to copy"]
    _write_new(_JOB, _template(_JOB))
    file = Path("requirements.txt")
    if not file.is_file() or b"rankcheck" not in file.read_bytes():
        steps.append(_INSTALL.format(shlex.quote(_origin()), package_version()))
    return steps


def _origin() -> str:
    """Return from where pip installed this plugin, such as a checkout."""
    origin = json.loads(distribution("pytest-rankcheck").read_text("direct_url.json") or "{}")
    return "git+" * ("vcs_info" in origin) + str(origin.get("url", "pytest-rankcheck"))


def _recording_steps(test: Path, written: Sequence[Path]) -> list[str]:
    """Return the steps that record a baseline and commit files; none if one was recorded."""
    baselines = test.parent / "baselines"
    if baselines.joinpath(test.stem).is_dir():
        return []
    paths = [_shown(path) for path in (*written, baselines) if path.exists() or path == baselines]
    ignored = [file.path for file in ignored_files(Path.cwd(), paths)]
    kept = shlex.join(path for path in paths if path not in ignored)
    note = f"; git ignores {listed(ignored)}, which CI needs too" if ignored else ""
    return [
        f"record what the ranker does:\n  pytest {_shown(test)} --snapshot-update",
        f"commit{note}:\n  git add {kept}\n  git commit -m 'Gate the ranking'",
    ]


def _shown(path: Path) -> str:
    return Path(os.path.relpath(path)).as_posix()
