"""The recipes of CONTRIBUTING.md work: each has a patch that touches the files it names, no others."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PATCHES = sorted((ROOT / "tests" / "patches").glob("*.patch"))
CHECKED_OUT = ("pytest_rankcheck", "tests", "docs", "pyproject.toml", "README.md")


def recipe_of(patch: Path) -> str:
    """Return the section of CONTRIBUTING.md that names a patch as its example."""
    sections = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("\n### ")
    recipes = [section for section in sections if f"tests/patches/{patch.name})" in section]
    assert len(recipes) == 1, f"CONTRIBUTING.md has {len(recipes)} recipes with {patch.name}"
    return recipes[0]


def files_of_recipe(recipe: str) -> list[str]:
    """Return the files of a recipe's table; ``<name>`` stands for a name of your choice."""
    return re.findall(r"^\| `([^`]+)` \|", recipe, flags=re.MULTILINE)


def files_of_patch(patch: Path) -> list[str]:
    return re.findall(r"^diff --git a/\S+ b/(\S+)$", patch.read_text("utf-8"), flags=re.MULTILINE)


def is_named(file: str, pattern: str) -> bool:
    placeholders = re.sub(r"<\w+>", r"\\w+", pattern.replace(".", r"\."))
    return re.fullmatch(placeholders, file) is not None


def test_every_recipe_has_a_patch_and_every_patch_a_recipe() -> None:
    linked = re.findall(
        r"\(tests/patches/([\w.]+)\)", (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    )
    assert sorted(linked) == [patch.name for patch in PATCHES]
    assert len(PATCHES) >= 4


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_patch_touches_the_files_that_its_recipe_names(patch: Path) -> None:
    touched, named = files_of_patch(patch), files_of_recipe(recipe_of(patch))
    assert [file for file in touched if not any(is_named(file, name) for name in named)] == []
    assert [name for name in named if not any(is_named(file, name) for file in touched)] == []


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_patch_still_applies(patch: Path) -> None:
    done = apply(patch, ROOT, "--check")
    assert done.returncode == 0, f"{patch.name} has to be recorded again:\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_what_a_patch_adds_works(patch: Path, tmp_path: Path) -> None:
    """Applied to a copy of the repository, the tests of the patch pass, and fail without its code."""
    copy = tmp_path / "repository"
    for name in CHECKED_OUT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, copy / name)
    assert apply(patch, copy).returncode == 0
    tests = [file for file in files_of_patch(patch) if file.startswith("tests/")]
    added = re.findall(r"^\+def (test_\w+)", patch.read_text("utf-8"), flags=re.MULTILINE)
    printed = run_tests(copy, tests, added)
    assert passed_in(printed) == set(added), printed
    undone = apply(patch, copy, "--reverse", "--include=pytest_rankcheck/*")
    assert undone.returncode == 0, undone.stderr
    assert passed_in(run_tests(copy, tests, added)) < set(added)


def passed_in(printed: str) -> set[str]:
    """Return the tests that passed; one with several parameters passed if any of them did."""
    return set(re.findall(r"^PASSED \S+::(test_\w+)", printed, flags=re.MULTILINE))


def apply(patch: Path, copy: Path, *options: str) -> subprocess.CompletedProcess[str]:
    # In a repository that contains the copy, git would apply the patch to that one.
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(copy.parent)}
    # One line of context is enough, so that a change nearby does not break a patch.
    command = ["git", "apply", "-C1", *options, str(patch)]
    return subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, check=False
    )


def run_tests(copy: Path, files: list[str], names: list[str]) -> str:
    """Run tests of the copy, against the package of the copy."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COV", "GITHUB_"))
    }
    command = [sys.executable, "-m", "pytest", "-rp", "-p", "no:cacheprovider"]
    command += ["-k", " or ".join(names)]
    done = subprocess.run(
        [*command, *files],
        cwd=copy,
        env=environment | {"PYTHONPATH": str(copy)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout
