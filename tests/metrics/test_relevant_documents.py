"""Ranks and shares of relevant documents worked out by hand, with the working above each value."""

import math

import pytest
from worked import BINARY, MIXED, UNJUDGED, value

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = [
    "FirstRank(missing=omit)@4",
    "MeanRank(missing=omit)",
    "MeanRank(missing=omit)@4",
    "MeanRank(missing=omit)@1",
    "P(rel=3)@2",
    "R(divide=min)@2",
    "F(beta=2)@10",
    "IPrec(rel=2)@0",
    "IPrec@1",
    "IPrec@0.8",
    "IPrec(needed=rounded)@0.5",
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


def test_shares_of_the_relevant_by_hand() -> None:
    for metric, expected in (
        ("Success", 1),
        ("Success@2", 0),
        ("Success@3", 1),
        ("Success(rel=2)@3", 0),
        ("Success(rel=2,judged_only=true)@3", 1),
        ("P@3", 1 / 3),
        ("P@4", 2 / 4),
        ("P@6", 3 / 6),
        # divided by k, though only six were returned
        ("P@10", 3 / 10),
        ("P(rel=2)@4", 1 / 4),
        # without a cutoff: of the six that were returned
        ("P", 3 / 6),
        # without the unjudged: of 0, 1, 2, 3
        ("P(judged_only=true)", 3 / 4),
        ("P(judged_only=true)@2", 1 / 2),
        ("P(judged_only=true)@5", 3 / 5),
        ("R", 3 / 5),
        ("R@3", 1 / 5),
        ("R@4", 2 / 5),
        ("R(rel=2)", 2 / 3),
        ("R(rel=2)@3", 0),
        ("R(judged_only=true)@2", 1 / 5),
        # five are relevant: of the three or of the ten that the top k could hold
        ("R(divide=min)@3", 1 / 3),
        ("R_cap@3", 1 / 3),
        ("R_cap(rel=2)@3", 0),
        ("R_cap@10", 3 / 5),
        ("R_cap", 3 / 5),
        ("HitRate@3", 1),
        ("Accuracy@2", 0),
        ("Precision@4", 2 / 4),
        ("Recall@4", 2 / 5),
        # P = 3/6, R = 3/5: 2 * 0.3 / 1.1
        ("F", 0.6 / 1.1),
        # P = 2/4, R = 2/5: 2 * 0.2 / 0.9
        ("F@4", 0.4 / 0.9),
        # 5 * 0.3 / (4 * 0.5 + 0.6)
        ("F(beta=2)", 1.5 / 2.6),
        ("F@2", 0),
        # of the first 5, two; of the first 3 (rel=2), none
        ("Rprec", 2 / 5),
        ("Rprec(rel=2)", 0),
        ("Rprec@3", 1 / 5),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12), metric


def test_interpolated_precision() -> None:
    for metric, expected in (
        # precision at each: 1, 1, 3/4, 4/5, 5/7, 6/9; recall 1/6, 2/6, ... 1
        ("IPrec@0", 1),
        ("IPrec@0.3", 1),
        # from the third on (3/6 = 0.5): the highest is 4/5
        ("IPrec@0.5", 4 / 5),
        ("IPrec@0.9", 6 / 9),
        ("IPrec@1", 6 / 9),
        # 0.4 of 6 is 2.4: three are needed; rounded, two
        ("IPrec@0.4", 4 / 5),
        ("IPrec(needed=rounded)@0.4", 1),
    ):
        assert value(metric, *BINARY) == pytest.approx(expected, abs=1e-12), metric


def test_shares_of_the_judged_leave_out_negative_grades_too() -> None:
    """As trec_eval -J and ir_measures do."""
    # 1, 0; then 1, 0 of two documents
    assert value("P(judged_only=true)@2", (-1, 1, 0)) == 1 / 2
    assert value("P(judged_only=true)", (-1, 1, 0)) == 1 / 2
