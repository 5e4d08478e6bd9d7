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

    title: str
    """What is written, for messages; ``{documents}`` is the number of documents to judge."""
    help: str
    function: str
    """The place of the function that returns its text: ``package.module:function``."""
    needs: str = ""
    """A module that must be installed."""
    of_queries: bool = True
    """Whether it shows every query, and gates that passed in full."""

    def check(self, option: str) -> None:
        """Refuse the format if a module is missing.

        Raises:
            ConfigurationError: naming the option, the module and the command to install it.
        """
        if self.needs and find_spec(self.needs) is None:
            raise ConfigurationError(
                f"{option} needs {self.needs}, which is not installed: {install('report')}"
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
    "html": ReportFormat(
        "HTML report",
        "write the report as one HTML file, to look at (needs jinja2)",
        "pytest_rankcheck.reports.html_report:html_of",
        needs="jinja2",
    ),
    "markdown": ReportFormat(
        "Markdown report",
        "write the report as Markdown, such as for a comment on a pull request",
        "pytest_rankcheck.reports.markdown_report:markdown_of",
        of_queries=False,
    ),
    "json": ReportFormat(
        "JSON report",
        "write the report as JSON, with all queries, for machines",
        "pytest_rankcheck.reports.json_report:json_of",
    ),
    "unjudged": ReportFormat(
        "{documents} documents to judge",
        "write the unjudged documents at the top, most influential first, to be judged, as CSV",
        "pytest_rankcheck.reports.judging_list:csv_of",
        of_queries=False,
    ),
}
"""The formats by the name in their option, ``--rankcheck-NAME``, in the order of writing."""


def show_queries(names: Iterable[str]) -> bool:
    """Return whether any of these formats shows every query."""
    return any(REPORT_FORMATS[name].of_queries for name in names)
