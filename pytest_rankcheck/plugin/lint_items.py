"""``pytest --rankcheck-lint``: one test per configured golden set or session log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.metrics.metric_names import USUAL_METRICS
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.configured_golden import loaded_golden
from pytest_rankcheck.plugin.configured_inputs import (
    check_metrics,
    configured_lint,
    configured_run,
    evaluated,
    log_reading,
    whole_run,
)
from pytest_rankcheck.reports.ledger import enter

if TYPE_CHECKING:
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.golden.lint.lint_rule import LintFinding
    from pytest_rankcheck.plugin.option_table import Config
    from pytest_rankcheck.rankers.run import Run
    from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = ["lint_items"]


def lint_items(session: pytest.Session) -> Iterator[pytest.Item]:
    """Yield a test for each golden set and each session log that is configured."""
    chosen = session.config.stash[CONFIG]
    for kind, paths in ((_GoldenItem, chosen.golden), (_LogItem, chosen.sessions)):
        for path in paths:
            yield kind.from_parent(_LintedFile.from_parent(session, path=path), name="lint")


def _resolution(config: pytest.Config, golden: GoldenSet) -> Iterator[ReportedFinding]:
    """Return what the configured metrics can see of the run, or of ideal rankings."""
    from pytest_rankcheck.reports.text.resolution_text import (
        ideal_resolution_findings,
        run_resolution_findings,
    )

    chosen = config.stash[CONFIG]
    check_metrics(chosen)
    metrics = chosen.metrics or USUAL_METRICS
    if chosen.run is None:
        return ideal_resolution_findings(golden, metrics)
    return run_resolution_findings(
        golden.name,
        lambda: evaluated(chosen, configured_run(chosen, golden), golden),
        metrics,
    )


def _run_of(chosen: Config, golden: GoldenSet) -> Run | None:
    """Return the configured run, if it can be read; the linter never asks a ranker."""
    if chosen.run is None:
        return None
    try:
        return whole_run(chosen, golden)
    except RankcheckError:  # other tests report what is wrong with the run
        return None


class _LintFailure(Exception):  # noqa: N818 - says what the linter found; nothing went wrong
    """A golden set or a session log has errors."""


class _LintedFile(pytest.File):
    """A golden set or a session log as a node, so that its test has its path for a name."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield nothing: the one test of the set is made with it."""
        return iter(())


class _LintItem(pytest.Item):
    """A test of a file: fails on errors, shows warnings in the summary."""

    kind = ""
    """What the file is."""

    def report(self, name: str, findings: Sequence[LintFinding], text: str) -> None:
        """Fail on errors, and enter warnings in the summary."""
        from pytest_rankcheck.reports.text.lint_text import lint_notes

        if any(finding.level == "error" for finding in findings):
            raise _LintFailure(text)
        for note in lint_notes(self.kind, name, findings):
            enter(note)

    def repr_failure(  # type: ignore[override]
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> str | object:
        """Return the findings, or what is wrong with the file, without a traceback."""
        if isinstance(excinfo.value, (_LintFailure, RankcheckError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return what the report calls the test."""
        return self.path, None, f"lint of {self.kind} {self.path.name}"


class _GoldenItem(_LintItem):
    """The test of a golden set."""

    kind = "golden set"

    def runtest(self) -> None:
        """Load the set, contradictions and all, and lint it."""
        from pytest_rankcheck.golden.lint.linter import findings_of, unchecked_in
        from pytest_rankcheck.reports.notes import Note, Topic
        from pytest_rankcheck.reports.text.lint_text import lint_text

        chosen = self.config.stash[CONFIG]
        golden = loaded_golden(chosen, self.path, contradictions="first")
        run, options = _run_of(chosen, golden), configured_lint(chosen, golden.name)
        findings = findings_of(golden, options, run=run, corpus=chosen.corpus)
        unchecked = unchecked_in(golden, options, run=run, corpus=chosen.corpus)
        if unchecked and (chosen.run or chosen.ranker):
            hint = ""
            if run is None:
                hint = "; give --rankcheck-run a run, such as one that --rankcheck-save-run wrote"
                hint = f"; {chosen.run} cannot be read" if chosen.run else hint
            enter(Note(Topic.LINT, f"{unchecked}{hint}", f"golden set '{quoted(golden.name)}'"))
        for finding in _resolution(self.config, golden):
            enter(finding)
        self.report(golden.name, findings, lint_text(golden.name, len(golden), findings, unchecked))


class _LogItem(_LintItem):
    """The test of a session log."""

    kind = "session log"

    def runtest(self) -> None:
        """Profile the log, and lint it."""
        from pytest_rankcheck.reports.text.lint_text import log_lint_text
        from pytest_rankcheck.sessions.profile.log_profile import LogProfile
        from pytest_rankcheck.sessions.profile.log_rules import log_findings

        config, here = self.config.stash[CONFIG], Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        profile = LogProfile.of(path, log_reading(config))
        findings = log_findings(profile, configured_lint(config))
        self.report(profile.name, findings, log_lint_text(profile, findings))
