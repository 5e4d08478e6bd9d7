"""A chart of a comparison for a notebook, drawn by Altair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.comparison.comparison import Comparison
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.remedies import install

if TYPE_CHECKING:
    import pandas as pd


def plot_comparison(comparison: Comparison, metric: MetricLike) -> Any:
    """Return an Altair chart of the change of each query, worst first.

    Args:
        comparison: what `compare` returned.
        metric: a name such as ``"nDCG@10"``, a ``Metric`` or an ir_measures object.

    Raises:
        ConfigurationError: Altair is not installed.
    """
    try:
        import altair as alt
    except ImportError:
        raise ConfigurationError(
            f"plots need altair, which is not installed: {install('notebook')}"
        ) from None
    parsed = Metric.parse(metric)
    scale = alt.Scale(domain=["worse", "equal", "better"], range=["#b42318", "#8a94a0", "#176f2c"])
    return (
        alt.Chart(_rows(comparison, parsed))
        .properties(title=str(parsed))
        .mark_bar()
        .encode(
            x=alt.X("place:O", axis=None),
            y="change:Q",
            color=alt.Color("kind:N", scale=scale),
            tooltip=["query:N", "text:N", "before:Q", "now:Q"],
        )
    )


def _rows(comparison: Comparison, metric: Metric) -> pd.DataFrame:
    """Return what a chart shows for each query, sorted by the change of its value."""
    golden, gains = comparison.evaluation.golden, comparison.values(metric).gains
    names = {"before": "before", "after": "now", "delta": "change"}
    rows = comparison.table(metric).rename(columns=names).reset_index(names="query")
    rows["text"] = [quoted(golden.query(query_id).text or "") for query_id in rows["query"]]
    rows["query"] = rows["query"].map(quoted)
    rows["kind"] = np.select([gains < 0, gains > 0], ["worse", "better"], "equal")
    rows = rows.sort_values("change", kind="stable", ignore_index=True)
    return rows.assign(place=rows.index)
