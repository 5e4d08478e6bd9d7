"""Values worked out by hand; the working stands in the comment above each."""

from __future__ import annotations

import numpy as np
import pytest
from worked import UNJUDGED, value

from pytest_rankcheck import GoldenSet, MetricError, Run, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")


# --- nDCG ------------------------------------------------------------------------------------

# Grades 3, 3, 0, 3, 2, ideal 3, 3, 3, 2, 0; log2(2..6) = 1, 1.58496, 2, 2.32193, 2.58496.
# DCG   = 3 + 3/1.58496 + 0 + 3/2.32193 + 2/2.58496 = 3 + 1.89279 + 1.29203 + 0.77371 = 6.95853
# ideal = 3 + 1.89279 + 3/2 + 2/2.32193            = 3 + 1.89279 + 1.5 + 0.86135     = 7.25414
# 6.95853 / 7.25414 = 0.95925
CATALOGUE = (3, 3, 0, 3, 2)

# Grades 1, 0, 2 with another 2 not retrieved: ideal 2, 2, 1, 0.
SMALL = ((1, 0, 2), (2,))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("nDCG", 0.9592),
        ("nDCG@5", 0.9592),
        # at 3: (3 + 1.89279) / (3 + 1.89279 + 1.5) = 4.89279 / 6.39279
        ("nDCG@3", 0.76536),
        ("nDCG@1", 1.0),
        # a cutoff beyond both lists changes nothing
        ("nDCG@1000", 0.9592),
    ],
)
def test_ndcg_of_the_catalogues_example(metric: str, expected: float) -> None:
    assert value(metric, CATALOGUE) == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # linear gain, log2: (1 + 2/2) / (2 + 2/1.584963 + 1/2) = 2 / 3.761860
        ("nDCG", 2 / 3.761860),
        # exponential: gains 1, 0, 3; ideal 3, 3, 1: (1 + 3/2) / (3 + 3/1.584963 + 1/2)
        ("nDCG(gain=exponential)", 2.5 / 5.392789),
        # discount i: (1 + 2/3) / (2 + 2/2 + 1/3) = 1.666667 / 3.333333
        ("nDCG(discount=linear)", 0.5),
        # log10(2..4) = 0.301030, 0.477121, 0.602060; the base cancels: as log2
        ("nDCG(discount=log(10))", 2 / 3.761860),
        # i^0.5: (1 + 2/1.732051) / (2 + 2/1.414214 + 1/1.732051) = 2.154701 / 3.991564
        ("nDCG(discount=power(0.5))", 2.154701 / 3.991564),
        # i^0 = 1: no discount, (1 + 2) / (2 + 2 + 1)
        ("nDCG(discount=power(0))", 0.6),
        # (i+1)^2 = 4, 9, 16: (1/4 + 2/16) / (2/4 + 2/9 + 1/16) = 0.375 / 0.784722
        ("nDCG(discount=zipf(1,2))", 0.375 / 0.784722),
        # gains 1 -> 5, 2 -> 6: (5 + 6/2) / (6 + 6/1.584963 + 5/2) = 8 / 12.285578
        ("nDCG(gain={1:5,2:6})", 8 / 12.285578),
        # a mapping that turns the order round, 1 -> 9, 2 -> 1: the ideal is by gain, 9, 1, 1
        # (9 + 1/2) / (9 + 1/1.584963 + 1/2) = 9.5 / 10.130930
        ("nDCG(gain={1:9,2:1})", 9.5 / 10.130930),
        # a grade of 0 may be worth something: 0 -> 1, 1 -> 1, 2 -> 2; ideal 2, 2, 1, 1
        # (1 + 1/1.584963 + 2/2) / (2 + 2/1.584963 + 1/2 + 1/2.321928) = 2.630930 / 4.192536
        ("nDCG(gain={0:1,1:1,2:2})", 2.630930 / 4.192536),
        # cut at 2: 1 / (2 + 2/1.584963)
        ("nDCG@2", 1 / 3.261860),
    ],
)
def test_ndcg_with_each_gain_and_discount(metric: str, expected: float) -> None:
    ranked, unretrieved = SMALL
    assert value(metric, ranked, unretrieved) == pytest.approx(expected, abs=1e-6)


def test_the_relevance_level_is_not_a_parameter_of_ndcg() -> None:
    with pytest.raises(MetricError, match="nDCG has no parameter 'rel'"):
        value("nDCG(rel=2)", CATALOGUE)


# --- positions of the relevant -----------------------------------------------------------------

# Ranked: unjudged, 0, 1, 2, unjudged, 3; a 1 and a 2 are not retrieved. m = 5; for rel=2 m = 3.
MIXED = ((UNJUDGED, 0, 1, 2, UNJUDGED, 3), (1, 2))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("RR", 1 / 3),
        ("RR@3", 1 / 3),
        ("RR@2", 0),
        ("RR(rel=2)", 1 / 4),
        ("RR(rel=3)", 1 / 6),
        ("RR(rel=4)", 0),
        # without the unjudged: 0, 1, 2, 3
        ("RR(judged_only=true)", 1 / 2),
        ("RR(rel=2,judged_only=true)@3", 1 / 3),
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
        # the names of the field
        ("MRR@10", 1 / 3),
        ("HitRate@3", 1),
        ("Accuracy@2", 0),
        ("Precision@4", 2 / 4),
        ("Recall@4", 2 / 5),
        ("MAP", 4 / 15),
    ],
)
def test_binary_metrics(metric: str, expected: float) -> None:
    ranked, unretrieved = MIXED
    assert value(metric, ranked, unretrieved) == pytest.approx(expected, abs=1e-12)


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


