"""``retire``: baselines whose test is gone."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rankcheck import Record
from pytest_rankcheck.baselines.change import Approval, Change
from pytest_rankcheck.command_line import retire_command
from pytest_rankcheck.command_line.main import main
from pytest_rankcheck.files.whole_files import write_whole

OLD = Path("tests/baselines/test_web/test_old--web.json")


@pytest.fixture(autouse=True)
def baseline(folder: Path) -> Record:
    """The baseline of a test, with an approval."""
    approval = Approval(
        "new index", "2024-05-01T12:00:00Z", None, "Ada", (Change("fall", "RR", 1.0, 0.9),)
    )
    record = replace(Record.load("base.json"), test="test_old", approvals=(approval,))
    OLD.parent.mkdir(parents=True)
    write_whole(OLD, record.text)
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
    before = OLD.read_bytes()
    assert main(["retire", str(OLD), "--reason", "again"]) == 2
    assert "is retired already, since 20" in (error := capsys.readouterr().err)
    assert '"replaced by test_new"' in error
    assert OLD.read_bytes() == before
    assert main(["show", str(OLD)]) == 0
    assert "retired 20" in capsys.readouterr().out


def test_an_error_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, says in (
        (["nothere.json", "--reason", "x"], "nothere.json does not exist"),
        (["web.jsonl", "--reason", "x"], "this is not a baseline"),
        ([str(OLD), "--reason", " "], "give a reason of your own, such as --reason"),
    ):
        before = OLD.read_bytes()
        assert main(["retire", *arguments]) == 2
        assert says in capsys.readouterr().err
        assert OLD.read_bytes() == before


def test_a_file_that_cannot_be_written_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, record: Record) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(retire_command, "write_whole", full)
    assert main(["retire", str(OLD), "--reason", "gone"]) == 2
    assert "a file: No space left on device" in capsys.readouterr().err
