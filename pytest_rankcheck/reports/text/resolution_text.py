"""What a golden set can see of a run: for the summary, the reports and the linter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_rankcheck.errors import plural, quoted
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.golden.judged_queries import JudgedQueries
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.reports.finding_detail import Detail, plain_number, rankings_key
from pytest_rankcheck.reports.ledger import Entry
from pytest_rankcheck.resolution.resolution_table import Resolutions

__all__ = [
    "COLUMNS",
    "ideal_resolution_entries",
    "merged_resolutions",
    "resolution_cells",
    "resolution_entries",
    "resolution_title",
    "summary_entries",
]

COLUMNS = (
    "metric",
    "swaps seen",
    "of different grades",
    "smallest step",
    "of the mean",
    "at ceiling",
    "at floor",
    "fixed",
    "most similar",
)
"""The columns of the table of metrics."""


def resolution_entries(evaluation: Evaluation, metrics: Iterable[MetricLike]) -> Iterator[Entry]:
    """Yield what metrics can see of a run; metrics without a resolution are left out."""
    chosen = _with_resolution(metrics)
    if not chosen or evaluation.hits is None:
        return
    yield Entry(
        resolution={
            "rankings": rankings_key(evaluation),
            "run": evaluation.name,
            **_detail(evaluation.golden, Resolutions.of(evaluation, chosen)),
        }
    )


def ideal_resolution_entries(golden: GoldenSet, metrics: Iterable[MetricLike]) -> Iterator[Entry]:
    """Yield what metrics could see of the ideal rankings, without a run."""
    chosen = _with_resolution(metrics)
    if chosen and golden.judgment_count:
        found = _detail(golden, Resolutions.of_ideal_rankings(golden, chosen))
        yield Entry(resolution={"rankings": f"ideal {golden.fingerprint}", "run": None, **found})


def merged_resolutions(entries: Iterable[Entry]) -> list[Detail]:
    """Return each golden set and run once, with the largest set of metrics."""
    found: dict[tuple[object, ...], Detail] = {}
    for one in (entry["resolution"] for entry in entries if "resolution" in entry):
        key = (one["golden_set"], one["rankings"])
        if key not in found or len(one["metrics"]) >= len(found[key]["metrics"]):
            found[key] = one
    return list(found.values())


def summary_entries(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the tables and recommendations as notes of the summary."""
    for one in merged_resolutions(entries):
        heading = resolution_title(one)
        table = [COLUMNS, *(resolution_cells(*metric) for metric in one["metrics"].items())]
        widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
        for row in table:
            cells = (
                cell.rjust(width) if 0 < column < len(COLUMNS) - 1 else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            yield Entry(heading=heading, note="  ".join(cells).rstrip())
        for sentence in one["recommendation"]:
            yield Entry(heading=heading, note=f"- {sentence}")


def resolution_title(one: Mapping[str, Any]) -> str:
    """Return the title: golden set, run, and how many swaps."""
    of = f"run '{quoted(one['run'])}'" if one["run"] is not None else "its ideal rankings, no run"
    swaps = plural(one["swaps"], "swap")
    return (
        f"what golden set '{quoted(one['golden_set'])}' can see ({of}: {swaps} of neighbours, "
        f"{one['telling']:,} of different grades)"
    )


def resolution_cells(name: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the row of a metric, in words."""
    nearest = "-" if found["nearest"] is None else f"{found['nearest']} (tau {found['tau']:.2f})"
    return (
        name,
        _share(found["seen"]),
        _share(found["seen_of_telling"]),
        _step(found["step"]),
        _step(found["step_of_mean"]),
        _share(found["at_ceiling"]),
        _share(found["at_floor"]),
        _share(found["fixed"]),
        nearest,
    )


def _with_resolution(metrics: Iterable[MetricLike]) -> list[Metric]:
    chosen = dict.fromkeys(map(Metric.parse, metrics))
    return [one for one in chosen if one.unit == "query" and not one.definition.foreign]


def _detail(golden: JudgedQueries, table: Resolutions) -> Detail:
    metrics = {}
    for place, one in enumerate(table.resolutions):
        nearest, tau = table.nearest(place) or (None, math.nan)
        metrics[str(one.metric)] = {
            **{name: plain_number(value) for name, value in one.row().items()},
            # Steps of a mean are small: six decimals would leave nothing of some.
            "step": _exact(one.step),
            "step_of_mean": _exact(one.step_of_mean),
            "queries": one.queries,
            "nearest": None if nearest is None else str(nearest),
            "tau": plain_number(tau),
        }
    names = list(metrics)
    return {
        "golden_set": golden.name,
        "queries": len(golden),
        "swaps": table.resolutions[0].swaps,
        "telling": table.resolutions[0].telling,
        "metrics": metrics,
        "agreement": {
            name: dict(zip(names, map(plain_number, row), strict=True))
            for name, row in zip(names, table.tau.tolist(), strict=True)
        },
        "recommendation": list(table.recommendation),
    }


def _exact(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.6g}")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"


def _step(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"
