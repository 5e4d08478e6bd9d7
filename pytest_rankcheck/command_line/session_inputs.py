"""The session logs of a command, read as the project configures or the command line says."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_rankcheck.errors import (
    ConfigurationError,
    RankcheckError,
    SessionLogError,
    quoted,
)
from pytest_rankcheck.files.delimited_tables import normalised_name
from pytest_rankcheck.files.file_patterns import is_pattern
from pytest_rankcheck.golden.lint.lint_rule import LintFinding
from pytest_rankcheck.plugin.configured_inputs import configured_lint, log_reading
from pytest_rankcheck.plugin.option_parsers import Given, pairs, session_reading
from pytest_rankcheck.plugin.option_table import Config
from pytest_rankcheck.plugin.project_configuration import project_configuration
from pytest_rankcheck.sessions.log_files import LOG_FORMATS
from pytest_rankcheck.sessions.log_layouts import Layouts
from pytest_rankcheck.sessions.log_options import LogOptions
from pytest_rankcheck.sessions.log_problems import LogSource, Problems
from pytest_rankcheck.sessions.profile.log_profile import LogProfile
from pytest_rankcheck.sessions.profile.log_rules import log_findings
from pytest_rankcheck.sessions.session_log import SessionLog

__all__ = ["SessionInputs", "add_log_options"]

_OF_UBI = (
    *("columns", "attributes", "first_rank", "session_gap", "drop_sessions_over", "grades"),
    "lenient",
)
"""The keywords for reading logs that also apply to User Behavior Insights."""
_OF_LOGS = frozenset({"session", "events", "event_data"})
_OF_EVENTS = frozenset({"results", "selected", "selected_rank", "clicks"})
"""What rows with a time have if they are events, also without a column of sessions."""
_OF_GOLDEN_SETS = frozenset({"relevance", "grade", "rating", "label", "judgments", "expectations"})


def add_log_options(command: argparse.ArgumentParser) -> None:
    """Add the option that says how session logs are read, which overrides the project's."""
    command.add_argument(
        "--reading",
        action="append",
        metavar="KEYWORD=VALUE",
        help="how a session log is read, such as first_rank=0 or session_gap=30min (may be given "
        "several times; overrides that keyword of rankcheck_session_reading)",
    )


@dataclass(frozen=True, slots=True)
class SessionInputs:
    """The configuration of the project for session logs, with what the command line overrides."""

    config: Config
    reading: Mapping[str, object]
    """The keywords with which logs are read."""
    given: Mapping[str, object]
    """Those of the command line."""

    @classmethod
    def of(cls, chosen: argparse.Namespace, config: Config | None = None) -> SessionInputs:
        """Return the inputs for the arguments of a command that has ``--reading``.

        Raises:
            ConfigurationError: the configuration file or an option is invalid.
        """
        config, here = config or project_configuration().config, Path.cwd()
        given: dict[str, object] = {}
        if chosen.reading:
            given |= session_reading(Given("--reading", chosen.reading, here))
        reading = {**log_reading(config), **given}
        if chosen.columns:
            columns = pairs("session=sid")(Given("--columns", chosen.columns, here))
            given["columns"] = reading["columns"] = columns
        return cls(config, reading, given)

    def profile(
        self, paths: Sequence[Path], ubi_events: Sequence[Path] | None = None
    ) -> LogProfile:
        """Return the profile of a log in several files, perhaps of User Behavior Insights.

        Raises:
            ConfigurationError: a keyword does not apply to User Behavior Insights.
        """
        shorter = list(map(_shorter, paths))
        if ubi_events is None:
            return LogProfile.of(shorter, self.reading)
        for key in self.given:
            if key not in _OF_UBI:
                raise ConfigurationError(
                    f"--reading {quoted(key)}=... does not apply to User Behavior Insights; those "
                    f"that do are {', '.join(_OF_UBI)}"
                )
        return LogProfile.of(shorter, self.given, list(map(_shorter, ubi_events)))

    def log(self, path: Path) -> SessionLog:
        """Return a log.

        Raises:
            SessionLogError: it cannot be read.
        """
        reading: dict[str, Any] = dict(self.reading)
        return SessionLog.load(_shorter(path), **reading)

    def findings(self, profile: LogProfile) -> list[LintFinding]:
        """Return what the linter finds in a log, with the configured levels of its rules."""
        return log_findings(profile, configured_lint(self.config))

    def is_log(self, path: Path) -> bool:
        """Whether a file is a session log: a configured one, a pattern, or one by its columns."""
        here = Path.cwd()
        if is_pattern(path) or here / path in self.config.sessions:
            return True
        if not path.is_file():
            return False
        try:
            return looks_like_log(path, self.reading.get("columns"))  # type: ignore[arg-type]
        except RankcheckError:
            return False


def looks_like_log(path: Path, columns: Mapping[str, str] | None) -> bool:
    """Whether the first rows of a file have columns that a session log has and others have not.

    Raises:
        SessionLogError: the file cannot be read.
    """
    problems = Problems(str(path), is_lenient=True)
    found = LOG_FORMATS.detected(path, columns)
    if found.name == "trec-xml":
        return True
    table = found.read(LogSource(path, problems))
    batch = next(iter(table.batches()), None)
    header = tuple(map(str, batch.header if batch else table.header))
    try:
        roles = Layouts(LogOptions(columns=columns or {}), problems).of(header)
    except SessionLogError:
        return False
    if not _OF_GOLDEN_SETS.isdisjoint(map(normalised_name, header)):
        return False
    is_timed = "time" in roles and not _OF_EVENTS.isdisjoint(roles)
    return is_timed or not _OF_LOGS.isdisjoint(roles)


def _shorter(path: Path) -> Path:
    """Return a path relative to the working directory where it is in it, for messages."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
