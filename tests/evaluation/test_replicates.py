"""Replicates: runs that differ only by chance, measured together and compared with both noises."""

import math
from statistics import stdev

import numpy as np
import pytest
from scipy import stats
from verdict_texts import verdict_lines

from pytest_rankcheck import (
    ConfigurationError,
    Conventions,
    Gate,
    GoldenSet,
    Metric,
    MetricWarning,
    Outcome,
    Record,
    Run,
    RunError,
    assert_at_least,
    compare,
    evaluate,
)
from pytest_rankcheck.statistics.mean_differences import Differences
from pytest_rankcheck.statistics.run_noise import Averaged, RunNoise

RR = Metric.parse("RR")
QUERIES = [f"q{n}" for n in range(40)]


def golden() -> GoldenSet:
    by = {query: {"lang": "de" if n % 2 else "en"} for n, query in enumerate(QUERIES)}
    return GoldenSet.from_dict({query: {"good": 1} for query in QUERIES}, attributes=by)


def run(*first: int, rank: int = 1, name: str = "run") -> Run:
    """Return a run with the good document at rank 2 in these queries, and at ``rank`` elsewhere."""
    ranks = [2 if n in first else rank for n in range(len(QUERIES))]
    return Run.from_dict(
        {
            query: [f"x{place}" for place in range(1, at)] + ["good"]
            for query, at in zip(QUERIES, ranks, strict=True)
        },
        name=name,
    )


# --- measuring -----------------------------------------------------------------------------------


def test_values_are_means_by_query_and_rankings_those_of_the_first() -> None:
    evaluation = evaluate([run(0), run(0, 1), run(2)], golden())
    # (1/2 + 1/2 + 1) / 3, (1 + 1/2 + 1) / 3, (1 + 1 + 1/2) / 3
    assert evaluation.values("RR")[:4] == pytest.approx([2 / 3, 5 / 6, 5 / 6, 1])
    assert evaluation.ranking("q0") == ("x1", "good")
    assert len(evaluation.replicates) == 3
    means = evaluation.averaged(RR, ["q0", "q1"]).means
    assert means == pytest.approx([0.75, 0.5, 1.0])
    assert "mean of 3 replicates" in repr(evaluation)
    with pytest.raises(AssertionError, match="  values are means of the replicates; documents are"):
        assert_at_least(evaluation, "RR", 0.99)
    assert evaluate([run()], golden()).replicates == ()


def test_a_query_that_failed_in_one_replicate_is_left_out_of_all() -> None:
    """Otherwise failures would pass for the noise of retraining, and gates would allow for it."""
    rankings = {query: ["good"] for query in QUERIES}
    failed = Run.from_dict({**rankings, "q0": []}).with_facts(failed={"q0": "TimeoutError"})
    evaluation = evaluate([run(1), failed, run(2)], golden())
    assert evaluation.failed == {"q0": "TimeoutError"}
    assert evaluation.values("RR")[0] == pytest.approx(2 / 3)
    comparison = compare(evaluation, evaluate(run(1), golden()))
    assert comparison.query_ids == tuple(QUERIES[1:])
    record = Record.of(evaluation, [RR])
    means = [38.5 / 39, 1, 38.5 / 39]  # without q0
    assert record.metrics["RR"].replicates[""] == pytest.approx(means, abs=1e-6)
    noise = comparison.values("RR").noise
    assert noise is not None
    assert noise.deviation == pytest.approx(stdev(means))


def test_the_time_is_that_of_the_first_replicate() -> None:
    """The quantile of mean times would hide the slow queries of each."""
    timed = [run(n) for n in range(3)]
    for number, each in enumerate(timed, 1):
        each.seconds = dict.fromkeys(QUERIES, number / 10)
    assert evaluate(timed, golden()).mean("Seconds(q=0.95)") == 0.1


def test_a_query_without_a_value_in_one_replicate_has_the_mean_of_the_others() -> None:
    judged = GoldenSet.from_dict({"a": {"x": 1}, "b": {"y": 1}, "c": {"z": 0}})
    runs = [Run.from_dict({"a": [top], "b": [], "c": ["z"]}) for top in ("x", "w")]
    excluded = Conventions(no_relevant="exclude")
    values = evaluate(runs, judged, conventions=excluded).values("FirstRank(missing=omit)")
    assert values[0] == 1.0
    assert np.isnan(values[1:]).all()


