"""Every kind of finding survives the way through built-in types and JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_rankcheck import Gate, GoldenSet, Run, assert_not_regressed, evaluate
from pytest_rankcheck.baselines.approval import Approval
from pytest_rankcheck.baselines.slice_changes import SliceChange, SliceState
from pytest_rankcheck.baselines.update_actions import Action
from pytest_rankcheck.gates.explanations import (
    GroupEvidence,
    MixEffect,
    ReplayEvidence,
    RulingUnder,
    TieEffect,
)
from pytest_rankcheck.reports.baseline_findings import (
    BaselineFinding,
    MeanChange,
    RecordFinding,
    SlicesFinding,
)
from pytest_rankcheck.reports.depth_findings import DepthFinding
from pytest_rankcheck.reports.finding_codec import FINDINGS, decoded
from pytest_rankcheck.reports.finding_encoding import encoded
from pytest_rankcheck.reports.findings import FindingOfTest, ReportedFinding
from pytest_rankcheck.reports.gating_findings import (
    GatedSizeFinding,
    IndecisiveGateFinding,
    MixFinding,
    MostlyInconclusiveFinding,
    RarelyDecidingFinding,
    ReplayFinding,
    SliceOdds,
    UngatedFallFinding,
    UngatedSlice,
    UngatedSlicesFinding,
    UnshownFallFinding,
)
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.measurement_findings import DocumentToJudge, JudgingFinding
from pytest_rankcheck.reports.metric_findings import GapDetail, GateFinding, MetricFinding
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.resolution_text import resolution_findings

GOLDEN = GoldenSet.from_dict(
    {f"q{i}": {"good": 3, "bad": 0} for i in range(40)},
    queries={f"q{i}": f"text {i}" for i in range(40)},
    attributes={
        f"q{i}": {"locale": "de" if i % 2 else "en", "tags": ["a", "b"]} for i in range(40)
    },
)
NOW = evaluate(Run.from_dict({f"q{i}": ["bad", "new", "good"] for i in range(40)}), GOLDEN)
BEFORE = evaluate(Run.from_dict({f"q{i}": ["good", "bad"] for i in range(40)}), GOLDEN)


def gate_findings() -> list[ReportedFinding]:
    """Return the measurement and the gate of a regression, with every part of a detail."""
    with collecting(detail=True) as ledger, pytest.raises(AssertionError):
        assert_not_regressed(NOW, BEFORE, "RR", gate=Gate.noninferior(0.01), by="locale")
    gate = ledger[-1]
    assert isinstance(gate, GateFinding)
    assert gate.detail is not None
    detail = replace(
        gate.detail,
        gaps=(GapDetail("a", "b", None, 0.25, True),),
        ties=TieEffect(2, 0.5, 0.75, False),
        mixes=(MixEffect("device", 0.25, -0.5, 0.125),),
        groups=GroupEvidence(
            log="week",
            names=("group=A", "group=B"),
            units=(40, 41),
            unit="clusters",
            ratio=1.0,
            ratio_p=0.5,
            in_both=1,
            left_out=3,
        ),
        approvals=(Approval("why", "2024-05-01", None, None, {"RR": {"from": 1.0, "to": None}}),),
    )
    return [*ledger[:-1], replace(gate, detail=detail)]


FINDINGS_MADE: list[ReportedFinding] = [
    *gate_findings(),
    *resolution_findings(NOW, ["RR", "nDCG@10"]),
    MetricFinding(golden_set="web", metric="RR", now=0.5, baseline=None, best=0.75),
    BaselineFinding(
        test="test_it.py::test_it",
        file="baselines/test_it/test_it.json",
        golden_set="web",
        action=Action.APPROVE,
        means=(MeanChange("RR", 0.75, 0.5), MeanChange("P@1", None, 0.25)),
        changed_rankings=3,
        reason="why",
        no_longer_gated=("AP",),
    ),
    RecordFinding("baselines/test_it/test_it--web.json", "web", ("RR",), "it was skipped", False),
    SlicesFinding(
        "test_it.py::test_it", "web", (SliceChange("locale", SliceState.NEW, "de", 3),), ("tag",)
    ),
    UngatedSlicesFinding(
        golden_set="web",
        metrics=("RR", "P@1"),
        unit="query",
        slices=3,
        not_gated=(UngatedSlice("locale=de", 16), UngatedSlice("locale=en", 40, 3)),
        min_queries=30,
    ),
    DepthFinding("web", "search", 10, 100, 2, 20, ("q1", "q2")),
    UngatedFallFinding(
        golden_set="web",
        metric="RR",
        unit="query",
        label="locale=de",
        queries=16,
        before=0.625,
        now=0.125,
        p=0.001,
        test="test_it.py::test_it",
    ),
    IndecisiveGateFinding(
        golden_set="web",
        metric="RR",
        gate="significant(alpha=0.05, min_drop=0)",
        units="3 changed queries",
        smallest_p=0.125,
        alpha=0.05,
    ),
    RarelyDecidingFinding(
        golden_set="web",
        metric="RR",
        gate="significant(alpha=0.05, min_drop=0, test=guaranteed)",
        units="60 queries",
        fewest=200,
    ),
    MixFinding(
        golden_set="week",
        metric="SuccessRate",
        effect=MixEffect("device", 0.25, -0.5, 0.125),
        is_decided=True,
    ),
    ReplayFinding(
        golden_set="week",
        metric="RR",
        evidence=ReplayEvidence(
            "passed", 10, 0.05, 0.2, 0.1, "", (RulingUnder("power(0.5)", 0.5, 0.4, "regressed"),)
        ),
    ),
    GatedSizeFinding(golden_set="web", metric="RR", gate="tolerance(abs=0.01, rel=0)", queries=80),
    MostlyInconclusiveFinding(
        golden_set="web",
        metric="RR",
        gate="noninferior(margin=0.02, alpha=0.05)",
        margin=0.02,
        share=0.84,
        slices=(SliceOdds("locale=de", 12, 0.75),),
    ),
    UnshownFallFinding(
        golden_set="web",
        metric="RR",
        gate="significant(alpha=0.05, min_drop=0)",
        unit="query",
        queries=80,
        before=0.5,
        now=0.25,
        p=0.25,
        detectable=None,
    ),
    Note(Topic.BRANCH, "text", "about", "failure\nin two lines"),
    Note(Topic.MEASURED, "\x1b[2J \u202e \ud800"),
    JudgingFinding(
        (
            DocumentToJudge(
                golden_set="web",
                query_id="q",
                query="text",
                doc_id="d",
                title="",
                rank=1,
                metric="RR",
                influence=0.125,
            ),
        )
    ),
]


def test_every_kind_of_finding_is_tested() -> None:
    assert {type(finding) for finding in FINDINGS_MADE} == set(FINDINGS.values())
    # By name: a dataclass with slots is made twice, and the first stays a subclass.
    bases = (ReportedFinding, MetricFinding, FindingOfTest)
    kinds = {kind.__name__ for base in bases for kind in base.__subclasses__()}
    assert kinds - {"FindingOfTest"} == set(FINDINGS)


@pytest.mark.parametrize("finding", FINDINGS_MADE, ids=lambda finding: type(finding).__name__)
def test_a_finding_is_the_same_after_json(finding: ReportedFinding) -> None:
    data = json.loads(json.dumps(encoded(finding)))
    again = decoded(data)
    assert again == finding
    assert type(again) is type(finding)
    assert encoded(again) == data


def test_a_field_that_is_missing_is_an_error() -> None:
    data = encoded(Note(Topic.MEASURED, "text"))
    del data["text"]
    with pytest.raises(KeyError, match="text"):
        decoded(data)


def test_every_topic_has_a_heading() -> None:
    headings = [Note(topic, "text", f"about {topic}").heading for topic in Topic]
    assert len(set(headings)) == len(Topic)
