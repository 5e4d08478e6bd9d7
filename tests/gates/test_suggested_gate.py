"""Which gate is suggested for golden sets of different sizes."""

from __future__ import annotations

import pytest

from pytest_rankcheck import Metric
from pytest_rankcheck.gates.configured_gates import gate_of
from pytest_rankcheck.gates.suggested_gate import SUGGESTIONS, suggested_gate


@pytest.mark.parametrize(
    ("queries", "size"),
    [
        (0, 0),
        (29, 0),
        (30, 30),
        (49, 30),
        (50, 50),
        (100, 100),
        (999, 200),
        (1000, 1000),
        (9999, 1000),
    ],
)
def test_the_largest_size_that_is_reached_decides(queries: int, size: int) -> None:
    assert suggested_gate(queries).queries == size


def test_every_suggestion_is_a_gate_for_a_metric_from_0_to_1() -> None:
    for each in SUGGESTIONS:
        gate_of(each.gate).refuse_misfit(Metric.parse("nDCG@10"))
        assert not each.gate.startswith("tolerance")
        assert each.reason


def test_sizes_rise_from_0() -> None:
    sizes = [each.queries for each in SUGGESTIONS]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 0
