"""The summary's notes about the requested depth, and about metrics that it puts in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_rankcheck.errors import listed, plural, quoted
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.depth_findings import DepthFinding
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.metric_findings import MetricFinding
from pytest_rankcheck.reports.notes import Note, Topic

__all__ = ["depth_notes"]

_METRICS = 6


def depth_notes(
    found: Iterable[DepthFinding], findings: Sequence[ReportedFinding], depth: int | None
) -> Iterator[Note]:
    """Yield the findings at several depths, and the metrics that they put in doubt.

    Args:
        found: the findings.
        findings: all findings of the test session, with the metrics that were measured.
        depth: how many documents were requested; None if the ranker was not asked.
    """
    for finding in found:
        start = f"golden set '{quoted(finding.golden_set)}': "
        if not finding.queries:
            text = (
                f"not checked: ranker '{quoted(finding.ranker)}' does not take the depth, so it "
                "answers the same at every depth"
            )
            yield Note(Topic.DEPTH, start + text)
        elif not finding.differing:
            count = plural(finding.queries, "query", "queries")
            text = f"the top {finding.shallow} of {count} is the same at the depths "
            yield Note(Topic.DEPTH, f"{start}{text}{finding.shallow} and {finding.deep}")
        else:
            yield Note(Topic.OTHER_DEPTH, start + _warning(finding, findings, depth))


def _warning(finding: DepthFinding, findings: Sequence[ReportedFinding], depth: int | None) -> str:
    """Return which metrics were computed from rankings that differ at another depth."""
    metrics = () if depth is None else tuple(_cut_metrics(finding.golden_set, findings, depth))
    differs = f"the top {finding.shallow} of ranker '{quoted(finding.ranker)}' differs "
    of = f" ({finding.differing:,} of {plural(finding.queries, 'query', 'queries')}"
    of += f": {listed(finding.examples)})" if finding.examples else ")"
    if depth == finding.deep:
        differs += f"when it is asked for {finding.shallow}{of}"
    else:
        differs += f"between the depths {finding.shallow} and {finding.deep}{of}"
    if not metrics:
        return differs
    verb = "was" if len(metrics) == 1 else "were"
    names = listed(metrics, _METRICS)
    return f"{names} {verb} computed from rankings of depth {depth}; {differs}"


def _cut_metrics(golden_set: str, findings: Sequence[ReportedFinding], depth: int) -> Iterator[str]:
    """Yield the metrics measured on a golden set that do not use the whole rankings."""
    measured = (each for each in findings if isinstance(each, MetricFinding))
    for name in dict.fromkeys(each.metric for each in measured if each.golden_set == golden_set):
        cutoff = Metric.parse(name).cutoff
        if cutoff is not None and cutoff < depth:
            yield name
