"""Is the ranking good enough, and is it as good as the approved one?

The tolerances are those of the README: the docstrings of Python 3.11, 3.12 and 3.13 differ a
little, and so do the results.
"""

from pytest_rankcheck import (
    Gate,
    assert_at_least,
    assert_mrr_not_regressed,
    assert_ndcg_at_least,
    assert_ndcg_not_regressed,
    assert_not_regressed,
)


def test_floor(evaluation):
    assert_ndcg_at_least(evaluation, 0.60, k=10)


def test_every_kind_of_symbol_is_found(evaluation):
    assert_at_least(evaluation, "Success@10", 0.80, by="kind")


def test_no_regression(evaluation, baseline):
    assert_ndcg_not_regressed(evaluation, baseline, k=10, abs=0.01)
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)


def test_no_style_of_query_is_sacrificed(evaluation, baseline):
    gate = Gate.tolerance(abs=0.02, max_query_drop=0.6)
    assert_not_regressed(evaluation, baseline, "nDCG@10", gate=gate, by="style")
