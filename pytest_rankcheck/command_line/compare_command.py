"""``python -m pytest_rankcheck compare``: judge a ranking against an earlier one."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_rankcheck.assertions.regression_assertion import assert_not_regressed
from pytest_rankcheck.command_line.measurement_options import (
    BLOCKED,
    PASSED,
    Commands,
    add_measurement_options,
    chosen_metrics,
    print_summary,
    record_of,
)
from pytest_rankcheck.command_line.project_inputs import ProjectInputs
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.gates.verdict import Outcome
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.plugin.configured_inputs import configured_gates
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.metric_findings import GateFinding
from pytest_rankcheck.reports.report_data import report_of
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS
from pytest_rankcheck.reports.text.measurement_notes import tie_notes

__all__ = ["add_compare_command"]

_FORMATS = [name for name, report in REPORT_FORMATS.items() if report.of_comparisons]


def add_compare_command(commands: Commands) -> None:
    """Add the command ``compare`` to the parser."""
    compare = commands.add_parser("compare", help="compare a ranking with an earlier one")
    compare.add_argument("old", type=Path, help="a run, a baseline, or a JSON report")
    compare.add_argument("new", type=Path, help="a run, a baseline, or a JSON report")
    compare.add_argument(
        "--gate",
        help='the rule that decides, such as "noninferior(margin=0.02)" (default: the gate that '
        "the old baseline was approved under, else rankcheck_gate, else no mean may fall)",
    )
    compare.add_argument(
        "--inconclusive",
        choices=("pass", "warn", "fail"),
        help="whether an inconclusive verdict blocks (default: rankcheck_inconclusive, or warn)",
    )
    for name in _FORMATS:
        compare.add_argument(f"--{name}", type=Path, metavar="PATH", help="write the report")
    add_measurement_options(compare)
    compare.set_defaults(run=_compare)


def _compare(chosen: argparse.Namespace) -> int:
    inputs = ProjectInputs.of(chosen)
    golden = inputs.golden_set(chosen.golden)
    old, new = inputs.measured_pair(chosen.old, chosen.new, golden)
    metrics = chosen_metrics(chosen, old)
    gates = _gates(chosen, old, inputs.config, metrics)
    record = record_of(old)
    usual = record.slices if record and record.slices else inputs.config.slices
    slices = chosen.by or [name for name in usual if name in golden.attributes]
    with collecting(detail=True) as ledger:
        for metric, gate in gates.items():
            _check(new, old, metric, gate, slices)
    findings = [item.with_test(f"{chosen.old.name} -> {chosen.new.name}") for item in ledger]
    findings += [*tie_notes(old), *tie_notes(new)]
    print_summary(findings)
    _write(chosen, findings)
    is_inconclusive = any(
        isinstance(finding, GateFinding)
        and finding.detail is not None
        and finding.detail.outcome == Outcome.INCONCLUSIVE
        for finding in findings
    )
    failed = any(finding.failed for finding in findings)
    inconclusive = chosen.inconclusive or inputs.config.inconclusive
    return BLOCKED if failed or (is_inconclusive and inconclusive == "fail") else PASSED


def _gates(
    chosen: argparse.Namespace, old: Evaluation, config: Config, metrics: Sequence[Metric]
) -> dict[Metric, Gate | None]:
    """Return the gate of each metric: given, else of the baseline, else configured, else None.

    Raises:
        ConfigurationError: a gate is unknown or invalid.
    """
    if chosen.gate:
        return dict.fromkeys(metrics, gate_of(chosen.gate))
    configured = configured_gates(config)
    record = record_of(old)
    gates: dict[Metric, Gate | None] = {}
    for metric in metrics:
        kept = record.kept.get(str(metric)) if record else None
        if kept is not None and kept.gate is not None:
            try:
                gates[metric] = gate_of(kept.gate)
            except ConfigurationError as error:  # removed since, or of an extension
                raise ConfigurationError(
                    f"the gate of {metric} in the baseline is '{quoted(kept.gate)}': {error}; name "
                    "another with --gate"
                ) from None
        else:
            gates[metric] = configured.gate(old.golden.name, metric)
    return gates


def _check(
    new: Evaluation, old: Evaluation, metric: Metric, gate: Gate | None, by: Sequence[str]
) -> None:
    """Check one metric, and print the failure if it regressed."""
    try:
        assert_not_regressed(new, old, metric, gate=gate, by=by)
    except AssertionError as failure:
        print(f"{failure}\n")


def _write(chosen: argparse.Namespace, findings: Sequence[ReportedFinding]) -> None:
    """Write the requested reports."""
    paths = {name: path for name in _FORMATS if (path := getattr(chosen, name)) is not None}
    if not paths:
        return
    command = f"python -m pytest_rankcheck {shlex.join(sys.argv[1:])}"
    report = report_of(findings, command)
    for name, path in paths.items():
        REPORT_FORMATS[name].check(f"--{name}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, REPORT_FORMATS[name].text(report, path))
        except OSError as failure:
            why = failure.strerror or failure
            raise ConfigurationError(
                f"the report cannot be written to {quoted(path)}: {why}"
            ) from None
        print(f"report written to {quoted(path, 300)}")
