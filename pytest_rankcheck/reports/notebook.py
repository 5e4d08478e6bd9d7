"""Charts of a comparison for a notebook, drawn by Altair."""

from __future__ import annotations

from typing import Any, Literal

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import ConfigurationError, install_hint, quoted
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike

__all__ = ["PlotKind", "plot_comparison"]

PlotKind = Literal["bars", "scatter", "histogram"]


@checked_arguments
def plot_comparison(comparison: Comparison, metric: MetricLike, kind: PlotKind = "bars") -> Any:
    """Return an Altair chart of the change of each query.

    Args:
        comparison: what `compare` returned.
        metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.
        kind: ``"bars"``, worst first; ``"scatter"``, before against now; or ``"histogram"``.

    Raises:
        ConfigurationError: Altair is not installed, or an unknown kind.
    """
    try:
        import altair as alt
    except ImportError:
        raise ConfigurationError(
            f"plots need altair, which is not installed: {install_hint('report')}"
        ) from None
    import pandas as pd

    parsed = Metric.parse(metric)
    rows = pd.DataFrame(_rows(comparison, parsed))
    base = alt.Chart(rows).properties(title=str(parsed))
    scale = alt.Scale(domain=["worse", "equal", "better"], range=["#b42318", "#8a94a0", "#176f2c"])
    colour = alt.Color("kind:N", scale=scale)
    tooltip = ["query:N", "text:N", "before:Q", "now:Q"]
    if kind == "bars":
        return base.mark_bar().encode(
            x=alt.X("place:O", axis=None), y="change:Q", color=colour, tooltip=tooltip
        )
    if kind == "scatter":
        return base.mark_circle().encode(x="before:Q", y="now:Q", color=colour, tooltip=tooltip)
    if kind == "histogram":
        bins = alt.X("change:Q", bin=alt.Bin(maxbins=40))
        return base.mark_bar().encode(x=bins, y="count()", tooltip=["count()"])
    raise ConfigurationError(
        f"kind={quoted(kind)} is invalid; it must be bars, scatter or histogram"
    )


def _rows(comparison: Comparison, metric: Metric) -> list[dict[str, object]]:
    """Return what a chart shows of each query, by the change of its value."""
    pairs = comparison.values(metric)
    golden = comparison.evaluation.golden
    columns = (pairs.before.tolist(), pairs.after.tolist(), pairs.gains.tolist())
    rows = [
        {
            "query": quoted(query_id),
            "text": quoted(golden.query(query_id).text or ""),
            "before": before,
            "now": now,
            "change": now - before,
            "kind": "worse" if gain < 0 else "better" if gain > 0 else "equal",
        }
        for query_id, before, now, gain in zip(pairs.query_ids, *columns, strict=True)
    ]
    rows.sort(key=lambda row: float(str(row["change"])))
    return [{**row, "place": place} for place, row in enumerate(rows)]
