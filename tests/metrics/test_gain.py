"""CG, DCG and nDCG worked out by hand, with the working above each value."""

import pytest
from worked import MIXED, UNJUDGED, value

from pytest_rankcheck import Metric, MetricError
from pytest_rankcheck.command_line.metrics_command import card_of

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = [
    "nDCG(gain=exponential)@4",
    "nDCG(discount=linear)",
    "nDCG(discount=power(0.5))",
    "nDCG(discount=power(0))@3",
    "nDCG(discount=zipf(2,1))@4",
    "nDCG(gain={1:1,2:1,3:5})",
    "nDCG(gain={0:1,1:3,2:1,3:2})@2",
    "nDCG(judged_only=true)@3",
    "DCG(gain=exponential,discount=linear)@4",
    "DCG(discount=log(10))",
    "nDCG(ideal=retrieved)@3",
    "nDCG(ideal=retrieved,gain={0:1,1:3,2:1,3:2})@2",
]

# Grades 3, 3, 0, 3, 2, ideal 3, 3, 3, 2, 0; log2(2..6) = 1, 1.58496, 2, 2.32193, 2.58496.
# DCG   = 3 + 3/1.58496 + 0 + 3/2.32193 + 2/2.58496 = 3 + 1.89279 + 1.29203 + 0.77371 = 6.95853
# ideal = 3 + 1.89279 + 3/2 + 2/2.32193            = 3 + 1.89279 + 1.5 + 0.86135     = 7.25414
# 6.95853 / 7.25414 = 0.95925
CATALOGUE = (3, 3, 0, 3, 2)

# Grades 1, 0, 2 with another 2 not retrieved: ideal 2, 2, 1, 0.
SMALL = ((1, 0, 2), (2,))


def test_ndcg_of_the_catalogues_example() -> None:
    for metric, expected in (
        ("nDCG", 0.9592),
        ("nDCG@5", 0.9592),
        # at 3: (3 + 1.89279) / (3 + 1.89279 + 1.5) = 4.89279 / 6.39279
        ("nDCG@3", 0.76536),
        ("nDCG@1", 1.0),
        # a cutoff beyond both lists changes nothing
        ("nDCG@1000", 0.9592),
    ):
        assert value(metric, CATALOGUE) == pytest.approx(expected, abs=6e-5), metric


def test_ndcg_with_each_gain_and_discount() -> None:
    for metric, expected in (
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
        # 2^(i-1) = 1, 2, 4: (1 + 2/4) / (2 + 2/2 + 1/4) = 1.5 / 3.25
        # of the retrieved 1, 0, 2 only: 2 / (2 + 1/1.584963)
        ("nDCG(ideal=retrieved)", 2 / 2.630930),
        # the ideal of rank 1 is the 2 at rank 3
        ("nDCG(ideal=retrieved)@1", 1 / 2),
        ("nDCG(ideal=retrieved,discount=linear)", (1 + 2 / 3) / (2 + 1 / 2)),
        # gains 1 -> 9, 2 -> 1, turned round: (9 + 1/2) / (9 + 1/1.584963)
        ("nDCG(ideal=retrieved,gain={1:9,2:1})", 9.5 / 9.630930),
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
    ):
        ranked, unretrieved = SMALL
        assert value(metric, ranked, unretrieved) == pytest.approx(expected, abs=1e-6), metric


def test_cg_and_dcg() -> None:
    for metric, expected in (
        # 1 + 2 + 3
        ("CG", 6),
        ("CG@4", 3),
        ("CG@2", 0),
        # log2(4, 5, 7) = 2, 2.321928, 2.807355: 1/2 + 2/2.321928 + 3/2.807355
        ("DCG", 0.5 + 0.861353 + 1.068622),
        ("DCG@4", 0.5 + 0.861353),
        # gains 1, 3, 7 by rank: 1/3 + 3/4 + 7/6
        ("DCG(gain=exponential,discount=linear)", 1 / 3 + 3 / 4 + 7 / 6),
    ):
        assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-6), metric


def test_an_exponential_gain_that_overflows_is_refused_by_name() -> None:
    with pytest.raises(MetricError, match=r"overflows for the grade 5000; use gain=linear"):
        value("nDCG(gain=exponential)", (5000, 1))
    assert value("nDCG", (5000, 1)) == 1


def test_a_steep_discount_overflows_to_nothing() -> None:
    # the first rank alone counts: 1 / 1 of the ideal 2 / 1
    for discount in ("power(1e300)", "zipf(0,1e300)"):
        assert value(f"nDCG(discount={discount})", (1, 2)) == pytest.approx(0.5)


def test_a_gain_mapping_must_have_every_positive_grade() -> None:
    with pytest.raises(MetricError, match=r"no entry for the grade 3, which occurs; add 3 to \{1"):
        value("nDCG(gain={1:1,2:3})", (3, 1))


def test_fractional_grades_are_not_rounded() -> None:
    # 0.5 / 1.584963 at rank 2, ideal 0.5
    assert value("nDCG", (0, 0.5)) == pytest.approx(1 / 1.584963, abs=1e-6)
    # the gain 2^0.5 - 1 cancels
    assert value("nDCG(gain=exponential)", (0, 0.5)) == pytest.approx(1 / 1.584963, abs=1e-6)
    assert value("CG", (0.5, 0.25)) == 0.75


def test_an_ideal_of_retrieved_documents_rewards_short_lists() -> None:
    """One relevant document at rank 1 is enough for 1, however many are missed."""
    assert value("nDCG(ideal=retrieved)", (3,), (3, 3, 3)) == 1
    assert value("nDCG(ideal=retrieved)", (3, 0, 3), (3, 3)) < 1
    assert value("nDCG(ideal=retrieved)", (UNJUDGED,), (3,)) == 0
    assert value("nDCG", (3,), (3, 3, 3)) < 0.5
    card = " ".join(card_of(Metric.parse("nDCG(ideal=retrieved)@10")).lines())
    assert "rewards short lists" in " ".join(card.split())
