"""Findings get the name of their test when it has ended, and travel between processes."""

from __future__ import annotations

import json

import pytest

from pytest_rankcheck import Gate, GoldenSet, Run, assert_not_regressed, evaluate
from pytest_rankcheck.reports.findings import GateFinding, MetricFinding, Note, Topic
from pytest_rankcheck.reports.ledger import collecting, packed, unpacked

GATE = GateFinding(golden_set="shop", metric="RR", now=0.5, verdict="passed")


def test_a_finding_gets_the_name_of_its_test_once() -> None:
    named = GATE.with_test("first")
    assert (GATE.test, named.test) == ("", "first")
    assert named.with_test("second") == named
    note = Note(Topic.MIX, "RR on 'web': text", of_test=True).with_test("first")
    assert note.text == "first: RR on 'web': text"
    assert note.with_test("second") is note


def test_a_finding_that_does_not_name_its_test_stays_as_it_is() -> None:
    for finding in (Note(Topic.LINT, "text"), MetricFinding(golden_set="s", metric="RR", now=1.0)):
        assert finding.with_test("first") is finding


def test_findings_are_the_same_after_the_way_to_another_process() -> None:
    golden = GoldenSet.from_dict(
        {f"q{i}": {"good": 3, "bad": 0} for i in range(40)},
        attributes={f"q{i}": {"locale": "de" if i % 2 else "en"} for i in range(40)},
    )
    now = evaluate(Run.from_dict({f"q{i}": ["bad", "new", "good"] for i in range(40)}), golden)
    before = evaluate(Run.from_dict({f"q{i}": ["good", "bad"] for i in range(40)}), golden)
    with collecting(detail=True) as ledger, pytest.raises(AssertionError):
        assert_not_regressed(now, before, "RR", gate=Gate.noninferior(0.01), by="locale")
    ledger.append(Note(Topic.MEASURED, "\x1b[2J \u202e \ud800"))
    assert unpacked(json.loads(json.dumps(packed(ledger)))) == ledger


def test_every_topic_has_a_heading() -> None:
    headings = [Note(topic, "text", f"about {topic}").heading for topic in Topic]
    assert len(set(headings)) == len(Topic)
