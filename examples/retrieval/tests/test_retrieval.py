"""What the LLM gets: five chunks, the right section among them, in time."""

from pytest_rankcheck import Gate, assert_at_least, assert_at_most, assert_not_regressed


def test_floor(evaluation):
    assert_at_least(evaluation, {"R@5": 0.9, "RR@5": 0.7}, by="kind")


def test_no_regression(evaluation, baseline):
    gate = Gate.noninferior(margin=0.05)
    assert_not_regressed(evaluation, baseline, ["nDCG@5", "R@5"], gate=gate, by="kind")


def test_fast_enough(evaluation):
    assert_at_most(evaluation, "Seconds(q=0.95)", 0.2)
