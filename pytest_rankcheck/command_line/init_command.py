"""``python -m pytest_rankcheck init``: a first gate, made from what a project has, or an example.

Golden sets and the ranker are found by their names; code is read, and never imported. Nothing is
overwritten. A `pyproject.toml` without settings of pytest gets a table at its end.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_rankcheck.command_line.shared_inputs import PASSED, Commands, add_repeated
from pytest_rankcheck.errors import ConfigurationError, RankcheckError, listed, plural, quoted
from pytest_rankcheck.files.git_commands import git_line
from pytest_rankcheck.files.packed_files import unpacked_suffix
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.lint.linter import findings_of
from pytest_rankcheck.metrics.metric_names import usual_metrics
from pytest_rankcheck.plugin.configuration import CONFIG, project_configuration
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.rankers.ranker_lookup import is_name

_FIRST = Path(__file__).with_name("first_gate")
"""The files to write."""
_EXAMPLE = _FIRST / "example"
"""A project to try, each file with ``.txt`` at the end of its name."""
_TO_TRY = """next: record what the ranker does, break it, and see which queries fell, and why:
  pytest --snapshot-update
  sed -i.bak 's/CORRECT_TYPOS = True/CORRECT_TYPOS = False/' shop.py
  pytest"""
_CHECKS = ("reversed-grades", "broken-id", "misspelt-id", "not-in-corpus")
"""The lint rules for faults that make every number wrong."""
_GATES = ((1000, "noninferior(margin=0.02)"), (200, "noninferior(margin=0.03)"))
_MOST_SLICES = 10
_RETRIEVED = 50
"""The depth at which lost documents are noticed."""
_RANKER, _COMMAND = "# rankcheck_ranker", '# command = ["../rank"]'
_NAME = "name your ranker in {}, and remove the # (docs/rankers.md)"
_CALLED = "; write module:load() if load() returns it (docs/how-to/learning-to-rank.md)"
_JOB = Path(".github/workflows/ranking.yml")
_HAS_TABLE = re.compile(r"tool\.pytest|^\[?tool *[\]=]", re.MULTILINE)
"""What a `pyproject.toml` has if no pytest table can be added to it."""
_NO_GOLDEN_SET = """no golden set found among the files and folders that begin with golden,
qrel or judg. The smallest is a file such as golden/web.jsonl, with a line for each query (a higher
grade is better, 0 is not relevant):
  {"query_id": "q1", "query": "red shoes", "relevance": {"red-sneaker": 3, "red-hat": 0}}
