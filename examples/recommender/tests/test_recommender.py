"""What readers get: books that they buy, from all of the catalogue, and none that they have."""

from pytest_rankcheck import Gate, assert_at_most, assert_not_regressed


def test_no_regression(evaluation, baseline):
    gate = Gate.noninferior(margin=0.01)
    assert_not_regressed(evaluation, baseline, "nDCG@10", gate=gate, by="history")
    assert_not_regressed(evaluation, baseline, "CatalogCoverage@10", abs=0.02)


def test_nothing_that_was_bought_is_recommended(evaluation):
    assert_at_most(evaluation, "SeenItems@10", 0)
