"""Cliff's delta and the tests beside it: by hand, against scipy and by their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_rankcheck.statistics.dominance import dominance, paired_dominance
from tests.examples import examples


def test_two_samples_by_hand() -> None:
    """3, 4, 5 against 1, 3. Larger: 3>1, 4>1, 4>3, 5>1, 5>3: 5. Smaller: none. Equal: 3=3.

    Delta is (5 - 0) / 6, and U = 5 + 0.5.
    """
    found = dominance(np.array([3.0, 4, 5]), np.array([1.0, 3]))
    assert math.isclose(found.delta, 5 / 6)


def test_the_exact_probability_by_hand() -> None:
    """Without ties, 3 values above 2 others: one of the C(5, 2) = 10 orders, on either side."""
    found = dominance(np.array([3.0, 4, 5]), np.array([1.0, 2]))
    assert found.delta == 1
    assert math.isclose(found.p, 2 / 10)
    assert dominance(np.array([1.0, 2]), np.array([3.0, 4, 5])).delta == -1


def test_pairs_by_hand() -> None:
    """Of 4 queries one judge is higher on 3 and equal on 1: delta 3/4.

    The 3 that differ all have one sign: one of 2^3 patterns, on either side.
    """
    found = paired_dominance(np.array([3.0, 2.5, 2, 1]), np.array([1.0, 1.0, 1.5, 1]))
    assert math.isclose(found.delta, 3 / 4)
    assert paired_dominance(np.array([3.0, 2.5, 2]), np.array([1.0, 1.0, 1.5])).p == 2 / 8


def test_equal_pairs_decide_nothing() -> None:
    found = paired_dominance(np.array([1.0, 2]), np.array([1.0, 2]))
    assert (found.delta, found.p) == (0, 1)


values = st.lists(st.integers(0, 4).map(float), min_size=1, max_size=12)


@examples(60)
@given(first=values, second=values)
def test_delta_counts_all_pairs_of_values(first: list[float], second: list[float]) -> None:
    signs = [np.sign(one - other) for one in first for other in second]
    found = dominance(np.array(first), np.array(second))
    assert math.isclose(found.delta, float(np.mean(signs)), abs_tol=1e-12)
    mirrored = dominance(np.array(second), np.array(first))
    assert math.isclose(mirrored.delta, -found.delta, abs_tol=1e-12)


@pytest.mark.slow
def test_the_p_value_is_as_rare_as_it_says() -> None:
    """Of 2,000 pairs of samples with the same grades, about 5% have p below 0.05."""
    generator = np.random.default_rng(7)
    grades = generator.integers(0, 4, (2000, 2, 30)).astype(float)
    below = sum(dominance(first, second).p <= 0.05 for first, second in grades)
    assert stats.binomtest(below, 2000, 0.05).pvalue > 0.001