Write one, or name yours with --golden PATH. If its columns or keys have other names, set
rankcheck_columns = ["query_id=user", "doc_id=item"] first (docs/formats.md)"""
_FOREIGN = re.compile(r"\.|node_modules|venv|env$|site-packages|baselines|build$|dist$")
_GOLDEN = re.compile(r"golden|qrel|judg", re.IGNORECASE)
_ENDINGS = {"", ".jsonl", ".json", ".csv", ".tsv", ".qrels", ".txt", ".parquet", ".yaml", ".yml"}
_NOT_SHIPPED = re.compile(r"(.*\.)?(tests?|test_\w+|conftest|setup|docs)(\.|$)")
_FUNCTION = re.compile(r"(?m)^def (search|rank|retrieve|recommend|ranker)\([^,=)]+(\)|,[^,=)]+=)")
"""A function with one argument that has no default."""

_GoldenSets = dict[Path, GoldenSet]
_Settings = Mapping[str, str | Sequence[str]]


def add_init_command(commands: Commands) -> None:
    """Add the command ``init`` to the parser."""
    what = "write a first gate for the project in this folder"
    init = commands.add_parser("init", help=what, description=f"{what}. Nothing is overwritten.")
    add_repeated(init, "--golden", "PATH", "a golden set", "what is configured or found")
    instead = init.add_mutually_exclusive_group()
    instead.add_argument("--rank-file", action="store_true", help="write a rank file, not a test")
    instead.add_argument(
        "--example", action="store_true", help="write a small project to try, in an empty folder"
    )
    init.set_defaults(run=lambda chosen: _write_example() if chosen.example else _init(chosen))


def gate_for(queries: int) -> str:
    """Return the gate that docs/which-gate.md names for a number of queries."""
    return next((gate for least, gate in _GATES if queries >= least), "significant()")


def _init(chosen: argparse.Namespace) -> int:
    project, files = project_configuration(), _files_here()
    file = Path(os.path.relpath(project.inipath or "pyproject.toml"))
    if file.name != str(file):
        raise ConfigurationError(f"{quoted(file)} configures pytest: run init in its folder")
    inputs = Inputs(project.stash[CONFIG])
    named = list(map(Path, chosen.golden)) or inputs.config.golden
    golden = _find_golden_sets(files, inputs, named)
    folder = Path((project.getini("testpaths") or ["tests"])[0])
    test, table = folder / "test_ranking.py", folder / "test_ranking.rank.toml"
    has_python = any(path.suffix == ".py" for path in files)
    if chosen.rank_file or table in files or not has_python:
        test, steps = table, []
    else:
        ranker = _find_ranker(files, inputs.config)
        steps = _configure(file, {"rankcheck_golden": list(map(_shown, golden)), **ranker})
    fewest = min(map(len, golden.values()))
    words = {"METRICS": readable_json(_metrics([*golden.values()], inputs.config.depth))}
    words["GATE"] = gate_for(fewest)
    words["GOLDEN"] = readable_json([_shown(path, folder) for path in golden])
    print(f"gate for {plural(fewest, 'query', 'queries')}: {words['GATE']} (docs/which-gate.md)")
    for each in golden.values():
        for finding in findings_of(each, inputs.lint_options(), _CHECKS):
            print(f"warning: golden set '{quoted(each.name)}': {finding.message}")
    slices = [*dict.fromkeys(name for each in golden.values() for name in _sliced(each))]
    if slices:
        print(f"to gate slices too, set rankcheck_slices = {_value(slices, file)}")
    _write_new(test, words)
    if _COMMAND in test.read_text("utf-8"):
        steps.append(_NAME.format(test))
    steps += _steps_to_record([*golden], file, test)
    print("next:" if steps else "nothing is left to do")
    for number, step in enumerate(steps, 1):
        print(f"{number}. {step}")
    return PASSED


def _metrics(golden: Sequence[GoldenSet], depth: int) -> Sequence[str]:
    """Return the metrics that docs/metrics.md names: one for the order, one for lost documents.

    A model that only sorts candidates cannot lose any.
    """
    order = usual_metrics(depth)[0]
    is_sorted = any(map(_is_sorted, golden))
    return [order] if is_sorted else [order, f"R@{min(depth, _RETRIEVED)}"]


def _is_sorted(golden: GoldenSet) -> bool:
    """Return whether a model sorts its candidates; interactions have no irrelevant ones."""
    return bool(golden.contents.candidates) and bool((golden.judgments["relevance"] <= 0).any())


def _write_example() -> int:
    """Write a ranker, a golden set with slices, a test and a configuration."""
    if _files_here():
        raise ConfigurationError(
            "init --example needs an empty folder; make one: mkdir shop && cd shop"
        )
    for source in sorted(_EXAMPLE.rglob("*.txt")):
        path = source.relative_to(_EXAMPLE).with_suffix("")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.read_text("utf-8"), "utf-8")
        print(f"written: {path.as_posix()}")
    print(_TO_TRY)
    return PASSED


def _sliced(golden: GoldenSet) -> Iterator[str]:
    """Yield the attributes that divide the queries into a few slices."""
    for attribute in golden.attributes:
        if 1 < len(golden.slices(attribute)) <= _MOST_SLICES:
            yield attribute


def _configure(file: Path, settings: _Settings) -> list[str]:
    """Add a table to a `pyproject.toml` that has none of pytest's; return what is left to do."""
    before = f"{file.read_bytes().decode()}\n" if file.exists() else ""
    missing = [name for name in settings if not re.search(rf"(?m)^{name} *=", before)]
    added = "".join(f"{name} = {_value(settings[name], file)}\n" for name in missing)
    steps = [_NAME.format(file) + _CALLED] if _RANKER in settings else []
    if not added:
        print(f"exists, left as it is: {file}")
    elif file.name != "pyproject.toml" or _HAS_TABLE.search(before):
        steps.insert(0, f"add to the settings of pytest in {file}:\n{added}".rstrip())
    else:
        write_whole(file.resolve(), f"{before}[tool.pytest.ini_options]\n{added}")
        print(f"written: {file}")
    return steps


def _value(value: str | Sequence[str], file: Path) -> str:
    if file.suffix == ".toml":
        return readable_json(value)
    return value if isinstance(value, str) else shlex.join(value)


def _write_new(path: Path, words: Mapping[str, str]) -> None:
    """Write a file with words replaced, unless it exists."""
    if os.path.lexists(path):
        print(f"exists, left as it is: {path}")
        return
    text = _FIRST.joinpath(f"{path.name}.txt").read_text("utf-8")
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    print(f"written: {path}")


