"""AP, GMAP, AR and GAP worked out by hand, with the working above each value."""

import pytest
from worked import BINARY, MIXED, value

from pytest_rankcheck import GoldenSet, MetricError, Run, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = [
    "AP(divide=min)@3",
    "AP(rel=2)",
    "AP(rel=5)@4",
    "AP(rel=0)",
    "AP(divide=retrieved)",
    "AP(divide=retrieved)@4",
    "AP(divide=retrieved)@1",
    "GAP(thresholds={1:0.2,2:0.3,3:0.5})",
    "GAP(thresholds={1:0.5,2:0,3:0.5})",
]
ON_AN_EMPTY_RANKING = {"GMAP@5": 1e-5}
WITH_NOTHING_RELEVANT = {"GMAP@5": 1e-5}


def test_average_precision() -> None:
    for metric, expected in (
        # relevant at 3, 4, 6 of m = 5: (1/3 + 2/4 + 3/6) / 5 = 1.333333 / 5
        ("AP", 4 / 15),
        # (1/3 + 2/4) / 5
        ("AP@4", 1 / 6),
        # rel=2, at 4 and 6 of 3: (1/4 + 2/6) / 3
        ("AP(rel=2)", 7 / 36),
        # by the relevant retrieved: 1.333333 / 3
        ("AP(divide=retrieved)", 4 / 9),
        # (1/3 + 2/4) / 2 in the top four
        ("AP(divide=retrieved)@4", 5 / 12),
        # by min(4, 5)
        ("AP(divide=min)@4", 5 / 24),
        # by min(10, 5)
        ("AP(divide=min)@10", 4 / 15),
        ("AP(divide=min)", 4 / 15),
        # without the unjudged, relevant at 2, 3, 4: (1/2 + 2/3 + 3/4) / 5
        ("AP(judged_only=true)", 23 / 60),
        ("MAP", 4 / 15),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12), metric


def test_average_precision_of_the_catalogues_examples() -> None:
    # relevant at 1, 2, 4, 5, 7, 9, m = 6: (1 + 1 + 3/4 + 4/5 + 5/7 + 6/9) / 6 = 4.93095 / 6
    # relevant at 1, 3, 5, 8, m = 4:       (1 + 2/3 + 3/5 + 4/8) / 4           = 2.76667 / 4
    # relevant at 2, 3, 5, 6, m = 4:       (1/2 + 2/3 + 3/5 + 4/6) / 4         = 2.43333 / 4
    found = {"a": (10, {1, 2, 4, 5, 7, 9}), "b": (8, {1, 3, 5, 8}), "c": (6, {2, 3, 5, 6})}
    run = Run.from_dict({q: [f"d{i}" for i in range(1, n + 1)] for q, (n, _) in found.items()})
    golden = GoldenSet.from_dict({q: {f"d{i}": 1 for i in at} for q, (_, at) in found.items()})
    evaluation = evaluate(run, golden)
    assert evaluation.per_query("AP").round(4).to_dict() == {"a": 0.8218, "b": 0.6917, "c": 0.6083}
    assert evaluation.mean("AP") == pytest.approx((0.821825 + 0.691667 + 0.608333) / 3, abs=1e-6)


def test_graded_average_precision() -> None:
    for metric, expected in (
        # thresholds equally likely, G(g) = g/3: 1/3 * 1 + 1/4 * (1 + 2) + 1/6 * (1 + 2 + 3), by
        # all that is judged, 1 + 2 + 3 + 1 + 2 = 9 (the 1/3 of G cancels)
        ("GAP", (1 / 3 + 3 / 4 + 1) / 9),
        ("GAP@4", (1 / 3 + 3 / 4) / 9),
        # G = 0.2, 0.5, 1: (0.2/3 + 0.7/4 + 1.7/6) / (0.2 + 0.5 + 1 + 0.2 + 0.5)
        ("GAP(thresholds={1:0.2,2:0.3,3:0.5})", (0.2 / 3 + 0.7 / 4 + 1.7 / 6) / 2.4),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12), metric


def test_the_catalogues_binary_example() -> None:
    for metric, expected in (
        # (1/6 + 2/6 + ... + 6/6) / 6
        ("AR", 21 / 36),
        # three in the top 4: (1/6 + 2/6 + 3/6) / 3
        ("AR@4", 1 / 3),
        # of a binary set GAP is AP: (1 + 1 + 3/4 + 4/5 + 5/7 + 6/9) / 6
        ("GAP", 4.930952 / 6),
        ("GMAP", 4.930952 / 6),
    ):
        assert value(metric, *BINARY) == pytest.approx(expected, abs=1e-6), metric


def test_the_geometric_mean_decides_by_the_hard_queries() -> None:
    golden = GoldenSet.from_dict({"p": {"a": 1}, "q": {"a": 1}, "r": {"a": 1}})
    run = Run.from_dict({"p": ["x", "a"], "q": ["x"], "r": ["a"]})
    evaluation = evaluate(run, golden)
    assert evaluation.per_query("GMAP").to_list() == [0.5, 1e-5, 1]
    # (0.5 * 0.00001 * 1)^(1/3) = 0.0171
    assert evaluation.mean("GMAP") == pytest.approx(5e-6 ** (1 / 3), rel=1e-12)
    assert evaluation.mean("AP") == 0.5
    assert evaluation.median("AP") == 0.5
    assert evaluation.median("RR") == 0.5


def test_thresholds_add_up_to_one() -> None:
    with pytest.raises(MetricError, match=r"the probabilities sum to 0.9; they must sum to 1"):
        value("GAP(thresholds={1:0.2,2:0.7})", (1, 2))


def test_fractional_grades_are_not_rounded() -> None:
    assert value("GAP", (0.5, 0.25)) == pytest.approx((0.5 + (0.25 + 0.25) / 2) / 0.75)
