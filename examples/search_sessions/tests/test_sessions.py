"""Do people find what they want, and as well as in the approved log?"""

from pytest_rankcheck import (
    Gate,
    assert_at_most,
    assert_not_regressed,
    assert_session_mrr_not_regressed,
    assert_success_rate_at_least,
)


def test_people_find_what_they_want(session_evaluation):
    assert_success_rate_at_least(session_evaluation, 0.75)
    assert_success_rate_at_least(session_evaluation, 0.65, k=3, by="group")
    assert_at_most(session_evaluation, "AbandonmentRate", 0.25)


def test_without_much_effort(session_evaluation):
    assert_at_most(session_evaluation, "MeanEventRank(abandoned=exclude)", 1.8)
    assert_at_most(session_evaluation, "MedianSessionDuration", 15)


def test_as_good_as_the_approved_log(session_evaluation, baseline):
    gate = Gate.noninferior(margin=0.1)
    assert_session_mrr_not_regressed(session_evaluation, baseline, abandoned="zero", gate=gate)
    assert_not_regressed(session_evaluation, baseline, "SuccessRate", gate=gate, by="group")