def _steps_to_record(golden: Sequence[Path], configuration: Path, test: Path) -> list[str]:
    """Write a job for GitHub; return what is left to do if no baseline is recorded."""
    baselines, here = test.parent / "baselines", Path.cwd()
    steps = [] if git_line(here, "rev-parse", "--git-dir") else ["make a repository:\n  git init"]
    if git_line(here, "rev-parse", "--show-prefix") or Path(".gitlab-ci.yml").exists():
        steps.append("add a CI job (docs/ci.md has one to copy)")
    else:
        _write_new(_JOB, {})
        steps.append(
            "let requirements.txt install pytest-rankcheck, with [yaml], [fast] (Parquet) or "
            f"[zstd] as the golden set needs, and commit it; in {_JOB}, replace OWNER and COMMIT "
            "(docs/ci.md)"
        )
    if baselines.joinpath(test.stem).is_dir():
        return []
    # A golden set may be read with files beside it, such as the texts of its queries.
    judged = [path if path.parent == Path() else path.parent for path in golden]
    written = filter(Path.exists, [*judged, configuration, test, _JOB, Path("requirements.txt")])
    paths = dict.fromkeys([*map(_shown, written), _shown(baselines)])
    kept = shlex.join(path for path in paths if not git_line(here, "check-ignore", path))
    return [
        *steps,
        f"record what the ranker does:\n  pytest {_shown(test)} --snapshot-update",
        f"commit, with all of the ranker:\n  git add {kept}\n  git commit -m 'Gate the ranking'",
    ]


def _shown(path: Path, folder: Path | str = ".") -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


# --- what a folder already has ---------------------------------------------------------------


def _files_here() -> Sequence[Path]:
    """Return the files of this folder, except hidden, installed and built ones."""
    found: list[Path] = []
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(name for name in folders if not _FOREIGN.match(name))
        found += [Path(folder, name) for name in sorted(names)]
    return found


def _find_golden_sets(files: Sequence[Path], inputs: Inputs, named: Sequence[Path]) -> _GoldenSets:
    """Return the named golden sets, or else the files that are named like golden sets.

    Raises:
        ConfigurationError: none is found, or two have the same name.
        GoldenSetError: a named one cannot be read.
    """
    found = {path: inputs.golden_set(path) for path in named}
    found = found or _golden_sets_among(files, inputs)
    if not found:
        raise ConfigurationError(_NO_GOLDEN_SET)
    for path, golden in found.items():
        print(f"golden set: {quoted(path)}, {plural(len(golden), 'query', 'queries')}")
    if len({golden.name for golden in found.values()}) < len(found):
        raise ConfigurationError("two golden sets share a name; choose with --golden PATH")
    return found


def _golden_sets_among(files: Sequence[Path], inputs: Inputs) -> _GoldenSets:
    found = {}
    called = [path for path in files if any(map(_GOLDEN.match, path.parts))]
    for path in (path for path in called if unpacked_suffix(path) in _ENDINGS):
        try:
            found[path] = inputs.golden_set(path)
        except (RankcheckError, ModuleNotFoundError, OSError) as error:
            why = str(error).partition("\n")[0]
            print(f"not a golden set: {quoted(why, 300)}")
    return found


def _find_ranker(files: Sequence[Path], config: Config) -> _Settings:
    """Return the settings that name the ranker: guessed, or to be filled in."""
    conftests = [path for path in files if path.name == "conftest.py"]
    has_fixture = any(b"def ranker(" in path.read_bytes() for path in conftests)
    if config.ranker or config.run or has_fixture:
        print(f"ranker: {'the fixture in conftest.py' if has_fixture else 'as configured'}")
        return {}
    names = list(_rankers_among(files))
    settings = {"pythonpath": [".", *filter(os.path.isdir, ["src"])]}
    if len(names) != 1:
        print(f"ranker: {f'one of {listed(names)}?' if names else 'not found'}")
        return {**settings, "# rankcheck_ranker": "package.module:name"}
    print(f"ranker: {names[0]}, a guess by its name")
    return {**settings, "rankcheck_ranker": names[0]}


def _rankers_among(files: Sequence[Path]) -> Iterator[str]:
    for path in (path for path in files if path.suffix == ".py"):
        module = _module_of(path)
        if is_name(f"{module}:x") and not _NOT_SHIPPED.match(module):
            text = path.read_text("utf-8", errors="replace")
            yield from (f"{module}:{found[1]}" for found in _FUNCTION.finditer(text))


def _module_of(path: Path) -> str:
    name = ".".join(path.with_suffix("").parts)
    return name.removeprefix("src.").removesuffix(".__init__")
