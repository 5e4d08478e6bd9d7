"""``python -m pytest_rankcheck sessions``: the means of a session log and what is unusual."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_rankcheck.command_line.shared_inputs import (
    PASSED,
    Commands,
    add_override,
    add_repeated,
    mean_findings,
    print_summary,
)
from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.evaluation.session_evaluation import evaluate_sessions
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.plugin.configuration import CONFIG, project_configuration
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.sessions.session_log import SessionLog

_METRICS = ("SuccessRate", "SuccessRate@1", "SessionRR(abandoned=zero)", "EventsPerSession")
"""The metrics that are shown if none are named."""
_OF_UBI = ("attributes", "first_rank", "session_gap", "grades", "lenient")
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
    sessions.add_argument(
        "--ubi-events",
        type=Path,
        action="append",
        metavar="FILE",
        help="the events of User Behavior Insights; LOG are then the queries, and "
        "rankcheck_session_reading has keywords of SessionLog.from_ubi",
    )
    metric = "a metric, such as SuccessRate@3"
    add_repeated(sessions, "--metric", "NAME", metric, ", ".join(_METRICS))
    add_repeated(sessions, "--by", "ATTRIBUTE", "also show its slices", "none")
    add_override(sessions)
    sessions.set_defaults(run=_sessions)


def _sessions(chosen: argparse.Namespace) -> int:
    config = project_configuration(chosen.o).stash[CONFIG]
    reading = config.session_reading
    if chosen.ubi_events:
        if not chosen.log:
            raise ConfigurationError("--ubi-events needs the queries, too: give them as LOG")
        for key in reading.keys() - _OF_UBI:
            raise ConfigurationError(
                f"{key}= does not apply to User Behavior Insights; the keywords of "
                f"rankcheck_session_reading that do are {', '.join(_OF_UBI)}"
            )
        log = SessionLog.from_ubi(chosen.log, chosen.ubi_events, **reading)
        _show(log, chosen, config.session_clusters)
        return PASSED
    logs = [chosen.log] if chosen.log else [[path] for path in config.sessions]
    if not logs:
        raise ConfigurationError("no session log: name one, or configure rankcheck_sessions")
    for paths in logs:
        _show(SessionLog.load(paths, **reading), chosen, config.session_clusters)
    return PASSED


def _show(log: SessionLog, chosen: argparse.Namespace, clusters: str | None) -> None:
    """Print the size and the means of a log, and what is unusual in it."""
    name = f"session log '{quoted(log.name)}'"
    evaluation = evaluate_sessions(log, clustered=None if log.cluster_by else clusters)
    print(f"{name}: {plural(len(log), 'session')}, {plural(log.event_count, 'event')}")
    metrics = [Metric.parse(each) for each in chosen.metric or _METRICS]
    means = list(mean_findings(evaluation, metrics, chosen.by))
    print_summary([*means, *(Note(Topic.MEASURED, note, name) for note in evaluation.notes)])
