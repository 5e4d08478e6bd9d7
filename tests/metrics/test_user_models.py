"""ERR, nERR, RBP and its residual worked out by hand, with the working above each value."""

import pytest
from worked import MIXED, UNJUDGED, value

from pytest_rankcheck import MetricError

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = [
    "ERR(stop=sigmoid(1,1))@5",
    "ERR(max_grade=8)",
    "nERR(stop=sigmoid(50,1))",
    "ERR(max_grade=query)",
    "nERR(max_grade=query)@3",
    "RBP(p=0.5,graded=true)",
    "RBP(p=0.95)@4",
    "RBP(p=0.6,graded=true,max_grade=query)",
]
# p = 0.8: nothing judged, everything may be relevant; with one judged at rank 1, all but 1 - p
ON_AN_EMPTY_RANKING = {"RBPResidual@5": 1}
WITH_NOTHING_RELEVANT = {"RBPResidual@5": 1 - 0.2}


# max 3, p = 7/8, 3/8, 7/8, 1/8, 0:
#   7/8 + 1/2 * 3/8 * 1/8 + 1/3 * 7/8 * 1/8 * 5/8 + 1/4 * 1/8 * 1/8 * 5/8 * 1/8
# = 0.875 + 0.02344 + 0.02279 + 0.00031 = 0.92153
def test_err_of_the_catalogues_example() -> None:
    for metric, expected in (
        ("ERR", 0.875 + 0.0234375 + 0.02278646 + 0.00030518),
        ("ERR@2", 0.875 + 0.0234375),
        ("ERR@1", 0.875),
        # max 4, p = 7/16, 3/16: 7/16 + 1/2 * 3/16 * 9/16
        ("ERR(max_grade=4)@2", 0.4375 + 0.052734375),
        # 1 / (1 + e^-(g - 2)): p = 0.731059, 0.5; 0.731059 + 0.5 * 0.5 * 0.268941
        ("ERR(stop=sigmoid(1,2))@2", 0.731059 + 0.067235),
        # alpha 2: 1 / (1 + e^-2) = 0.880797; 0.880797 + 0.5 * 0.5 * 0.119203
        ("ERR(stop=sigmoid(2,2))@2", 0.880797 + 0.029801),
    ):
        assert value(metric, (3, 2, 3, 1, 0)) == pytest.approx(expected, abs=1e-6), metric


def test_err_takes_the_highest_grade_of_the_whole_golden_set() -> None:
    # the set's highest grade is 2, of another query: p = (2^1 - 1) / 2^2 = 1/4, at rank 2
    assert value("ERR", (0, 1), other={"x": 2}) == pytest.approx(1 / 8)
    # alone, it is 1: p = 1/2
    assert value("ERR", (0, 1)) == pytest.approx(1 / 4)


def test_err_takes_the_highest_grade_of_each_query_if_asked() -> None:
    """The definition of ptranking with max_label of the query."""
    # the query's highest grade is 1, although another query has a 2: p = (2^1 - 1) / 2^1
    assert value("ERR(max_grade=query)", (0, 1), other={"x": 2}) == pytest.approx(1 / 4)
    # also where it is not retrieved: max 3, p = (2^1 - 1) / 2^3 at rank 2
    assert value("ERR(max_grade=query)", (0, 1), (3,), other={"x": 4}) == pytest.approx(1 / 16)
    # max 2: p = 1/4, 3/4; ideal 3/4 + 1/2 * 1/4 * 1/4; 1/4 + 1/2 * 3/4 * 3/4
    assert value("nERR(max_grade=query)", (1, 2), other={"x": 9}) == pytest.approx(
        (1 / 4 + 9 / 32) / (3 / 4 + 1 / 32)
    )
    # nothing relevant, nothing judged, negative grades only
    assert value("ERR(max_grade=query)", (0, 0), other={"x": 2}) == 0
    assert value("ERR(max_grade=query)", (UNJUDGED,), other={"x": 2}) == 0
    assert value("ERR(max_grade=query)", (-2, -1), other={"x": 2}) == 0


def test_err_with_probabilities_for_grades() -> None:
    # 0.5 + 1/2 * 0.25 * 0.5 + 1/3 * 1 * 0.5 * 0.75 = 0.5 + 0.0625 + 0.125
    assert value("ERR(stop=identity)", (0.5, 0.25, 1.0)) == pytest.approx(0.6875)
    with pytest.raises(
        MetricError, match="grades must be probabilities, but the golden set's scale goes up to 2"
    ):
        value("ERR(stop=identity)", (2,))


