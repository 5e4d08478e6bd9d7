"""How evaluations and comparisons show themselves in a notebook: tables, and charts with Altair."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from pytest_rankcheck.errors import ConfigurationError, plural, quoted
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.comparison.comparison import Comparison
    from pytest_rankcheck.evaluation.evaluation import Evaluation

__all__ = ["PlotKind", "comparison_html", "comparison_plot", "evaluation_html"]

PlotKind = Literal["bars", "scatter", "histogram"]

_METRICS = ("nDCG@10", "RR")


def evaluation_html(evaluation: Evaluation, computed: Sequence[Metric]) -> str:
    """Return the means of the metrics that were asked for so far, or of the usual ones."""
    import pandas as pd

    metrics = computed or [Metric.parse(name) for name in _METRICS]
    frame = pd.DataFrame(
        {
            "mean": [evaluation.mean(metric) for metric in metrics],
            "median": [evaluation.median(metric) for metric in metrics],
        },
        index=pd.Index([str(metric) for metric in metrics], name="metric"),
    )
    return _titled(
        f"{evaluation.name} on {evaluation.golden.name}",
        plural(len(evaluation.query_ids), "query", "queries"),
        frame,
    )


def comparison_html(comparison: Comparison, computed: Sequence[Metric]) -> str:
    """Return what became of each metric, with how sure that is."""
    import pandas as pd

    metrics = computed or [Metric.parse(name) for name in _METRICS]
    rows = []
    for metric in metrics:
        pairs = comparison.values(metric)
        low, high = comparison.interval(metric)
        rows.append(
            {
                "before": pairs.mean_before,
                "now": pairs.mean_after,
                "change": pairs.difference,
                "95% from": low,
                "to": high,
                "p of a fall": comparison.p(metric),
                "better": pairs.wins,
                "worse": pairs.losses,
                "equal": pairs.ties,
            }
        )
    index = pd.Index([str(metric) for metric in metrics], name="metric")
    evaluation = comparison.evaluation
    return _titled(
        f"{evaluation.name} on {evaluation.golden.name}, compared",
        plural(len(comparison.query_ids), "query", "queries"),
        pd.DataFrame(rows, index=index),
    )


def comparison_plot(comparison: Comparison, metric: Metric, kind: PlotKind) -> Any:
    """Return a chart of the change of each query. See ``Comparison.plot``."""
    try:
        import altair as alt
    except ImportError:
        raise ConfigurationError(
            "plots need altair, which is not installed: pip install 'pytest-rankcheck[report]'"
        ) from None
    import pandas as pd

    pairs = comparison.values(metric)
    golden = comparison.evaluation.golden
    rows = [
        {
            "query": quoted(query_id),
            "text": quoted(golden.query(query_id).text or ""),
            "before": before,
            "now": now,
            "change": now - before,
            "kind": "worse" if gain < 0 else "better" if gain > 0 else "equal",
        }
        for query_id, before, now, gain in zip(
            pairs.query_ids,
            pairs.before.tolist(),
            pairs.after.tolist(),
            pairs.gains.tolist(),
            strict=True,
        )
    ]
    rows.sort(key=lambda row: float(str(row["change"])))
    for place, row in enumerate(rows):
        row["place"] = place
    base = alt.Chart(pd.DataFrame(rows)).properties(title=str(metric))
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
    raise ConfigurationError(f"kind={quoted(kind)} is not possible; it is bars, scatter, histogram")


def _titled(title: str, size: str, frame: Any) -> str:
    table = frame.to_html(float_format=lambda value: f"{value:.4f}")
    return f"<p><b>{escape(quoted(title))}</b>, {size}</p>{table}"
