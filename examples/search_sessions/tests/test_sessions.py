"""Do people find what they want, and as well as in the approved log?"""

from pytest_rankcheck import Gate, assert_at_least, assert_at_most, assert_not_regressed


def test_people_find_what_they_want(session_evaluation):
    assert_at_least(session_evaluation, "SuccessRate", 0.75)
    assert_at_least(session_evaluation, "SuccessRate@3", 0.65, by="group")
    assert_at_most(session_evaluation, "AbandonmentRate", 0.25)


def test_without_much_effort(session_evaluation):
    assert_at_most(session_evaluation, "MeanEventRank(abandoned=exclude)", 1.8)
    assert_at_most(session_evaluation, "MedianSessionDuration", 15)


def test_as_good_as_the_approved_log(session_evaluation, baseline):
    gate = Gate.noninferior(margin=0.1)
    assert_not_regressed(session_evaluation, baseline, "SessionRR(abandoned=zero)", gate=gate)
    assert_not_regressed(session_evaluation, baseline, "SuccessRate", gate=gate, by="group")
