"""Do people find what they want, and as well as in the log that was approved?"""

from pytest_rankcheck import (
    Gate,
    assert_abandonment_rate_at_most,
    assert_mean_event_rank_at_most,
    assert_not_regressed,
    assert_session_duration_at_most,
    assert_session_mrr_not_regressed,
    assert_success_rate_at_least,
)


def test_people_find_what_they_want(session_evaluation):
    assert_success_rate_at_least(session_evaluation, 0.75)
    assert_success_rate_at_least(session_evaluation, 0.65, n=3, by="group")
    assert_abandonment_rate_at_most(session_evaluation, 0.25)


def test_without_much_effort(session_evaluation):
    assert_mean_event_rank_at_most(session_evaluation, 1.8, abandoned="exclude")
    assert_session_duration_at_most(session_evaluation, 15, median=True)


def test_as_good_as_the_approved_log(session_evaluation, baseline):
    gate = Gate.noninferior(margin=0.08)
    assert_session_mrr_not_regressed(session_evaluation, baseline, abandoned="zero", gate=gate)
    assert_not_regressed(session_evaluation, baseline, "SuccessRate", gate=gate, by="group")
