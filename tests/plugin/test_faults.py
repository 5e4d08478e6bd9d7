"""Broken files, unwritable folders, interruptions: clear errors, and nothing is lost."""

import pytest
from project import Project, text_of

from pytest_rankcheck.baselines import syrupy_store


@pytest.mark.parametrize("function", ["write_whole", "locked_folder"])
def test_a_folder_that_cannot_be_written_is_an_error_and_the_old_baseline_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    project.test()
    before = project.update()
    project.rank({0: 4})

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(syrupy_store, function, refuse)
    result = project.run("--rankcheck-approve=why")
    assert result.ret == 1
    assert "the baseline cannot be written: Permission denied" in text_of(result)
    assert project.baseline_file().read_bytes() == before
