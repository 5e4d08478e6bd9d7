"""What a small pytest run costs: one golden set of ten queries, one evaluation, one baseline.

    python benchmarks/small_run.py                        # this checkout
    python benchmarks/small_run.py --against ../other     # and another one
    python benchmarks/small_run.py --write                # into docs/speed.md

Whole processes are timed, one after the other. Two are the floor: pytest on an ordinary test that
imports numpy and syrupy, and on one that imports pandas as well. The others are pytest on a test
with a baseline, with the modules of this package compiled before (warm) and not (cold: they are
compiled, and their bytecode is written). CPU time includes child processes, such as git. Medians of
alternating rounds count; what is beyond a floor is the median difference in the same round.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from manual_parts import DOCS, write_part

PACKAGE = "pytest_rankcheck"
PAGE = DOCS / "speed.md"
HERE = Path(__file__).resolve().parents[1]
PLUGIN = ("-p", f"{PACKAGE}.plugin.hooks")
FLOORS = {"numpy": ("numpy", "syrupy"), "numpy and pandas": ("numpy", "pandas", "syrupy")}
"""What ordinary tests import, by the name of the floor."""
TEST = """
from pytest_rankcheck import assert_ndcg_not_regressed

def test_ranking(evaluation, baseline):
    assert_ndcg_not_regressed(evaluation, baseline, k=10, abs=0.01)
"""
ENGINE = """
def search(text):
    first = int(text.split()[-1])
    return [f"d{number % 30}" for number in range(first, first + 20)]
"""
CONFIGURATION = """
[tool.pytest.ini_options]
rankcheck_golden = "golden.jsonl"
rankcheck_ranker = "engine:search"
pythonpath = ["."]
"""


@dataclass(frozen=True)
class Cost:
    """What one process took, in seconds."""

    cpu: float
    wall: float


def write_project(folder: Path) -> None:
    """Write a project with ten queries and one test, in a git repository of its own."""
    lines = [
        {
            "query_id": f"q{number}",
            "query": f"query {number}",
            "relevance": {f"d{number + step}": 1 + step % 3 for step in range(5)},
        }
        for number in range(10)
    ]
    (folder / "golden.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    (folder / "engine.py").write_text(ENGINE, "utf-8")
    (folder / "pyproject.toml").write_text(CONFIGURATION, "utf-8")
    (folder / "test_ranking.py").write_text(TEST, "utf-8")
    for number, modules in enumerate(FLOORS.values()):
        test = f"import {', '.join(modules)}\n\ndef test_ordinary():\n    pass\n"
        (folder / f"floor{number}").mkdir()
        (folder / f"floor{number}" / "test_floor.py").write_text(test, "utf-8")


def commit(folder: Path) -> None:
    """Commit everything, as in a checkout that CI runs."""
    names = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for arguments in (("init", "-q"), ("add", "-A"), (*names, "commit", "-qm", "baseline")):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


def run(folder: Path, tree: Path, *arguments: str) -> Cost:
    """Run pytest in a folder with the package of a tree; return what it took.

    Raises:
        SystemExit: pytest failed.
    """
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    variables = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(tree)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=clean | variables, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall)


def forget_bytecode(tree: Path) -> None:
    """Remove the compiled modules of the package."""
    for cache in tree.rglob("__pycache__"):
        shutil.rmtree(cache)


def copied(checkout: Path, folder: Path) -> Path:
    """Copy the package of a checkout, so that its bytecode can be removed; return the copy."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(checkout / PACKAGE, folder / PACKAGE, ignore=ignored)
    return folder


def measured(checkouts: Mapping[str, Path], rounds: int) -> Mapping[str, Sequence[Cost]]:
    """Return the costs of each kind of run, round by round."""
    costs: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        trees, projects = {}, {}
        for name, checkout in checkouts.items():
            trees[name] = copied(checkout, Path(temporary) / f"tree of {name}")
            projects[name] = Path(temporary) / f"project of {name}"
            projects[name].mkdir()
            write_project(projects[name])
            options = ("-p", "syrupy", *PLUGIN, "test_ranking.py")
            run(projects[name], trees[name], *options, "--snapshot-update")
            commit(projects[name])
            compileall.compile_dir(trees[name], quiet=1)
        for _ in range(rounds):
            for name, tree in trees.items():
                for number, floor in enumerate(FLOORS):
                    cost = run(projects[name], tree, "-p", "syrupy", f"floor{number}")
                    costs.setdefault(f"floor: {floor}", []).append(cost)
                costs.setdefault(f"warm, {name}", []).append(run(projects[name], tree, *options))
                forget_bytecode(tree)
                costs.setdefault(f"cold, {name}", []).append(run(projects[name], tree, *options))
    return costs


def table(costs: Mapping[str, Sequence[Cost]], checkouts: int) -> Iterator[str]:
    """Yield a row for each kind of run: the whole process, and what is beyond each floor."""
    floors = {name: costs[f"floor: {name}"][::checkouts] for name in FLOORS}
    heads = " | ".join(f"CPU beyond {name}" for name in floors)
    yield f"| run | CPU | wall | {heads} |"
    yield f"|---|---|---|{'---|' * len(floors)}"
    for kind, found in costs.items():
        is_floor = kind.startswith("floor")
        cpu, wall = (median(getattr(cost, unit) for cost in found) for unit in ("cpu", "wall"))
        beyond = ["" if is_floor else _beyond(found, floor) for floor in floors.values()]
        cells = [f"{cpu:.2f} s", f"{wall:.2f} s", *beyond]
        yield f"| {kind} | {' | '.join(cells)} |"


def _beyond(found: Sequence[Cost], floor: Sequence[Cost]) -> str:
    """Return the median difference of CPU time from the floor of the same round."""
    return f"{median(each.cpu - least.cpu for each, least in zip(found, floor, strict=True)):.2f} s"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--against", type=Path, help="another checkout to compare with")
    parser.add_argument("--write", action="store_true", help=f"write it into {PAGE.name}")
    given = parser.parse_args()
    checkouts = {"now": HERE} | ({"before": given.against} if given.against else {})
    costs = measured(checkouts, given.rounds)
    lines = [*table(costs, len(checkouts)), "", f"{given.rounds} rounds, medians."]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.write:
        write_part(PAGE, "a small run", text)


if __name__ == "__main__":
    main()
