"""What gates that know the noise would have decided where the gate allows no fall."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_rankcheck import Gate, GoldenSet, Metric, Run, compare, evaluate
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.gates.explanations import OtherRuling
from pytest_rankcheck.gates.other_rules import usual_margin
from pytest_rankcheck.gates.verdict import Verdict

IDS = [f"q{place}" for place in range(40)]
GOLDEN = GoldenSet.from_dict(
    {each: {"x": 1} for each in IDS},
    attributes={each: {"locale": "de" if n < 10 else "en"} for n, each in enumerate(IDS)},
)


def verdict(fallen: int, gate: Gate, by: str | None = None) -> Verdict:
    """Decide on queries of which some fell from rank 1 to rank 2."""
    runs = [
        {each: ["n", "x"] if n < count else ["x"] for n, each in enumerate(IDS)}
        for count in (fallen, 0)
    ]
    now, before = (evaluate(Run.from_dict(run), GOLDEN) for run in runs)
    return gate.decide(compare(now, before), "RR", by)


@pytest.mark.parametrize("fallen", [1, 12])
@pytest.mark.parametrize("by", [None, "locale"])
def test_they_are_what_these_gates_decide(fallen: int, by: str | None) -> None:
    others = verdict(fallen, Gate.tolerance(), by).other_rulings
    assert [other.gate for other in others] == ["significant()", "noninferior(margin=0.02)"]
    for other, gate in zip(
        others, (Gate.significant(), Gate.noninferior(margin=0.02)), strict=True
    ):
        assert other.ruling == verdict(fallen, gate, by).ruling


def test_one_fallen_query_is_no_evidence_and_twelve_are() -> None:
    assert verdict(1, Gate.tolerance()).other_rulings == (
        OtherRuling("significant()", "passed"),
        OtherRuling("noninferior(margin=0.02)", "inconclusive"),
    )
    assert verdict(12, Gate.tolerance()).other_rulings == (
        OtherRuling("significant()", "regressed"),
        OtherRuling("noninferior(margin=0.02)", "regressed"),
    )


def test_they_gate_the_slices_that_they_would_gate() -> None:
    """Eight of ten German queries fall, seven English ones rise: the mean hardly moves."""
    now = {q: ["n", "x"] if n < 8 else ["x"] for n, q in enumerate(IDS)}
    before = {q: ["n", "x"] if 10 <= n < 17 else ["x"] for n, q in enumerate(IDS)}
    comparison = compare(*(evaluate(Run.from_dict(run), GOLDEN) for run in (now, before)))
    found = Gate.tolerance().decide(comparison, "RR", "locale")
    assert Gate.significant().decide(comparison, "RR").ruling == "passed"
    assert found.other_rulings[0] == OtherRuling("significant()", "regressed")  # 1/256 in the slice
    limited = Gate.tolerance(min_queries=30).decide(comparison, "RR", "locale")
    assert limited.other_rulings[0] == OtherRuling("significant()", "passed")


def test_only_a_gate_that_allows_no_fall_is_compared_with_others() -> None:
    assert verdict(1, Gate.tolerance(abs=0.001)).other_rulings == ()
    assert verdict(12, Gate.significant()).other_rulings == ()
    assert verdict(0, Gate.tolerance()).other_rulings == ()
    drop = verdict(1, Gate.tolerance(max_query_drop=0.1))  # the drop of a query fails, too
    assert drop.regressed
    assert drop.other_rulings == ()


def test_metrics_that_are_not_means_have_no_other_gate() -> None:
    runs = [
        {each: ["n", "x"] if n < 3 and now else ["x"] for n, each in enumerate(IDS)}
        for now in (1, 0)
    ]
    now, before = (evaluate(Run.from_dict(run), GOLDEN) for run in runs)
    found = Gate.tolerance().decide(compare(now, before), "GMAP")
    assert found.regressed
    assert found.other_rulings == ()


@pytest.mark.parametrize(
    ("metric", "before", "margin"),
    [("RR", 0.3, 0.02), ("DCG@10", 37.0, 0.7), ("DCG@10", 3.2, 0.06), ("DCG@10", 0.0, np.nan)],
)
def test_the_usual_margin(metric: str, before: float, margin: float) -> None:
    values = np.full(3, before)
    pairs = Paired(Metric.parse(metric), ("a", "b", "c"), values, values)
    assert usual_margin(pairs) == pytest.approx(margin, nan_ok=True)
