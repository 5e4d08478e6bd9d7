"""A floor, and gates for all trips and for each kind of trip."""

from pytest_rankcheck import Gate, assert_ndcg_at_least, assert_not_regressed


def test_floor(evaluation):
    assert_ndcg_at_least(evaluation, 0.75, k=5, by="trip")


def test_no_kind_of_trip_gets_worse(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "nDCG@5", gate=Gate.significant(), by="trip")
