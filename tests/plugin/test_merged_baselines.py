"""Baselines that a merge has left in conflict, or that `resolve` has merged."""

from __future__ import annotations

from dataclasses import replace

from project import Project, text_of

from pytest_rankcheck import Record
from pytest_rankcheck.baselines.record_writer import record_text


def test_an_unresolved_conflict_names_the_line_and_the_command(project: Project) -> None:
    project.test()
    project.update()
    file = project.baseline_file()
    text = file.read_text("utf-8")
    conflict = text.replace(
        '  "digest"', '<<<<<<< HEAD\n  "digest": "x",\n=======\n  "digest"', 1
    ).replace('  "test"', '>>>>>>> main\n  "test"', 1)
    file.write_text(conflict, "utf-8")
    shown = file.relative_to(project.path)
    for arguments in ((), ("--snapshot-update",)):
        result = project.run(*arguments)
        assert result.ret == 1
        text = text_of(result)
        assert f"{shown}:4: unresolved merge conflict: two branches have changed this" in text
        assert f"Run python -m pytest_rankcheck resolve {shown}" in text
        assert file.read_text("utf-8") == conflict


def test_the_next_update_has_measured_what_was_merged(project: Project) -> None:
    project.test()
    before = project.update()
    file = project.baseline_file()
    merged = replace(Record.load(file), is_merged=True)
    file.write_text(record_text(merged), "utf-8")
    assert file.read_bytes() != before
    project.run().assert_outcomes(passed=1)
    assert Record.load(file).is_merged, "a plain run writes nothing"
    project.update()
    assert file.read_bytes() == before
