"""``python -m pytest_rankcheck unrun``: baselines whose gates did not run in any of the jobs."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_rankcheck.baselines.baseline_path import baselines_under
from pytest_rankcheck.baselines.record_file import FORMAT_NAME
from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.command_line.shared_inputs import BLOCKED, PASSED, Commands
from pytest_rankcheck.errors import BaselineError, ConfigurationError, plural, quoted
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.plugin.project_configuration import project_configuration
from pytest_rankcheck.plugin.unrun_gates import NOT_CHOSEN, readable_record
from pytest_rankcheck.remedies import retire
from pytest_rankcheck.reports.json_report import FORMAT_NAME as REPORT_NAME


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
        "--baseline-ref",
        metavar="REF",
        help="expect the baselines of this git commit, too, such as origin/main",
    )
    unrun.set_defaults(run=_unrun)


def _unrun(chosen: argparse.Namespace) -> int:
    project = project_configuration()
    root = project.rootpath
    entries = list(chain.from_iterable(map(_entries, chosen.reports)))
    # Other jobs know more than that.
    entries.sort(key=lambda entry: entry["why_not"] != NOT_CHOSEN.text)
    ran = {entry["file"] for entry in entries if entry["why_not"] is None}
    left_out, why = (
        {
            entry["file"]: entry["why_not"]
            for entry in entries
            if entry["file"] not in ran and bool(entry["is_expected"]) is is_expected
        }
        for is_expected in (False, True)
    )
    ref = chosen.baseline_ref
    reference = Reference.of(ref, root) if ref else None
    expected = _expected(root, project.getini("norecursedirs"), reference)
    why = {**dict.fromkeys(expected, "no report mentions it"), **why}
    unrun = {file: why[file] for file in sorted(why.keys() - ran - left_out.keys())}
    total = plural(len({*ran, *why, *left_out}), "baseline")
    of_reports = plural(len(chosen.reports), "report")
    if unrun:
        print(f"no job completed the gates of {len(unrun):,} of {total} ({of_reports}):")
        for file, reason in unrun.items():
            print(f"  {quoted(file, 300)}: {quoted(reason, 200)}")
            print(f"    {retire(os.path.relpath(root / file), ref)}")
        print("let their tests run, or give a baseline up")
    else:
        print(f"every expected gate ran: {total}, {of_reports}")
    for file, reason in sorted(left_out.items()):
        print(f"  left out by the project's choice: {quoted(file, 300)}: {quoted(reason, 200)}")
    return BLOCKED if unrun else PASSED


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
        paths |= set(reference.baselines([root]))
    for path in sorted(paths):
        texts = [text_of(path, BaselineError)] if path.is_file() else []
        if reference is not None:
            texts += filter(None, [reference.text(path)])
        records = [readable_record(text, path) for text in texts if FORMAT_NAME in text]
        if records and not any(record and record.retired is not None for record in records):
            yield path.relative_to(root).as_posix()