def test_err_skips_the_unjudged_but_counts_their_rank() -> None:
    # p = 1/2 at rank 3
    assert value("ERR", (UNJUDGED, 0, 1)) == pytest.approx(1 / 6)
    # without the unjudged at rank 2
    assert value("ERR(judged_only=true)", (UNJUDGED, 0, 1)) == pytest.approx(1 / 4)


def test_err_refuses_a_max_grade_below_a_grade_that_occurs() -> None:
    with pytest.raises(MetricError, match="scale goes up to 3; use max_grade=3 or more"):
        value("ERR(max_grade=2)", (3, 0))


def test_fractional_grades_are_not_rounded() -> None:
    # p = (2^0.5 - 1) / 2^0.5 = 0.292893, at rank 2
    assert value("ERR", (0, 0.5)) == pytest.approx(0.146447, abs=1e-6)


def test_err_of_huge_grades_is_finite() -> None:
    # p is 1 at rank 1 and 0 at rank 2, to double precision
    assert value("ERR", (5000, 1)) == pytest.approx(1)
    assert value("ERR", (1, 5000)) == pytest.approx(0.5)


def test_err_with_a_steep_sigmoid_does_not_overflow() -> None:
    assert value("ERR(stop=sigmoid(10000,2))", (1, 3)) == pytest.approx(0.5)


def test_nerr_is_err_by_that_of_the_ideal_ranking() -> None:
    # p of 3, 2, 1 with max 3: 7/8, 3/8, 1/8
    # 3, 2, 3, 1, 0: 0.875 + 0.0234375 + 0.022786458 + 0.000305176          = 0.921529134
    # 3, 3, 2, 1, 0: 0.875 + 1/2 0.875/8 + 1/3 0.375/64 + 1/4 0.125 0.0097656
    #              = 0.875 + 0.0546875 + 0.001953125 + 0.000305176            = 0.931945801
    assert value("nERR", (3, 2, 3, 1, 0)) == pytest.approx(0.921529134 / 0.931945801, abs=1e-8)
    assert value("nERR", (3, 3, 2, 1, 0)) == 1
    # at 1, ideal and ranking begin with a 3
    assert value("nERR@1", (3, 2, 3, 1, 0)) == 1
    # a grade of 1,000 overflows nothing
    assert value("nERR", (1000, 1)) == value("ERR", (1000, 1)) == 1


def test_rank_biased_precision() -> None:
    for metric, expected in (
        # (1 - p) (p^2 + p^3 + p^5)
        ("RBP", 0.2 * (0.64 + 0.512 + 0.32768)),
        ("RBP(p=0.5)", 0.5 * (0.25 + 0.125 + 0.03125)),
        ("RBP(p=0.5)@4", 0.5 * 0.375),
        ("RBP(p=0.5,rel=2)", 0.5 * (0.125 + 0.03125)),
        # gains 1/3, 2/3, 1
        ("RBP(p=0.5,graded=true)", 0.5 * (0.25 / 3 + 0.25 / 3 + 0.03125)),
        ("RBP(p=0.5,graded=true,max_grade=6)", 0.5 * (0.25 / 6 + 0.25 / 6 + 0.03125 / 2)),
        # judged at 2, 3, 4, 6
        ("RBPResidual(p=0.5)", 1 - 0.5 * (0.5 + 0.25 + 0.125 + 0.03125)),
        ("RBPResidual(p=0.5)@3", 1 - 0.5 * 0.75),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12), metric


def test_graded_rbp_has_no_relevance_level() -> None:
    with pytest.raises(MetricError, match="graded=true cannot be combined with rel"):
        value("RBP(graded=true,rel=2)", (1, 2))


def test_graded_rbp_takes_the_highest_grade_of_each_query_if_asked() -> None:
    # gains 1/2 and 1, in a set with a 4
    name = "RBP(p=0.5,graded=true,max_grade=query)"
    assert value(name, (1, 2), other={"x": 4}) == pytest.approx(0.5 * (1 / 2 + 1 / 2))
    assert value("RBP(p=0.5,graded=true)", (1, 2), other={"x": 4}) == pytest.approx(0.25)
    assert value(name, (0, 0), other={"x": 4}) == 0
    with pytest.raises(MetricError, match="RBP: max_grade=query has no effect without graded"):
        value("RBP(max_grade=query)", (1, 2))
    with pytest.raises(
        MetricError, match=r"RBP\(max_grade=1\): the golden set's scale goes up to 2"
    ):
        value("RBP(graded=true,max_grade=1)", (1, 2))
