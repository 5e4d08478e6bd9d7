"""RR, FirstRank and MeanRank worked out by hand, with the working above each value."""

import math

import pytest
from worked import MIXED, UNJUDGED, value

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = [
    "FirstRank(missing=omit)@4",
    "MeanRank(missing=omit)",
    "MeanRank(missing=omit)@4",
    "MeanRank(missing=omit)@1",
]
ON_AN_EMPTY_RANKING = {"FirstRank@5": 6, "MeanRank@5": 6}
WITH_NOTHING_RELEVANT = {"FirstRank@5": 6, "MeanRank@5": 6}


def test_reciprocal_rank() -> None:
    for metric, expected in (
        ("RR", 1 / 3),
        ("RR@3", 1 / 3),
        ("RR@2", 0),
        ("RR(rel=2)", 1 / 4),
        ("RR(rel=3)", 1 / 6),
        ("RR(rel=4)", 0),
        # without the unjudged: 0, 1, 2, 3
        ("RR(judged_only=true)", 1 / 2),
        ("RR(rel=2,judged_only=true)@3", 1 / 3),
        # the names of the field
        ("MRR@10", 1 / 3),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12), metric


def test_first_and_mean_rank() -> None:
    for metric, expected in (
        ("FirstRank", 3),
        ("FirstRank@3", 3),
        # none in the top 2: 2 + 1; none at all of grade 4: 6 + 1
        ("FirstRank@2", 3),
        ("FirstRank(rel=4)", 7),
        ("FirstRank(rel=4)@20", 21),
        ("FirstRank(missing=omit)@2", math.nan),
        # (3 + 4 + 6 + 7 + 7) / 5
        ("MeanRank", 27 / 5),
        # (3 + 4 + 5 + 5 + 5) / 5
        ("MeanRank@4", 22 / 5),
        ("MeanRank(missing=omit)", 13 / 3),
        ("MeanRank(missing=omit)@4", 3.5),
        ("MeanRank(missing=omit)@2", math.nan),
        # (4 + 6 + 7) / 3
        ("MeanRank(rel=2)", 17 / 3),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12, nan_ok=True), metric


def test_fractional_grades_are_not_rounded() -> None:
    assert value("RR", (0, 0.5)) == 1 / 2
    assert value("RR(rel=0.5)", (0, 0.5)) == 1 / 2
    assert value("RR(rel=0.6)", (0, 0.5)) == 0


def test_judged_only_leaves_out_negative_grades_too() -> None:
    """As trec_eval -J and ir_measures do."""
    # 1 at rank 3; without the unjudged and the -1 at rank 1
    assert value("RR(judged_only=true)", (UNJUDGED, -1, 1)) == 1
