"""Baselines of large golden sets, which are two files, in test sessions."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from project import MAIN, NEEDS_GIT, Project, git, text_of

from pytest_rankcheck import Metric, Record
from pytest_rankcheck.baselines import data_file, record_writer
from pytest_rankcheck.baselines.age_search import ages_of
from pytest_rankcheck.baselines.baseline_file import BaselineFile, Proposal
from pytest_rankcheck.baselines.best_history import BestHistory
from pytest_rankcheck.baselines.data_file import named_data
from pytest_rankcheck.baselines.record_writer import write_record
from pytest_rankcheck.command_line.main import main


@pytest.fixture(autouse=True)
def compact_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a record of 10 of the 80 queries be large."""
    monkeypatch.setattr(data_file, "COMPACT_FROM", 10)


@pytest.fixture
def large(project: Project) -> Project:
    """A project with a baseline of two files."""
    project.test()
    project.update()
    return project


def contents(project: Project) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in project.baseline_file().parent.iterdir()}


def test_an_update_writes_both_files_and_then_compares_with_them(large: Project) -> None:
    before = contents(large)
    assert len(before) == 2
    result = large.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*1 snapshot passed.*"])
    large.update()
    assert contents(large) == before, "the same results are the same bytes"
    large.rank({0: 4})
    large.run().assert_outcomes(passed=1)
    large.rank({0: 4, 1: 4})
    result = large.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*q001 "query 1" * 1.000 -> 0.250*', "*doc of query 1*1 -> 4*"])
    assert contents(large) == before
    large.update("--rankcheck-approve", "why")
    after = contents(large)
    assert len(after) == 2
    assert not before.keys() - {large.baseline_file().name} & after.keys()


def test_a_broken_data_file_fails_an_update_and_stays(large: Project) -> None:
    data = named_data(large.baseline_file())
    assert data is not None
    data.write_bytes(data.read_bytes().replace(b"\t1.0\t", b"\t0.9\t", 1))
    before = contents(large)
    for arguments in ((), ("--snapshot-update",)):
        result = large.run(*arguments)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [f"*test_mrr--web.json: its data file {data.name} has another*"]
        )
        assert contents(large) == before


def test_lines_that_cannot_be_written_are_an_error_and_the_old_record_stays(
    large: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(large)
    large.rank({0: 4})

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record_writer.data_file, "write_data", full)
    result = large.run("--snapshot-update", "--rankcheck-approve=why")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*test_mrr--web.json: the baseline cannot be written: No space left on device. What was*"]
    )
    assert contents(large) == before


def test_both_files_are_read_again_if_another_session_replaces_them_meanwhile(
    large: Project,
) -> None:
    path = large.baseline_file()
    newer = replace(Record.load(path), is_merged=True)
    lines = newer.lines
    values = {"RR": lines.values_of["RR"] * 0.5}
    changed = type(lines)(lines.ids, lines.fingerprints, values, lines.tops)
    newer = replace(newer, queries=changed)

    class Store:
        def __init__(self) -> None:
            self.path, self.shown_path = path, path.name

        def submit(self, proposal: Proposal) -> None:
            raise AssertionError

        locked = None

    file = BaselineFile(Store())  # type: ignore[arg-type]
    assert file.was_changed_by_others() is False, "the header has been read"
    write_record(path, newer)
    assert file.record == newer
    assert file.was_changed_by_others() is False


@NEEDS_GIT
def test_a_data_file_that_git_ignores_is_named(project: Project) -> None:
    git(project.path, "init", "-q")
    project.write(".gitignore", "*.tsv\n")
    project.test()
    text = text_of(project.run("--snapshot-update"))
    data = named_data(project.baseline_file())
    assert data is not None
    name = data.relative_to(project.path).as_posix()
    assert f"{name}: ignored by .gitignore:1: *.tsv; change that rule, or add the files" in text


