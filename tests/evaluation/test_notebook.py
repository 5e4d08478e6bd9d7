"""What a notebook shows of evaluations and comparisons."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Metric,
    Record,
    Run,
    compare,
    evaluate,
)

NAME = "<b>web</b>"
GOLDEN = GoldenSet.from_dict({"a": {"x": 1}, "b": {"y": 1}}, queries={"a": "<i>"}, name=NAME)
BEFORE = evaluate(Run.from_dict({"a": ["x"], "b": ["y"]}), GOLDEN)


def table(html: str) -> pd.DataFrame:
    return pd.read_html(io.StringIO(html), index_col=0)[0]


def test_an_evaluation_shows_what_was_computed() -> None:
    pytest.importorskip("lxml")
    evaluation = evaluate(Run.from_dict({"a": ["n", "x"], "b": ["y"]}, name="new"), GOLDEN)
    html = evaluation._repr_html_()
    assert "<b>new on &lt;b&gt;web&lt;/b&gt;</b>, 2 queries" in html
    assert table(html).index.tolist() == ["nDCG@10", "RR"]
    evaluation = evaluate(Run.from_dict({"a": ["n", "x"], "b": ["y"]}), GOLDEN)
    evaluation.mean("P@1")
    assert table(evaluation._repr_html_()).loc["P@1", "mean"] == 0.5


def test_a_comparison_shows_each_metric() -> None:
    pytest.importorskip("lxml")
    evaluation = evaluate(Run.from_dict({"a": ["n", "x"], "b": ["y"]}), GOLDEN)
    record = Record.of(BEFORE, [Metric.parse("RR")])
    shown = table(compare(evaluation, record)._repr_html_())
    assert shown.index.tolist() == ["RR"]
    assert shown.loc["RR", ["before", "now", "change", "worse"]].tolist() == [1, 0.75, -0.25, 1]


def test_plots() -> None:
    pytest.importorskip("altair")
    evaluation = evaluate(Run.from_dict({"a": ["n", "x"], "b": ["y"]}), GOLDEN)
    comparison = compare(evaluation, BEFORE)
    for kind in ("bars", "scatter", "histogram"):
        spec = comparison.plot("RR", kind).to_dict()  # type: ignore[arg-type]
        assert spec["title"] == "RR"
        assert [row["change"] for row in spec["data"]["values"]] == [-0.5, 0]
    with pytest.raises(ConfigurationError, match="it is bars, scatter, histogram"):
        comparison.plot("RR", "pie")  # type: ignore[arg-type]


def test_without_altair_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(ConfigurationError, match=r"pip install .pytest-rankcheck\[report\]"):
        compare(BEFORE, BEFORE).plot("RR")
