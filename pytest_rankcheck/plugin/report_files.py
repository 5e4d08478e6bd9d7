"""The reports of a session: written at its end, by the process that the user started."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.option_table import ReportPaths

if TYPE_CHECKING:
    from pytest_rankcheck.reports.findings import Finding
    from pytest_rankcheck.reports.report_data import Report

__all__ = ["write_reports"]

_STEP_SUMMARY_LIMIT = 900_000
"""Characters; GitHub takes a megabyte for a step."""


def write_reports(config: pytest.Config, findings: Sequence[Finding]) -> Iterator[str]:
    """Write the reports that were asked for; yield a line for each, where it is or why it is not.

    Args:
        config: the session.
        findings: of all tests, in detail.
    """
    from pytest_rankcheck.reports.report_data import report_of

    paths = config.stash[CONFIG].reports
    if not paths.wanted or not findings:
        return
    command = shlex.join(["pytest", *config.invocation_params.args])
    report = report_of(findings, command)
    for kind, path, write in _writers(paths, report):
        shown = min(os.path.relpath(path, config.invocation_params.dir), str(path), key=len)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path)
        except OSError as failure:
            why = failure.strerror or failure
            yield f"{kind} cannot be written to {quoted(shown, 300)}: {why}"
        else:
            yield f"{kind} written to {quoted(shown, 300)}"


def _writers(
    paths: ReportPaths, report: Report
) -> Iterator[tuple[str, Path, Callable[[Path], None]]]:
    from pytest_rankcheck.reports.json_report import json_of
    from pytest_rankcheck.reports.judging_list import csv_of, quepid_of
    from pytest_rankcheck.reports.markdown_report import markdown_of

    if paths.html:

        def write_html(path: Path) -> None:
            from pytest_rankcheck.reports.html.html_report import html_of

            write_whole(path, html_of(report))

        yield "HTML report", paths.html, write_html
    if paths.markdown:
        yield "Markdown report", paths.markdown, lambda path: write_whole(path, markdown_of(report))
    if paths.step_summary:
        # The step shows it by itself; nobody needs to be told where.
        with suppress(OSError), paths.step_summary.open("a", encoding="utf-8") as file:
            file.write(markdown_of(report, _STEP_SUMMARY_LIMIT))
    if paths.json:
        yield "JSON report", paths.json, lambda path: write_whole(path, json_of(report))
    if paths.unjudged:
        form = quepid_of if paths.unjudged.name.endswith(".quepid.csv") else csv_of
        yield (
            f"{len(report.documents):,} documents to judge",
            paths.unjudged,
            lambda path: write_whole(path, form(report.documents)),
        )
