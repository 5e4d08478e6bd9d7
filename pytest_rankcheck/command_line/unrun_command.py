"""``python -m pytest_rankcheck unrun``: baselines whose gates did not run in any of the jobs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pytest_rankcheck.baselines.baseline_file import readable_record
from pytest_rankcheck.baselines.baseline_path import baselines_under
from pytest_rankcheck.baselines.record_file import is_foreign
from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.command_line.shared_inputs import BLOCKED, PASSED, Commands
from pytest_rankcheck.errors import BaselineError, ConfigurationError, plural, quoted
from pytest_rankcheck.files.git_commands import git_line
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.configuration import project_configuration
from pytest_rankcheck.plugin.unrun_gates import FAILED, NOT_CHOSEN
from pytest_rankcheck.remedies import retire
from pytest_rankcheck.reports.json_report import read_report


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
    settings, ref = baseline_settings(project), chosen.baseline_ref
    commit = git_line(settings.top, "rev-parse", "HEAD")
    entries = [entry for report in chosen.reports for entry in _entries(report, commit)]
    # Other jobs know more than that.
    entries.sort(key=lambda entry: entry["why_not"] != NOT_CHOSEN.text)
    ran = {entry["file"] for entry in entries if entry["why_not"] is None}
    why = {entry["file"]: entry["why_not"] for entry in entries if entry["is_expected"]}
    reference = Reference.of(ref, settings.top) if ref else None
    expected = _expected(project.rootpath, project.getini("norecursedirs"), reference)
    why = {**dict.fromkeys(map(settings.shown, expected), "no report mentions it"), **why}
    unrun = {file: why[file] for file in sorted(why.keys() - ran)}
    total = plural(len({*ran, *why}), "baseline")
    of_reports = plural(len(chosen.reports), "report")
    if not unrun:
        print(f"every expected gate ran: {total}, {of_reports}")
        return PASSED
    print(f"no job completed the gates of {len(unrun):,} of {total} ({of_reports}):")
    for file, reason in unrun.items():
        print(f"  {quoted(file, 300)}: {quoted(reason, 200)}")
        if reason != FAILED.text and (ref or (settings.top / file).exists()):
            print(f"    {retire(os.path.relpath(settings.top / file), ref)}")
    print("run their tests until they pass, or retire the baselines")
    return BLOCKED


def _entries(path: Path, commit: str | None) -> Sequence[Mapping[str, Any]]:
    """Return what a JSON report says about baselines.

    Args:
        path: the report.
        commit: what is checked out; None without git.

    Raises:
        ConfigurationError: the file is missing, is not a JSON report, or is one of another commit.
    """
    report = read_report(path)
    of_commit = report["commit"]
    if of_commit != commit:
        raise ConfigurationError(
            f"{quoted(path)} is a report of commit {quoted(of_commit)}, and {commit} is checked "
            "out; give the reports that the jobs wrote on one commit, and check that out"
        )
    return cast("Sequence[Mapping[str, Any]]", report["baselines"])


def _expected(
    root: Path, norecursedirs: Sequence[str], reference: Reference | None
) -> Iterator[Path]:
    """Yield the baselines of the project, and those of a commit, that are not retired.

    Baselines that the commit has gained since the branch diverged are left out.
    """
    root = Path(os.path.realpath(root))
    paths = set(baselines_under(root, norecursedirs))
    if reference is not None:
        paths |= set(reference.baselines([root]))
    for path in sorted(paths):
        here = text_of(path, BaselineError) if path.is_file() else None
        there = reference.text(path) if reference else None
        texts = [text for text in (here, there) if text is not None and not is_foreign(text)]
        records = [readable_record(text) for text in texts]
        is_new = reference is not None and here is None and reference.is_behind(path, None)
        if records and not is_new and not any(each and each.retired for each in records):
            yield path