# --- ERR ----------------------------------------------------------------------------------------


# max 3, p = 7/8, 3/8, 7/8, 1/8, 0:
#   7/8 + 1/2 * 3/8 * 1/8 + 1/3 * 7/8 * 1/8 * 5/8 + 1/4 * 1/8 * 1/8 * 5/8 * 1/8
# = 0.875 + 0.02344 + 0.02279 + 0.00031 = 0.92153
@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("ERR", 0.875 + 0.0234375 + 0.02278646 + 0.00030518),
        ("ERR@2", 0.875 + 0.0234375),
        ("ERR@1", 0.875),
        # max 4, p = 7/16, 3/16: 7/16 + 1/2 * 3/16 * 9/16
        ("ERR(max_grade=4)@2", 0.4375 + 0.052734375),
        # 1 / (1 + e^-(g - 2)): p = 0.731059, 0.5; 0.731059 + 0.5 * 0.5 * 0.268941
        ("ERR(stop=sigmoid(1,2))@2", 0.731059 + 0.067235),
        # alpha 2: 1 / (1 + e^-2) = 0.880797; 0.880797 + 0.5 * 0.5 * 0.119203
        ("ERR(stop=sigmoid(2,2))@2", 0.880797 + 0.029801),
    ],
)
def test_err_of_the_catalogues_example(metric: str, expected: float) -> None:
    assert value(metric, (3, 2, 3, 1, 0)) == pytest.approx(expected, abs=1e-6)


def test_err_takes_the_highest_grade_of_the_whole_golden_set() -> None:
    # the set's highest grade is 2, of another query: p = (2^1 - 1) / 2^2 = 1/4, at rank 2
    assert value("ERR", (0, 1), other={"x": 2}) == pytest.approx(1 / 8)
    # alone, it is 1: p = 1/2
    assert value("ERR", (0, 1)) == pytest.approx(1 / 4)


def test_err_with_probabilities_for_grades() -> None:
    # 0.5 + 1/2 * 0.25 * 0.5 + 1/3 * 1 * 0.5 * 0.75 = 0.5 + 0.0625 + 0.125
    assert value("ERR(stop=identity)", (0.5, 0.25, 1.0)) == pytest.approx(0.6875)
    with pytest.raises(MetricError, match="grades must be probabilities, but 2 occurs"):
        value("ERR(stop=identity)", (2,))


def test_err_skips_the_unjudged_but_counts_their_rank() -> None:
    # p = 1/2 at rank 3
    assert value("ERR", (UNJUDGED, 0, 1)) == pytest.approx(1 / 6)
    # without the unjudged at rank 2
    assert value("ERR(judged_only=true)", (UNJUDGED, 0, 1)) == pytest.approx(1 / 4)


def test_err_refuses_a_max_grade_below_a_grade_that_occurs() -> None:
    with pytest.raises(MetricError, match="has the grade 3; use max_grade=3 or more"):
        value("ERR(max_grade=2)", (3, 0))


# --- edges ---------------------------------------------------------------------------------------

EVERY = ["nDCG", "RR", "AP", "P", "R", "Success", "ERR"]
EVERY_AND_AT = [*EVERY, *(f"{name}@3" for name in EVERY)]


@pytest.mark.parametrize("metric", EVERY_AND_AT)
def test_an_empty_ranking_scores_zero(metric: str) -> None:
    run = Run.from_dict({"q": [], "other": ["d"]})
    golden = GoldenSet.from_dict({"q": {"d": 1}, "other": {"d": 1}})
    assert evaluate(run, golden).per_query(metric)["q"] == 0


@pytest.mark.parametrize("metric", EVERY_AND_AT)
@pytest.mark.parametrize("judged", [{}, {"d0": 0}, {"d0": -1, "d1": 0}])
def test_a_query_without_relevant_documents_scores_zero(
    metric: str, judged: dict[str, float]
) -> None:
    run = Run.from_dict({"q": ["d0", "d1"]})
    golden = GoldenSet.from_dict({"q": judged, "p": {"d": 1}})
    assert evaluate(run, golden).per_query(metric)["q"] == 0


@pytest.mark.parametrize("metric", ["nDCG", "R", "Success", "RR", "AP"])
@pytest.mark.parametrize("cutoff", ["", "@1", "@3", "@1000"])
def test_a_perfect_ranking_of_one_relevant_document_scores_one(metric: str, cutoff: str) -> None:
    assert value(metric + cutoff, (2, 0, UNJUDGED)) == 1


