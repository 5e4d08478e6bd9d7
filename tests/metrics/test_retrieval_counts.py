"""Counts of retrieved, judged and relevant documents, by hand."""

from __future__ import annotations

import pytest
from worked import MIXED, value

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

LAW_VARIANTS = ["NumRet(rel=2)@3"]
ON_AN_EMPTY_RANKING = {"NumRel": 1}
WITH_NOTHING_RELEVANT = {"Judged@5": 1 / 5, "NumRet@5": 2}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("Judged", 4 / 6),
        ("Judged@4", 3 / 4),
        ("Judged@10", 4 / 10),
        ("NumRet", 6),
        ("NumRet@4", 4),
        ("NumRet@10", 6),
        ("NumRet(rel=2)", 2),
        ("NumRel", 5),
        ("NumRel(rel=2)", 3),
        ("NumRelRet", 3),
        ("NumRelRet@4", 2),
        ("NumRelRet(rel=2)", 2),
    ],
)
def test_counts(metric: str, expected: float) -> None:
    assert value(metric, *MIXED) == pytest.approx(expected, abs=1e-12)
