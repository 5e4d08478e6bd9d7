"""The charts of the report, as Vega-Lite specifications made with Altair.

Their data is filled in by the page, from the table named ``table``. Colours are the page's own
variables, so that charts follow its light and dark theme.
"""

from __future__ import annotations

from typing import Any

import altair as alt

__all__ = ["Chart", "charts"]

Chart = dict[str, Any]

_COLOURS = alt.Scale(
    domain=["worse", "better", "unsure", "same"],
    range=["var(--bad)", "var(--good)", "var(--unsure)", "var(--same)"],
)
_KIND = alt.Color("kind:N", scale=_COLOURS, legend=None)
_ZERO = alt.Chart(alt.NamedData(name="zero")).mark_rule(stroke="var(--text)", strokeDash=[2, 2])


def charts() -> dict[str, Chart]:
    """Return all charts by name."""
    return {
        "gates": _intervals(),
        "slices": _intervals(),
        "differences": _differences(),
        "bars": _bars(),
        "scatter": _scatter(),
        "history": _history(),
    }


def _table() -> alt.Chart:
    return alt.Chart(alt.NamedData(name="table"))


def _intervals() -> Chart:
    """Dots with intervals, a row each, and a tick at what was allowed."""
    rows = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=240))
    tooltip = [
        alt.Tooltip("label:N", title="what"),
        alt.Tooltip("before:Q", format=".4f", title="baseline"),
        alt.Tooltip("now:Q", format=".4f"),
        alt.Tooltip("difference:Q", format="+.4f", title="change"),
        alt.Tooltip("queries:Q"),
        alt.Tooltip("outcome:N"),
    ]
    change = alt.X("difference:Q", title="change of the mean, with its 95% interval")
    base = _table()
    interval = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=rows, color=_KIND)
    dot = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=change, y=rows, color=_KIND, tooltip=tooltip
    )
    allowed = base.mark_tick(thickness=2, size=16, color="var(--text)").encode(
        x="allowed:Q", y=rows
    )
    zero = _ZERO.encode(x="zero:Q")
    return _finished(alt.layer(zero, interval, allowed, dot), height={"step": 24})


def _differences() -> Chart:
    """How many queries changed by how much."""
    chart = (
        _table()
        .mark_bar(color="var(--accent)")
        .encode(
            x=alt.X("difference:Q", bin=alt.Bin(maxbins=40), title="change of a query"),
            y=alt.Y("count()", title="queries"),
            tooltip=[
                alt.Tooltip("difference:Q", bin=alt.Bin(maxbins=40), title="change"),
                alt.Tooltip("count()", title="queries"),
            ],
        )
    )
    return _finished(chart, height=180)


def _bars() -> Chart:
    """The change of each query, worst first."""
    chart = (
        _table()
        .mark_bar()
        .encode(
            x=alt.X("place:O", sort=None, axis=None, title=None),
            y=alt.Y("difference:Q", title="change"),
            color=_KIND,
            tooltip=_QUERY,
        )
    )
    return _finished(chart, height=180)


_QUERY = [
    alt.Tooltip("query:N"),
    alt.Tooltip("text:N"),
    alt.Tooltip("before:Q", format=".4f", title="baseline"),
    alt.Tooltip("now:Q", format=".4f"),
]


def _scatter() -> Chart:
    """Each query before and now; what is under the line is worse."""
    line = alt.Chart(alt.NamedData(name="diagonal")).mark_line(
        stroke="var(--text)", strokeDash=[2, 2], strokeWidth=1
    )
    dots = (
        _table()
        .mark_circle(opacity=0.7)
        .encode(
            x=alt.X("before:Q", title="baseline", scale=alt.Scale(zero=False)),
            y=alt.Y("now:Q", title="now", scale=alt.Scale(zero=False)),
            size=alt.Size("queries:Q", legend=None, scale=alt.Scale(range=[30, 400])),
            color=_KIND,
            tooltip=[*_QUERY, alt.Tooltip("queries:Q", title="queries here")],
        )
    )
    return _finished(alt.layer(line.encode(x="at:Q", y="at:Q"), dots), height=260)


def _history() -> Chart:
    """The means through the approvals, by date."""
    base = _table().encode(
        x=alt.X("date:T", title=None, axis=alt.Axis(format="%Y-%m-%d", tickCount=4)),
        y=alt.Y("mean:Q", title="mean", scale=alt.Scale(zero=False)),
        color=alt.Color("metric:N", title=None, scale=alt.Scale(range=_LINES)),
        tooltip=[
            alt.Tooltip("date:T"),
            alt.Tooltip("metric:N"),
            alt.Tooltip("mean:Q", format=".4f"),
            alt.Tooltip("reason:N"),
        ],
    )
    chart = alt.layer(
        base.mark_line(interpolate="step-after"), base.mark_point(filled=True, size=70)
    )
    return _finished(chart, height=200)


_LINES = ["var(--accent)", "var(--good)", "var(--unsure)", "var(--bad)", "var(--same)"]


def _finished(chart: Any, height: Any) -> Chart:
    """Return the specification of a chart as wide as its place on the page."""
    made = chart.properties(width="container", height=height).configure(
        background="transparent",
        font="system-ui, sans-serif",
        axis=alt.AxisConfig(
            labelColor="var(--text)",
            titleColor="var(--text)",
            domainColor="var(--line)",
            tickColor="var(--line)",
            gridColor="var(--line)",
            titleFontWeight="normal",
        ),
        legend=alt.LegendConfig(labelColor="var(--text)", orient="bottom"),
        view=alt.ViewConfig(stroke=None),
    )
    spec: Chart = made.to_dict(validate=False)
    return spec