def test_what_differs_by_more_than_chance_is_refused() -> None:
    for other, says in (
        (run().top(1), "depth is 1 in replicate 2"),
        (Run.from_dict({"q0": ["good"]}), "replicate 1 has query 'q1', which replicate 2 lacks"),
        (Run.from_dict({"q0": {"a": 1.0}}, ties="input"), "ties is input in replicate 2"),
    ):
        with pytest.raises(RunError, match=says):
            evaluate([run(), other], golden())


def test_something_else_than_runs_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"run=\[\] is invalid; give one run"):
        evaluate([], golden())
    with pytest.raises(ConfigurationError, match=r"run=.*b.* is invalid"):
        evaluate(["a", "b"][1:], golden())  # type: ignore[list-item]


def test_replicates_with_the_same_rankings_are_pointed_out() -> None:
    with pytest.warns(MetricWarning, match="replicates 1 and 3 have the same rankings"):
        evaluate([run(0), run(1), run(0)], golden())


# --- both sources of noise -----------------------------------------------------------------------


def test_the_noise_is_pooled_over_both_sides() -> None:
    """By hand: squares (1 + 0 + 1) + (0.5 + 0.5) = 3 over 2 + 1 degrees; s_r = 1."""
    noise = RunNoise.pooled(Averaged(3, [1, 2, 3]), Averaged(2, [0, math.sqrt(2)]))
    assert noise is not None
    assert (noise.deviation, noise.degrees) == (pytest.approx(1), 3)
    assert noise.error == pytest.approx(math.sqrt(1 / 3 + 1 / 2))
    assert RunNoise.pooled(Averaged(1, [1]), Averaged()) is None


def test_runs_that_vary_implausibly_do_not_count() -> None:
    """By hand: with 2 and 2 degrees, the p of a ratio of variances r is 1 / (1 + r)."""
    plausible = RunNoise.pooled(Averaged(3, [1, 2, 3]), Averaged(3, [0, 9, 18]))  # r = 81
    assert plausible is not None
    assert (plausible.degrees, plausible.deviation) == (4, pytest.approx(math.sqrt(164 / 4)))
    implausible = RunNoise.pooled(Averaged(3, [1, 2, 3]), Averaged(3, [0, 10, 20]))  # r = 100
    assert implausible is not None
    assert (implausible.degrees, implausible.deviation, implausible.now) == (2, 1, 3)
    none = RunNoise.pooled(Averaged(2, [1, 1]), Averaged(2, [1, 2]))
    assert none is not None
    assert none.deviation == 0


def test_variances_add_up_with_the_degrees_of_satterthwaite() -> None:
    """Two independent means have the same sum and degrees: Welch's test, as scipy computes it."""
    rng = np.random.default_rng(5)
    gains, means = rng.normal(-0.02, 0.1, 30), rng.normal(0, 0.01, 6)
    # One sample of n gains against one of 6 values of mean 0: their variances add up as here.
    centred = means - means.mean()
    welch = stats.ttest_ind(gains, centred, equal_var=False)
    noise = RunNoise(stdev(means), 5, 12, 12)  # 1/12 + 1/12 = 1/6
    differences = Differences(gains, noise=noise)
    assert differences.error == pytest.approx(abs(gains.mean() / welch.statistic))
    assert differences.degrees == pytest.approx(welch.df)
    low, high = welch.confidence_interval(0.95)
    assert differences.interval() == pytest.approx((low, high))


def test_replicates_without_a_difference_change_nothing() -> None:
    gains = np.array([0.1, -0.3, 0.2, 0.0])
    noise = RunNoise(0.0, 4, 3, 3)
    alone, both = Differences(gains), Differences(gains, noise=noise)
    assert both.interval() == alone.interval()
    assert both.lower_bound(0.05) == alone.lower_bound(0.05)


