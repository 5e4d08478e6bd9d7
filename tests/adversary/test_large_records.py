"""The record is one of a large golden set: a header and a data file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from project import REGRESSION_TEST
from pull_request import FALLEN, MAIN_RANKS, WORSE_RANKS, PullRequest, blocked, listed, passes
from test_record_edits import OTHER, TEN_QUERIES, lower_values

from pytest_rankcheck.baselines import data_file


@pytest.fixture(autouse=True)
def compact_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a record of 10 of the 80 queries be large."""
    monkeypatch.setattr(data_file, "COMPACT_FROM", 10)


def large(main: PullRequest) -> None:
    """RR with a tolerance of 0.01; the record is two files."""
    main.test()


def data_of(branch: PullRequest, header: str | None = None) -> Path:
    """Return the data file of a record, by default of the first."""
    path = branch.path / (header or branch.record_path)
    (data,) = path.parent.glob(f"{path.stem}.*.tsv")
    return data


def update(branch: PullRequest) -> None:
    outcome = branch.update()
    assert outcome.passed, outcome.terminal


# --- the files are edited, replaced or removed -------------------------------------------------


@blocked("test_mrr--web", "edited by hand", main=large)
def test_an_edited_line(branch: PullRequest) -> None:
    """A value in the data file is lowered by hand."""
    data = data_of(branch)
    data.write_text(data.read_text("utf-8").replace("\t1.0\t", "\t0.1\t", 1), "utf-8")


@blocked("RR regressed", main=large)
def test_lines_lowered_by_hand(branch: PullRequest) -> None:
    """The values in the data file are lowered by hand; its name and the header agree with them."""
    branch.make_the_ranker_worse()
    branch.edit_record(lower_values)


@blocked("RR", main=large)
def test_lines_lowered_by_hand_in_advance(branch: PullRequest) -> None:
    """The lines are lowered by hand in one pull request; the worse ranker follows in the next."""
    branch.edit_record(lower_values)


@blocked("its mean of RR is 0.7125, but its queries give 0.9375", main=large)
def test_only_the_mean_of_the_header(branch: PullRequest) -> None:
    """Only the mean in the header is lowered, not the lines in the data file."""
    branch.make_the_ranker_worse()
    branch.edit(branch.record_path, '"mean": 0.9375', '"mean": 0.7125')


@blocked("test_mrr--web", "cut short", main=large)
def test_lines_that_are_gone(branch: PullRequest) -> None:
    """The lines of the queries that fell are removed from the data file."""
    branch.make_the_ranker_worse()
    data = data_of(branch)
    lines = data.read_text("utf-8").splitlines(keepends=True)
    data.write_text("".join(lines[len(FALLEN) :]), "utf-8")


@blocked("test_mrr--web", "is missing", main=large)
def test_a_deleted_data_file(branch: PullRequest) -> None:
    """The data file is deleted; the header stays."""
    data_of(branch).unlink()


@blocked("test_mrr--web", "is missing", main=large)
def test_an_ignored_data_file(branch: PullRequest) -> None:
    """Git ignores data files, so that the branch has a new header without its lines."""
    branch.write(".gitignore", "*.tsv\n")
    branch.rank({})
    update(branch)


@blocked("deleted", main=large)
def test_both_files_deleted(branch: PullRequest) -> None:
    """Both files are deleted, to be recorded lower in the next pull request."""
    branch.forget_records()


@blocked("RR regressed", main=large)
def test_both_files_recorded_anew(branch: PullRequest) -> None:
    """Both files are deleted and recorded anew with the worse ranker."""
    branch.make_the_ranker_worse()
    branch.record_anew()


def two_large(main: PullRequest) -> None:
    """A test of all queries, and one of the ten queries that are difficult; four files."""
    main.test()
    main.test(TEN_QUERIES, OTHER)


@blocked("test_mrr--web", "another content than its name says", main=two_large)
def test_swapped_data_files(branch: PullRequest) -> None:
    """The data files of two tests are swapped, because the other one is lower."""
    branch.make_the_ranker_worse()
    first, second = (data_of(branch, header) for header in branch.records())
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


@blocked("test_mrr--web", main=two_large)
def test_swapped_records(branch: PullRequest) -> None:
    """Both files of two tests are swapped, and the data files renamed to fit."""
    branch.make_the_ranker_worse()
    first, second = sorted(branch.records().values())
    contents = {
        file: (file.read_bytes(), data_of(branch, str(file)).read_bytes())
        for file in (first, second)
    }
    for file, (header, data) in ((first, contents[second]), (second, contents[first])):
        data_of(branch, str(file)).unlink()
        file.write_bytes(header)
        data_file.data_path(file, data_file.sha256_of(data)).write_bytes(data)


