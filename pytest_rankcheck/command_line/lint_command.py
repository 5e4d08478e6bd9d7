"""``python -m pytest_rankcheck lint``: what in golden sets would mislead a gate."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_rankcheck.command_line.shared_inputs import (
    BLOCKED,
    PASSED,
    Commands,
    ProjectInputs,
    add_reading_options,
)
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.plugin.lint_items import lint_of
from pytest_rankcheck.reports.text.lint_text import lint_text


def add_lint_command(commands: Commands) -> None:
    """Add the command ``lint`` to the parser."""
    lint = commands.add_parser("lint", help="check golden sets for what would mislead a gate")
    lint.add_argument(
        "golden",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="golden sets (default: rankcheck_golden)",
    )
    lint.add_argument(
        "--corpus",
        type=Path,
        metavar="PATH",
        help="the documents that are ranked: a file or a folder (default: rankcheck_corpus, or "
        "corpus.jsonl of a BEIR folder)",
    )
    lint.add_argument(
        "--run",
        dest="ranked",
        type=Path,
        metavar="RUN",
        help="a run of the golden sets, or a folder from --rankcheck-save-run, for the rules that "
        "compare judgments with a ranker (default: rankcheck_run)",
    )
    add_reading_options(lint)
    lint.set_defaults(run=_lint)


def _lint(chosen: argparse.Namespace) -> int:
    project = ProjectInputs.of(chosen, run=chosen.ranked, corpus=chosen.corpus)
    inputs = project.inputs
    paths = chosen.golden or inputs.config.golden
    if not paths:
        raise ConfigurationError("no golden set: name one, or configure rankcheck_golden")
    if chosen.corpus is None:
        _ = inputs.corpus
    fails = False
    for path in paths:
        needs_run = chosen.ranked is not None
        golden, findings = lint_of(inputs, path, project.golden_format, needs_run=needs_run)
        print(lint_text(golden.name, len(golden), findings))
        fails |= any(finding.level == "error" for finding in findings)
    return BLOCKED if fails else PASSED
