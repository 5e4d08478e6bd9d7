"""``python -m pytest_rankcheck retire``: a baseline whose test is gone, or has another name."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.baseline_path import baseline_path
from pytest_rankcheck.baselines.data_file import named_data
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_writer import write_record
from pytest_rankcheck.command_line.measurement_options import PASSED, Commands
from pytest_rankcheck.errors import BaselineError, ConfigurationError, quoted
from pytest_rankcheck.files.folder_lock import locked_folder

__all__ = ["add_retire_command"]


def add_retire_command(commands: Commands) -> None:
    """Add the command ``retire`` to the parser."""
    retire = commands.add_parser(
        "retire",
        help="mark a baseline as retired, or move it to another test",
        description="Mark a baseline as retired, so that no test is expected to measure it; or "
        "move it to another test, such as one that was renamed. Nothing is deleted.",
    )
    retire.add_argument("file", type=Path, help="the baseline")
    retire.add_argument(
        "--reason",
        help="why the baseline is no longer used; with --to: why it moves (optional)",
    )
    retire.add_argument(
        "--to",
        metavar="TEST",
        help='move it to this test, such as "tests/test_shop.py::test_mrr[de]"; leave out the '
        "parameter of the golden set",
    )
    retire.set_defaults(run=_retire)


def _retire(chosen: argparse.Namespace) -> int:
    path: Path = chosen.file
    if not path.is_file():
        raise BaselineError(f"{quoted(path)} does not exist; give the path of a baseline")
    reason = chosen.reason.strip() if chosen.reason is not None else None
    if reason == "" or (reason is None and chosen.to is None):
        raise ConfigurationError('give a reason, such as --reason "replaced by test_mrr"')
    return _mark(path, str(reason)) if chosen.to is None else _move(path, chosen.to, reason)


def _mark(path: Path, reason: str) -> int:
    """Mark a baseline as retired."""
    try:
        with locked_folder(path.parent):
            record = Record.load(path)
            if record.retired is not None:
                raise BaselineError(
                    f"{quoted(path)} is retired already, since {record.retired.date[:10]}: "
                    f'"{quoted(record.retired.reason)}"'
                )
            retired = Approval.now(reason, path.resolve().parent, {})
            write_record(path, replace(record, retired=retired))
    except OSError as failure:
        raise _unwritable(path, failure) from None
    print(f"{quoted(path, 300)}: retired. Commit the file, so that reviewers see the reason")
    return PASSED


def _move(path: Path, test: str, reason: str | None) -> int:
    """Move a baseline to the file of another test on the same golden set."""
    file_name, separator, key = test.partition("::")
    test_file = Path(file_name)
    if not separator or not key:
        raise ConfigurationError(
            f"--to '{quoted(test)}' is not a test; write file::test, such as "
            "tests/test_shop.py::test_mrr"
        )
    if not test_file.is_file():
        raise ConfigurationError(
            f"--to '{quoted(test)}': {quoted(test_file)} does not exist; paths are relative to "
            "the folder where the command is run"
        )
    target = baseline_path(test_file, key, Record.load(path).golden_name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.parent, target.parent):
            record = replace(Record.load(path), test=key, retired=None)
            if reason is not None:
                moved = Approval.now(reason, path.resolve().parent, {})
                record = replace(record, approvals=(*record.approvals, moved))
            if target.exists() and target.samefile(path):
                raise BaselineError(
                    f"{quoted(target)} is the baseline of this test already. A baseline cannot be "
                    "moved to another golden set: give the set its old name, with name=..., or "
                    "retire the baseline with --reason and record a new one"
                )
            if target.exists():
                raise BaselineError(
                    f"{quoted(target)} exists: the test has a baseline already. Nothing was moved; "
                    "to put the old baseline in its place, delete that file first"
                )
            write_record(target, record)
            data = named_data(path)
            path.unlink()
            if data is not None:
                data.unlink(missing_ok=True)
    except OSError as failure:
        raise _unwritable(target, failure) from None
    print(f"{quoted(path, 300)}: moved to {quoted(target, 300)}. Commit both changes")
    return PASSED


@contextmanager
def _locked(*folders: Path) -> Iterator[None]:
    """Hold the locks of folders, always taken in the same order."""
    with ExitStack() as stack:
        for folder in sorted({folder.resolve() for folder in folders}):
            stack.enter_context(locked_folder(folder))
        yield


def _unwritable(path: Path, failure: OSError) -> BaselineError:
    return BaselineError(
        f"{quoted(path)} cannot be written: {failure.strerror or failure}; it is unchanged"
    )