@NEEDS_GIT
def test_a_new_data_file_is_named_with_the_command_that_adds_it(large: Project) -> None:
    git(large.path, "init", "-q")
    git(large.path, "add", "-A")
    large.rank({0: 4})
    text = text_of(large.run("--snapshot-update", "--rankcheck-approve=why"))
    path = large.baseline_file()
    data = named_data(path)
    assert data is not None
    both = path.with_suffix("").relative_to(large.path).as_posix()
    assert "new data files of baselines, which git commit -a leaves out:" in text
    assert (
        f'{both}{data.suffixes[-2]}.tsv: add it with its header: git add --all "{both}.*"' in text
    )
    subprocess.run(f'git add --all "{both}.*"', cwd=large.path, shell=True, check=True)
    names = git(large.path, "ls-files", path.parent.relative_to(large.path).as_posix())
    assert {Path(name).name for name in names.split()} == {path.name, data.name}
    assert "git commit -a" not in text_of(large.run("--snapshot-update"))


@NEEDS_GIT
def test_the_age_is_that_of_the_lines(large: Project) -> None:
    path = large.baseline_file()
    git(large.path, "init", "-q", "-b", "main")
    git(large.path, "add", "-A")
    git(large.path, "commit", "-q", "-m", "lines", date="2024-05-01T12:00:00")
    write_record(path, replace(Record.load(path), is_merged=True))
    git(large.path, "commit", "-qam", "header", date="2024-05-02T12:00:00")
    assert ages_of([path], large.path)[path].date == "2024-05-01"
    large.rank({0: 4})
    large.update("--rankcheck-approve", "why")
    git(large.path, "add", "-A")
    git(large.path, "commit", "-q", "-m", "other lines", date="2024-05-03T12:00:00")
    assert ages_of([path], large.path)[path].date == "2024-05-03"


@NEEDS_GIT
def test_the_history_and_the_reference_have_the_lines_of_their_commits(large: Project) -> None:
    path = large.baseline_file()
    git(large.path, "init", "-q", "-b", "main")
    git(large.path, "add", "-A")
    git(large.path, "commit", "-q", "-m", "best", date="2024-05-01T12:00:00")
    large.rank({0: 4})
    large.update("--rankcheck-approve", "why")
    git(large.path, "add", "-A")
    git(large.path, "commit", "-q", "-m", "lower", date="2024-05-03T12:00:00")
    since = BestHistory(path, None).since(Record.load(path), Metric.parse("RR"))
    assert (since.changes, since.date) == (1, "2024-05-01")
    git(large.path, "checkout", "-q", "-b", "feature")
    large.rank({0: 4, 1: 4})
    large.update("--rankcheck-approve", "slower")
    git(large.path, "add", "-A")
    git(large.path, "commit", "-q", "-m", "feature")
    result = large.run(*MAIN)
    result.assert_outcomes(passed=1)
    assert 'test_mrr--web.json: RR 0.9906 -> 0.9812; approved "slower"' in text_of(result)


@NEEDS_GIT
def test_lines_that_git_stores_in_another_way_are_found_at_the_reference(large: Project) -> None:
    """As with git-lfs: the repository has something else, and a filter makes the file of it."""
    git(large.path, "init", "-q", "-b", "main")
    git(large.path, "config", "filter.other.clean", "tr a-y b-z")
    git(large.path, "config", "filter.other.smudge", "tr b-z a-y")
    large.write(".gitattributes", "*.tsv filter=other\n")
    git(large.path, "add", "-A")
    git(large.path, "commit", "-q", "-m", "main")
    data = named_data(large.baseline_file())
    assert data is not None
    stored = git(large.path, "show", f"HEAD:{data.relative_to(large.path).as_posix()}")
    assert stored != data.read_text("utf-8")
    git(large.path, "checkout", "-q", "-b", "feature")
    large.rank({0: 4})
    large.update("--rankcheck-approve", "why")
    assert not data.exists(), "the lines of main are only in git"
    git(large.path, "add", "-A")
    git(large.path, "commit", "-q", "-m", "feature")
    large.run(*MAIN).assert_outcomes(passed=1)


def test_commands_read_both_files(
    large: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(large.path)
    path = large.baseline_file().relative_to(large.path)
    assert main(["show", str(path)]) == 0
    assert "80 queries" in capsys.readouterr().out
    assert large.run("--rankcheck-json=report.json", "--deselect=tests").ret == 5
    assert main(["unrun", "report.json"]) == 1
    assert "no job completed the gates of 1 of 1 baseline" in capsys.readouterr().out
    assert main(["retire", str(path), "--reason", "gone"]) == 0
    retired = Record.load(path).retired
    assert retired is not None
    assert retired.reason == "gone"
    assert len(contents(large)) == 2
