"""``python -m pytest_rankcheck retire``: retire a baseline whose test is gone, with a reason."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from pytest_rankcheck.baselines.change import Approval, Change
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.command_line.shared_inputs import PASSED, Commands
from pytest_rankcheck.errors import BaselineError, ConfigurationError, quoted
from pytest_rankcheck.files.whole_files import locked_folder, write_whole
from pytest_rankcheck.remedies import is_placeholder


def add_retire_command(commands: Commands) -> None:
    """Add the command ``retire`` to the parser."""
    retire = commands.add_parser(
        "retire",
        help="mark a baseline as retired",
        description="Mark a baseline as retired, so that no test is expected to measure it. "
        "Nothing is deleted.",
    )
    retire.add_argument("file", type=Path, help="the baseline")
    retire.add_argument("--reason", required=True, help="why the baseline is no longer used")
    retire.add_argument(
        "--baseline-ref",
        metavar="REF",
        help="take the baseline from this git commit if it is gone, such as origin/main",
    )
    retire.set_defaults(run=_retire)


def _retire(chosen: argparse.Namespace) -> int:
    path: Path = chosen.file
    reason = chosen.reason.strip()
    if not reason or is_placeholder(reason):
        raise ConfigurationError(
            'give a reason of your own, such as --reason "replaced by test_mrr"'
        )
    if chosen.baseline_ref and not path.exists():
        text = Reference.of(chosen.baseline_ref, Path.cwd()).text(Path(os.path.realpath(path)))
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
    if not path.is_file():
        raise BaselineError(f"{quoted(path)} does not exist; give the path of a baseline")
    with locked_folder(path.parent):
        record = Record.load(path)
        if record.retired is not None:
            raise BaselineError(
                f"{quoted(path)} is retired already, since {record.retired.date[:10]}: "
                f'"{quoted(record.retired.reason)}"'
            )
        retired = Approval.now(reason, path.resolve().parent, [Change("retired")])
        write_whole(path, replace(record, retired=retired).text)
    print(f"{quoted(path, 300)}: retired. Commit the file, so that reviewers see the reason")
    return PASSED
