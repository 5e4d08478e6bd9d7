"""``Seconds``: how long a ranker takes, as a quantile with its interval, and where it is refused."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    Gate,
    GoldenSet,
    MetricError,
    Record,
    Run,
    assert_at_most,
    assert_not_regressed,
    compare,
    evaluate,
    evaluate_part,
    rank,
    rankers,
)
from pytest_rankcheck.metrics.averages import mean_of
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.statistics.counts import quantile_interval

MANY = [f"q{number:03}" for number in range(100)]


def golden_of(ids: list[str], **more: object) -> GoldenSet:
    texts = {query_id: f"text of {query_id}" for query_id in ids}
    return GoldenSet.from_dict({query_id: {"d": 1} for query_id in ids}, queries=texts, **more)


def timed(seconds: dict[str, float], failed: tuple[str, ...] = ()) -> Evaluation:
    """Return an evaluation whose run took as long as given, in this order."""
    rankings = {query_id: ["d"] for query_id in seconds}
    failures = dict.fromkeys(failed, "TimeoutError")
    run = Run(rankings, name="timed", seconds=seconds, failed=failures)
    return evaluate(run, golden_of(sorted(seconds)))


HUNDRED = timed({query_id: (number + 1) / 100 for number, query_id in enumerate(MANY)})
"""It takes 0.01 to 1.00 seconds, the later queries longer."""


def test_the_quantile_is_the_smallest_time_that_the_share_does_not_exceed() -> None:
    for q, expected in (
        (0.95, 0.95),
        (0.07, 0.07),
        (0.951, 0.96),
        (0.5, 0.5),
        (0.001, 0.01),
        (0.999, 1.0),
    ):
        assert HUNDRED.mean(f"Seconds(q={q})") == expected
    few = timed({"a": 0.3, "b": 0.1, "c": 0.2})
    assert [few.mean(f"Seconds(q={q})") for q in (0.3, 0.5, 0.7)] == [0.1, 0.2, 0.3]


def test_a_heavy_query_counts_as_many() -> None:
    values = np.array([0.1, 0.2, math.nan, 0.3])
    assert mean_of(values, np.array([8.0, 1, 5, 1]), "quantile", 0.8) == 0.1
    assert mean_of(values, np.array([7.0, 2, 5, 1]), "quantile", 0.8) == 0.2


def test_a_query_that_failed_counts_as_the_slowest() -> None:
    """Otherwise a ranker that refuses its slow queries at once would be fast."""
    seconds = {"a": 0.001, "b": 0.2, "c": 0.4, "d": 0.3}
    assert timed(seconds).mean("Seconds(q=0.75)") == 0.3
    assert timed(seconds, failed=("a",)).mean("Seconds(q=0.75)") == 0.4


def test_the_name_states_the_share() -> None:
    assert str(Metric.parse("seconds(q=0.95)")) == "Seconds(q=0.95)"
    for name, why in (
        ("Seconds", r"Seconds needs q=.* as in Seconds\(q=0.95\)"),
        ("Seconds(q=95)", "q=95 is invalid"),
        ("Seconds(q=1)", "q=1 is invalid"),
        ("Seconds(q=0.5)@10", "has no cutoff"),
    ):
        with pytest.raises(MetricError, match=why):
            Metric.parse(name)


def test_the_interval_by_hand() -> None:
    for count, q, low, high in (
        # Of the median, as every table of the sign test has them (Conover, table A3: the 2.5% point
        # of the binomial with p = 1/2). n = 5 is too few: 2 * (1/2)^5 = 0.0625.
        (5, 0.5, None, None),
        (6, 0.5, 1, 6),
        (10, 0.5, 2, 9),
        (20, 0.5, 6, 15),
        (100, 0.5, 40, 61),
        # Of the 95th percentile. n = 71: P(all below) = 0.95^71 = 0.0262 > 0.025, so the largest
        # value is no upper end; n = 72: 0.0249. n = 100: P(Y <= 89) = 0.0115, P(Y <= 90) = 0.0282;
        # P(Y <= 98) = 0.9629, P(Y <= 99) = 0.9941.
        (71, 0.95, 63, None),
        (72, 0.95, 64, 72),
        (100, 0.95, 90, 100),
        # One value is below the 95th percentile in 95% of all samples.
        (1, 0.95, None, None),
        (2, 0.95, 1, None),
    ):
        values = np.random.default_rng(1).permutation(np.arange(1.0, count + 1))
        found = quantile_interval(values, q)
        assert found == (low or -math.inf, high or math.inf)
        assert found == quantile_interval(np.array([*values, math.nan]), q)
        if low:
            assert binom.cdf(low - 1, count, q) <= 0.025 < binom.cdf(low, count, q)
        if high:
            assert binom.cdf(high - 2, count, q) < 0.975 <= binom.cdf(high - 1, count, q)


def test_an_evaluation_knows_the_interval() -> None:
    assert HUNDRED.interval("Seconds(q=0.95)") == (0.9, 1.0)
    assert HUNDRED.interval("Seconds(q=0.99)")[1] == math.inf
    assert HUNDRED.interval("Seconds(q=0.5)", 0.99) == (0.37, 0.64)


# --- bounds ----------------------------------------------------------------------------------


def test_the_measured_quantile_decides() -> None:
    assert_at_most(HUNDRED, "Seconds(q=0.95)", 0.95)
    with pytest.raises(AssertionError) as failure:
        assert_at_most(HUNDRED, "Seconds(q=0.95)", 0.94)
    lines = str(failure.value).splitlines()
    assert lines[0] == (
        "Seconds(q=0.95) is 0.9500 (95% interval 0.9000 to 1.0000) on golden set "
        "'golden set' (100 queries); it must be at most 0.9400"
    )
    assert lines[2:4] == ['    q099 "text of q099"   1.000', '    q098 "text of q098"   0.990']


def test_a_few_queries_have_no_upper_end() -> None:
    few = timed({"a": 0.3, "b": 0.1, "c": 0.2})
    with pytest.raises(AssertionError, match=r"95% interval 0\.2000 to inf"):
        assert_at_most(few, "Seconds(q=0.95)", 0.25)
    with pytest.raises(AssertionError, match="interval -inf to inf"):
        assert_at_most(few, "Seconds(q=0.5)", 0.15)


def test_no_interval_with_weights() -> None:
    golden = golden_of(["a", "b"], attributes={"a": {"asked": 2}, "b": {"asked": 1}})
    golden = golden.weighted("asked")
    evaluation = evaluate(rank(lambda text: ["d"], golden), golden)
    with pytest.raises(AssertionError, match=r"^Seconds\(q=0.5\) is \d.\d+ on golden set"):
        assert_at_most(evaluation, "Seconds(q=0.5)", 0.0)


# --- refused ---------------------------------------------------------------------------------

GOLDEN = golden_of(["a", "b"])


def of_file(folder: Path) -> Evaluation:
    rank(lambda text: ["d"], GOLDEN).save(folder / "bm25.run")
    return evaluate(Run.load(folder / "bm25.run"), GOLDEN)


def of_parts(folder: Path) -> Evaluation:
    rank(lambda text: ["d"], GOLDEN).save(folder / "bm25.run")
    return Evaluation.merge([evaluate_part(folder / "bm25.run", GOLDEN)], GOLDEN)


def of_batches(folder: Path) -> Evaluation:
    return evaluate(rank(rankers.batch(lambda texts: [["d"] for _ in texts]), GOLDEN), GOLDEN)


def test_a_run_without_the_time_of_each_query(tmp_path: Path) -> None:
    for make, why in (
        (
            of_file,
            "of run 'bm25.run' is not known: it has no timings, since it was not ranked here",
        ),
        (of_parts, "it has no timings, since it was not ranked here in one piece"),
        (of_batches, "ranked in batches of up to 2 queries, and the seconds of a batch are not"),
    ):
        evaluation = make(tmp_path)
        assert not evaluation.fits(Metric.parse("Seconds(q=0.95)"))
        assert evaluation.fits(Metric.parse("RR"))
        with pytest.raises(MetricError, match=why):
            assert_at_most(evaluation, "Seconds(q=0.95)", 0.2)


def test_batches_of_one_query_are_timed() -> None:
    one = rankers.batch(lambda texts: [["d"] for _ in texts], size=1)
    assert evaluate(rank(one, GOLDEN), GOLDEN).mean("Seconds(q=0.95)") < 1


def test_kept_answers_remember_batches(tmp_path: Path) -> None:
    def fails_later(texts: list[str]) -> list[list[str]]:
        if "text of c" in texts:
            raise OSError
        return [["d"] for _ in texts]

    golden = golden_of(["a", "b", "c"])
    kept = {"resume": tmp_path / "kept", "resume_key": "1"}
    with pytest.raises(Exception, match="failed on 1 of 3"):
        rank(rankers.batch(fails_later, size=2), golden, **kept)
    fails_later.__code__ = (lambda texts: [["d"] for _ in texts]).__code__
    assert rank(rankers.batch(fails_later, size=2), golden, **kept).largest_batch == 2


def test_it_is_never_recorded_and_has_no_gate() -> None:
    evaluation = evaluate(rank(lambda text: ["d"], GOLDEN), GOLDEN)
    seconds = Metric.parse("Seconds(q=0.95)")
    with pytest.raises(MetricError, match="is not recorded: times of another machine"):
        Record.of(evaluation, [Metric.parse("RR")], watched=[seconds])
    with pytest.raises(ConfigurationError, match="has no gate: times of another machine mean"):
        assert_not_regressed(evaluation, evaluation, ["RR", "Seconds(q=0.95)"])
    with pytest.raises(ConfigurationError, match=r'assert_at_most\(evaluation, "Seconds\(q=0.95'):
        Gate.tolerance(abs=0.1).decide(compare(evaluation, evaluation), seconds)
    with pytest.raises(ConfigurationError, match="is a quantile, but confidence= is for means"):
        assert_at_most(evaluation, seconds, 0.2, confidence=0.95)