def test_a_comparison_has_the_noise_of_all_queries_and_of_each_slice() -> None:
    before = evaluate([run(0), run(0, 1, 2)], golden())
    now = evaluate([run(1), run(3)], golden())
    comparison = compare(now, before)
    # Of all 40 queries 1 and 3 are at 1/2: means 1 - 1/80 and 1 - 3/80; now the same mean twice.
    noise = comparison.values("RR").noise
    assert noise is not None
    assert noise.deviation == pytest.approx(math.sqrt((2 / 80) ** 2 / 2 / 2), abs=1e-6)
    # q0 and q2 are English: 1 and 2 of 20 at 1/2 before, none now.
    english = comparison.values_by("lang", "RR")["en"].noise
    assert english is not None
    assert english.deviation == pytest.approx(math.sqrt((1 / 40) ** 2 / 2 / 2), abs=1e-6)


def test_a_retraining_within_the_noise_of_replicates_is_not_blocked() -> None:
    """Six queries fell, which a sign-flip test calls a fall; the models differ by more."""
    record = Record.of(evaluate([run(), run(*range(12)), run(*range(4))], golden()), [RR])
    now = evaluate(run(*range(16)), golden())
    gate = Gate.significant()
    assert gate.decide(compare(now, record), "RR").overall.outcome is Outcome.LOWER
    alone = Record.of(evaluate(run(), golden()), [RR])
    assert gate.decide(compare(now, alone), "RR").overall.outcome is Outcome.REGRESSED
    # A fall that is larger than the noise is blocked.
    worse = evaluate(run(rank=5), golden())
    assert gate.decide(compare(worse, record), "RR").overall.outcome is Outcome.REGRESSED


def test_a_tolerance_allows_standard_errors_of_replicates() -> None:
    """Means 1 and 1 - 4/80: s_r = 0.035355; two in the baseline, one now: sqrt(1/2 + 1)."""
    record = Record.of(evaluate([run(), run(*range(4))], golden()), [RR])
    verdict = Gate.tolerance(noise=2).decide(compare(evaluate(run(5), golden()), record), "RR")
    assert verdict.overall.allowed == pytest.approx(2 * 0.035355 * math.sqrt(1.5), abs=1e-5)


def test_weights_and_clusters_are_refused() -> None:
    by = {query: {"weight": str(1 + (query == "q0"))} for query in QUERIES}
    judged = {query: {"good": 1} for query in QUERIES}
    weighted = GoldenSet.from_dict(judged, attributes=by).weighted("weight")
    both = evaluate([run(0), run(1)], weighted)
    with pytest.raises(ConfigurationError, match="cannot be combined with weights"):
        compare(both, evaluate(run(), weighted)).values("RR")


# --- records -------------------------------------------------------------------------------------


def test_a_record_keeps_no_slices_of_one_value_of_the_whole_run() -> None:
    judged, queries = golden().judgments, golden().queries
    catalogue = GoldenSet.from_frame(judged, queries, documents={"good": {}, "x1": {}})
    evaluation = evaluate([run(), run(0)], catalogue)
    record = Record.of(evaluation, [Metric.parse("CatalogCoverage@1")], attributes=["lang"])
    assert record.metrics["CatalogCoverage@1"].replicates == {"": (0.5, 1.0)}


def test_the_failure_says_how_much_is_retraining() -> None:
    """Means 1 and 0.95 before: s_r = 0.035355 and error 0.0433 of two replicates against one."""
    larger = {query: {"good": 1} for query in [*QUERIES, "new"]}
    worse = Run.from_dict({query: ["x1", "x2", "x3", "x4", "good"] for query in larger})
    now = evaluate(worse, GoldenSet.from_dict(larger))
    unchanged = GoldenSet.from_dict({query: {"good": 1} for query in QUERIES})
    record = Record.of(evaluate([run(), run(*range(4))], unchanged), [RR])
    comparison = compare(now, record)
    text = "\n".join(verdict_lines(Gate.significant().decide(comparison, "RR"), comparison))
    share = (0.0353553**2 * 1.5) / comparison.values("RR").differences.error ** 2
    assert f"is {share:.0%} of the variance of this interval: standard deviation 0.0354" in text
    assert "2 replicates in the baseline, 1 replicate now" in text
    assert "(Student's t over queries and replicates)" in text
