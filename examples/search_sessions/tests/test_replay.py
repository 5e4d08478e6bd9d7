"""Would the model under test have ranked the selected documents higher?"""

from pytest_rankcheck import assert_at_least, assert_mrr_not_regressed


def test_the_model_finds_what_people_selected(evaluation):
    assert_at_least(evaluation, "Success@3", 0.60)


def test_no_regression_on_the_log(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)
