"""What a folder already has: golden sets, and functions that could be the ranker.

Its code is read, and never imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_rankcheck.errors import ConfigurationError, RankcheckError, listed, plural, quoted
from pytest_rankcheck.files.packed_files import unpacked_suffix
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.rankers.ranker_lookup import is_name

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
_RANKER = re.compile(r"(?m)^def (search|rank|retrieve|recommend|ranker)\([^,=)]+(\)|,[^,=)]+=)")
"""A function with one argument that has no default."""

GoldenSets = dict[Path, GoldenSet]
Settings = Mapping[str, str | Sequence[str]]


def files_here() -> Sequence[Path]:
    """Return the files of this folder, except hidden, installed and built ones."""
    found: list[Path] = []
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(name for name in folders if not _FOREIGN.match(name))
        found += [Path(folder, name) for name in sorted(names)]
    return found


def find_golden_sets(files: Sequence[Path], inputs: Inputs, named: Sequence[Path]) -> GoldenSets:
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


def _golden_sets_among(files: Sequence[Path], inputs: Inputs) -> GoldenSets:
    found = {}
    called = [path for path in files if any(map(_GOLDEN.match, path.parts))]
    for path in (path for path in called if unpacked_suffix(path) in _ENDINGS):
        try:
            found[path] = inputs.golden_set(path)
        except (RankcheckError, ModuleNotFoundError, OSError) as error:
            why = str(error).partition("\n")[0]
            print(f"not a golden set: {quoted(why, 300)}")
    return found


def find_ranker(files: Sequence[Path], config: Config) -> Settings:
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
            yield from (f"{module}:{found[1]}" for found in _RANKER.finditer(text))


def files_of(ranker: str, files: Sequence[Path]) -> Iterator[Path]:
    """Yield the file of the module that a name such as ``package.module:name`` begins with."""
    module = ranker.partition(":")[0]
    yield from (path for path in files if path.suffix == ".py" and _module_of(path) == module)


def _module_of(path: Path) -> str:
    name = ".".join(path.with_suffix("").parts)
    return name.removeprefix("src.").removesuffix(".__init__")