def raised_once(main: PullRequest) -> None:
    """The baseline was lower before; a copy of its two files is kept."""
    main.test()
    main.rank(WORSE_RANKS)
    assert main.update().passed
    for file in (main.path / main.record_path, data_of(main)):
        main.write(f"old/{file.name}", file.read_text("utf-8"))
    main.rank(MAIN_RANKS)


@blocked("RR regressed", main=raised_once)
def test_older_files(branch: PullRequest) -> None:
    """The header and the data file of an older, lower record come back together."""
    branch.make_the_ranker_worse()
    header = branch.path / branch.record_path
    data_of(branch).unlink()
    for file in (branch.path / "old").iterdir():
        file.rename(header.parent / file.name)


@blocked("test_mrr--web", "is missing", main=raised_once)
def test_an_older_data_file(branch: PullRequest) -> None:
    """The data file of an older, lower record takes the place of the one that the header names."""
    branch.make_the_ranker_worse()
    data = data_of(branch)
    (old,) = (branch.path / "old").glob("*.tsv")
    old.rename(data.parent / old.name)
    data.unlink()


@blocked("RR regressed", main=large)
def test_lines_written_back_into_the_header(branch: PullRequest) -> None:
    """The record becomes one file again by hand, with lower values."""
    branch.make_the_ranker_worse()
    entry = branch.record()
    lower_values(entry)
    del entry["data"]
    branch.write(branch.record_path, json.dumps(entry))
    branch.edit_record(lambda entry: None)


@blocked("whose test is gone, and is worse: RR 0.9375 -> 0.7125", main=large)
def test_a_large_record_of_a_renamed_test(branch: PullRequest) -> None:
    """The test is renamed, and a lower baseline of two files is recorded for it."""
    branch.make_the_ranker_worse()
    branch.test(REGRESSION_TEST.replace("test_mrr", "test_rr"))
    branch.record_anew()


@listed("a faster index", "0.9375", "0.7125", "Ada", main=large)
def test_an_approved_fall_of_a_large_record(branch: PullRequest) -> None:
    """A fall of a baseline of two files is approved with a reason."""
    branch.make_the_ranker_worse()
    branch.approve("a faster index")


# --- everyday work -----------------------------------------------------------------------------


@passes(main=large)
def test_nothing_changes(branch: PullRequest) -> None:
    """The same results are recorded again; not a byte of the two files changes."""
    folder = (branch.path / branch.record_path).parent
    before = {file: file.read_bytes() for file in folder.iterdir()}
    assert len(before) == 2
    update(branch)
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


@passes(main=large)
def test_a_better_ranker_recorded(branch: PullRequest) -> None:
    """The ranker gets better, and both files of the baseline are replaced."""
    before = data_of(branch)
    branch.rank({})
    update(branch)
    assert not before.exists()
    assert branch.record()["metrics"]["RR"]["mean"] == 1.0


@passes(main=large)
def test_a_golden_set_that_gets_smaller(branch: PullRequest) -> None:
    """A few queries are removed, so that the baseline is one file again."""
    branch.drop([0, 1])
    data_file.COMPACT_FROM = 79
    update(branch)
    assert [file.suffix for file in (branch.path / branch.record_path).parent.iterdir()] == [
        ".json"
    ]


@passes()
def test_a_golden_set_that_gets_larger(branch: PullRequest) -> None:
    """Queries are added, so that the baseline becomes two files."""
    data_file.COMPACT_FROM = 1
    update(branch)
    assert data_of(branch).exists()


@passes(main=large)
def test_line_ends_of_windows(branch: PullRequest) -> None:
    """Git converts the line ends of both files."""
    for file in (branch.path / branch.record_path, data_of(branch)):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))


@passes(main=large)
def test_a_file_that_no_header_names(branch: PullRequest) -> None:
    """A data file that no header names is committed."""
    data = data_of(branch)
    data.with_name(f"{data.name[:-20]}0123456789abcdef.tsv").write_bytes(b"left over")


@passes(main=large)
def test_a_moved_test_file(branch: PullRequest) -> None:
    """A test file is moved along with its baselines of two files."""
    branch.move("tests/test_ranking.py", "tests/search/test_ranking.py")
    branch.move("tests/baselines", "tests/search/baselines")


@passes(main=large)
def test_a_renamed_test(branch: PullRequest) -> None:
    """A test is renamed, and its baseline of two files recorded again with the same values."""
    branch.test(REGRESSION_TEST.replace("test_mrr", "test_rr"))
    branch.record_anew()
