"""The Markdown report: what it has, that it fits a comment, that foreign text is only text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hostile import HOSTILE
from markdown_it import MarkdownIt

from pytest_rankcheck.errors import markdown_text
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.markdown_report import LONGEST_COMMENT, markdown_of
from pytest_rankcheck.reports.report_data import Report

TEST = "tests/test_it.py::test_it"


def test_verdicts_slices_and_worst_queries(report: Report) -> None:
    text = markdown_of(report)
    lines = text.splitlines()
    assert lines[0].startswith("## ❌ Ranking quality: ")
    assert any(
        line.startswith(f"| ❌ | {markdown_text(TEST)} | golden set | run | nDCG@<!-- -->10 |")
        for line in lines
    )
    assert "<details><summary>Full text</summary>" in text
    assert any(line.startswith("    locale=de  ") for line in lines)
    assert "  worst queries" in lines
    assert "    and 15 more queries that are worse" in lines
    assert lines[-2].startswith("<sub>pytest \\-q · ")


@pytest.mark.parametrize(
    ("gates", "notes", "exit_status", "title"),
    [
        (1, 0, 0, "✅ Ranking quality: 1 gate passed"),
        (0, 2, 0, "✅ Ranking quality: 2 checks passed"),
        (0, 0, 0, "❌ Ranking quality: no gate ran"),
        (0, 0, 5, "❌ Ranking quality: no gate ran, but the test session failed"),
        (1, 0, 1, "❌ Ranking quality: 1 gate passed, but the test session failed"),
    ],
)
def test_a_title_is_green_only_if_the_session_was(
    report: Report, gates: int, notes: int, exit_status: int, title: str
) -> None:
    passed = [gate for gate in report.gates if not gate.failed][:gates]
    checks = [Note(Topic.EXPECTATIONS, f"{number} hold", is_check=True) for number in range(notes)]
    ended = replace(report, gates=tuple(passed), notes=tuple(checks), exit_status=exit_status)
    problems = tuple(f"test_{number}: error" for number in range(12))
    lines = markdown_of(replace(ended, problems=problems)).splitlines()
    assert lines[0] == f"## {title}"
    assert (lines[2], lines[12]) == ("- test\\_0: error", "- and 2 more")


def test_the_title_counts_what_did_not_simply_pass(report: Report) -> None:
    passed = [gate for gate in report.gates if not gate.failed]
    [unsure] = [gate for gate in report.gates if gate.metric == "RR"]
    detail = {**unsure.detail, "outcome": "inconclusive"}
    inconclusive = replace(unsure, failed=False, detail=detail)
    others = (Note(Topic.NO_SLICE_GATED, "none of 3"), Note(Topic.NOT_RUN, "x.json (RR)"))
    notes = (*report.notes, *others)
    text = markdown_of(replace(report, gates=(inconclusive, passed[-1]), notes=notes))
    assert text.startswith(
        "## ⚠️ Ranking quality: 2 gates passed with warnings: 1 inconclusive, "
        "1 without a gated slice, 1 not run\n"
    )
    assert "| ❔ |" in text
    assert "| ✅ |" in text


def test_the_report_is_never_longer_than_a_comment(report: Report) -> None:
    text = markdown_of(replace(report, gates=report.gates[:1] * 300))
    assert len(text) < LONGEST_COMMENT
    assert "sections omitted to keep this short; the HTML and JSON reports are complete" in text
    assert "_and 200 more gates_" in text


def test_failed_behaviour_checks_are_shown_in_full(report: Report) -> None:
    passed = tuple(gate for gate in report.gates if not gate.failed)
    note = Note(Topic.EXPECTATIONS, "one", failure="one\n  ```two")
    text = markdown_of(replace(report, gates=passed, notes=(*report.notes, note)))
    assert text.startswith("## ❌ Ranking quality: 0 of 2 gates and 1 other check failed\n")
    assert "### expectations\n\none\n" in text
    assert "\n``````text\none\n  ```two\n``````\n" in text
    assert "  - one" not in text


def test_untrusted_text_stays_text() -> None:
    for text in HOSTILE:
        table = f"| a |\n|---|\n| {markdown_text(text)} |\n"
        rendered = MarkdownIt("gfm-like", {"linkify": False}).render(table)
        assert rendered.count("<td>") == 1
        inside = rendered.partition("<td>")[2].partition("</td>")[0].replace("<!-- -->", "")
        assert "<" not in inside
        for linked in ("@everyone", "www.evil", "https://", "#1"):
            assert linked not in markdown_text(text)


def test_a_hostile_report_has_no_tag_and_no_link(hostile: Report) -> None:
    text = markdown_of(hostile)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    every = [child for token in tokens for child in (token, *(token.children or ()))]
    assert not {token.type for token in every} & {"image", "link_open"}
    html = " ".join(token.content for token in every if token.type.startswith("html_"))
    assert not re.sub(r"</?(details|summary|sub)>|<!-- -->|[^<>]+", "", html)
    assert "\x1b" not in text
