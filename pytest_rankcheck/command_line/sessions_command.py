"""``python -m pytest_rankcheck sessions``: what is in a session log, and what is wrong with it."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_rankcheck.command_line.measurement_options import PASSED, Commands
from pytest_rankcheck.command_line.session_inputs import SessionInputs, add_log_options
from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.reports.text.lint_text import log_lint_text
from pytest_rankcheck.reports.text.log_profile_text import profile_lines

__all__ = ["add_sessions_command"]


def add_sessions_command(commands: Commands) -> None:
    """Add the command ``sessions`` to the parser."""
    sessions = commands.add_parser(
        "sessions",
        help="profile a session log",
        description="Profile a session log: sizes, columns, selected ranks, pauses, large "
        "sessions, duplicates, users, and what the linter finds. Of a log that cannot be read, it "
        "shows what its rows are, and what to write.",
    )
    sessions.add_argument(
        "log",
        type=Path,
        nargs="*",
        help="the files or patterns of one log (default: each log of rankcheck_sessions)",
    )
    add_log_options(sessions)
    sessions.add_argument(
        "--columns",
        action="append",
        metavar="MEANING=NAME",
        help="a column of the log, such as session=sid (may be given several times; default: "
        "rankcheck_session_columns)",
    )
    sessions.add_argument(
        "--ubi-events",
        type=Path,
        action="append",
        metavar="FILE",
        help="the events of User Behavior Insights; LOG are then the queries, and --reading has "
        "keywords of SessionLog.from_ubi",
    )
    sessions.set_defaults(run=_sessions)


def _sessions(chosen: argparse.Namespace) -> int:
    inputs = SessionInputs.of(chosen)
    if chosen.ubi_events and not chosen.log:
        raise ConfigurationError("--ubi-events: name the queries as well, as LOG")
    logs = [chosen.log] if chosen.log else [[path] for path in inputs.config.sessions]
    if not logs:
        raise ConfigurationError("no session log: name one, or configure rankcheck_sessions")
    for paths in logs:
        profile = inputs.profile(paths, chosen.ubi_events)
        print("\n".join(profile_lines(profile)))
        print(log_lint_text(profile, inputs.findings(profile)))
    return PASSED
