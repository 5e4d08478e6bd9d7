"""What JUnit XML shows of a test: each metric, its baseline and its verdict, as properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.metric_findings import GateFinding, MetricFinding

__all__ = ["properties_of"]


def properties_of(findings: Iterable[ReportedFinding]) -> Iterator[tuple[str, object]]:
    """Yield the properties as names and values, such as ``rankcheck.web.RR`` and ``0.750000``."""
    for finding in findings:
        if isinstance(finding, MetricFinding):
            name = f"rankcheck.{finding.golden_set}.{finding.metric}"
            yield name, f"{finding.now:.6f}"
            if finding.baseline is not None:
                yield f"{name}.baseline", f"{finding.baseline:.6f}"
            if isinstance(finding, GateFinding):
                yield f"{name}.verdict", finding.verdict
