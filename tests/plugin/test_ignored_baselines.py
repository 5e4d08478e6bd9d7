"""Baselines that git ignores are pointed out where they are written."""

from __future__ import annotations

import json
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


def test_the_rule_that_ignores_a_baseline_is_named_in_every_output(repository: Project) -> None:
    repository.write(".gitignore", "# big files\n*.json\n")
    reports = [f"--rankcheck-{name}=r.{name}" for name in ("json", "markdown")]
    result = repository.run("--snapshot-update", *reports)
    result.assert_outcomes(passed=1)
    file = repository.baseline_file().relative_to(repository.path).as_posix()
    line = (
        f"{file}: ignored by .gitignore:2: *.json; change that rule, or add the files with "
        "git add --force"
    )
    assert f"{HEADING}\n  {line}" in text_of(result)
    notes = json.loads((repository.path / "r.json").read_text("utf-8"))["notes"]
    assert ("ignored", line) in {(note["topic"], note["text"]) for note in notes}
    assert ".gitignore:2" in (repository.path / "r.markdown").read_text("utf-8")
    result = repository.run("--snapshot-update")
    assert HEADING not in text_of(result), "nothing is written the second time"


def test_many_baselines_share_one_line(repository: Project) -> None:
    repository.write(".git/info/exclude", "baselines/\n")
    tests = "\n".join(
        f"def test_{name}(evaluation, baseline):\n    assert_mrr_not_regressed(evaluation, baseline)"
        for name in ("a", "b", "c")
    )
    repository.test(f"from pytest_rankcheck import assert_mrr_not_regressed\n{tests}\n")
    text = text_of(repository.run("--snapshot-update"))
    assert " and 2 others: ignored by .git/info/exclude:1: baselines/; " in text


@pytest.mark.parametrize(
    "rules", ["*.json\n!tests/baselines/**/*.json\n", "*.txt\n", ""], ids=["again", "other", "no"]
)
def test_nothing_is_said_about_baselines_that_git_takes(repository: Project, rules: str) -> None:
    repository.write(".gitignore", rules)
    assert HEADING not in text_of(repository.run("--snapshot-update"))


def test_nothing_is_said_about_a_baseline_that_git_tracks_already(repository: Project) -> None:
    repository.write(".gitignore", "*.json\n")
    repository.update()
    subprocess.run(["git", "add", "--force", "tests"], cwd=repository.path, check=True)
    repository.baseline_file().unlink()
    assert HEADING not in text_of(repository.run("--snapshot-update"))


def test_nothing_is_said_outside_a_repository_or_without_git(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(".gitignore", "*.json\n")
    project.test()
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.path.parent))
    assert HEADING not in text_of(project.run("--snapshot-update"))
    project.baseline_file().unlink()
    monkeypatch.setenv("PATH", str(project.path))
    assert HEADING not in text_of(project.run("--snapshot-update"))
