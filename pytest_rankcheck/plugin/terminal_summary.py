"""What a session found: collected from all tests, also from workers, and said at its end.

pytest imports this at every start: what is heavy is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.plugin import fixtures
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.reports.ledger import Entry

__all__ = ["CARRIED", "LEDGER", "SessionFindings", "properties_of"]

LEDGER = pytest.StashKey[list[Entry]]()
"""What a test found."""
CARRIED = "rankcheck"
"""The attribute of a test's report that carries its ledger, from workers to the controller."""


class SessionFindings:
    """Collects the ledgers of all tests, also from workers, and prints them at the end."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.failures: list[pytest.TestReport] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Add the means to the suite of a JUnit XML file, before that is written."""
        plugins = session.config.pluginmanager.get_plugins()
        for plugin in plugins:
            if hasattr(plugin, "add_global_property") and self.entries:
                for name, value in dict(properties_of(self.entries)).items():
                    plugin.add_global_property(name, value)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the ledger out of a test's report."""
        if report.failed and getattr(report, CARRIED, None):
            self.failures.append(report)
        ledger: list[Entry] = getattr(report, CARRIED, [])
        for entry in ledger:
            if "detail" in entry:
                entry["detail"].setdefault("test", report.nodeid)
        self.entries.extend(ledger)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table and the notes; nothing where nothing was measured."""
        if not self.entries:
            return
        from pytest_rankcheck.plugin.github_annotations import annotation_lines
        from pytest_rankcheck.plugin.report_files import write_reports
        from pytest_rankcheck.reports.text.summary_table import summary_lines

        terminalreporter.section("rankcheck")
        branch = list(_branch_entries(terminalreporter.config))
        width = terminalreporter.config.get_terminal_writer().fullwidth
        for line in summary_lines([*self.entries, *branch], width):
            terminalreporter.write_line(line.text, **({line.colour: True} if line.colour else {}))
        for text in write_reports(terminalreporter.config, [*self.entries, *branch]):
            terminalreporter.write_line(text)
        for text in annotation_lines(self.failures, terminalreporter.config):
            terminalreporter.write_line(text)


def properties_of(ledger: Sequence[Entry]) -> Iterator[tuple[str, object]]:
    """Yield what JUnit XML has of a test: each metric, its baseline and its verdict."""
    for entry in ledger:
        if "metric" in entry:
            name = f"rankcheck.{entry['golden']}.{entry['metric']}"
            yield name, f"{entry['now']:.6f}"
            baseline = entry.get("baseline")
            if baseline is not None:
                yield f"{name}.baseline", f"{baseline:.6f}"
            if entry.get("verdict"):
                yield f"{name}.verdict", entry["verdict"]


def _branch_entries(config: pytest.Config) -> Iterator[Entry]:
    """Yield the baselines that this branch changes, where they are compared with a commit."""
    if config.stash[CONFIG].baseline_ref is None:
        return
    from pytest_rankcheck.reports.text.branch_text import branch_entries

    try:
        reference = fixtures.configured_reference(config)
    except ConfigurationError:
        return  # it has failed the tests that needed it
    if reference is not None:
        yield from branch_entries(reference, config.rootpath)
