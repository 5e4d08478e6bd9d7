"""The lock of a folder: one at a time, and what a killed writer has left is removed."""

from pathlib import Path

import pytest
from filelock import Timeout

from pytest_rankcheck.files.whole_files import locked_folder, write_whole


def test_a_locked_folder_is_busy_for_those_who_do_not_wait(tmp_path: Path) -> None:
    with locked_folder(tmp_path), pytest.raises(Timeout), locked_folder(tmp_path, wait=False):
        pass
    with locked_folder(tmp_path, wait=False):
        pass


def test_the_lock_is_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked_folder(tmp_path):
        raise KeyError
    with locked_folder(tmp_path, wait=False):
        pass


def test_what_a_killed_writer_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", _interrupted)
        patched.setattr(Path, "unlink", lambda *_, **__: None)  # killed before it could clean up
        with pytest.raises(KeyboardInterrupt):
            write_whole(tmp_path / "record.json", "{}")
    assert len(list(tmp_path.iterdir())) == 1
    with locked_folder(tmp_path):
        assert not list(tmp_path.iterdir())


def test_files_of_the_user_are_never_removed(tmp_path: Path) -> None:
    names = [".notes-2026.tmp", ".vim-abc.tmp", ".a-12345678.tmp", "a-12345678.rankcheck-tmp"]
    names += [".a-1234.rankcheck-tmp", ".rankcheck-tmp", ".a-12345678.rankcheck-tmp.json"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / ".folder-12345678.rankcheck-tmp").mkdir()
    with locked_folder(tmp_path):
        left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names, ".folder-12345678.rankcheck-tmp"}


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt
