"""``python -m pytest_rankcheck lint``: what in golden sets and logs would mislead a gate."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.golden.lint.linter import findings_of, unchecked_in
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS
from pytest_rankcheck.plugin.configured_inputs import (
    check_corpus,
    configured_lint,
    evaluated,
    whole_run,
)
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.text.lint_text import lint_text, log_lint_text
from pytest_rankcheck.reports.text.resolution_text import (
    ideal_resolution_findings,
    run_resolution_findings,
)

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
    lint.add_argument(
        "--run",
        dest="ranked",
        type=Path,
        metavar="RUN",
        help="a run of the golden sets, or a folder from --rankcheck-save-run, for the rules that "
        "compare judgments with a ranker (default: rankcheck_run)",
    )
    add_reading_options(lint)
    add_log_options(lint)
    lint.set_defaults(run=_lint)


def _lint(chosen: argparse.Namespace) -> int:
    inputs = ProjectInputs.of(chosen)
    given = {"run": chosen.ranked, "corpus": chosen.corpus}
    values = {**vars(inputs.config), **{name: path for name, path in given.items() if path}}
    inputs = replace(inputs, config=Config(**values))
    logs = SessionInputs.of(chosen, inputs.config)
    paths = chosen.golden or [*inputs.config.golden, *inputs.config.sessions]
    if not paths:
        raise ConfigurationError(
            "no golden set: name one, or configure rankcheck_golden; for session logs, "
            "rankcheck_sessions"
        )
    if chosen.corpus is None:
        check_corpus(inputs.config)
    levels = [
        finding.level
        for path in paths
        for finding in (
            _of_log(logs, path)
            if logs.is_log(path)
            else _of_golden(inputs, path, is_given=bool(chosen.ranked))
        )
    ]
    return BLOCKED if "error" in levels else PASSED


def _of_golden(inputs: ProjectInputs, path: Path, *, is_given: bool) -> Sequence[LintFinding]:
    """Print and return the findings on a golden set; ``is_given``: the run comes from ``--run``."""
    # A golden set that contradicts itself is still linted; only a gate refuses to read it.
    golden = inputs.golden_set(path, contradictions="first")
    options, corpus = configured_lint(inputs.config, golden.name), inputs.config.corpus
    run = _run_of(inputs, golden, is_given=is_given)
    findings = findings_of(golden, options, run=run, corpus=corpus)
    unchecked = unchecked_in(golden, options, run=run, corpus=corpus)
    print(lint_text(golden.name, len(golden), findings, unchecked))
    print_summary(list(_resolution(inputs, golden, run)))
    return findings


def _resolution(
    inputs: ProjectInputs, golden: GoldenSet, run: Run | None
) -> Iterator[ReportedFinding]:
    """Return what the metrics can see of the run or, without one, of the ideal rankings."""
    metrics, depth = inputs.config.metrics or USUAL_METRICS, inputs.depth
    if run is None:
        return ideal_resolution_findings(golden, metrics, depth)
    measured = run if depth is None else run.top(depth)
    return run_resolution_findings(
        golden.name, lambda: evaluated(inputs.config, measured, golden), metrics
    )


def _run_of(inputs: ProjectInputs, golden: GoldenSet, *, is_given: bool) -> Run | None:
    """Return the run to lint with; None if neither ``--run`` nor the configuration has one."""
    if inputs.config.run is None:
        return None
    try:
        return whole_run(inputs.config, golden)
    except ConfigurationError:
        if is_given:
            raise
        return None


def _of_log(logs: SessionInputs, path: Path) -> Sequence[LintFinding]:
    """Print and return the findings on a session log."""
    profile = logs.profile([path])
    findings = logs.findings(profile)
    print(log_lint_text(profile, findings))
    return findings
