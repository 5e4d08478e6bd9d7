"""``python -m pytest_rankcheck compare``: compare a ranking with an earlier one."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_rankcheck.assertions.regression_assertion import assert_not_regressed
from pytest_rankcheck.command_line.shared_inputs import (
    BLOCKED,
    INVALID,
    PASSED,
    Commands,
    ProjectInputs,
    add_measurement_options,
    chosen_metrics,
    print_summary,
)
from pytest_rankcheck.errors import quoted
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.reports.findings import Note, ReportedFinding, Topic
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.report_data import report_of
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS, show_queries
from pytest_rankcheck.reports.text.measurement_notes import document_notes, tie_notes

_FORMATS = ("html", "markdown", "json")


def add_compare_command(commands: Commands) -> None:
    """Add the command ``compare`` to the parser."""
    compare = commands.add_parser("compare", help="compare a ranking with an earlier one")
    compare.add_argument("old", type=Path, help="a run")
    compare.add_argument("new", type=Path, help="a run")
    compare.add_argument(
        "--gate",
        help='the rule that decides, such as "noninferior(margin=0.02)" (default: '
        "rankcheck_gate, else no mean may fall)",
    )
    for name in _FORMATS:
        compare.add_argument(f"--{name}", type=Path, metavar="PATH", help="write the report")
    add_measurement_options(compare)
    compare.set_defaults(run=_compare)


def _compare(chosen: argparse.Namespace) -> int:
    project = ProjectInputs.of(chosen)
    golden = project.golden_set(chosen.golden)
    old, new = (project.measured(path, golden) for path in (chosen.old, chosen.new))
    usual = project.inputs.config.slices
    slices = chosen.by or [name for name in usual if name in golden.attributes]
    inconclusive = project.inputs.config.inconclusive
    paths = {name: path for name in _FORMATS if (path := getattr(chosen, name)) is not None}
    with collecting(
        detail=bool(paths),
        queries=show_queries(paths),
        strict=inconclusive == "fail",
        evidence=True,
    ) as ledger:
        for metric in chosen_metrics(chosen, old):
            configured = project.inputs.gates.gate(golden.name, metric)
            gate = gate_of(chosen.gate) if chosen.gate else configured
            try:
                assert_not_regressed(new, old, metric, gate=gate, by=slices)
            except AssertionError as failure:
                print(f"{failure}\n")
    findings = [item.with_test(f"{chosen.old.name} -> {chosen.new.name}") for item in ledger]
    findings += [note for each in (old, new) for note in (*document_notes(each), *tie_notes(each))]
    print_summary(findings)
    topics = {finding.topic for finding in findings if isinstance(finding, Note)}
    exit_status = PASSED
    if any(finding.failed for finding in findings):
        exit_status = BLOCKED
    elif Topic.INCONCLUSIVE in topics and inconclusive != "pass":
        exit_status = INVALID
    _write(paths, findings, BLOCKED if exit_status == BLOCKED else PASSED)
    return exit_status


def _write(
    paths: Mapping[str, Path], findings: Sequence[ReportedFinding], exit_status: int
) -> None:
    """Write the requested reports."""
    command = f"python -m pytest_rankcheck {shlex.join(sys.argv[1:])}"
    report = report_of(findings, command, exit_status)
    for name, path in paths.items():
        REPORT_FORMATS[name].check(f"--{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, REPORT_FORMATS[name].text(report))
        print(f"report written to {quoted(path, 300)}")
