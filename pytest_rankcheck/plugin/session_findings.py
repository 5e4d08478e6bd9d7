"""The findings of a test session, collected from all tests and workers and shown at its end.

pytest imports this at every start: what is heavy is imported where it is used.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest._code.code import ExceptionRepr

from pytest_rankcheck.errors import ConfigurationError, RankcheckError, quoted, suggestion
from pytest_rankcheck.plugin.baseline_settings import baseline_settings
from pytest_rankcheck.plugin.configuration import CONFIG, report_paths
from pytest_rankcheck.plugin.item_identity import TYPED_ID
from pytest_rankcheck.plugin.watched_tests import WatchedTests
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS

if TYPE_CHECKING:
    from pytest_rankcheck.reports.findings import ReportedFinding


LEDGER = pytest.StashKey["list[ReportedFinding]"]()
"""The findings of a test."""
CARRIED = "rankcheck"
"""The attribute of a test's report that carries its findings.

They are packed when the report leaves the process, such as from a worker of pytest-xdist.
"""
_ENDINGS = {int(code): code.name.lower().replace("_", " ") for code in pytest.ExitCode}
_OTHER_PLUGIN = "pytest_github_actions_annotate_failures"
_MOST_NOTES = 3
"""How many lines notes have without -v."""
_STEP_SUMMARY_LIMIT = 900_000
"""Characters; GitHub takes a megabyte for a step."""


class SessionFindings:
    """Collects the findings of all tests, also from workers, and prints them at the end."""

    def __init__(self, config: pytest.Config, watched: WatchedTests) -> None:
        self._config = config
        self._watched = watched
        self.findings: list[ReportedFinding] = []
        self.failures: list[pytest.TestReport] = []
        """The failures of tests that have findings, or use our fixtures."""
        self._errors: dict[str, list[str]] = {}
        """The tests and files that failed for reasons other than a finding, by reason."""
        self._lines: Sequence[str] = ()
        """The printed lines about reports."""

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(
        self, session: pytest.Session, exitstatus: int
    ) -> Generator[None, object, object]:
        """Find the gates that did not run, which may fail the test session, and write the reports.

        Reports are written after everybody else has set pytest's exit status, even without a
        terminal.
        """
        config = session.config
        unrun: Sequence[ReportedFinding] = ()
        if self._watched.uses_baselines:
            from pytest_rankcheck.plugin.gate_coverage import coverage_findings

            unrun = coverage_findings(config, self._watched, self.findings, exitstatus)
            self.findings += unrun
        result = yield
        # Now, because many a conftest lets a test session pass that has collected no test.
        if session.exitstatus == pytest.ExitCode.OK and any(each.failed for each in unrun):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        self.findings += [*_notes_from_git(config, self.findings)]
        ended = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if config.stash[CONFIG].leaderboard and session.exitstatus in ended:
            from pytest_rankcheck.plugin.leaderboard_runs import leaderboards

            self.findings += [*leaderboards(session, self.findings)]
        if config.stash[CONFIG].prove and session.exitstatus in ended:
            from pytest_rankcheck.reports.proof_findings import proof_notes

            self.findings += [*proof_notes(self.findings, config.stash[CONFIG].hidden)]
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if self.findings or self.failures or config.stash[CONFIG].reports:
            if reporter is None or "deselected" not in reporter.stats:
                self.findings += [*_unused_line_notes(config, self.findings)]
            status = int(session.exitstatus)
            written = _write_reports(config, self.findings, status, self._problems(status))
            self._lines = [*written, *_annotations(self.failures, config)]
        return result

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what could not be collected."""
        if report.failed:
            file = getattr(report, TYPED_ID, report.nodeid)
            self._errors.setdefault(_reason(report.longrepr), []).append(file)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the findings out of a test's report."""
        from pytest_rankcheck.reports.ledger import unpacked

        carried = vars(report).get(CARRIED)
        test = getattr(report, TYPED_ID, report.nodeid)
        ledger = unpacked(carried) if isinstance(carried, str) else carried or []
        findings = [each.with_test(test) for each in ledger]
        if self._config.stash[CONFIG].prove and hasattr(report, "wasxfail"):
            from pytest_rankcheck.reports.proof_findings import QuestionFinding

            # Nothing that is expected to fail blocks a harm.
            findings = [each for each in findings if not isinstance(each, QuestionFinding)]
        self.findings += findings
        if report.failed and carried is not None:
            self.failures.append(report)
        if report.failed and not any(finding.failed for finding in findings):
            self._errors.setdefault(_reason(report.longrepr), []).append(test)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table and the notes; nothing if nothing was measured."""
        if not self.findings and not self._lines:
            return
        from pytest_rankcheck.reports.text.summary_table import summary_lines

        terminalreporter.section("rankcheck")
        config = terminalreporter.config
        width = config.get_terminal_writer().fullwidth
        most = None if config.get_verbosity() > 0 else _MOST_NOTES
        for line in summary_lines(self.findings, width, most=most):
            terminalreporter.write_line(line.text, **({line.colour: True} if line.colour else {}))
        for text in self._lines:
            terminalreporter.write_line(text)

    def _problems(self, exit_status: int) -> Sequence[str]:
        """Return what failed besides gates and checks, and an exit status that nothing explains."""
        texts = [
            f"{places[0]}{f' and {len(places) - 1:,} more' if places[1:] else ''}: {reason}"
            for reason, places in self._errors.items()
        ]
        is_explained = exit_status == 1 and (texts or any(each.failed for each in self.findings))
        if exit_status and not is_explained:
            name = _ENDINGS.get(exit_status, "see its output")
            texts.append(f"pytest ended with exit status {exit_status} ({name})")
        return texts


def remove_old_reports(config: pytest.Config) -> None:
    """Remove old reports, so that nobody takes them for new if this test session breaks.

    Args:
        config: of a test session in which no conftest is loaded yet.
    """
    for path in report_paths(config).values():
        if path.is_file() and not path.is_symlink():  # not /dev/stdout
            with suppress(OSError):
                path.unlink()


def _write_reports(
    config: pytest.Config,
    findings: Sequence[ReportedFinding],
    exit_status: int,
    problems: Sequence[str],
) -> Iterator[str]:
    """Write the requested reports; yield a line for each: where it is, or why it is not.

    Args:
        config: of the test session.
        findings: of all tests, in detail.
        exit_status: pytest's.
        problems: what failed besides gates and checks.
    """
    chosen, here = config.stash[CONFIG], config.invocation_params.dir
    if not chosen.reports and not chosen.step_summary:
        return
    from pytest_rankcheck.files.git_commands import git_line
    from pytest_rankcheck.files.whole_files import write_whole
    from pytest_rankcheck.reports.report_data import report_of

    command = shlex.join(["pytest", *config.invocation_params.args])
    commit = git_line(here, "rev-parse", "HEAD")
    report = report_of(findings, command, exit_status, problems, commit)
    if chosen.step_summary:
        from pytest_rankcheck.reports.markdown_report import markdown_of

        # The page of the step shows it, so no line says where it is.
        with suppress(OSError), chosen.step_summary.open("a", encoding="utf-8") as file:
            file.write(markdown_of(report, _STEP_SUMMARY_LIMIT))
    for name, path in chosen.reports.items():
        title = REPORT_FORMATS[name].titled(report)
        shown_path = quoted(min(os.path.relpath(path, here), str(path), key=len), 300)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, REPORT_FORMATS[name].text(report))
        except (OSError, ImportError, RankcheckError) as failure:
            why = getattr(failure, "strerror", None) or failure
            yield f"{title} cannot be written to {shown_path}: {why}"
        else:
            yield f"{title} written to {shown_path}"


def _reason(longrepr: object) -> str:
    """Return the line of an error that says what happened."""
    crash = getattr(longrepr, "reprcrash", None)
    text = str(longrepr) if crash is None else crash.message
    lines = [line for line in text.splitlines() if line.strip()] or ["no message"]
    reason = lines[-1].removeprefix("E ") if crash is None else lines[0]
    return quoted(reason.strip().removeprefix("pytest_rankcheck.errors."), 300)


def _annotations(failures: Sequence[pytest.TestReport], config: pytest.Config) -> Iterator[str]:
    """Yield an annotation for each failed gate if GitHub Actions runs the test session.

    Nothing is yielded if the plugin that annotates every failure is active.
    """
    if os.environ.get("GITHUB_ACTIONS") != "true" or config.pluginmanager.hasplugin(_OTHER_PLUGIN):
        return
    from pytest_rankcheck.reports.ci_formats import annotation

    top = os.environ.get("GITHUB_WORKSPACE") or str(config.rootpath)
    for report in failures:
        if not isinstance(report.longrepr, ExceptionRepr) or report.longrepr.reprcrash is None:
            continue
        crash = report.longrepr.reprcrash
        path, line = Path(config.rootpath, crash.path), crash.lineno
        if not path.is_relative_to(top):  # an error of an installed package
            path, line = Path(config.rootpath, report.location[0]), (report.location[1] or 0) + 1
        shown_path = path.relative_to(top) if path.is_relative_to(top) else path
        text = crash.message.removeprefix("AssertionError: ")
        yield annotation(shown_path.as_posix(), line, text)


def _unused_line_notes(
    config: pytest.Config, findings: Sequence[ReportedFinding]
) -> Iterator[ReportedFinding]:
    """Yield the golden sets that the configuration names but no test measured on."""
    from pytest_rankcheck.plugin.inputs import inputs_of, unknown_sets
    from pytest_rankcheck.reports.findings import MetricFinding, Note, Topic

    for name in config.stash[CONFIG].left_out:
        why = "left out, because the environment variable is not set"
        yield Note(Topic.UNUSED_GATE, f"golden set '{quoted(name)}': {why}")
    measured = dict.fromkeys(f.golden_set for f in findings if isinstance(f, MetricFinding))
    if not measured:
        return
    with suppress(ConfigurationError):  # it has failed the tests that needed it
        inputs = inputs_of(config)
        for name in dict.fromkeys((*inputs.gates.golden_names, *unknown_sets(inputs.config))):
            if name not in measured:
                hint = suggestion(name, measured)
                yield Note(Topic.UNUSED_GATE, f"golden set '{quoted(name)}'{hint}")


def _notes_from_git(
    config: pytest.Config, findings: Sequence[ReportedFinding]
) -> Iterator[ReportedFinding]:
    """Yield written baselines to add to git, and what differs from a reference commit."""
    reference = baseline_settings(config).reference
    if reference is None and not findings:
        return
    from pytest_rankcheck.reports.findings import WrittenFinding

    if reference is None and not any(isinstance(each, WrittenFinding) for each in findings):
        return
    from pytest_rankcheck.reports.text import branch_notes as notes

    yield from notes.written_notes(findings, config.invocation_params.dir)
    if reference is not None:
        here, hidden = config.invocation_params.dir, config.stash[CONFIG].hidden
        yield from notes.branch_notes(reference, here, hidden)
