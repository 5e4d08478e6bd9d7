"""Baselines that git ignores are pointed out where they are written."""

import shutil
import subprocess

import pytest
from project import Project, text_of

HEADING = "baselines written, but ignored by git, so that a commit leaves them out:"


@pytest.fixture
def repository(project: Project) -> Project:
    """A project in a git repository."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    subprocess.run(["git", "init", "-q"], cwd=project.path, check=True)
    project.test()
    return project


def test_an_ignored_baseline_is_named_where_it_is_written(repository: Project) -> None:
    repository.write(".gitignore", "# big files\n*.json\n")
    result = repository.run("--snapshot-update")
    result.assert_outcomes(passed=1)
    file = repository.baseline_file().relative_to(repository.path).as_posix()
    line = f"{file}; to add them all the same: git add --force -- {file}"
    assert f"{HEADING}\n  {line}" in text_of(result)
    result = repository.run("--snapshot-update")
    assert HEADING not in text_of(result), "nothing is written the second time"


@pytest.mark.parametrize(
    "rules", ["*.json\n!tests/baselines/**/*.json\n", "*.txt\n", ""], ids=["again", "other", "no"]
)
def test_nothing_is_said_about_baselines_that_git_takes(repository: Project, rules: str) -> None:
    repository.write(".gitignore", rules)
    assert HEADING not in text_of(repository.run("--snapshot-update"))
