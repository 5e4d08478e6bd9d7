"""``retire``: baselines whose test is gone, or has another name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_rankcheck import Record
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.record_writer import record_text
from pytest_rankcheck.command_line.main import main

OLD = Path("tests/baselines/test_web/test_old--web.json")
NEW = Path("tests/baselines/test_shop/TestShop.test_new-de--web.json")


@pytest.fixture(autouse=True)
def baseline(folder: Path) -> Record:
    """The baseline of a test, with an approval; and the module of another test."""
    approval = Approval(
        "new index", "2024-05-01T12:00:00Z", None, "Ada", {"RR": {"from": 1.0, "to": 0.9}}
    )
    record = replace(Record.load("base.json"), test="test_old", approvals=(approval,))
    OLD.parent.mkdir(parents=True)
    OLD.write_text(record_text(record), "utf-8")
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
    assert not OLD.exists()
    assert Record.load(NEW) == replace(baseline, test="TestShop::test_new[de]")


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
    NEW.write_bytes(OLD.read_bytes())
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
