"""``python -m pytest_rankcheck lint``: what in golden sets would mislead a gate."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_rankcheck.command_line.measurement_options import (
    BLOCKED,
    PASSED,
    Commands,
    print_summary,
)
from pytest_rankcheck.command_line.project_inputs import ProjectInputs, add_reading_options
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS
from pytest_rankcheck.plugin.configured_inputs import configured_lint
from pytest_rankcheck.reports.text.lint_text import lint_text
from pytest_rankcheck.reports.text.resolution_text import ideal_resolution_findings

__all__ = ["add_lint_command"]


def add_lint_command(commands: Commands) -> None:
    """Add the command ``lint`` to the parser."""
    lint = commands.add_parser("lint", help="check golden sets for what would mislead a gate")
    lint.add_argument(
        "golden", type=Path, nargs="*", help="golden sets (default: rankcheck_golden)"
    )
    add_reading_options(lint)
    lint.set_defaults(run=_lint)


def _lint(chosen: argparse.Namespace) -> int:
    inputs = ProjectInputs.of(chosen)
    paths = chosen.golden or inputs.config.golden
    if not paths:
        raise ConfigurationError("no golden set: name one, or configure rankcheck_golden")
    options = configured_lint(inputs.config)
    metrics = inputs.config.metrics or USUAL_METRICS
    worst = PASSED
    for path in paths:
        # A golden set that contradicts itself is still linted; only a gate refuses to read it.
        golden = inputs.golden_set(path, contradictions="first")
        findings = golden.lint_with(options)
        print(lint_text(golden.name, len(golden), findings))
        print_summary(list(ideal_resolution_findings(golden, metrics, inputs.depth)))
        if any(finding.level == "error" for finding in findings):
            worst = BLOCKED
    return worst
