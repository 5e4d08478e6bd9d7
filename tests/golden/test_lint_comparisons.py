"""Faults that show only in a comparison, planted in the Cranfield set: each is found, none else."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from tests import reference

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
import lint_comparisons

every_comparison = pytest.mark.parametrize(
    "comparison", lint_comparisons.COMPARISONS, ids=lambda comparison: comparison.rule
)


@every_comparison
@pytest.mark.parametrize("seed", [1, 2])
def test_a_planted_fault_is_found(comparison: lint_comparisons.Comparison, seed: int) -> None:
    reference.data("cranfield")
    case = comparison.planted(random.Random(seed))
    assert case.is_found(comparison.rule)
    without = comparison.clean(random.Random(seed))
    assert not without.is_found(comparison.rule)


def test_expectations_that_agree_with_the_grades_are_not_reported() -> None:
    reference.data("cranfield")
    assert lint_comparisons.expectation_alarms(1).hits == 0
