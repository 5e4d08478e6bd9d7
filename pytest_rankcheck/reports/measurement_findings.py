"""Findings about whole measurements: queries, the resolution of metrics, what to judge next.

They follow the rules of `findings`: built-in types, enums and other such classes in every field.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pytest_rankcheck.reports.findings import ReportedFinding

__all__ = [
    "DocumentToJudge",
    "GoldenSetDetail",
    "JudgingFinding",
    "MeasurementFinding",
    "MetricDetail",
    "QueryDetail",
    "RunDetail",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementFinding(ReportedFinding):
    """The queries of a golden set, as ranked now and, if known, before."""

    key: str
    """The same for measurements of the same rankings, now and before."""
    rankings: str
    """The same for the same rankings now."""
    unit: Literal["queries", "sessions"]
    golden_set: GoldenSetDetail
    run: RunDetail
    conventions: dict[str, str]
    metrics: dict[str, MetricDetail]
    means: dict[str, tuple[float | None, float | None]]
    """By metric: before, of the unchanged queries, and now, of all."""
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    queries: tuple[QueryDetail, ...]
    titles: dict[str, str]

    @property
    def has_baseline(self) -> bool:
        """Whether rankings before are known."""
        return any(query.before is not None for query in self.queries)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSetDetail:
    """What a report shows of a golden set, or of a session log."""

    name: str
    queries: int
    judgments: int
    fingerprint: str
    scale: float
    """The highest grade that a document could get."""
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunDetail:
    """What a report shows of a run."""

    name: str
    depth: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDetail:
    """The definition of a metric."""

    summary: str
    reference: str
    higher_is_better: bool
    range: tuple[float | None, float | None]
    """None is infinite."""
    parameters: dict[str, Any]
    unjudged: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDetail:
    """A query, its values and the top of its rankings."""

    id: str
    text: str
    attributes: dict[str, Any]
    fingerprint: str
    state: Literal["unchanged", "changed", "new"]
    values: dict[str, tuple[float | None, float | None]]
    """By metric: before and now."""
    judged: float | None
    """The share of the first ten documents that is judged."""
    now: tuple[str, ...]
    before: tuple[str, ...] | None
    grades: dict[str, float]
    """Of the relevant documents and of those shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentToJudge:
    """An unjudged document at the top of a query's ranking."""

    golden_set: str
    query_id: str
    query: str
    doc_id: str
    title: str
    rank: int
    metric: str
    influence: float
    """How far the metric's mean would move if the document had the highest grade."""


@dataclass(frozen=True, slots=True)
class JudgingFinding(ReportedFinding):
    """The unjudged documents at the top of the rankings, most influential first."""

    documents: tuple[DocumentToJudge, ...]
