"""A floor, and a gate for queries by title and by description."""

from pytest_rankcheck import assert_mrr_at_least, assert_not_regressed


def test_floor(evaluation):
    assert_mrr_at_least(evaluation, 0.8)


def test_no_regression(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "nDCG@5", abs=0.01)


def test_no_kind_of_query_gets_worse(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", abs=0.02, by="kind", min_queries=20)
