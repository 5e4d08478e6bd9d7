"""Broken files, unwritable folders, interruptions: clear errors, and nothing is lost."""

import pytest
from project import Project, text_of

from pytest_rankcheck.baselines import syrupy_store


def test_a_broken_baseline_is_an_error_and_stays_unchanged(project: Project) -> None:
    project.test()
    text = project.update().decode()
    newer = text.replace('"version": 4', '"version": 5')
    for damaged, says in (
        (text[: len(text) // 2], "*test_mrr--web.json:*not JSON*the file was cut short*"),
        (newer, "*format version 5, this pytest-rankcheck reads 4. *upgrade*"),
        ('{"some": "JSON"}', '*it has no "format": "pytest-rankcheck baseline"*'),
        ("", "*this is not a baseline: it is empty*"),
    ):
        project.baseline_file().write_text(damaged, encoding="utf-8")
        result = project.run("--snapshot-update")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines([says])
        assert project.baseline_file().read_text("utf-8") == damaged
        assert "pytest_rankcheck/baselines" not in text_of(result), "our own frames show"


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
