"""``python -m pytest_rankcheck sessions``: the means of a session log and what is unusual."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pytest_rankcheck.command_line.shared_inputs import (
    PASSED,
    Commands,
    add_repeated,
    mean_findings,
    print_summary,
)
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.evaluation.session_evaluation import evaluate_sessions
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.inputs import Inputs
from pytest_rankcheck.plugin.option_parsers import SESSION_READING, Given, pairs
from pytest_rankcheck.plugin.project_configuration import project_configuration
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.sessions.session_log import SessionLog

_METRICS = ("SuccessRate", "SuccessRate@1", "SessionRR(abandoned=zero)", "EventsPerSession")
"""The metrics that are shown if none are named."""
_OF_UBI = (
    *("columns", "attributes", "first_rank", "session_gap", "drop_sessions_over", "grades"),
    "lenient",
)
"""The keywords for reading logs that also apply to User Behavior Insights."""


def add_sessions_command(commands: Commands) -> None:
    """Add the command ``sessions`` to the parser."""
    sessions = commands.add_parser(
        "sessions", help="show the means of a session log, and what is unusual in it"
    )
    sessions.add_argument(
        "log",
        type=Path,
        nargs="*",
        help="the files or patterns of one log (default: each log of rankcheck_sessions)",
    )
    keyword = "how the log is read, such as first_rank=0 or session_gap=30min"
    add_repeated(sessions, "--reading", "KEYWORD=VALUE", keyword, "rankcheck_session_reading")
    column = "a column of the log, such as session=sid"
    add_repeated(sessions, "--columns", "MEANING=NAME", column, "rankcheck_session_columns")
    sessions.add_argument(
        "--ubi-events",
        type=Path,
        action="append",
        metavar="FILE",
        help="the events of User Behavior Insights; LOG are then the queries, and --reading has "
        "keywords of SessionLog.from_ubi",
    )
    metric = "a metric, such as SuccessRate@3"
    add_repeated(sessions, "--metric", "NAME", metric, ", ".join(_METRICS))
    add_repeated(sessions, "--by", "ATTRIBUTE", "also show its slices", "none")
    sessions.set_defaults(run=_sessions)


def _sessions(chosen: argparse.Namespace) -> int:
    config, given = project_configuration().stash[CONFIG], _given(chosen)
    if chosen.ubi_events:
        if not chosen.log:
            raise ConfigurationError("--ubi-events needs the queries, too: give them as LOG")
        for key in given.keys() - _OF_UBI:
            raise ConfigurationError(
                f"--reading {quoted(key)}=... does not apply to User Behavior Insights; those "
                f"that do are {', '.join(_OF_UBI)}"
            )
        _show(SessionLog.from_ubi(chosen.log, chosen.ubi_events, **given), chosen)
        return PASSED
    logs = [chosen.log] if chosen.log else [[path] for path in config.sessions]
    if not logs:
        raise ConfigurationError("no session log: name one, or configure rankcheck_sessions")
    for paths in logs:
        _show(SessionLog.load(paths, **{**Inputs(config).log_reading, **given}), chosen)
    return PASSED


def _given(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the reading keywords from the command line."""
    given: dict[str, Any] = {}
    here = Path.cwd()
    if chosen.reading:
        given |= SESSION_READING.parse(Given("--reading", chosen.reading, here))
    if chosen.columns:
        given["columns"] = pairs("session=sid").parse(Given("--columns", chosen.columns, here))
    return given


def _show(log: SessionLog, chosen: argparse.Namespace) -> None:
    """Print the size and the means of a log, and what is unusual in it."""
    name = f"session log '{quoted(log.name)}'"
    evaluation = evaluate_sessions(log)
    print(f"{name}: {plural(len(log), 'session')}, {plural(log.event_count, 'event')}")
    metrics = [Metric.parse(each) for each in chosen.metric or _METRICS]
    means = list(mean_findings(evaluation, metrics, chosen.by))
    print_summary([*means, *(Note(Topic.MEASURED, note, name) for note in evaluation.notes)])
