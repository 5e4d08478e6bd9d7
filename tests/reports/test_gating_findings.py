"""The findings of an assertion on several metrics, and of what it leaves undecided."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pytest_rankcheck import (
    Evaluation,
    Gate,
    GoldenSet,
    Run,
    assert_at_least,
    assert_not_regressed,
    compare,
    evaluate,
)
from pytest_rankcheck.reports.gating_findings import UngatedSlicesFinding
from pytest_rankcheck.reports.gating_verdicts import gating_findings
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.metric_findings import GateFinding

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {"good": 1} for n in range(40)},
    attributes={f"q{n}": {"locale": "de" if n % 2 else "en"} for n in range(40)},
)


def ranked(worse: int) -> Evaluation:
    """Return an evaluation with the relevant document second for so many queries."""
    return evaluate(
        Run.from_dict(
            {f"q{n}": ["bad", "good"] if n < worse else ["good", "bad"] for n in range(40)}
        ),
        GOLDEN,
    )


def test_every_metric_of_an_assertion_has_a_finding() -> None:
    with collecting() as ledger, suppress(AssertionError):
        assert_not_regressed(ranked(20), ranked(0), ["RR", "P@1", "R@2"])
    gates = [finding for finding in ledger if isinstance(finding, GateFinding)]
    assert [(gate.metric, gate.failed) for gate in gates] == [
        ("RR", True),
        ("P@1", True),
        ("R@2", False),
    ]


def test_the_slices_of_several_metrics_are_named_once() -> None:
    with collecting() as ledger:
        assert_not_regressed(ranked(0), ranked(0), ["RR", "P@1"], by="locale")
        assert_at_least(ranked(0), {"RR": 0.5, "P@1": 0.5}, by="locale")
    findings = [finding for finding in ledger if isinstance(finding, UngatedSlicesFinding)]
    assert [finding.metrics for finding in findings] == [("RR", "P@1")] * 2
    assert [part.label for part in findings[0].not_gated] == ["locale=de", "locale=en"]


@pytest.mark.parametrize("by", [None, "locale"])
@pytest.mark.parametrize("worse", [0, 2, 20])
@pytest.mark.parametrize(
    "gate",
    [
        *(Gate.tolerance(abs=0.3), Gate.tolerance(abs=0.3, min_queries=5)),
        *(Gate.significant(), Gate.significant(test="guaranteed")),
        *(Gate.noninferior(0.3), Gate.noninferior(0.01, test="guaranteed")),
    ],
    ids=str,
)
def test_a_settled_verdict_leaves_nothing_to_say(gate: Gate, worse: int, by: str | None) -> None:
    verdict = gate.decide(compare(ranked(worse), ranked(0)), "RR", by)
    findings = list(gating_findings("web", [verdict]))
    assert not (verdict.is_settled and findings)
    is_large = by is None or gate.smallest_slice <= 20
    is_plain = worse == 0 and "guaranteed" not in str(gate) and is_large
    assert verdict.is_settled == is_plain
