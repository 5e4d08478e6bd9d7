"""``python -m pytest_rankcheck init``: a first gate, made from what a project has, or an example.

Nothing is overwritten.
A `pyproject.toml` without settings of pytest gets a table at its end.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from glob import escape
from pathlib import Path

from pytest_rankcheck.command_line import project_search as search
from pytest_rankcheck.command_line.shared_inputs import PASSED, Commands, add_repeated
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.files.git_commands import git_line
from pytest_rankcheck.files.whole_files import readable_json, write_whole
from pytest_rankcheck.golden.formats.trec_qrels import queries_file
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.lint.linter import findings_of
from pytest_rankcheck.metrics.metric_names import usual_metrics
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.project_configuration import project_configuration

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
_FEATURES = """with rankers.model, set rankcheck_world = ["model:features"]: failures then name the
features that changed (docs/how-to/learning-to-rank.md)"""
_EXTRAS = {".yaml": "yaml", ".yml": "yaml", ".parquet": "fast", ".arrow": "fast", ".zst": "zstd"}
"""The extras needed to read golden sets, by the endings of their names."""
_JOB = Path(".github/workflows/ranking.yml")
_HAS_TABLE = re.compile(r"tool\.pytest|^\[?tool *[\]=]", re.MULTILINE)
"""What a `pyproject.toml` has if no pytest table can be added to it."""


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
    project, files = project_configuration(), search.files_here()
    file = Path(os.path.relpath(project.inipath or "pyproject.toml"))
    if file.name != str(file):
        raise ConfigurationError(f"{quoted(file)} configures pytest: run init in its folder")
    inputs = Inputs(project.stash[CONFIG])
    named = list(map(Path, chosen.golden)) or inputs.config.golden
    golden = search.find_golden_sets(files, inputs, named)
    folder = Path((project.getini("testpaths") or ["tests"])[0])
    test, table = folder / "test_ranking.py", folder / "test_ranking.rank.toml"
    ranker: search.Settings
    has_python = any(path.suffix == ".py" for path in files)
    if chosen.rank_file or table in files or not has_python:
        test, steps, ranker = table, [], {}
    else:
        ranker = search.find_ranker(files, inputs.config)
        steps = _configure(file, {"rankcheck_golden": list(map(_shown, golden)), **ranker})
    fewest = min(map(len, golden.values()))
    words = {"METRICS": readable_json(_metrics([*golden.values()], inputs.config.depth))}
    words["GATE"] = gate_for(fewest)
    words["GOLDEN"] = readable_json([_shown(path, folder) for path in golden])
    print(f"gate for {plural(fewest, 'query', 'queries')}: {words['GATE']} (docs/which-gate.md)")
    for each in golden.values():
        for finding in findings_of(each, inputs.lint_options(), _CHECKS):
            print(f"warning: golden set '{quoted(each.name)}': {finding.message}")
    slices = dict(found for each in golden.values() for found in _sliced(each))
    if slices:
        least = gate_for(min(slices.values()))
        also = "" if least == words["GATE"] else f"; the gate for the smallest is {least}"
        print(f"to gate slices too, set rankcheck_slices = {_value([*slices], file)}{also}")
    if any(map(_is_sorted, golden.values())):
        print(_FEATURES)
    _write_new(test, words)
    if _COMMAND in test.read_text("utf-8"):
        steps.append(_NAME.format(test))
    name = str(ranker.get("rankcheck_ranker", inputs.config.ranker))
    read = filter(None, (inputs.config.documents, inputs.config.interactions))
    own = [file, *map(Path, read), *search.files_of(name, files)]
    steps += _steps_to_record([*golden], own, test)
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
    if search.files_here():
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


def _sliced(golden: GoldenSet) -> Iterator[tuple[str, int]]:
    """Yield the attributes that divide the queries into a few slices, and the smallest's size."""
    for attribute in golden.attributes:
        slices = golden.slices(attribute)
        if 1 < len(slices) <= _MOST_SLICES:
            yield attribute, min(map(len, slices.values()))


def _configure(file: Path, settings: search.Settings) -> list[str]:
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


def _files_beside(golden: Path) -> Sequence[Path]:
    """Return the files beside a golden set that are read with it, such as its queries."""
    return [queries_file(golden), *golden.parent.glob(f"{escape(golden.name)}.*")]


def _steps_to_record(golden: Sequence[Path], own: Sequence[Path], test: Path) -> list[str]:
    """Write a job for GitHub; return what is left to do if no baseline is recorded."""
    baselines, here = test.parent / "baselines", Path.cwd()
    steps = [] if git_line(here, "rev-parse", "--git-dir") else ["make a repository:\n  git init"]
    if git_line(here, "rev-parse", "--show-prefix") or Path(".gitlab-ci.yml").exists():
        steps.append("add a CI job (docs/ci.md has one to copy)")
    else:
        _write_new(_JOB, {})
        endings = {ending for path in golden for ending in path.suffixes}
        extras = ",".join(sorted({_EXTRAS[each] for each in endings & _EXTRAS.keys()}))
        package = f"pytest-rankcheck[{extras}]" if extras else "pytest-rankcheck"
        steps.append(
            f"let requirements.txt install {package}, and commit it; in {_JOB}, replace OWNER and "
            "COMMIT (docs/ci.md)"
        )
    if baselines.joinpath(test.stem).is_dir():
        return []
    judged = [each for path in golden for each in (path, *_files_beside(path))]
    written = filter(Path.exists, [*judged, *own, test, _JOB, Path("requirements.txt")])
    paths = [*map(_shown, written), _shown(baselines)]
    kept = shlex.join(path for path in paths if not git_line(here, "check-ignore", path))
    return [
        *steps,
        f"record what the ranker does:\n  pytest {_shown(test)} --snapshot-update",
        f"commit, with all of the ranker:\n  git add {kept}\n  git commit -m 'Gate the ranking'",
    ]


def _shown(path: Path, folder: Path | str = ".") -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
