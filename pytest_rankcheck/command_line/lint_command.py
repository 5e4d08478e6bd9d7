"""``python -m pytest_rankcheck lint``: what is wrong with golden sets, rank files and baselines."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from pytest_rankcheck.baselines.baseline_path import is_baseline_path
from pytest_rankcheck.baselines.record_file import content_of_text, is_record
from pytest_rankcheck.command_line.shared_inputs import (
    BLOCKED,
    PASSED,
    Commands,
    ProjectInputs,
    add_override,
)
from pytest_rankcheck.errors import BaselineError, ConfigurationError, plural, quoted
from pytest_rankcheck.files.text_files import text_of
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.item_identity import RANK_FILE
from pytest_rankcheck.plugin.lint_items import lint_of
from pytest_rankcheck.plugin.rank_file import checks_of
from pytest_rankcheck.plugin.rank_file_table import RankFileTable
from pytest_rankcheck.reports.text.golden_text import lint_text


def add_lint_command(commands: Commands) -> None:
    """Add the command ``lint`` to the parser."""
    lint = commands.add_parser(
        "lint", help="check golden sets for what would mislead a gate, and that baselines are whole"
    )
    lint.add_argument(
        "files",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="golden sets, rank files and baselines (default: rankcheck_golden)",
    )
    add_override(lint)
    lint.set_defaults(run=_lint)


def _lint(chosen: argparse.Namespace) -> int:
    inputs = ProjectInputs.of(chosen).inputs
    paths = chosen.files or inputs.config.golden
    if not paths:
        raise ConfigurationError("no golden set: name one, or configure rankcheck_golden")
    _ = inputs.of_golden("").documents
    fails = False
    for path in paths:
        if path.name.endswith(RANK_FILE):
            fails |= _is_broken(path, _rank_file)
        elif is_baseline_path(path) or is_record(path):
            fails |= _is_broken(path, _baseline)
        else:
            fails |= _has_golden_errors(inputs, path)
    return BLOCKED if fails else PASSED


def _has_golden_errors(inputs: Inputs, path: Path) -> bool:
    """Print the lint findings of a golden set; return whether there is an error."""
    golden, findings = lint_of(inputs, path)
    print(lint_text(golden.name, len(golden), findings))
    return any(finding.level == "error" for finding in findings)


def _is_broken(path: Path, described: Callable[[Path], str]) -> bool:
    """Print what a file is, or what is wrong with it; return whether something is wrong."""
    try:
        print(described(path))
    except (BaselineError, ConfigurationError) as error:
        print(error)
        return True
    return False


def _rank_file(path: Path) -> str:
    table = RankFileTable.read(path)
    tests = table.values["test"]
    for name in tests:
        checks_of(table, name)
    return f"rank file {quoted(path)}: {plural(len(tests), 'test')}"


def _baseline(path: Path) -> str:
    """Read a baseline and say that it is whole; its metrics may come from an extension."""
    text = text_of(path, BaselineError)
    with content_of_text(text, str(path), lambda: "to fix it: run its test, which says how"):
        return f"baseline {quoted(path)}: whole"