@pytest.mark.parametrize("metric", ["nDCG", "nDCG(gain=exponential)", "ERR", "AP", "RR", "P@3"])
def test_a_negative_grade_counts_as_zero(metric: str) -> None:
    # the second query keeps the highest grade the same
    assert value(metric, (-2, 1, -1), (2,)) == value(metric, (0, 1, 0), (2,)) > 0


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # 0.5 / 1.584963 at rank 2, ideal 0.5
        ("nDCG", 1 / 1.584963),
        # gain 2^0.5 - 1 cancels
        ("nDCG(gain=exponential)", 1 / 1.584963),
        ("RR", 1 / 2),
        ("RR(rel=0.5)", 1 / 2),
        ("RR(rel=0.6)", 0),
        # p = (2^0.5 - 1) / 2^0.5 = 0.292893
        ("ERR", 0.146447),
    ],
)
def test_fractional_grades_are_not_rounded(metric: str, expected: float) -> None:
    assert value(metric, (0, 0.5)) == pytest.approx(expected, abs=1e-6)


def test_an_exponential_gain_that_overflows_is_refused_by_name() -> None:
    with pytest.raises(MetricError, match=r"overflows for the grade 5000; use gain=linear"):
        value("nDCG(gain=exponential)", (5000, 1))
    assert value("nDCG", (5000, 1)) == 1


def test_err_of_huge_grades_is_finite() -> None:
    # p is 1 at rank 1 and 0 at rank 2, to double precision
    assert value("ERR", (5000, 1)) == pytest.approx(1)
    assert value("ERR", (1, 5000)) == pytest.approx(0.5)


def test_a_steep_discount_overflows_to_nothing() -> None:
    # the first rank alone counts: 1 / 1 of the ideal 2 / 1
    assert value("nDCG(discount=power(1e300))", (1, 2)) == pytest.approx(0.5)
    assert value("nDCG(discount=zipf(0,1e300))", (1, 2)) == pytest.approx(0.5)


@pytest.mark.parametrize("metric", ["nDCG", "P", "AP", "RR", "R", "Success", "ERR"])
def test_an_enormous_cutoff_is_a_value_or_refused(metric: str) -> None:
    assert value(f"{metric}@{10**15}", (1, 2)) >= 0
    with pytest.raises(MetricError, match="a cutoff must be a whole number"):
        value(f"{metric}@{10**400}", (1, 2))


def test_err_with_a_steep_sigmoid_does_not_overflow() -> None:
    assert value("ERR(stop=sigmoid(10000,2))", (1, 3)) == pytest.approx(0.5)


def test_a_gain_mapping_must_have_every_positive_grade() -> None:
    with pytest.raises(MetricError, match=r"no entry for the grade 3, which occurs; add 3 to \{1"):
        value("nDCG(gain={1:1,2:3})", (3, 1))


def test_a_grade_of_zero_or_less_needs_no_place_in_a_gain_mapping() -> None:
    assert value("nDCG(gain={1:5})", (-1, 0, 1)) == pytest.approx(1 / 2)


def test_values_are_float64() -> None:
    evaluation = evaluate(Run.from_dict({"q": ["d"]}), GoldenSet.from_dict({"q": {"d": 1}}))
    for metric in EVERY_AND_AT:
        assert evaluation.values(metric).dtype == np.float64


def test_judged_only_takes_negative_grades_for_unjudged() -> None:
    """As trec_eval -J and ir_measures do: a document judged -1 leaves the ranking too."""
    # 1 at rank 3; without the unjudged and the -1 at rank 1
    assert value("RR(judged_only=true)", (UNJUDGED, -1, 1)) == 1
    assert value("P(judged_only=true)@2", (-1, 1, 0)) == 1 / 2
    assert value("P(judged_only=true)", (-1, 1, 0)) == 1 / 2


# --- where other libraries differ ----------------------------------------------------------------


def test_the_ideal_ranking_holds_documents_that_were_not_retrieved() -> None:
    """scikit-learn only sees what was retrieved, and would say 1."""
    golden = GoldenSet.from_dict({"q": {"a": 1, "b": 1}})
    # 1 / (1 + 1/1.584963)
    ours = evaluate(Run.from_dict({"q": ["a"]}), golden).mean("nDCG")
    assert ours == pytest.approx(1 / 1.630930, abs=1e-6)


def test_a_missing_query_counts_zero_in_the_mean() -> None:
    """pytrec_eval drops it: its mean would be 1."""
    golden = GoldenSet.from_dict({"p": {"a": 1}, "q": {"a": 1}})
    assert evaluate(Run.from_dict({"p": ["a"]}), golden).mean("RR") == 0.5


def test_the_relevance_level_leaves_ndcg_alone() -> None:
    """ranx zeroes the gains below the level."""
    golden = GoldenSet.from_dict({"q": {"a": 1, "b": 2}})
    evaluation = evaluate(Run.from_dict({"q": ["a", "b"]}), golden)
    # (1 + 2/1.584963) / (2 + 1/1.584963)
    assert evaluation.mean("nDCG") == pytest.approx(2.261860 / 2.630930, abs=1e-6)
