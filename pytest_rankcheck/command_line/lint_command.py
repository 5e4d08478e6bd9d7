"""``python -m pytest_rankcheck lint``: what in golden sets and logs would mislead a gate."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_rankcheck.command_line.measurement_options import (
    BLOCKED,
    PASSED,
    Commands,
    print_summary,
)
from pytest_rankcheck.command_line.project_inputs import ProjectInputs, add_reading_options
from pytest_rankcheck.command_line.session_inputs import SessionInputs, add_log_options
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS
from pytest_rankcheck.plugin.configured_inputs import check_corpus, configured_lint
from pytest_rankcheck.reports.text.lint_text import lint_text, log_lint_text
from pytest_rankcheck.reports.text.resolution_text import ideal_resolution_findings

__all__ = ["add_lint_command"]


def add_lint_command(commands: Commands) -> None:
    """Add the command ``lint`` to the parser."""
    lint = commands.add_parser(
        "lint", help="check golden sets and session logs for what would mislead a gate"
    )
    lint.add_argument(
        "golden",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="golden sets and session logs (default: rankcheck_golden and rankcheck_sessions)",
    )
    lint.add_argument(
        "--corpus",
        type=Path,
        metavar="PATH",
        help="the documents that are ranked: a file or a folder (default: rankcheck_corpus, or "
        "corpus.jsonl of a BEIR folder)",
    )
    add_reading_options(lint)
    add_log_options(lint)
    lint.set_defaults(run=_lint)


def _lint(chosen: argparse.Namespace) -> int:
    inputs = ProjectInputs.of(chosen)
    logs = SessionInputs.of(chosen, inputs.config)
    paths = chosen.golden or [*inputs.config.golden, *inputs.config.sessions]
    if not paths:
        raise ConfigurationError(
            "no golden set: name one, or configure rankcheck_golden; for session logs, "
            "rankcheck_sessions"
        )
    if chosen.corpus is None:
        check_corpus(inputs.config)
    corpus = chosen.corpus or inputs.config.corpus
    levels = [
        finding.level
        for path in paths
        for finding in (
            _of_log(logs, path) if logs.is_log(path) else _of_golden(inputs, path, corpus)
        )
    ]
    return BLOCKED if "error" in levels else PASSED


def _of_golden(inputs: ProjectInputs, path: Path, corpus: Path | None) -> Sequence[LintFinding]:
    """Print and return the findings on a golden set."""
    # A golden set that contradicts itself is still linted; only a gate refuses to read it.
    golden = inputs.golden_set(path, contradictions="first")
    findings = golden.lint_with(configured_lint(inputs.config), corpus=corpus)
    print(lint_text(golden.name, len(golden), findings))
    metrics = inputs.config.metrics or USUAL_METRICS
    print_summary(list(ideal_resolution_findings(golden, metrics, inputs.depth)))
    return findings


def _of_log(logs: SessionInputs, path: Path) -> Sequence[LintFinding]:
    """Print and return the findings on a session log."""
    profile = logs.profile([path])
    findings = logs.findings(profile)
    print(log_lint_text(profile, findings))
    return findings
