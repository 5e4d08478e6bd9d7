"""The import rule of the design: data flows one way, and starting pytest costs nothing."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import pytest_rankcheck

PACKAGE = Path(pytest_rankcheck.__file__).parent
NAME = "pytest_rankcheck"

HOUSE = [
    "__init__",
    "__main__",
    "command_line",
    "plugin",
    "extension_registry",
    "assertions",
    "reports",
    "explanation",
    "baselines",
    "proof",
    "gates",
    "behaviour",
    "comparison",
    "evaluation",
    "sessions",
    "rankers",
    "golden",
    "metrics",
    "statistics",
    "files",
    "document_ids",
    "argument_checks",
    "remedies",
    "errors",
    "array_types",
    "lazy_names",
]
"""From top to bottom: each may import what is below it, never what is above."""

MAY_KNOW_PYTEST = {"plugin", "assertions", "baselines"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(module: Path) -> str:
    parts = module.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield every module that is imported, in functions and for type checkers too.

    ``from package import name`` may import the module ``package.name``: both are yielded.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


@cache
def imports_of(module: Path) -> frozenset[str]:
    return frozenset(imported(tree_of(module)))


def rooms(names: Collection[str]) -> set[str]:
    """Return the folders and modules of the house among imported names.

    A name that is neither a folder nor a module is a public name, which ``__init__`` loads.
    """
    own = [name.split(".") for name in names if name.startswith(f"{NAME}.")]
    return {parts[1] if parts[1] in HOUSE else "__init__" for parts in own}


def outsiders(module: Path) -> set[str]:
    return {name.split(".")[0] for name in imports_of(module)}


def test_there_are_modules_and_each_has_a_place_in_the_house() -> None:
    assert len(MODULES) > 30
    assert {name_of(module).split(".")[0] for module in MODULES} <= set(HOUSE)


def test_a_module_imports_nothing_from_above() -> None:
    for module in MODULES:
        room = name_of(module).split(".")[0]
        above = set(HOUSE[: HOUSE.index(room)])
        assert not rooms(imports_of(module)) & above, name_of(module)


def import_graph(imports: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Return which of some modules each imports, of the names that each imports."""
    graph: dict[str, set[str]] = {}
    for module, names in imports.items():
        graph[module] = set()
        for name in names:
            parts = name.removeprefix(f"{NAME}.").split(".")
            candidates = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
            target = next((candidate for candidate in candidates if candidate in imports), None)
            if name.startswith(f"{NAME}.") and target is not None:
                graph[module].add(target)
    return graph


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the import cycles: groups of modules that all import one another, directly or not."""
    reachable = {module: set(targets) for module, targets in graph.items()}
    for middle in graph:
        for targets in reachable.values():
            if middle in targets:
                targets.update(reachable[middle])
    together = {
        tuple(sorted(other for other in targets if module in reachable[other]))
        for module, targets in reachable.items()
        if module in targets
    }
    return sorted(map(list, together))


def test_no_module_is_in_an_import_cycle() -> None:
    assert cycles(import_graph({name_of(each): imports_of(each) for each in MODULES})) == []


def test_no_two_modules_have_the_same_name() -> None:
    names = [module.stem for module in MODULES if module.stem != "__init__"]
    assert sorted(names) == sorted(set(names))


def test_only_some_know_pytest_and_one_knows_syrupy() -> None:
    knows_pytest = {name_of(m) for m in MODULES if outsiders(m) & {"pytest", "_pytest"}}
    assert "plugin.hooks" in knows_pytest, "the rule has something to find"
    assert {name.split(".")[0] for name in knows_pytest} <= MAY_KNOW_PYTEST
    knows_syrupy = {name_of(module) for module in MODULES if "syrupy" in outsiders(module)}
    assert knows_syrupy == {"baselines.syrupy_store"}


def test_reports_compute_nothing() -> None:
    for module in MODULES:
        if name_of(module).startswith("reports"):
            modules = {name.split(".")[1] for name in imports_of(module) if name.startswith(NAME)}
            assert "statistics" not in modules, module
            assert not {"numpy", "statistics"} & outsiders(module), module


def test_nobody_asks_which_kind_a_metric_is() -> None:
    """A kind has a method or an attribute for what others need to know of it."""
    asks = re.compile(r"(metric|definition|entry)\.unit [!=]|isinstance\([\w.]+\.kind\b|is KINDS\b")
    assert asks.search('if metric.unit != "query":'), "the rule has something to find"
    assert asks.search("isinstance(metric.kind, RunValues)")
    assert [name_of(each) for each in MODULES if asks.search(each.read_text("utf-8"))] == []


INPUT_AND_OUTPUT = {
    *("os", "io", "pathlib", "sys", "subprocess", "socket", "sqlite3", "tempfile", "shutil"),
    *("urllib", "http", "logging", "csv", "gzip"),
}
UNPICKLERS = {"pickle", "marshal", "shelve", "dill"}


def called(module: Path) -> set[str]:
    """Return the names of the functions that a module calls."""
    calls = (node.func for node in ast.walk(tree_of(module)) if isinstance(node, ast.Call))
    return {function.id for function in calls if isinstance(function, ast.Name)}


def test_metrics_are_numpy_in_numpy_out() -> None:
    for module in MODULES:
        if name_of(module).startswith("metrics"):
            assert not outsiders(module) & ({"pandas", "pytest"} | INPUT_AND_OUTPUT), module
            assert not called(module) & {"open", "print", "input", "eval", "exec", "compile"}


BETWEEN_OUR_PROCESSES = {"behaviour.repeated_ranker", "reports.ledger"}
"""The modules whose pickles go from one process to another, which it has started for this."""


def test_nothing_is_executed_or_unpickled() -> None:
    for module in MODULES:
        found = outsiders(module) & UNPICKLERS
        assert not found or name_of(module) in BETWEEN_OUR_PROCESSES, module
        assert not called(module) & {"eval", "exec"}, module


def run_apart(program: str) -> str:
    """Run a program in a fresh interpreter; what a coverage tool starts there is not ours."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=clean).stdout


