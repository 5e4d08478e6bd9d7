"""``retire``: baselines whose test is gone, or has another name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rankcheck import Record
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.data_file import leftover_data, named_data
from pytest_rankcheck.baselines.record_writer import write_record
from pytest_rankcheck.command_line import retire_command
from pytest_rankcheck.command_line.main import main

OLD = Path("tests/baselines/test_web/test_old--web.json")
NEW = Path("tests/baselines/test_shop/TestShop.test_new-de--web.json")


@pytest.fixture(params=[1000, 10], ids=["one file", "two files"], autouse=True)
def compact_from(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of one file and of two: the baseline has 40 queries."""
    monkeypatch.setattr(data_file, "COMPACT_FROM", request.param)


@pytest.fixture(autouse=True)
def baseline(folder: Path, compact_from: None) -> Record:
    """The baseline of a test, with an approval; and the module of another test."""
    approval = Approval(
        "new index", "2024-05-01T12:00:00Z", None, "Ada", {"RR": {"from": 1.0, "to": 0.9}}
    )
    record = replace(Record.load("base.json"), test="test_old", approvals=(approval,))
    OLD.parent.mkdir(parents=True)
    write_record(OLD, record)
    Path("tests/test_shop.py").write_text("", "utf-8")
    return record


def test_a_baseline_is_retired_with_a_reason(
    baseline: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retire", str(OLD), "--reason", "replaced by test_new"]) == 0
    assert f"{OLD}: retired. Commit the file" in capsys.readouterr().out
    record = Record.load(OLD)
    assert record.retired is not None
    assert record.retired.reason == "replaced by test_new"
    assert record.retired.date > "2024"
    assert replace(record, retired=None) == baseline
    assert files_beside(OLD) == files_of(OLD)
    before = OLD.read_bytes()
    assert main(["retire", str(OLD), "--reason", "again"]) == 2
    assert "is retired already, since 20" in (error := capsys.readouterr().err)
    assert '"replaced by test_new"' in error
    assert OLD.read_bytes() == before
    assert main(["show", str(OLD)]) == 0
    assert "retired 20" in capsys.readouterr().out


def test_a_baseline_moves_to_another_test(
    baseline: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retire", str(OLD), "--to", "tests/test_shop.py::TestShop::test_new[de]"]) == 0
    assert f"{OLD}: moved to {NEW}. Commit both changes" in capsys.readouterr().out
    assert not files_beside(OLD), "its data file has moved along"
    assert files_beside(NEW) == files_of(NEW)
    assert Record.load(NEW) == replace(baseline, test="TestShop::test_new[de]")


def files_beside(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


def files_of(path: Path) -> list[str]:
    """Return the names of the files that a record consists of."""
    data = named_data(path)
    return sorted(file.name for file in (path, data) if file is not None)


def test_a_record_that_an_update_writes_before_the_move_is_what_moves(
    baseline: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = replace(baseline, is_merged=True)

    @contextmanager
    def late(folder: Path) -> Iterator[None]:
        write_record(OLD, newer)
        yield

    monkeypatch.setattr(retire_command, "locked_folder", late)
    assert main(["retire", str(OLD), "--to", "tests/test_shop.py::TestShop::test_new[de]"]) == 0
    assert Record.load(NEW).is_merged


def test_data_files_that_are_not_used_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    leftover = OLD.with_name(f"{OLD.stem}.0123456789abcdef.tsv")
    leftover.write_text("", "utf-8")
    assert main(["show", str(OLD)]) == 0
    assert f"not used: {leftover.name}; the next update removes it" in capsys.readouterr().out
    assert main(["retire", str(OLD), "--reason", "gone"]) == 0
    assert not leftover_data(OLD)


def test_a_retired_baseline_that_moves_is_in_use_again(baseline: Record) -> None:
    assert main(["retire", str(OLD), "--reason", "gone"]) == 0
    assert main(["retire", str(OLD), "--to", "tests/test_shop.py::TestShop::test_new[de]"]) == 0
    assert Record.load(NEW).retired is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothere.json", "--reason", "x"], "nothere.json does not exist"),
        (["web.jsonl", "--reason", "x"], "this is not a baseline"),
        ([str(OLD), "--reason", " "], "give a reason, such as --reason"),
        ([str(OLD)], "give a reason, such as --reason"),
        ([str(OLD), "--to", "tests/test_shop.py"], "is not a test; write file::test"),
        ([str(OLD), "--to", "tests/test_none.py::test_x"], "tests/test_none.py does not exist"),
    ],
)
def test_an_error_changes_nothing(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = OLD.read_bytes()
    assert main(["retire", *arguments]) == 2
    assert says in capsys.readouterr().err
    assert OLD.read_bytes() == before


def test_a_baseline_is_not_moved_over_another(capsys: pytest.CaptureFixture[str]) -> None:
    NEW.parent.mkdir(parents=True)
    write_record(NEW, Record.load(OLD))
    assert main(["retire", str(OLD), "--to", "tests/test_shop.py::TestShop::test_new[de]"]) == 2
    assert "exists: the test has a baseline already. Nothing was moved" in capsys.readouterr().err
    assert OLD.exists()


def test_a_reason_for_moving_is_kept_with_the_approvals(baseline: Record) -> None:
    test = "tests/test_shop.py::TestShop::test_new[de]"
    assert main(["retire", str(OLD), "--to", test, "--reason", "a better name"]) == 0
    approvals = Record.load(NEW).approvals
    assert approvals[:1] == baseline.approvals
    assert [approval.reason for approval in approvals] == ["new index", "a better name"]
    assert not approvals[1].covers("RR"), "it is a reason for the name, not for a fall"
    assert approvals[1].change is None
