"""The summary's table and notes, from entries as they arrive."""

from __future__ import annotations

from contextvars import Context
from dataclasses import replace
from typing import Any

import pytest

from pytest_rankcheck.baselines.update_actions import Action
from pytest_rankcheck.reports.baseline_findings import BaselineFinding, MeanChange
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.ledger import collecting, enter
from pytest_rankcheck.reports.metric_findings import GateFinding, MetricFinding
from pytest_rankcheck.reports.notes import Note, Topic
from pytest_rankcheck.reports.text.summary_table import summary_lines


def row(
    metric: str, now: float, baseline: float | None, verdict: str, failed: bool = False
) -> GateFinding:
    return GateFinding(
        golden_set="web", metric=metric, now=now, baseline=baseline, verdict=verdict, failed=failed
    )


def texts(*findings: ReportedFinding) -> list[str]:
    return [line.text for line in summary_lines(findings)]


def test_a_bound_and_a_baseline_of_one_metric_share_a_row() -> None:
    lines = texts(
        row("RR", 0.5, None, "at least 0.4000"), row("RR", 0.5, 0.6, "regressed", failed=True)
    )
    assert lines == [
        "golden set  metric  baseline     now   change  from best  verdict",
        "web         RR        0.6000  0.5000  -0.1000          -  FAILED: regressed; at least 0.4000",
    ]


def test_different_baselines_have_rows_of_their_own() -> None:
    assert len(texts(row("RR", 0.5, 0.6, "passed"), row("RR", 0.5, 0.4, "passed"))) == 3


def test_a_change_too_small_for_four_digits_is_still_seen() -> None:
    assert "-0.000012" in texts(row("RR", 0.5, 0.500012, "passed, lower"))[1]


def test_failures_and_passes_have_colours() -> None:
    entries = [
        row("RR", 0.5, 0.6, "regressed", failed=True),
        row("AP", 0.5, 0.5, "passed"),
        MetricFinding(golden_set="web", metric="P@5", now=0.5, baseline=0.5),
    ]
    assert [line.colour for line in summary_lines(entries)] == ["", "red", "green", ""]


def test_notes_are_grouped_and_distinct_with_actions_last() -> None:
    note = Note(Topic.WRITTEN, "a")
    assert texts(note, Note(Topic.MEASURED, "b"), note) == [
        "measured:",
        "  b",
        "baselines written; commit them:",
        "  a",
    ]


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        ({"action": Action.LEAVE}, []),
        (
            {"action": Action.LEAVE, "can_be_raised": True},
            [
                "baselines that can be raised with pytest --snapshot-update:",
                "  test_it: RR 0.7500 -> 0.5000; P@1 new",
            ],
        ),
        (
            {"action": Action.KEEP, "reason": "unused"},
            [
                "--rankcheck-approve had no effect: nothing fell, so no reason was recorded:",
                "  test_it: RR 0.7500 -> 0.5000; P@1 new",
                "baselines kept, because something is lower but within the tolerance:",
                (
                    "  test_it: RR 0.7500 -> 0.5000; P@1 new; to lower it: "
                    '--rankcheck-approve "reason"'
                ),
            ],
        ),
        (
            {
                "action": Action.APPROVE,
                "reason": "why",
                "no_longer_gated": ("AP is no longer gated",),
                "is_written": True,
            },
            [
                "no longer gated; the approved values stay in the baselines:",
                "  test_it: AP is no longer gated",
                "baselines written; commit them:",
                '  test_it: approved "why": RR 0.7500 -> 0.5000; P@1 new',
            ],
        ),
        (
            {
                "action": Action.CREATE,
                "means": (),
                "changed_rankings": 0,
                "has_record": False,
                "is_written": True,
            },
            ["baselines written; commit them:", "  test_it: created: rankings new"],
        ),
        (
            {
                "action": Action.REWRITE,
                "means": (),
                "changed_rankings": 2,
                "is_written": True,
            },
            ["baselines written; commit them:", "  test_it: extended: 2 rankings changed"],
        ),
        (
            {
                "action": Action.KEEP,
                "is_within_noise": True,
                "is_written": True,
                "means": (MeanChange("RR", 0.5, 0.45, -0.05),),
                "added": 10,
                "removed": 1,
            },
            [
                "golden sets that changed since the baselines were recorded:",
                "  test_it: 10 added, 1 removed, 0 edited queries alone move the mean: RR -0.0500",
                (
                    "baselines kept, because the gain is within noise (to raise them: "
                    '--rankcheck-raise "reason"):'
                ),
                "  test_it: RR 0.5000 -> 0.4500",
                "baselines written; commit them:",
                "  test_it: extended: RR 0.5000 -> 0.4500",
            ],
        ),
    ],
)
def test_what_became_of_a_baseline_is_put_into_words(
    finding: dict[str, Any], expected: list[str]
) -> None:
    fields = {
        "test": "test_it",
        "file": "test_it.json",
        "golden_set": "web",
        "means": (MeanChange("RR", 0.75, 0.5), MeanChange("P@1", None, 0.25)),
    }
    assert texts(BaselineFinding(**(fields | finding))) == expected


def test_a_note_of_a_failing_assertion_is_red() -> None:
    notes = [
        Note(Topic.EXPECTATIONS, "2 of 3 hold", failure="why"),
        Note(Topic.EXPECTATIONS, "4 hold"),
    ]
    assert [(line.text, line.colour) for line in summary_lines(notes)] == [
        ("expectations:", ""),
        ("  FAILED: 2 of 3 hold", "red"),
        ("  4 hold", ""),
    ]


def test_nothing_is_collected_outside_a_test() -> None:
    Context().run(enter, row("RR", 0.5, None, "passed"))
    with collecting() as outer:
        with collecting() as inner:
            enter(row("RR", 0.5, None, "passed"))
        enter(row("AP", 0.5, None, "passed"))
    assert inner == [row("RR", 0.5, None, "passed")]
    assert outer == [row("AP", 0.5, None, "passed")]


def test_the_table_fits_the_width_of_the_terminal() -> None:
    entries = [
        row("nDCG(gain=exponential)@10", 0.5, 0.6, "regressed", failed=True),
        row("nDCG(gain=exponential)@10", 0.5, None, "at least 0.4000"),
    ]
    lines = [line.text for line in summary_lines(entries, 80)]
    assert lines == [
        "golden set  metric            baseline     now   change  from best  verdict",
        "web         nDCG(               0.6000  0.5000  -0.1000          -  FAILED:",
        "            gain=exponential                                        regressed;",
        "            )@10                                                    at least",
        "                                                                    0.4000",
    ]
    wide = [line.text for line in summary_lines(entries, 200)]
    assert wide == [line.text for line in summary_lines(entries)]


def test_a_terminal_too_narrow_for_numbers_still_shows_them() -> None:
    lines = [line.text for line in summary_lines([row("RR", 0.5, 0.6, "passed")], 20)]
    assert any("0.6000  0.5000  -0.1000" in line for line in lines)


def test_rounding_in_records_is_not_a_distance_from_the_best() -> None:
    finding = replace(row("RR", 2 / 3, 0.666667, "passed"), best=0.666667)
    assert texts(finding)[1].endswith("    +0.0000  passed")