LIGHT_IMPORTS = f"""
import sys
import {NAME}.plugin.hooks
import {NAME}
dir({NAME}), {NAME}.__all__
from {NAME} import RankcheckError, GoldenSetError, GoldenSet
heavy = ("numpy", "pandas", "syrupy", "scipy", "ir_measures")
print([name for name in heavy if name in sys.modules])
from {NAME} import Run, evaluate
print("numpy" in sys.modules)
"""


def test_importing_costs_nothing() -> None:
    assert run_apart(LIGHT_IMPORTS).split("\n")[:2] == ["[]", "True"]


ONE_ASSERTION = f"""
import sys
from pytest_rankcheck import GoldenSet, Run, assert_ndcg_at_least, evaluate

evaluation = evaluate(Run.from_dict({{"q": ["a"]}}), GoldenSet.from_dict({{"q": {{"a": 1}}}}))
assert_ndcg_at_least(evaluation, 0.5, k=10)
print(*[name for name in sys.modules if name.startswith("{NAME}")])
"""


THE_PLUGIN = f"""
import sys
import {NAME}.plugin.hooks

print(*[name for name in sys.modules if name.startswith("{NAME}")])
"""


def test_only_the_modules_that_are_needed_are_imported() -> None:
    """The numbers may fall; before one rises, look for an import that can wait."""
    for program, most in ((THE_PLUGIN, 20), (ONE_ASSERTION, 85)):
        names = run_apart(program).split()
        assert len(names) <= most, "\n".join(names)
        assert len(names) > most // 2, "the test counts what is imported"


def test_every_public_name_is_there() -> None:
    assert sorted(pytest_rankcheck.__all__) == sorted(set(pytest_rankcheck.__all__))
    for name in pytest_rankcheck.__all__:
        assert getattr(pytest_rankcheck, name) is not None
        assert name in dir(pytest_rankcheck)
    with pytest.raises(AttributeError, match="has no attribute 'Golden'"):
        _ = pytest_rankcheck.Golden
    names: dict[str, object] = {}
    exec("from pytest_rankcheck import *", names)
    assert {*names} - {"__builtins__"} == set(pytest_rankcheck.__all__)


def test_the_stub_states_the_public_names_and_nothing_else_does() -> None:
    stub = tree_of(PACKAGE / "__init__.pyi")
    aliases = [
        alias for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    stated = [alias.name for alias in aliases]
    assert [alias.asname for alias in aliases] == stated, "only `name as name` is public"
    assert sorted([*stated, "__version__"]) == pytest_rankcheck.__all__
    module = tree_of(PACKAGE / "__init__.py")
    strings = {node.value for node in ast.walk(module) if isinstance(node, ast.Constant)}
    assert not strings & set(stated)
    assert not {name.rpartition(".")[2] for name in imported(module)} & set(stated)


def test_the_types_are_shipped() -> None:
    assert (PACKAGE / "py.typed").is_file()
