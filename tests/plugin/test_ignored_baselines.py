"""Baselines that git ignores are pointed out where they are written."""

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
        f"{file}: ignored by .gitignore:2: *.json; to add them all the same: "
        f"git add --force -- {file}"
    )
    assert f"{HEADING}\n  {line}" in text_of(result)
    notes = json.loads((repository.path / "r.json").read_text("utf-8"))["notes"]
    assert ("ignored", line) in {(note["topic"], note["text"]) for note in notes}
    assert ".gitignore:2" in (repository.path / "r.markdown").read_text("utf-8")
    result = repository.run("--snapshot-update")
    assert HEADING not in text_of(result), "nothing is written the second time"


@pytest.mark.parametrize(
    "rules", ["*.json\n!tests/baselines/**/*.json\n", "*.txt\n", ""], ids=["again", "other", "no"]
)
def test_nothing_is_said_about_baselines_that_git_takes(repository: Project, rules: str) -> None:
    repository.write(".gitignore", rules)
    assert HEADING not in text_of(repository.run("--snapshot-update"))
