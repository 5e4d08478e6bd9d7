"""The state of a repository: the commit, and what differs from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rankcheck.files.git_error import GitError
from pytest_rankcheck.files.work_tree import tracked_files, work_tree
from tests.project import NEEDS_GIT, git

pytestmark = NEEDS_GIT


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("a")
    (folder / "b.txt").write_text("b")
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_clean_work_tree_has_a_commit_and_no_changes(repository: Path) -> None:
    tree = work_tree(repository / "src")
    assert tree.commit == git(repository, "rev-parse", "HEAD").strip()
    assert tree.changes == {}
    assert tree.top.resolve() == repository.resolve()


def test_changed_new_deleted_and_renamed_files_are_changes(repository: Path) -> None:
    (repository / "src" / "a.py").write_text("changed")
    (repository / "new ünïcode.txt").write_text("new")
    (repository / "b.txt").rename(repository / "c.txt")
    changes = work_tree(repository).changes
    assert set(changes) == {"src/a.py", "new ünïcode.txt", "b.txt", "c.txt"}
    assert changes["b.txt"] == "deleted"


def test_the_content_counts_and_not_the_index(repository: Path) -> None:
    file = repository / "b.txt"
    file.write_text("one")
    one = work_tree(repository).changes
    git(repository, "add", "b.txt")
    assert work_tree(repository).changes == one
    file.write_text("two")
    assert work_tree(repository).changes != one
    file.write_text("one")
    assert work_tree(repository).changes == one


def test_ignored_files_caches_and_the_folder_left_out_do_not_count(repository: Path) -> None:
    for name in ("x.log", "src/__pycache__/a.pyc", "runs/parts/key.json"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("x")
    assert set(work_tree(repository).changes) == {"runs/parts/key.json"}
    assert work_tree(repository, without=repository / "runs" / "parts").changes == {}


def test_a_repository_inside_counts_with_its_own_changes(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "a.txt").write_text("a")
    git(inner, "init", "-q")
    assert "unknown" in next(iter(work_tree(repository).changes.values()))
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "inner")
    before = work_tree(repository).changes
    (inner / "a.txt").write_text("changed")
    assert work_tree(repository).changes != before


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_change_that_git_ignores_by_request_counts(repository: Path, flag: str) -> None:
    git(repository, "update-index", flag, "src/a.py")
    before = work_tree(repository).changes
    (repository / "src" / "a.py").write_text("changed")
    assert work_tree(repository).changes != before
    (repository / "src" / "a.py").unlink()
    assert work_tree(repository).changes != before


def test_a_submodule_that_git_was_told_to_ignore_counts(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "a.txt").write_text("a")
    git(inner, "init", "-q")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "inner")
    (repository / ".gitmodules").write_text(
        '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = all\n'
    )
    git(repository, "add", "-f", "inner", ".gitmodules")
    git(repository, "commit", "-q", "-m", "with a submodule")
    assert work_tree(repository).changes == {}
    (inner / "a.txt").write_text("changed")
    assert set(work_tree(repository).changes) == {"inner"}


def test_tracked_and_changed_files_are_known(repository: Path) -> None:
    (repository / "new.txt").write_text("new")
    (repository / "x.log").write_text("ignored")
    names = {Path(path).name for path in tracked_files(work_tree(repository))}
    assert names == {"a.py", "b.txt", ".gitignore", "new.txt"}


def test_no_repository_and_no_commit_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitError):
        work_tree(tmp_path)
    git(tmp_path, "init", "-q")
    with pytest.raises(GitError):
        work_tree(tmp_path)
