"""Fixed bounds: means, confidence bounds, slices."""

import math

import pytest

from pytest_rankcheck import (
    ConfigurationError,
    Evaluation,
    GoldenSet,
    Run,
    assert_at_least,
    assert_at_most,
    evaluate,
)


def evaluation_of(ranks: list[int], locales: list[str] | None = None) -> Evaluation:
    """Return an evaluation whose queries have their relevant document at these ranks."""
    ids = [f"q{index}" for index in range(len(ranks))]
    golden = GoldenSet.from_dict(
        {query: {"d": 1} for query in ids},
        attributes={
            query: {"locale": locale} for query, locale in zip(ids, locales or [], strict=False)
        },
    )
    rankings = {
        query: [*(f"x{index}" for index in range(rank - 1)), "d"]
        for query, rank in zip(ids, ranks, strict=True)
    }
    return evaluate(Run.from_dict(rankings), golden)


def test_a_mean_on_the_bound_holds() -> None:
    evaluation = evaluation_of([1, 2])  # RR 1 and 0.5: mean 0.75
    assert_at_least(evaluation, "RR", 0.75)
    assert_at_most(evaluation, "RR", 0.75)
    with pytest.raises(AssertionError, match=r"RR is 0.7500 .* must be at least 0.7501"):
        assert_at_least(evaluation, "RR", 0.7501)
    with pytest.raises(AssertionError, match=r"RR is 0.7500 .* must be at most 0.7499"):
        assert_at_most(evaluation, "RR", 0.7499)


def test_a_confidence_bound_is_students_with_one_unseen_query() -> None:
    # RR 1, 0.5, 0.25, 0.25 and an unseen 0: mean 0.4, the squares of the deviations are
    # 0.36 + 0.01 + 2 x 0.0225 + 0.16 = 0.575, s / sqrt(5) = sqrt(0.575 / 4 / 5) = 0.169558;
    # t(0.95; 4) = 2.131847 (table), so 0.4 - 0.361470. With an unseen 1, 0.6 + 0.361470.
    evaluation = evaluation_of([1, 2, 4, 4])
    assert_at_least(evaluation, "RR", 0.0385, confidence=0.95)
    assert_at_most(evaluation, "RR", 0.9615, confidence=0.95)
    with pytest.raises(AssertionError, match=r"RR is 0.5000 \(lower 95% bound 0.0385\)"):
        assert_at_least(evaluation, "RR", 0.0386, confidence=0.95)
    with pytest.raises(AssertionError, match=r"RR is 0.5000 \(upper 95% bound 0.9615\)"):
        assert_at_most(evaluation, "RR", 0.9614, confidence=0.95)


def test_perfect_queries_do_not_make_a_bound_certain() -> None:
    # 30 values of 1 and an unseen 0: mean 30/31, s / sqrt(31) = 1/31; t(0.95; 30) = 1.697261.
    evaluation = evaluation_of([1] * 30)
    assert_at_least(evaluation, "RR", 1.0)
    with pytest.raises(AssertionError, match=r"RR is 1.0000 \(lower 95% bound 0.9130\)"):
        assert_at_least(evaluation, "RR", 0.95, confidence=0.95)


def test_one_query_gives_no_confidence() -> None:
    with pytest.raises(AssertionError, match="lower 90% bound -"):
        assert_at_least(evaluation_of([1]), "RR", 0.0, confidence=0.9)


def test_every_slice_that_is_large_enough_must_hold() -> None:
    evaluation = evaluation_of(
        [1] * 60 + [2] * 30 + [9] * 5, ["en"] * 60 + ["de"] * 30 + ["fr"] * 5
    )
    assert_at_least(evaluation, "RR", 0.5, by="locale")
    with pytest.raises(AssertionError) as failure:
        assert_at_least(evaluation, "RR", 0.6, by="locale")
    text = str(failure.value)
    assert text.startswith("RR is 0.5000 on locale=de of golden set")
    assert "locale=en (60 queries)   1.0000" in text
    assert "locale=fr (5 queries, too few to gate)   0.1111" in text
    with pytest.raises(AssertionError, match=r"RR is 0\.1111 on locale=fr"):
        assert_at_least(evaluation, "RR", 0.5, by=["locale"], min_queries=5)


@pytest.mark.parametrize("bound", [math.nan, math.inf, True])
def test_a_bound_is_a_finite_number(bound: float) -> None:
    with pytest.raises(ConfigurationError, match=r"not a finite number|must be a number, not True"):
        assert_at_least(evaluation_of([1]), "RR", bound)


@pytest.mark.parametrize("confidence", [0.4, 1.0, -1.0])
def test_a_confidence_is_between_a_half_and_one(confidence: float) -> None:
    with pytest.raises(ConfigurationError, match=r"at least 0\.5 and less than 1"):
        assert_at_least(evaluation_of([1]), "RR", 0.1, confidence=confidence)
