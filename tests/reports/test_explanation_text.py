"""What a verdict depends on, in words."""

from __future__ import annotations

import pytest

from pytest_rankcheck.gates.explanations import Fragility
from pytest_rankcheck.reports.text.explanation_text import fragility_text


@pytest.mark.parametrize(
    ("fragility", "text"),
    [
        (
            Fragility(("q17",), (("q17",),), False, "passed"),
            "without query q17 it would have passed",
        ),
        (
            Fragility(("q1", "q2", "q\x1b"), (("q1",), ("q2",), ("q\x1b",)), False, "inconclusive"),
            r"without queries q1, q2 and q\x1b it would have been inconclusive",
        ),
        (
            Fragility(("u4",), (("a", "b"),), True, "regressed"),
            "without cluster u4 (2 queries) it would have regressed",
        ),
        (
            Fragility(("u4", "u5"), (("a",), ("b", "c")), True, "passed"),
            "without clusters u4 (1 query) and u5 (2 queries) it would have passed",
        ),
    ],
)
def test_queries_and_clusters_are_named(fragility: Fragility, text: str) -> None:
    assert fragility_text(fragility) == text
