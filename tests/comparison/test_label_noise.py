"""How often a verdict survives when judgments are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    Gate,
    GoldenSet,
    Metric,
    MetricError,
    Record,
    Run,
    compare,
    evaluate,
)

QUERIES = [f"q{index}" for index in range(60)]
GOLDEN = GoldenSet.from_dict({query: {"good": 2, "fair": 1, "bad": 0} for query in QUERIES})
BEST, WORST = ["good", "fair", "bad"], ["bad", "fair", "good"]


def with_worse(count: int) -> Evaluation:
    """Return an evaluation in which so many queries are ranked the wrong way round."""
    rankings = {query: WORST if place < count else BEST for place, query in enumerate(QUERIES)}
    return evaluate(Run.from_dict(rankings), GOLDEN)


def test_without_a_wrong_label_every_verdict_survives() -> None:
    found = compare(with_worse(10), with_worse(0)).label_sensitivity("nDCG@3", flip=0.0, draws=20)
    assert (found.ruling, found.survived) == ("worse", 1.0)
    expected = with_worse(10).mean("nDCG@3") - with_worse(0).mean("nDCG@3")
    assert found.differences == pytest.approx(np.full(20, expected), abs=1e-6)


def test_with_every_label_wrong_the_best_ranking_is_not_the_best() -> None:
    golden = GoldenSet.from_dict({query: {"good": 1, "bad": 0} for query in QUERIES})
    after = evaluate(Run.from_dict(dict.fromkeys(QUERIES, ["bad", "good"])), golden)
    before = evaluate(Run.from_dict(dict.fromkeys(QUERIES, ["good", "bad"])), golden)
    found = compare(after, before).label_sensitivity("RR", flip=1.0, draws=5)
    assert (found.ruling, found.survived, found.rulings) == ("worse", 0.0, {"better": 5})


def test_a_wide_fall_survives_a_narrow_one_does_not() -> None:
    gate = Gate.tolerance(abs=0.01)
    wide = compare(with_worse(40), with_worse(0))
    narrow = compare(with_worse(2), with_worse(0))
    assert wide.label_sensitivity("nDCG@3", gate=gate).survived == 1.0
    survived = narrow.label_sensitivity("nDCG@3", flip=0.3, gate=gate)
    assert survived.ruling == "regressed"
    assert 0.3 < survived.survived < 0.95
    assert sum(survived.rulings.values()) == 500
    low, high = survived.interval()
    assert low < survived.differences.mean() < high


def test_the_share_of_wrong_labels_and_their_effect_are_as_stated() -> None:
    """Half of the labels of a binary set wrong: the expected difference is nil."""
    golden = GoldenSet.from_dict({query: {"good": 1, "bad": 0} for query in QUERIES})
    after = evaluate(Run.from_dict(dict.fromkeys(QUERIES, ["bad", "good"])), golden)
    before = evaluate(Run.from_dict(dict.fromkeys(QUERIES, ["good", "bad"])), golden)
    found = compare(after, before).label_sensitivity("P@1", flip=0.5, draws=2000)
    # Each draw's mean difference has a deviation below 1 / sqrt(60); the mean of 2,000 below 0.003.
    assert abs(found.differences.mean()) < 0.01
    tenth = compare(after, before).label_sensitivity("P@1", flip=0.1, draws=2000)
    # P@1 then is P(good is 1) = 0.9 before, P(bad is 1) = 0.1 after: exactly 12 of 120 are wrong.
    assert tenth.differences.mean() == pytest.approx(-0.8, abs=0.01)


def test_it_is_the_same_every_time_and_reads_well() -> None:
    comparison = compare(with_worse(5), with_worse(0))
    first, second = (comparison.label_sensitivity("RR(rel=2)") for _ in range(2))
    assert np.array_equal(first.differences, second.differences)
    assert str(first).startswith("'worse' survives in ")
    assert "of 500 draws with 5% of the judgments wrong; 95% of the differences are" in str(first)


def test_a_record_has_only_the_top_of_rankings() -> None:
    names = ["RR", "nDCG@10"]
    record = Record.of(with_worse(0), [Metric.parse(name) for name in names])
    comparison = compare(with_worse(5), record)
    assert comparison.label_sensitivity("nDCG@10", flip=0.0, draws=3).survived == 1.0
    with pytest.raises(MetricError, match="has only the first 10 documents of each"):
        comparison.label_sensitivity("RR")


@pytest.mark.parametrize(("flip", "draws"), [(-0.1, 10), (1.1, 10), (0.1, 0)])
def test_an_invalid_share_is_refused(flip: float, draws: int) -> None:
    with pytest.raises(ConfigurationError, match="flip"):
        compare(with_worse(5), with_worse(0)).label_sensitivity("RR", flip, draws=draws)
