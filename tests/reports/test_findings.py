"""Findings that name their test get its name when it has ended."""

from __future__ import annotations

import pytest

from pytest_rankcheck.reports.findings import FindingOfTest
from pytest_rankcheck.reports.gating_findings import GatedSizeFinding
from pytest_rankcheck.reports.metric_findings import GateFinding, MetricFinding
from pytest_rankcheck.reports.notes import Note, Topic

GATE = GateFinding(golden_set="shop", metric="RR", now=0.5, verdict="passed")
SIZE = GatedSizeFinding(golden_set="shop", metric="RR", gate="tolerance", queries=30)


@pytest.mark.parametrize("finding", [GATE, SIZE], ids=lambda finding: type(finding).__name__)
def test_a_finding_gets_the_name_of_its_test_once(finding: GateFinding | FindingOfTest) -> None:
    named = finding.with_test("first")
    assert (finding.test, named.test) == ("", "first")
    assert type(named) is type(finding)
    assert named.with_test("second") == named


def test_a_finding_that_does_not_name_its_test_stays_as_it_is() -> None:
    for finding in (Note(Topic.LINT, "text"), MetricFinding(golden_set="s", metric="RR", now=1.0)):
        assert finding.with_test("first") is finding
