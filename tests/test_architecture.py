"""The import rule of the design: data flows one way, and starting pytest costs nothing."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
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
    "baselines",
    "gates",
    "behaviour",
    "resolution",
    "comparison",
    "spark",
    "evaluation",
    "sessions",
    "rankers",
    "golden",
    "metrics",
    "statistics",
    "files",
    "document_ids",
    "progress",
    "argument_checks",
    "argument_errors",
    "argument_kinds",
    "errors",
    "array_types",
    "package_version",
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


def imports_of(module: Path) -> set[str]:
    return set(imported(ast.parse(module.read_text(encoding="utf-8"))))


def rooms(names: set[str]) -> set[str]:
    """Return the folders and modules of the house among imported names.

    A name that is neither a folder nor a module is a public name, which ``__init__`` loads.
    """
    own = [name.split(".") for name in names if name.startswith(f"{NAME}.")]
    return {parts[1] if parts[1] in HOUSE else "__init__" for parts in own}


def outsiders(module: Path) -> set[str]:
    return {name.split(".")[0] for name in imports_of(module)}


every_module = pytest.mark.parametrize("module", MODULES, ids=name_of)


def test_there_are_modules_and_each_has_a_place_in_the_house() -> None:
    assert len(MODULES) > 30
    assert {name_of(module).split(".")[0] for module in MODULES} <= set(HOUSE)


@every_module
def test_a_module_imports_nothing_from_above(module: Path) -> None:
    room = name_of(module).split(".")[0]
    above = set(HOUSE[: HOUSE.index(room)])
    assert not rooms(imports_of(module)) & above


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Return which of some modules each imports, in functions and for type checkers too.

    Args:
        sources: the text of each module by its name within the package.
    """
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        graph[module] = set()
        for name in imported(ast.parse(source)):
            parts = name.removeprefix(f"{NAME}.").split(".")
            candidates = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
            target = next((candidate for candidate in candidates if candidate in sources), None)
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
    sources = {name_of(module): module.read_text(encoding="utf-8") for module in MODULES}
    assert cycles(import_graph(sources)) == []


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"a": "from pytest_rankcheck.b import x", "b": "import pytest_rankcheck.c", "c": ""}, []),
        (
            {
                "a": "from pytest_rankcheck.b import x",
                "b": "def f():\n    from pytest_rankcheck.c import x",
                "c": "if TYPE_CHECKING:\n    import pytest_rankcheck.a",
                "d": "import pytest_rankcheck.a",
            },
            [["a", "b", "c"]],
        ),
        (
            {"a.x": "from pytest_rankcheck.a import y", "a.y": "import pytest_rankcheck.a.x"},
            [["a.x", "a.y"]],
        ),
        ({"a": "import pytest_rankcheck.a", "b": "import b"}, [["a"]]),
    ],
)
def test_the_rule_about_cycles_finds_them(
    sources: dict[str, str], expected: list[list[str]]
) -> None:
    assert cycles(import_graph(sources)) == expected


def test_no_two_modules_have_the_same_name() -> None:
    names = [module.stem for module in MODULES if module.stem != "__init__"]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import pytest_rankcheck.plugin.hooks", {"plugin"}),
        ("from pytest_rankcheck.gates.gate import Gate", {"gates"}),
        ("from pytest_rankcheck import gates", {"gates"}),
        ("from pytest_rankcheck import Run", {"__init__"}),
        ("def f():\n    from pytest_rankcheck.reports import x", {"reports"}),
        ("if TYPE_CHECKING:\n    from pytest_rankcheck.plugin.hooks import x", {"plugin"}),
        ("import numpy.linalg", set()),
    ],
)
def test_the_rule_sees_every_kind_of_import(source: str, expected: set[str]) -> None:
    assert rooms(set(imported(ast.parse(source)))) == expected


@every_module
def test_only_some_know_pytest_and_one_knows_syrupy(module: Path) -> None:
    name = name_of(module)
    if name.split(".")[0] not in MAY_KNOW_PYTEST:
        assert not outsiders(module) & {"pytest", "_pytest"}
    if name != "baselines.syrupy_store":
        assert "syrupy" not in outsiders(module)


def test_the_rule_about_pytest_and_syrupy_has_something_to_find() -> None:
    assert "pytest" in outsiders(PACKAGE / "plugin" / "hooks.py")
    assert "syrupy" in outsiders(PACKAGE / "baselines" / "syrupy_store.py")


