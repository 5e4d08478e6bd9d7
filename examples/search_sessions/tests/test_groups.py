"""Is the ranker of group B worse than that of group A?"""

from pytest_rankcheck import Gate, assert_no_worse


def test_b_is_no_worse_than_a(session_evaluation):
    metrics = ["SuccessRate", "SessionRR(abandoned=zero)"]
    assert_no_worse(session_evaluation, metrics, group="B", than="A", by="group")


def test_b_does_not_lose_much(session_evaluation):
    gate = Gate.noninferior(margin=0.2)
    assert_no_worse(session_evaluation, "SuccessRate", group="B", than="A", by="group", gate=gate)
