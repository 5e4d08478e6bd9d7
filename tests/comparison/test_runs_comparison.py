"""Several runs side by side, against scipy, statsmodels and values worked by hand."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pytest_rankcheck import (
    ConfigurationError,
    GoldenSet,
    Run,
    RunError,
    RunsComparison,
    compare,
    compare_runs,
    evaluate,
)
from pytest_rankcheck.statistics.multiplicity import holm

QUERIES = [f"q{index:02}" for index in range(40)]
GOLDEN = GoldenSet.from_dict(
    {query: {"best": 2, "good": 1, "bad": 0} for query in QUERIES},
    attributes={
        query: {"locale": "de" if index % 4 else "en"} for index, query in enumerate(QUERIES)
    },
    name="web",
)
METRICS = ["nDCG@3", "RR(rel=2)", "P@2"]


def noisy(seed: int, bias: float) -> Run:
    """Return random rankings, in which the best document comes the earlier the higher the bias."""
    draw = np.random.default_rng(seed)
    docs = ["best", "good", "bad", "new"]
    scores = draw.normal(size=(len(QUERIES), len(docs))) + [bias, bias / 2, 0, 0]
    return Run.from_dict(
        {
            query: [docs[place] for place in np.argsort(-row)]
            for query, row in zip(QUERIES, scores, strict=True)
        }
    )


RUNS = {"bm25": noisy(1, 0.0), "dense": noisy(2, 0.6), "hybrid": noisy(3, 1.5)}


def table() -> RunsComparison:
    return compare_runs(RUNS, GOLDEN, METRICS)


def uncorrected(
    runs: dict[str, Run], golden: GoldenSet, metrics: list[str], base: str
) -> list[float]:
    """Return scipy's p of each other run and metric; where nothing differs it has none, we say 1."""
    evaluations = {name: evaluate(run, golden) for name, run in runs.items()}
    found = []
    for name in runs:
        for metric in metrics:
            # Values are compared as records keep them.
            now, then = (np.round(evaluations[each].values(metric), 6) for each in (name, base))
            p = stats.ttest_rel(now, then).pvalue
            found += [] if name == base else [1.0 if np.array_equal(now, then) else p]
    return found


def test_p_and_intervals_are_those_of_scipy_and_holm() -> None:
    rows = [row for row in table().rows if row.run != "bm25"]
    p_values = uncorrected(RUNS, GOLDEN, METRICS, "bm25")
    assert [row.p for row in rows] == pytest.approx(holm(p_values), rel=1e-9)
    assert min(p_values) < 0.05 < max(p_values)
    for row, p in zip(rows, p_values, strict=True):
        now, then = (
            np.round(evaluate(RUNS[each], GOLDEN).values(row.metric), 6)
            for each in (row.run, "bm25")
        )
        low, high = stats.ttest_rel(now, then).confidence_interval(0.95)
        assert (row.low, row.high) == pytest.approx((low, high))
        assert (p <= 0.05) == (not low <= 0 <= high), "the interval and p before correction agree"
        assert row.difference == pytest.approx(np.mean(now) - np.mean(then), abs=2e-6)


def test_a_row_has_the_counts_of_the_comparison() -> None:
    found = table()
    values = compare(evaluate(RUNS["dense"], GOLDEN), evaluate(RUNS["bm25"], GOLDEN)).values("P@2")
    row = next(row for row in found.rows if (row.run, row.metric) == ("dense", "P@2"))
    assert (row.wins, row.ties, row.losses) == (values.wins, values.ties, values.losses)
    assert row.wins + row.ties + row.losses == 40
    assert row.detectable == values.differences.smallest_detectable()
    assert row.mean == pytest.approx(evaluate(RUNS["dense"], GOLDEN).mean("P@2"))
    # Three of the four documents of each ranking are judged, and all are within the first ten.
    rr = next(row for row in found.rows if (row.run, row.metric) == ("dense", "RR(rel=2)"))
    assert rr.judged == 0.75
    base = next(row for row in found.rows if row.run == "bm25")
    assert (base.difference, base.wins, base.losses) == (0, 0, 0)
    assert math.isnan(base.p)
    assert found.comparisons["dense"].values("P@2").wins == values.wins


def test_judged_is_the_share_of_the_documents_at_the_top() -> None:
    golden = GoldenSet.from_dict({"a": {"x": 1, "spam": -1}, "b": {"y": 0}, "c": {"x": 1}})
    run = Run.from_dict({"a": ["x", "spam", "u", "y"], "b": ["y"], "c": ["u", "x"]})
    # The top 2 of a: x is judged, a negative grade counts as unjudged; b has one document: it is
    # judged; c: one of two. (1/2 + 1 + 1/2) / 3
    first, whole = compare_runs({"it": run}, golden, ["P@2", "RR"]).rows
    assert first.judged == pytest.approx(2 / 3)
    # All of a: 1 of 4.
    assert whole.judged == pytest.approx((1 / 4 + 1 + 1 / 2) / 3)


