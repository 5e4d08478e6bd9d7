"""What a notebook shows of comparisons."""

import re

import pytest

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Metric,
    Record,
    Run,
    compare,
    evaluate,
    plot_comparison,
)

NAME = "<b>web</b>"
GOLDEN = GoldenSet.from_dict({"a": {"x": 1}, "b": {"y": 1}}, queries={"a": "<i>"}, name=NAME)
BEFORE = evaluate(Run.from_dict({"a": ["x"], "b": ["y"]}), GOLDEN)


def test_a_comparison_shows_each_metric() -> None:
    evaluation = evaluate(Run.from_dict({"a": ["n", "x"], "b": ["y"]}, name="new"), GOLDEN)
    record = Record.of(BEFORE, [Metric.parse("RR")])
    html = compare(evaluation, record)._repr_html_()
    assert "<b>new on &lt;b&gt;web&lt;/b&gt;, compared</b>, 2 queries" in html
    cells = re.findall(r"<td>(.*?)</td>", html)
    # t with one degree of freedom: -1/4 +- 12.7062 x 0.3536 / sqrt(2), which ends at -1 and 1.
    expected = ["1.0000", "0.7500", "-0.2500", "2", "0", "1", "1", "-1.0000", "1.0000", "0.5000"]
    assert re.findall(r"<th>(RR|nDCG@10)</th>", html) == ["RR"]
    assert cells == expected


@pytest.mark.needs("altair")
def test_plots() -> None:
    evaluation = evaluate(Run.from_dict({"a": ["n", "x"], "b": ["y"]}), GOLDEN)
    comparison = compare(evaluation, BEFORE)
    spec = plot_comparison(comparison, "RR").to_dict()
    assert spec["title"] == "RR"
    [rows] = spec["datasets"].values()
    assert [row["change"] for row in rows] == [-0.5, 0]


def test_without_altair_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(ConfigurationError, match=r"pip install altair$"):
        plot_comparison(compare(BEFORE, BEFORE), "RR")
