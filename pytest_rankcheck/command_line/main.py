"""``python -m pytest_rankcheck``: rankings, golden sets, logs and baselines on the command line."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_rankcheck.command_line.compare_command import add_compare_command
from pytest_rankcheck.command_line.history_command import add_history_command
from pytest_rankcheck.command_line.init_command import add_init_command
from pytest_rankcheck.command_line.judging_commands import (
    add_import_judgments_command,
    add_pool_command,
)
from pytest_rankcheck.command_line.lint_command import add_lint_command
from pytest_rankcheck.command_line.metrics_command import add_metrics_command
from pytest_rankcheck.command_line.retire_command import add_retire_command
from pytest_rankcheck.command_line.sessions_command import add_sessions_command
from pytest_rankcheck.command_line.shared_inputs import INVALID, PASSED
from pytest_rankcheck.command_line.show_command import add_show_command
from pytest_rankcheck.command_line.unrun_command import add_unrun_command
from pytest_rankcheck.errors import (
    ConfigurationError,
    GitError,
    MetricWarning,
    RankcheckError,
    quoted,
)
from pytest_rankcheck.extension_registry import ExtensionRegistry

_EPILOG = """examples:
  python -m pytest_rankcheck init
  python -m pytest_rankcheck lint golden/web.jsonl
  python -m pytest_rankcheck compare main.run new.run --golden golden/web.jsonl \\
      --gate "noninferior(margin=0.02)" --by locale --html report.html
  python -m pytest_rankcheck history --metric nDCG@10 --since 3.months

exit codes: 0 passed, 1 the gate blocks (or the linter found errors, gates
did not run, or judgments conflict), 2 inconclusive, or invalid usage or input"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = chosen.run
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", MetricWarning)
            warnings.showwarning = _print_warning
            for module in chosen.imported:
                _import(module)
            return run(chosen)
    except RankcheckError as error:
        why = str(error)
    except GitError as error:
        why = f"git failed: {quoted(error, 300)}"
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED
    except OSError as failure:  # of a path that is too long, or a disk that is full
        why = f"{quoted(failure.filename or 'a file')}: {failure.strerror or failure}"
    print(f"{parser.prog} {chosen.command}: {why}", file=sys.stderr)
    return INVALID


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning without a line of code."""
    print(f"warning: {message}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pytest_rankcheck",
        description="Work with rankings, golden sets and baselines without a test session.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--import",
        dest="imported",
        action="append",
        default=[],
        metavar="MODULE",
        help="import a module with extensions of yours, such as a conftest with metrics",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_init_command(commands)
    add_compare_command(commands)
    add_show_command(commands)
    add_lint_command(commands)
    add_pool_command(commands)
    add_import_judgments_command(commands)
    add_sessions_command(commands)
    add_metrics_command(commands)
    add_history_command(commands)
    add_retire_command(commands)
    add_unrun_command(commands)
    return parser


def _import(name: str) -> None:
    """Import a module, also from the working directory, and let it register its extensions."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(name)
        if hasattr(module, "pytest_rankcheck_register"):
            module.pytest_rankcheck_register(ExtensionRegistry())
    except RankcheckError:
        raise
    except Exception as failure:
        raise ConfigurationError(
            f"--import {quoted(name)}: {type(failure).__name__}: {quoted(failure)}; give the name "
            "of a module, such as conftest or tests.conftest"
        ) from None
