"""What CI systems show of a test: properties in JUnit XML, and annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_rankcheck.reports.findings import GateFinding, MetricFinding, ReportedFinding

_LONGEST = 4000
"""Characters; GitHub cuts what is longer."""


def properties_of(findings: Iterable[ReportedFinding]) -> Iterator[tuple[str, object]]:
    """Yield each metric, its baseline and its verdict as properties of JUnit XML.

    These are names and values, such as ``rankcheck.web.RR`` and ``0.750000``.
    """
    for finding in findings:
        if isinstance(finding, MetricFinding):
            name = f"rankcheck.{finding.golden_set}.{finding.metric}"
            yield name, f"{finding.now:.6f}"
            if finding.baseline is not None:
                yield f"{name}.baseline", f"{finding.baseline:.6f}"
            if isinstance(finding, GateFinding):
                yield f"{name}.verdict", finding.verdict


def annotation(path: str, line: int, failure: str) -> str:
    """Return the command of a GitHub workflow that shows a failure text at a line of a file.

    Args:
        path: of the file, relative to the workspace.
        line: from 1.
        failure: the whole text; its first line is the title.
    """
    text = failure[:_LONGEST]
    title = text.partition("\n")[0]
    return f"::error file={_value(path)},line={line},title={_value(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
