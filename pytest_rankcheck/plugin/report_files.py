"""The reports of a test session: written at its end, by the process that the user started."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.plugin.configuration import CONFIG, report_paths
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS

if TYPE_CHECKING:
    from pytest_rankcheck.reports.findings import ReportedFinding


_STEP_SUMMARY_LIMIT = 900_000
"""Characters; GitHub takes a megabyte for a step."""


def remove_old_reports(config: pytest.Config) -> None:
    """Remove old reports, so that nobody takes them for new if this test session breaks.

    Args:
        config: of a test session in which no conftest is loaded yet.
    """
    for path in report_paths(config).values():
        if path.is_file() and not path.is_symlink():  # not /dev/stdout
            with suppress(OSError):
                path.unlink()


def write_reports(
    config: pytest.Config,
    findings: Sequence[ReportedFinding],
    exit_status: int,
    problems: Sequence[str],
) -> Iterator[str]:
    """Write the requested reports; yield a line for each: where it is, or why it is not.

    Args:
        config: of the test session.
        findings: of all tests, in detail.
        exit_status: pytest's.
        problems: what failed besides gates and checks.
    """
    chosen, here = config.stash[CONFIG], config.invocation_params.dir
    if not chosen.reports and not chosen.step_summary:
        return
    from pytest_rankcheck.files.git_commands import git_line
    from pytest_rankcheck.reports.report_data import report_of

    command = shlex.join(["pytest", *config.invocation_params.args])
    commit = git_line(here, "rev-parse", "HEAD")
    report = report_of(findings, command, exit_status, problems, commit)
    if chosen.step_summary:
        from pytest_rankcheck.reports.markdown_report import markdown_of

        # The page of the step shows it, so no line says where it is.
        with suppress(OSError), chosen.step_summary.open("a", encoding="utf-8") as file:
            file.write(markdown_of(report, _STEP_SUMMARY_LIMIT))
    for name, path in chosen.reports.items():
        title = REPORT_FORMATS[name].titled(report)
        shown_path = quoted(min(os.path.relpath(path, here), str(path), key=len), 300)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, REPORT_FORMATS[name].text(report))
        except (OSError, ImportError, RankcheckError) as failure:
            why = getattr(failure, "strerror", None) or failure
            yield f"{title} cannot be written to {shown_path}: {why}"
        else:
            yield f"{title} written to {shown_path}"
