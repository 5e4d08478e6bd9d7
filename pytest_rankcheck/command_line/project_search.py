"""What a folder has already: golden sets, runs, and functions that could be the ranker.

Its code is read, and never imported.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from pytest_rankcheck.errors import GoldenSetError, RankcheckError
from pytest_rankcheck.files.packed_files import unpacked_suffix
from pytest_rankcheck.rankers.ranker_lookup import is_name

T = TypeVar("T")

_DEPTH, _FILES, _BYTES = 6, 20_000, 100_000_000
"""How deep is looked, how many files are listed, and how large a file is read."""
_FOREIGN = re.compile(r"\.|node_modules|venv|env$|site-packages|__pycache__|baselines|build$|dist$")
_GOLDEN = re.compile(r"golden|qrel|judg", re.IGNORECASE)
_ENDINGS = {"", ".jsonl", ".json", ".csv", ".tsv", ".qrels", ".txt", ".parquet"}
_SIDE_FILE = re.compile(r"(.*\.)?(queries|corpus|documents)\.|requirements")
_NOT_SHIPPED = re.compile(r"(.*[./])?(tests?|test_\w+|\w+_test|conftest|setup|docs)(\.|$)")
_RANKER = {"search", "rank", "retrieve", "ranker"}


def files_here() -> Sequence[Path]:
    """Return the files under the working directory, without what is hidden, installed or built."""
    found: list[Path] = []
    for folder, folders, names in os.walk("."):
        here = Path(folder)
        is_own = "pyvenv.cfg" not in names and len(here.parts) <= _DEPTH
        folders[:] = sorted(name for name in folders if is_own and not _FOREIGN.match(name))
        found += [here / name for name in sorted(names) if is_own and not name.startswith(".")]
        if len(found) > _FILES:
            break
    return found


def golden_sets_among(
    files: Iterable[Path], load: Callable[[Path], T]
) -> tuple[dict[Path, T], list[str]]:
    """Return the golden sets, and why files that are called so are none.

    Where nothing is called so, any file that is one counts.
    """
    data = [path for path in files if unpacked_suffix(path) in _ENDINGS]
    data = [path for path in data if not _SIDE_FILE.match(path.name)]
    called = [path for path in data if any(map(_GOLDEN.match, path.parts))]
    loaded, unreadable = _read(map(_whole, called), load)
    return loaded or _read(map(_whole, data), load)[0], unreadable


def _read(paths: Iterable[Path], load: Callable[[Path], T]) -> tuple[dict[Path, T], list[str]]:
    """Return what is in files, and why others cannot be read."""
    loaded: dict[Path, T] = {}
    unreadable = []
    for path in dict.fromkeys(paths):
        try:
            if path.stat().st_size > _BYTES:
                raise GoldenSetError(f"{path} is large; if it is one, name it with --golden")
            loaded[path] = load(path)
        except (RankcheckError, ModuleNotFoundError, OSError) as error:
            unreadable.append(str(error).partition("\n")[0])
    return loaded, unreadable


def runs_among(files: Iterable[Path], load: Callable[[Path], object]) -> Sequence[Path]:
    """Return the files that are called runs and can be read."""
    return list(_read([path for path in files if path.suffix == ".run"], load)[0])


def _whole(path: Path) -> Path:
    """Return the BEIR folder that a file of judgments belongs to; otherwise the file."""
    folder = path.parent.parent
    is_beir = path.parent.name == "qrels" and (folder / "queries.jsonl").is_file()
    return folder if is_beir else path


def ranker_names(files: Iterable[Path]) -> Sequence[str]:
    """Return ``module:name`` of the functions that take a text and are called like a ranker."""
    names = []
    for path in (path for path in files if path.suffix == ".py"):
        module = ".".join(path.with_suffix("").parts)
        module = module.removeprefix("src.").removesuffix(".__init__")
        if is_name(f"{module}:x") and not _NOT_SHIPPED.match(module):
            named = [node for node in _functions_in(path) if node.name in _RANKER]
            names += [f"{module}:{node.name}" for node in named if _takes_text(node.args)]
    return names


def _functions_in(path: Path) -> Sequence[ast.FunctionDef | ast.AsyncFunctionDef]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    return [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _takes_text(arguments: ast.arguments) -> bool:
    """Return whether a function can be called with one text."""
    names = [*arguments.posonlyargs, *arguments.args]
    if len(names) - len(arguments.defaults) != 1 or None in arguments.kw_defaults:
        return False
    kind = names[0].annotation
    return kind is None or ast.unparse(kind).strip("'") == "str"