def test_runs_may_be_paths_and_evaluations(tmp_path: Path) -> None:
    RUNS["dense"].save(tmp_path / "dense.run")
    given = {
        "bm25": evaluate(RUNS["bm25"], GOLDEN),
        "dense": tmp_path / "dense.run",
        "hybrid": RUNS["hybrid"],
    }
    expected = table().to_frame()
    pd.testing.assert_frame_equal(compare_runs(given, GOLDEN, METRICS).to_frame(), expected)
    given["dense"] = str(tmp_path / "dense.run")
    pd.testing.assert_frame_equal(compare_runs(given, GOLDEN, METRICS).to_frame(), expected)


def test_replicates_add_their_noise_to_that_of_the_queries(tmp_path: Path) -> None:
    seeds = {
        name: [noisy(seed, bias) for seed in range(first, first + 3)]
        for name, first, bias in (("base", 10, 0.3), ("new", 20, 0.9))
    }
    seeds["new"][0].save(tmp_path / "new.run")
    new = [tmp_path / "new.run", evaluate(seeds["new"][1], GOLDEN), seeds["new"][2]]
    _, row, alone = compare_runs(
        {"base": seeds["base"], "new": new, "alone": noisy(30, 0.9)}, GOLDEN, "RR"
    ).rows
    then, now = (
        np.round(np.mean([evaluate(run, GOLDEN).values("RR") for run in runs], axis=0), 6)
        for runs in (seeds["base"], seeds["new"])
    )
    means = [[evaluate(run, GOLDEN).mean("RR") for run in runs] for runs in seeds.values()]
    of_queries = np.var(now - then, ddof=1) / 40
    pooled = np.mean([np.var(each, ddof=1) for each in means])
    of_replicates = pooled * (1 / 3 + 1 / 3)
    error = math.sqrt(of_queries + of_replicates)
    degrees = (of_queries + of_replicates) ** 2 / (of_queries**2 / 39 + of_replicates**2 / 4)
    p = 2 * stats.t.sf(abs(np.mean(now - then)) / error, degrees)
    half = stats.t.ppf(0.975, degrees) * error
    assert row.high - row.low == pytest.approx(2 * half, rel=1e-4)
    assert row.difference == pytest.approx(np.mean(now - then), abs=2e-6)
    assert row.p == pytest.approx(min(2 * p, max(p, alone.p)), rel=1e-4)
    assert alone.high - alone.low > row.high - row.low, "one run is noisier than the mean of three"


def test_frames_and_other_forms() -> None:
    found = table()
    frame = found.to_frame()
    assert frame.index.names == ["run", "metric"]
    mean = evaluate(RUNS["hybrid"], GOLDEN).mean("nDCG@3")
    assert frame.loc[("hybrid", "nDCG@3"), "mean"] == pytest.approx(mean, abs=1e-6)
    assert frame.xs("P@2", level="metric").index.tolist() == ["bm25", "dense", "hybrid"]
    assert "bm25 & nDCG@3 &" in frame.to_latex().replace("\\multirow[t]{3}{*}{bm25}", "bm25")
    assert "_" not in "".join(frame.columns), "which LaTeX would not take"
    assert found.comparisons["dense"].by("locale", "P@2").loc["en", "queries"] == 10


def test_without_spread_there_is_no_certainty() -> None:
    golden = GoldenSet.from_dict({query: {"d": 1} for query in "abc"})
    first, second = (Run.from_dict(dict.fromkeys("abc", docs)) for docs in (["d", "x"], ["x", "d"]))
    found = compare_runs({"a": first, "same": first, "b": second}, golden, ["RR", "GMAP"])
    by_name = {(row.run, row.metric): row for row in found.rows}
    assert by_name["same", "RR"].p == 1
    row = by_name["b", "RR"]
    assert (row.difference, row.low, row.high) == (-0.5, -0.5, -0.5)
    assert math.isnan(row.p), "all three fell by the same: a deviation of 0 is not known"
    row = by_name["b", "GMAP"]
    assert row.difference == pytest.approx(-0.5, abs=1e-4)
    assert math.isnan(row.p + row.low + row.detectable), "its mean is geometric"
    one = GoldenSet.from_dict({"a": {"d": 1}})
    row = compare_runs(
        {"a": Run.from_dict({"a": ["d"]}), "b": Run.from_dict({"a": ["x", "d"]})}, one, "RR"
    ).rows[1]
    assert math.isnan(row.p)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="against=bm26: unknown run; the runs are bm25, d"):
        compare_runs(RUNS, GOLDEN, "RR", against="bm26")
    with pytest.raises(ConfigurationError, match="the runs are missing"):
        compare_runs({}, GOLDEN, "RR")
    with pytest.raises(ConfigurationError, match="no metrics are given"):
        compare_runs(RUNS, GOLDEN, [])
    other = GoldenSet.from_dict({query: {"best": 1} for query in QUERIES})
    evaluated = {"a": RUNS["bm25"], "b": evaluate(RUNS["dense"], other)}
    with pytest.raises(ConfigurationError, match="'b' was evaluated on other queries or judgments"):
        compare_runs(evaluated, GOLDEN, "RR")
    foreign = Run.from_dict({query: ["BEST"] for query in QUERIES})
    said = "no ranked document is judged"
    with pytest.warns(UserWarning, match=said), pytest.raises(RunError, match=said):
        compare_runs({"a": RUNS["bm25"], "b": foreign}, GOLDEN, "RR")