INPUT_AND_OUTPUT = {"os", "io", "pathlib", "sys", "subprocess", "socket", "sqlite3", "tempfile"} | {
    "shutil",
    "urllib",
    "http",
    "logging",
    "csv",
    "gzip",
}


@pytest.mark.parametrize(
    "module", [module for module in MODULES if name_of(module).startswith("metrics")], ids=name_of
)
def test_metrics_are_numpy_in_numpy_out(module: Path) -> None:
    assert not outsiders(module) & ({"pandas", "pytest"} | INPUT_AND_OUTPUT)
    called = {
        node.func.id
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"open", "print", "input", "eval", "exec", "compile"}


@every_module
def test_nothing_is_executed_or_unpickled(module: Path) -> None:
    assert not outsiders(module) & {"pickle", "marshal", "shelve", "dill"}
    tree = ast.parse(module.read_text(encoding="utf-8"))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"eval", "exec"}


HEAVY = ("numpy", "pandas", "syrupy", "scipy", "ir_measures")


@pytest.mark.parametrize(
    "statement",
    [
        "import pytest_rankcheck",
        "import pytest_rankcheck.plugin.hooks",
        "import pytest_rankcheck; dir(pytest_rankcheck); pytest_rankcheck.__all__",
        "from pytest_rankcheck import RankcheckError, GoldenSetError, GoldenSet",
    ],
)
def test_importing_costs_nothing(statement: str) -> None:
    check = f"{statement}; import sys; print([name for name in {HEAVY} if name in sys.modules])"
    # In a fresh interpreter; what a coverage tool starts there is not ours.
    clean = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True, env=clean
    )
    assert done.stdout.strip() == "[]"


def test_the_check_of_heavy_imports_can_fail() -> None:
    check = "from pytest_rankcheck import Run, evaluate; import sys; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


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


@pytest.mark.parametrize(
    ("statement", "most"),
    [(THE_PLUGIN, 20), (ONE_ASSERTION, 85)],
    ids=["the plugin", "one assertion"],
)
def test_only_the_modules_that_are_needed_are_imported(statement: str, most: int) -> None:
    """The numbers may fall; before one rises, look for an import that can wait."""
    done = subprocess.run(
        [sys.executable, "-c", statement], capture_output=True, text=True, check=True
    )
    names = done.stdout.split()
    assert len(names) <= most, "\n".join(names)
    assert len(names) > most // 2, "the test counts what is imported"


def test_every_public_name_is_there() -> None:
    assert sorted(pytest_rankcheck.__all__) == sorted(set(pytest_rankcheck.__all__))
    for name in pytest_rankcheck.__all__:
        assert getattr(pytest_rankcheck, name) is not None
        assert name in dir(pytest_rankcheck)
    with pytest.raises(AttributeError, match="has no attribute 'Golden'"):
        _ = pytest_rankcheck.Golden


def test_the_stub_states_the_public_names_and_nothing_else_does() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    aliases = [
        alias for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    stated = [alias.name for alias in aliases]
    assert [alias.asname for alias in aliases] == stated, "only `name as name` is public"
    assert sorted([*stated, "__version__"]) == pytest_rankcheck.__all__
    module = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    strings = {node.value for node in ast.walk(module) if isinstance(node, ast.Constant)}
    assert not strings & set(stated)
    assert not {name.rpartition(".")[2] for name in imported(module)} & set(stated)


def test_the_public_names_can_be_imported_with_a_star() -> None:
    names: dict[str, object] = {}
    exec("from pytest_rankcheck import *", names)
    assert {*names} - {"__builtins__"} == set(pytest_rankcheck.__all__)


@every_module
def test_every_name_that_a_module_announces_is_there(module: Path) -> None:
    import importlib

    name = name_of(module)
    try:
        loaded = importlib.import_module(NAME if name == "__init__" else f"{NAME}.{name}")
    except ModuleNotFoundError as missing:  # a module for an extra
        if str(missing.name).startswith(NAME):
            raise
        pytest.skip(f"{missing.name} is not installed")
    for public in getattr(loaded, "__all__", ()):
        assert hasattr(loaded, public), public


def test_the_types_are_shipped() -> None:
    assert (PACKAGE / "py.typed").is_file()
