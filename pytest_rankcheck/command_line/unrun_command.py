"""``python -m pytest_rankcheck unrun``: baselines whose gates did not run in any of the jobs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_rankcheck.baselines.baseline_path import baselines_under
from pytest_rankcheck.baselines.data_file import DataFiles
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.baselines.record_contents import FORMAT_NAME
from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.command_line.measurement_options import BLOCKED, PASSED, Commands
from pytest_rankcheck.errors import BaselineError, ConfigurationError, plural, quoted
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.plugin.project_configuration import project_configuration
from pytest_rankcheck.plugin.unrun_baseline import Why
from pytest_rankcheck.reports.json_report import FORMAT_NAME as REPORT_NAME

__all__ = ["add_unrun_command"]

_UNSEEN = "no report mentions it"


def add_unrun_command(commands: Commands) -> None:
    """Add the command ``unrun`` to the parser."""
    unrun = commands.add_parser(
        "unrun",
        help="list the baselines whose gates did not run in any of several jobs",
        description="Read the JSON reports of jobs that each ran a part of the tests, and list "
        "the baselines of the project whose gates did not run in any of them.",
    )
    unrun.add_argument("reports", type=Path, nargs="+", metavar="REPORT", help="a JSON report")
    unrun.add_argument(
        "--root", type=Path, help="the root of the project (default: pytest's rootdir)"
    )
    unrun.add_argument(
        "--baseline-ref",
        metavar="REF",
        help="expect the baselines of this git commit, too, such as origin/main",
    )
    unrun.set_defaults(run=_unrun)


def _unrun(chosen: argparse.Namespace) -> int:
    project = project_configuration()
    root = (chosen.root or project.root).resolve()
    if not root.is_dir():
        raise ConfigurationError(f"--root {quoted(root)} is not a folder")
    jobs = _Jobs()
    for path in chosen.reports:
        jobs.add(_entries(path))
    reference = Reference.of(chosen.baseline_ref, root) if chosen.baseline_ref else None
    for file in _expected(root, project.norecursedirs, reference):
        jobs.expect(file)
    _print(jobs, len(chosen.reports))
    return BLOCKED if jobs.unrun else PASSED


@dataclass
class _Jobs:
    """What several jobs ran together. Files are relative to the root of the project."""

    ran: set[str] = field(default_factory=set)
    why: dict[str, str] = field(default_factory=dict)
    """Why the gate of a baseline did not run, by file."""
    left_out: dict[str, str] = field(default_factory=dict)
    """The same where the project has chosen that it does not run."""

    def add(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Add what a report says of baselines."""
        for entry in entries:
            file, why = str(entry["file"]), entry["why_not"]
            if why is None:
                self.ran.add(file)
            elif not entry["is_expected"]:
                self.left_out[file] = str(why)
            elif self.why.get(file) in (None, Why.NOT_CHOSEN.value, Why.DESELECTED.value):
                self.why[file] = str(why)  # another job may know more than that

    def expect(self, file: str) -> None:
        """Expect a baseline of the project, which may be in no report."""
        self.why.setdefault(file, _UNSEEN)

    @property
    def unrun(self) -> dict[str, str]:
        """Why gates ran in no job, by file, except where that is the project's choice."""
        return {
            file: why
            for file, why in sorted(self.why.items())
            if file not in self.ran and file not in self.left_out
        }

    @property
    def all_files(self) -> set[str]:
        """Every baseline that is known."""
        return {*self.ran, *self.why, *self.left_out}


def _entries(path: Path) -> Sequence[Mapping[str, Any]]:
    """Return what a JSON report says of baselines.

    Raises:
        ConfigurationError: the file is missing, or is not a JSON report.
    """
    if not path.is_file():
        raise ConfigurationError(
            f"{quoted(path)} does not exist; write the report of each job with "
            "--rankcheck-json=PATH"
        )
    try:
        report = json.loads(text_of(path, ConfigurationError))
        if report["format"] != REPORT_NAME:
            raise TypeError
        entries: Sequence[Mapping[str, Any]] = report["baselines"]
        for entry in entries:
            _ = entry["file"], entry["why_not"], entry["is_expected"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ConfigurationError(
            f"{quoted(path)} is not a JSON report of a test session; write one with "
            "--rankcheck-json=PATH"
        ) from None
    return entries


def _expected(
    root: Path, norecursedirs: Sequence[str], reference: Reference | None
) -> Iterator[str]:
    """Yield the baselines of the project, and those of a commit, that are not retired."""
    paths = set(baselines_under(root, norecursedirs))
    if reference is not None:
        paths |= set(reference.baselines(root))
    for path in sorted(paths):
        texts = [text_of(path, BaselineError)] if path.is_file() else []
        if reference is not None:
            texts += filter(None, [reference.text(path)])
        files = DataFiles(path) if reference is None else reference.data_files(path)
        records = [text for text in texts if FORMAT_NAME in text]
        if records and not any(_is_retired(text, path.name, files) for text in records):
            yield path.relative_to(root).as_posix()


def _is_retired(text: str, name: str, files: DataFiles) -> bool:
    try:
        retired = Record.from_text(text, name, files).retired
    except BaselineError:
        return False
    return retired is not None and bool(retired.reason.strip())


def _print(jobs: _Jobs, reports: int) -> None:
    unrun, total = jobs.unrun, plural(len(jobs.all_files), "baseline")
    if unrun:
        of_reports = plural(reports, "report")
        print(f"no job completed the gates of {len(unrun):,} of {total} ({of_reports}):")
        for file, why in unrun.items():
            print(f"  {quoted(file, 300)}: {quoted(why, 200)}")
        print(
            "let their tests run, or give a baseline up: "
            'python -m pytest_rankcheck retire FILE --reason "..."'
        )
    else:
        print(f"every expected gate ran: {total}, {plural(reports, 'report')}")
    for file, why in sorted(jobs.left_out.items()):
        if file not in jobs.ran:
            print(f"  left out by the project's choice: {quoted(file, 300)}: {quoted(why, 200)}")
