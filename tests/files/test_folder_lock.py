"""The lock of a folder: one at a time, and what a killed writer has left is removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_rankcheck.files.folder_lock import FolderBusyError, locked_folder


def test_a_locked_folder_is_busy_for_those_who_do_not_wait(tmp_path: Path) -> None:
    with (
        locked_folder(tmp_path),
        pytest.raises(FolderBusyError),
        locked_folder(tmp_path, wait=False),
    ):
        pass
    with locked_folder(tmp_path, wait=False):
        pass


def test_the_lock_is_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked_folder(tmp_path):
        raise KeyError
    with locked_folder(tmp_path, wait=False):
        pass


def test_temporary_files_are_removed(tmp_path: Path) -> None:
    leftover = tmp_path / ".part.json-abc.tmp"
    leftover.touch()
    with locked_folder(tmp_path):
        assert not leftover.exists()
