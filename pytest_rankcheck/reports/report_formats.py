"""The table of report formats: a new format is a module and a row here.

pytest imports this at every start, so the modules of the formats are named and not imported.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from pytest_rankcheck.errors import ConfigurationError
from pytest_rankcheck.remedies import install

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_rankcheck.reports.report_data import Report


class ReportFormat(NamedTuple):
    """A kind of report that can be written."""

    name: str
    """The name in its option, ``--rankcheck-NAME``."""
    title: str
    """What is written, for messages; ``{documents}`` is the number of documents to judge."""
    help: str
    function: str
    """The place of the function that returns its text: ``package.module:function``."""
    needs: tuple[str, ...] = ()
    """Modules that must be installed."""
    install: str = ""
    """The command that installs them."""
    of_queries: bool = True
    """Whether it shows every query, and gates that passed in full."""

    def check(self, option: str) -> None:
        """Refuse the format if a module is missing.

        Raises:
            ConfigurationError: naming the option, the modules and the command to install them.
        """
        missing = [module for module in self.needs if find_spec(module) is None]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            raise ConfigurationError(
                f"{option} needs {', '.join(missing)}, which {verb} not installed: {self.install}"
            )

    def titled(self, report: Report) -> str:
        """Return what is written, for messages."""
        return self.title.format(documents=f"{len(report.documents):,}")

    def text(self, report: Report) -> str:
        """Return a report as the text of a file."""
        module, _, function = self.function.partition(":")
        text = getattr(import_module(module), function)(report)
        assert isinstance(text, str)
        return text


REPORT_FORMATS = {
    row.name: row
    for row in (
        ReportFormat(
            "html",
            "HTML report",
            "write the report as one HTML file, to look at (needs jinja2)",
            "pytest_rankcheck.reports.html_report:html_of",
            needs=("jinja2",),
            install=install("report"),
        ),
        ReportFormat(
            "markdown",
            "Markdown report",
            "write the report as Markdown, such as for a comment on a pull request",
            "pytest_rankcheck.reports.markdown_report:markdown_of",
            of_queries=False,
        ),
        ReportFormat(
            "json",
            "JSON report",
            "write the report as JSON, with all queries, for machines",
            "pytest_rankcheck.reports.json_report:json_of",
        ),
        ReportFormat(
            "unjudged",
            "{documents} documents to judge",
            "write the unjudged documents at the top, most influential first, to be judged, as CSV",
            "pytest_rankcheck.reports.judging_list:csv_of",
            of_queries=False,
        ),
    )
}
"""The formats by name, in the order in which reports are written."""


def show_queries(names: Iterable[str]) -> bool:
    """Return whether any of these formats shows every query."""
    return any(REPORT_FORMATS[name].of_queries for name in names)
