"""What a golden set can see of a run: for the summary, the reports and the linter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_rankcheck.errors import RankcheckError, plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.measurement_detail import rankings_key, rounded
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.report_data import merged_resolutions
from pytest_rankcheck.reports.resolution_findings import MetricResolutionDetail, ResolutionFinding
from pytest_rankcheck.reports.text.measurement_notes import tie_notes
from pytest_rankcheck.resolution.gating_advice import ranks_text
from pytest_rankcheck.resolution.metric_resolution import Resolution
from pytest_rankcheck.resolution.resolution_table import Resolutions

__all__ = [
    "COLUMNS",
    "ideal_resolution_findings",
    "resolution_cells",
    "resolution_findings",
    "resolution_notes",
    "resolution_title",
    "run_resolution_findings",
]

COLUMNS = (
    "metric",
    "swaps seen",
    "of different grades",
    "losses seen",
    "sight of order",
    "sight of losses",
    "smallest step",
    "of the mean",
    "at ceiling",
    "at floor",
    "fixed",
    "most similar",
)
"""The columns of the table of metrics."""


def resolution_findings(
    evaluation: Evaluation, metrics: Iterable[MetricLike]
) -> Iterator[ResolutionFinding]:
    """Yield what metrics can see of a run; metrics without a resolution are left out."""
    chosen, others = _with_resolution(metrics)
    if not chosen or evaluation.hits is None:
        return
    table = Resolutions.of(evaluation, chosen)
    rankings = rankings_key(evaluation)
    yield _finding(evaluation.golden, table, others, rankings, evaluation.name)


def run_resolution_findings(
    golden_name: str, measured: Callable[[], Evaluation], metrics: Iterable[MetricLike]
) -> Iterator[ReportedFinding]:
    """Yield, for the linter, what metrics can see of a run, or why the run cannot be measured.

    The linter checks only the golden set; other tests report faults of the run.
    """
    try:
        evaluation = measured()
        seen = list(resolution_findings(evaluation, metrics))
    except RankcheckError as error:
        heading = f"what golden set '{quoted(golden_name)}' can see"
        text = f"unknown, because the run cannot be measured: {error}"
        yield Note(Topic.RESOLUTION, text, heading)
    else:
        yield from tie_notes(evaluation)
        yield from seen


def ideal_resolution_findings(
    golden: GoldenSet, metrics: Iterable[MetricLike], depth: int | None = None
) -> Iterator[ResolutionFinding]:
    """Yield what metrics could see of the ideal rankings down to a depth, without a run."""
    chosen, others = _with_resolution(metrics)
    if chosen and golden.judgment_count:
        table = Resolutions.of_ideal_rankings(golden, chosen, depth=depth)
        yield _finding(golden, table, others, f"ideal {golden.fingerprint}", None)


def resolution_notes(findings: Iterable[ReportedFinding]) -> Iterator[Note]:
    """Yield the tables and recommendations as notes of the summary."""
    for finding in merged_resolutions(findings):
        title = resolution_title(finding)
        table = [COLUMNS, *(resolution_cells(*metric) for metric in finding.metrics.items())]
        widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
        for row in table:
            cells = (
                cell.rjust(width) if 0 < column < len(COLUMNS) - 1 else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield Note(Topic.RESOLUTION, "  ".join(cells).rstrip(), title)
        for sentence in finding.recommendation:
            yield Note(Topic.RESOLUTION, f"- {sentence}", title)


def resolution_title(finding: ResolutionFinding) -> str:
    """Return the title: the golden set, the run, and the numbers of swaps and losses."""
    run = (
        f"run '{quoted(finding.run)}'" if finding.run is not None else "its ideal rankings, no run"
    )
    swaps = plural(finding.swaps, "swap")
    where = "" if finding.depth is None else f" {ranks_text(finding.depth)}"
    losses = plural(finding.losses, "loss", "losses")
    return (
        f"what golden set '{quoted(finding.golden_set)}' can see ({run}: {swaps} of neighbours"
        f"{where}, {finding.telling:,} of different grades; {losses} of relevant documents)"
    )


def resolution_cells(name: str, detail: MetricResolutionDetail) -> tuple[str, ...]:
    """Return the row of a metric, in words."""
    return (
        name,
        _share(detail.seen),
        _share(detail.seen_of_telling),
        _share(detail.losses_seen),
        _sight(detail.sight_of_order),
        _sight(detail.sight_of_losses),
        _step(detail.step),
        _step(detail.step_of_mean),
        _share(detail.at_ceiling),
        _share(detail.at_floor),
        _share(detail.fixed),
        "-" if detail.nearest is None else f"{detail.nearest} (tau {detail.tau:.2f})",
    )


def _with_resolution(metrics: Iterable[MetricLike]) -> tuple[list[Metric], list[Metric]]:
    """Return the metrics that have a resolution, and the others."""
    chosen = list(dict.fromkeys(map(Metric.parse, metrics)))
    comparable = [
        metric for metric in chosen if metric.unit == "query" and not metric.definition.ir_measures
    ]
    return comparable, [metric for metric in chosen if metric not in comparable]


def _recommendation(table: Resolutions, others: Sequence[Metric]) -> tuple[str, ...]:
    """Return the recommendation, and the metrics that it does not cover."""
    if not others:
        return tuple(table.recommendation)
    names = ", ".join(map(str, others))
    return (
        *table.recommendation,
        f"not compared: {names}; only metrics that rankcheck computes from judged rankings can be",
    )


def _finding(
    golden: JudgedQueries,
    table: Resolutions,
    others: Sequence[Metric],
    rankings: str,
    run: str | None,
) -> ResolutionFinding:
    metrics = {}
    for place, resolution in enumerate(table.resolutions):
        metrics[str(resolution.metric)] = _detail(resolution, *(table.nearest(place) or ()))
    names = list(metrics)
    return ResolutionFinding(
        golden_set=golden.name,
        rankings=rankings,
        run=run,
        queries=len(golden),
        depth=table.depth,
        swaps=table.resolutions[0].swaps,
        telling=table.resolutions[0].telling,
        losses=table.resolutions[0].losses.tried,
        metrics=metrics,
        gated=tuple(map(str, table.gated)),
        agreement={
            name: dict(zip(names, map(rounded, row), strict=True))
            for name, row in zip(names, table.tau.tolist(), strict=True)
        },
        recommendation=_recommendation(table, others),
    )


def _detail(
    resolution: Resolution, nearest: Metric | None = None, tau: float = math.nan
) -> MetricResolutionDetail:
    """Return what a metric can see, with the most similar metric."""
    row = resolution.row()
    return MetricResolutionDetail(
        seen=rounded(row["seen"]),
        seen_of_telling=rounded(row["seen_of_telling"]),
        losses_seen=rounded(row["losses_seen"]),
        sight_of_order=rounded(row["sight_of_order"]),
        sight_of_losses=rounded(row["sight_of_losses"]),
        # Steps of a mean may be too small for six decimals.
        step=_exact(resolution.step),
        step_of_mean=_exact(resolution.step_of_mean),
        at_ceiling=rounded(row["at_ceiling"]),
        at_floor=rounded(row["at_floor"]),
        fixed=rounded(row["fixed"]),
        queries=resolution.queries,
        nearest=None if nearest is None else str(nearest),
        tau=rounded(tau),
    )


def _exact(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.6g}")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _sight(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _step(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"
